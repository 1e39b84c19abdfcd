"""What of the log counts, what is cut, what is damaged (`recovery.md`)."""

from dataclasses import dataclass

from coding import Bad, Cursor
from layout import NONE, OPENED, OPENING, SEGMENTS, SLOT_AT, SYSTEM, UNKNOWN, WATERMARK
from layout import Header, Image, Refused, Segment, corrupt, lsn_text, newer, newest_slot, place
from layout import known, step_over_optional, up
from state import Store


@dataclass
class End:
    """How far the log is accepted (R-1.1): L, the segment q, X, and the base of the stretch (F-6.2)."""

    lsn: int
    segment: Segment
    at: int
    base: int
    stretch: int = 0  # the incarnation that the base is for


class Recovery:
    def __init__(self, data):
        self.slot = newest_slot(data)
        self.image = Image(data, self.slot)
        self.store = Store()
        self.log = []  # what was accepted: (frame, base, records)
        self.end = None

    def run(self):
        slot, image = self.slot, self.image
        needed = max(slot.file_len, SEGMENTS + 1)
        if len(image.data) < needed:  # F-2.3
            raise corrupt("R-4.1", len(image.data), f"the file ends before its {needed} bytes")
        if slot.checkpoints[0]:
            raise Refused("not supported", "F-8", SLOT_AT[slot.index] + 384, "checkpoint not supported")
        segment = image.segment(0, 0)
        segment.header = segment.header or Header(0, 0, 0, 0, 1, 2)  # F-4.5: what it was, if it is damaged
        self.end = End(0, segment, image.sector, segment.header.first & NONE)
        while commit := self.next_commit():
            self.accept(commit)
        self.dead_end()
        return self

    # what continues the log

    def next_commit(self):
        """The frames of the commit that follows, with the base of each, or None."""
        found = []
        for frame in self.candidates(self.end, self.follows):
            records = self.image.records(frame)
            if records is None or frame.lsn >> 32 > self.end.lsn >> 32 and not self.names_end(frame, records):
                continue
            found.append((frame, records))
        for frame, records in sorted(found, key=lambda pair: -(pair[0].lsn >> 32)):
            if commit := self.parts(frame, records):  # a missing part leaves the others
                return commit
        return None

    def follows(self, frame):  # what the opening record names is looked at behind this
        if frame.part:
            return False
        if frame.lsn >> 32 == self.end.lsn >> 32:
            return frame.lsn == self.end.lsn + 1 and self.end.lsn > 0  # incarnation 0 has no commits
        opens = bool(frame.flags & OPENING) and frame.last and frame.lsn & NONE == 1
        return opens and frame.lsn >> 32 > self.end.lsn >> 32

    def names_end(self, frame, records):
        end = self.end
        try:
            named = self.opening_record(frame, records)
        except Bad as bad:
            at = self.image.start(frame.segment.index) + frame.at
            raise corrupt(bad.clause, at, f"an opening record: {bad}") from None
        return named == (end.lsn, end.segment.sequence * self.image.size + end.at)

    def opening_record(self, frame, records):
        """L and X of a valid opening frame (F-6.5), if there are; what else is wrong with it shows in `accept`."""
        if not records:
            return None
        cursor = Cursor(self.image.slice(frame.segment, *records[0]), 4)
        kind, flags = cursor.take(2)
        known(kind, flags, self.image.start(frame.segment.index) + records[0][0])
        if kind != OPENED:
            return None
        for _ in ("length", "collection", "commit"):
            cursor.varint()
        step_over_optional(cursor, flags)
        return cursor.fixed(8), cursor.fixed(8)

    def candidates(self, end, wanted):
        """The frames in the places of R-2.1 whose headers are right and wanted."""
        image, segment = self.image, end.segment
        places = [(segment, place(end.at, image.sector))]
        if up(end.at, image.sector) != places[0][1]:
            places.append((segment, up(end.at, image.sector)))
        for successor in self.successors(segment):
            if successor.header.prev_end == end.at:
                places.append((successor, image.sector))
        for segment, at in places:
            frame = image.frame_header(segment, at)
            if not frame or not wanted(frame):
                continue
            if segment is not end.segment and segment.header.first != frame.lsn:
                continue
            if frame.flags & UNKNOWN:  # F-5.7
                raise newer("F-5.7", image.start(segment.index) + at, f"frame flags {frame.flags:#06x}")
            yield frame

    def successors(self, segment):
        if segment.header.next != NONE:
            indexes = [segment.header.next]
        else:
            indexes = self.image.indexes()
        found = (self.image.segment(index, segment.sequence + 1) for index in indexes)
        return [successor for successor in found if successor.header]

    def parts(self, frame, records):
        commit, end = [], self.end
        while True:
            end = self.behind(end, frame)
            commit.append((frame, records, end))
            if frame.last:
                return commit
            part = len(commit)
            following = self.candidates(end, lambda f: f.lsn == frame.lsn and f.part == part)
            pairs = ((f, self.image.records(f)) for f in following)
            frame, records = next(((f, r) for f, r in pairs if r is not None), (None, None))
            if frame is None:
                return None

    def behind(self, end, frame):
        base, stretch = end.base, end.stretch  # F-6.2
        if frame.lsn >> 32 != stretch:
            base, stretch = frame.lsn & NONE, frame.lsn >> 32
        if frame.segment is not end.segment:
            base = frame.segment.header.first & NONE
        return End(frame.lsn, frame.segment, frame.end, base, stretch)

    def accept(self, commit):
        first = commit[0][0]
        at = self.image.start(first.segment.index) + first.at
        if any(frame.flags != first.flags for frame, _, _ in commit):
            raise corrupt("F-5.8", at, "the parts of a commit have different flags")
        records = []
        for frame, places, end in commit:
            parsed = [self.image.record(frame, *where, end.base) for where in places]
            self.log.append((frame, end.base, parsed))
            records += [record for record in parsed if record]
        opens = bool(first.flags & OPENING)
        if any((record.kind == OPENED) != opens for record in records) or opens and len(records) > 1:
            raise corrupt("F-6.5", at, "an opening record elsewhere, or not alone")
        if first.flags & WATERMARK and (records or not first.flags & SYSTEM):
            raise corrupt("F-5.5", at, "a watermark frame with records")
        self.store.replay(records)
        self.end = commit[-1][2]

    # where nothing follows

    def dead_end(self):
        claim, by, at = max(self.claims())
        if claim > self.end.lsn:
            broken = self.image.start(self.end.segment.index) + self.end.at
            what = f"the log ends at {lsn_text(self.end.lsn)}, and {by} at offset {at} claims {lsn_text(claim)}"
            raise corrupt("R-4.1", broken, what)

    def claims(self):
        yield self.slot.durable, "the slot", SLOT_AT[self.slot.index]
        yield from self.claims_in(self.end.segment, self.end.at)
        for chain in self.chains():
            for segment in chain:
                if segment.header and segment.header.first >> 32 >= self.slot.incarnation:
                    yield segment.header.durable, "the segment header", self.image.start(segment.index)
                yield from self.claims_in(segment, self.image.sector)

    def chains(self):
        segment = self.end.segment
        if segment.header.next != NONE:
            yield self.chain(segment)
            return
        for successor in self.successors(segment):
            yield [successor, *self.chain(successor)]

    def chain(self, segment):
        """The segments behind this one, whose header is valid."""
        found = []
        while True:
            named = (segment.header.next, segment.header.after)
            for steps, index in enumerate(named, 1):
                if index == NONE or self.image.length(index) == 0:
                    return found
                successor = self.image.segment(index, segment.sequence + steps)
                found.append(successor)
                if successor.header:
                    break
            else:
                return found
            segment = successor

    def claims_in(self, segment, start):
        for at in range(up(start, 8), self.image.length(segment.index), 8):
            frame = self.image.frame_header(segment, at)
            if not frame or frame.lsn >> 32 < self.slot.incarnation or frame.flags & UNKNOWN:
                continue
            if segment.header and frame.lsn < segment.header.first:
                continue
            offset = self.image.start(segment.index) + at
            yield frame.states, "the frame", offset
            records = self.image.records(frame) if frame.flags & OPENING else None
            if records is not None:
                try:
                    named = self.opening_record(frame, records)
                except (Bad, Refused):
                    named = None
                if named:
                    yield named[0], "the opening frame", offset
