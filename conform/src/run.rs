//! Asking a subject every case, and what came of it.

use crate::answer::{self, Answer};
use crate::case::{Case, Group, Outcome, Request};
use crate::load::Vectors;
use crate::subject::Subject;

/// What came of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Came {
    /// The answer was right.
    Held,
    /// The subject has no such operation.
    Skipped,
    /// The answer was wrong, or there was none: why.
    Failed(String),
}

/// What came of one case, and which it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcomes {
    /// The version of the format.
    pub version: String,
    /// The group.
    pub group: String,
    /// The number of the case in the group.
    pub id: u32,
    /// What it shows.
    pub name: String,
    /// What came of it.
    pub came: Came,
}

/// Asks `subject` every case of `vectors`; tells `progress` of each.
pub fn run(
    vectors: &Vectors,
    subject: &mut dyn Subject,
    mut progress: impl FnMut(&Outcomes),
) -> Vec<Outcomes> {
    let mut outcomes = Vec::with_capacity(vectors.case_count());
    for group in &vectors.groups {
        for case in &group.cases {
            let came = run_case(vectors, group, case, subject);
            let outcome = Outcomes {
                version: vectors.version.clone(),
                group: group.group.clone(),
                id: case.id,
                name: case.name.clone(),
                came,
            };
            progress(&outcome);
            outcomes.push(outcome);
        }
    }
    outcomes
}

/// Asks `subject` one case.
pub fn run_case(vectors: &Vectors, group: &Group, case: &Case, subject: &mut dyn Subject) -> Came {
    let before = match case.request.file().map(|file| vectors.bytes_of(file)).transpose() {
        Ok(before) => before,
        Err(what) => return Came::Failed(format!("the vectors are broken: {what}")),
    };
    let mut file = before.clone();
    let answer = match subject.ask(&case.request, file.as_mut()) {
        Ok(Answer::Unsupported) => return Came::Skipped,
        Ok(answer) => answer,
        Err(trouble) => return Came::Failed(trouble.to_string()),
    };
    let checked = matches_any(group, case, &answer)
        .and_then(|()| left_as_it_was(&case.request, &answer, before.as_deref(), file.as_deref()))
        .and_then(|()| opens_again(&case.request, &answer, file, subject));
    match checked {
        Ok(()) => Came::Held,
        Err(what) => Came::Failed(what),
    }
}

fn matches_any(group: &Group, case: &Case, answer: &Answer) -> Result<(), String> {
    let check = |outcome: &Outcome| answer::check(&case.request, outcome, &group.states, answer);
    let mut differences = Vec::new();
    for outcome in &case.expect {
        match check(outcome) {
            Ok(()) => return Ok(()),
            Err(difference) => differences.push(difference),
        }
    }
    Err(differences.join("; or "))
}

/// A reader changes nothing, and a writer nothing of a file that it refuses.
fn left_as_it_was(
    request: &Request,
    answer: &Answer,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
) -> Result<(), String> {
    let may_write = matches!(request, Request::OpenWrite { .. }) && matches!(answer, Answer::State(_));
    if may_write || before == after {
        return Ok(());
    }
    Err("the file was changed".to_owned())
}

/// What a writer left behind opens to what it said.
fn opens_again(
    request: &Request,
    answer: &Answer,
    file: Option<Vec<u8>>,
    subject: &mut dyn Subject,
) -> Result<(), String> {
    let (Request::OpenWrite { file: described }, Answer::State(said), Some(mut file)) =
        (request, answer, file)
    else {
        return Ok(());
    };
    let reopened = Request::Open { file: described.clone() };
    match subject.ask(&reopened, Some(&mut file)) {
        Ok(Answer::State(mut found)) => {
            // An opening takes an incarnation, whose first frame is a commit of its own.
            found.lsn = said.lsn.clone();
            answer::same_state(said, &found).map_err(|difference| format!("opened again: {difference}"))
        }
        Ok(other) => Err(format!("opened again: found {other:?}")),
        Err(trouble) => Err(format!("opened again: {trouble}")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::case::{File, Verdict};
    use crate::subject::Trouble;

    /// Says `incomplete` to whatever it is asked, and does something to the file.
    struct Vandal(fn(&mut Vec<u8>));

    impl Subject for Vandal {
        fn ask(&mut self, _: &Request, file: Option<&mut Vec<u8>>) -> Result<Answer, Trouble> {
            if let Some(file) = file {
                (self.0)(file);
            }
            Ok(Answer::Incomplete)
        }
    }

    fn came(request: Request, expect: Vec<Outcome>, harm: fn(&mut Vec<u8>)) -> Came {
        let case = Case {
            id: 1,
            name: "a case".into(),
            result: Verdict::Invalid,
            clauses: Vec::new(),
            flags: Vec::new(),
            request,
            expect,
        };
        let group = Group {
            format: "3.0".into(),
            group: "test".into(),
            about: String::new(),
            notes: BTreeMap::new(),
            states: BTreeMap::new(),
            cases: Vec::new(),
        };
        let vectors = Vectors { version: "3.0".into(), groups: Vec::new(), bases: BTreeMap::new() };
        run_case(&vectors, &group, &case, &mut Vandal(harm))
    }

    fn file() -> File {
        File { base: None, length: Some(10), patch: Vec::new() }
    }

    #[test]
    fn any_of_the_right_outcomes_will_do_and_no_other() {
        let open = || Request::Open { file: file() };
        assert_eq!(
            came(open(), vec![Outcome::NotHolotype(true), Outcome::Incomplete(true)], |_| ()),
            Came::Held
        );
        assert!(matches!(came(open(), vec![Outcome::NotHolotype(true)], |_| ()), Came::Failed(_)));
        assert!(matches!(came(open(), Vec::new(), |_| ()), Came::Failed(_)));
    }

    #[test]
    fn a_right_answer_does_not_excuse_a_changed_file() {
        for request in [Request::Open { file: file() }, Request::OpenWrite { file: file() }] {
            let came = came(request, vec![Outcome::Incomplete(true)], |file| file[3] = 1);
            assert_eq!(came, Came::Failed("the file was changed".into()));
        }
    }
}
