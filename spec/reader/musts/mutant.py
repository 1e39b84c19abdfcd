"""The reader with one piece of its text replaced, and what it answers."""

import pathlib
import resource
import signal
import sys
import types

HERE = pathlib.Path(__file__).parents[1]
# In the order in which they use one another.
MODULES = ["coding", "layout", "values", "functions", "filters", "indexes", "checkpoint", "recovery", "subject"]
SOURCES = {name: (HERE / f"{name}.py").read_text() for name in MODULES}
CODE = {name: compile(text, f"{name}.py", "exec") for name, text in SOURCES.items()}
# Of a processor, for an answer; a right reader takes a hundredth of it.
SECONDS, ROOM = 5, 4 << 30
# What breaks a mutant, and no rule.
SLIPS = (NameError, ImportError, SyntaxError)


class Late(BaseException):
    """No answer in time."""


def late(*_):
    raise Late


def limit():
    signal.signal(signal.SIGVTALRM, late)
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))


class Reader:
    def __init__(self, module=None, old="", new=""):
        found = SOURCES[module].count(old) if module else 1
        if found != 1:
            raise ValueError(f"{module}.py has the text {old!r} {found} times")
        others = {name: sys.modules.pop(name) for name in MODULES if name in sys.modules}
        for name in MODULES:
            loaded = sys.modules[name] = types.ModuleType(name)
            loaded.__file__ = str(HERE / f"{name}.py")
            text = SOURCES[name].replace(old, new) if name == module else None
            exec(compile(text, f"{name}.py", "exec") if text else CODE[name], vars(loaded))
        self.subject = sys.modules["subject"]
        sys.modules.update(others)
        self.subject.OPERATIONS["open"] = lambda request: self.subject.opened(request["file"])

    def wrong(self, case):
        """How the answer to a case is wrong; None where it is right."""
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            answer = self.subject.answer(case.request)
        except Late:
            return "no answer in time"
        except SLIPS:
            raise
        except Exception as error:
            return f"it ends by {type(error).__name__}"
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        return None if case.is_right(answer) else "another answer"
