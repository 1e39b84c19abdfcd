------------------------------- MODULE Store -------------------------------
(* The state machine of ../machine.md, in the form that a model checker runs. Each action names the clauses that it obeys.     *)
(* A segment is one commit long, so that one number is a commit's LSN count, its address and its segment's sequence.           *)
EXTENDS Naturals, Sequences, TLC

CONSTANTS
    Keys,       \* of documents
    Places,     \* physical indexes: 1 .. Places
    Commits,    \* how many may be placed in the life of a store: a bound of the check
    Lives,      \* how many incarnations there may be: a bound of the check
    Classes,    \* of the commits that change a key: some of "Buffered", "Written", "Synced"
    Cleaning,   \* whether there are cleaning and checkpoints
    Snapshots,  \* whether readers hold snapshots
    Faults,     \* what may happen: some of "power cut", "process end", "failed sync"
    Broken      \* the rules that are left out, to show that the check misses them; {} is the store

VARIABLES
    mode,       \* "down", "found" (log read), "settled" (and synced), "open", "stopped"
    log,        \* every commit in the order of the log, those whose places are written again included
    written,    \* log[1 .. written] is with the operating system
    durable,    \* log[1 .. durable] is known to be durable: what the store believes
    visible,    \* log[1 .. visible] is what readers see
    syncing,    \* what the sync under way was begun for; 0: none is
    incarnation,
    slots,      \* <<A, B>>, as the last sync left them
    pending,    \* the slot write that no sync has covered, or NoWrite
    at,         \* what stands at each place
    job,        \* the checkpoint that is being written, or NoJob
    snapshot,   \* the commit whose state a reader holds; NoSnapshot: nobody does
    \* What follows is no part of a store. It is the truth about the medium, and what was promised to callers.
    safe,       \* log[1 .. safe] survives a power cut
    holed,      \* a sync has failed in this life: the medium may lack what it was to bring
    batch,      \* what was durable when the last sync that returned success was begun
    promised,   \* log[1 .. promised] was acknowledged durable
    handed,     \* log[1 .. handed] was acknowledged written
    used        \* the incarnations of earlier lives in which commits may have been placed

store  == <<log, written, durable, visible, syncing, incarnation, slots, pending, at, job, snapshot>>
truth  == <<safe, holed, batch, promised, handed, used>>
vars   == <<mode, store, truth>>

Obeyed(rule) == rule \notin Broken
Max(a, b)    == IF a > b THEN a ELSE b
SetMax(s)    == CHOOSE x \in s : \A y \in s : y <= x

Torn         == [valid |-> FALSE]
NoWrite      == [slot |-> 0]
NoJob        == [step |-> "none"]
NoKey        == 0
NoSnapshot   == Commits + 1
Nothing      == <<"nothing", 0>>

-----------------------------------------------------------------------------
(* Versions and addresses *)

RECURSIVE Version(_), Index(_, _, _)

\* The LSN of the version that stands at address i. A relocated one keeps its own (P-3.2).
Version(i) == IF log[i].op = "clean" THEN Version(log[i].victim) ELSE i

\* Replay of log[from + 1 .. to] over the entries `index`: key -> address, 0 for none (R-9.2, R-9.3).
Index(index, from, to) ==
    IF from = to THEN index
    ELSE LET i    == from + 1
             c    == log[i]
             next == CASE c.op = "put"    -> [index EXCEPT ![c.key] = i]
                       [] c.op = "delete" -> [index EXCEPT ![c.key] = 0]
                       [] c.op = "clean" /\ c.moves /\ index[c.key] = c.victim -> [index EXCEPT ![c.key] = i]
                       [] OTHER -> index
         IN Index(next, i, to)

Empty      == [k \in Keys |-> 0]
State(n)   == LET index == Index(Empty, 0, n) IN [k \in Keys |-> IF index[k] = 0 THEN 0 ELSE Version(index[k])]
Newest     == Index(Empty, 0, Len(log))
Readable(i) == at[log[i].place] = <<"log", i>>

\* The LSN at which segment s was freed; 0: it was not.
FreedAt(s) == LET by == {i \in 1 .. Len(log) : log[i].op = "clean" /\ log[i].victim = s}
              IN IF by = {} THEN 0 ELSE CHOOSE i \in by : TRUE

-----------------------------------------------------------------------------
(* Slots and places *)

\* What a read of slot i shows, and every value that a crash may leave there, a torn one apart.
Shown(i)  == IF pending.slot = i THEN pending.value ELSE slots[i]
Leavable  == {s \in {slots[1], slots[2]} \cup (IF pending.slot = 0 THEN {} ELSE {pending.value}) : s.valid}
\* Generations count modulo 4, so that there are finitely many states: those of two valid slots differ by one.
Next4(generation) == (generation + 1) % 4
NewestSlot == IF ~Shown(2).valid \/ (Shown(1).valid /\ Shown(1).generation = Next4(Shown(2).generation)) THEN 1 ELSE 2
OtherSlot == 3 - NewestSlot

\* A checkpoint is <<LSN, place>>; <<0, 0>> is the creation state (P-4.1).
Named(s)  == {s.newest, s.before}
AllNamed  == UNION {Named(s) : s \in Leavable}

\* Where checkpoint c has its leaf of each key, as <<LSN, place>>: in its own records or, taken over, in those of another (P-2.8).
Leaves(c) == IF c[2] = 0 THEN [k \in Keys |-> <<0, 0>>] ELSE at[c[2]][3]

\* The places that a checkpoint refers to (F-8.12, R-8.1).
Held(c)   == {c[2]} \cup (IF Obeyed("what is taken over is held") THEN {Leaves(c)[k][2] : k \in Keys} ELSE {})

\* Some snapshot has the version at address i in its state, and no other address has it.
Pinned(i) ==
    /\ snapshot # NoSnapshot
    /\ log[i].op \in {"put", "clean"}
    /\ \E k \in Keys : State(snapshot)[k] = Version(i) /\ Newest[k] # i
    /\ ~\E j \in i + 1 .. Len(log) : log[j].op = "clean" /\ log[j].moves /\ log[j].victim = i

\* P-4: what may be written where something stood before.
Free(p) ==
    /\ \A c \in (IF Obeyed("both slots before reuse") THEN AllNamed ELSE Named(Shown(NewestSlot))) : p \notin Held(c)
    /\ job.step # "none" => job.place # p
    /\ \A i \in 1 .. Len(log) : log[i].place = p /\ Readable(i) =>
        /\ FreedAt(i) # 0
        /\ Obeyed("reuse waits for checkpoints") => \A c \in AllNamed : c[1] >= FreedAt(i)        \* P-4.1
        /\ Obeyed("reuse waits for snapshots") => ~Pinned(i)                                     \* P-4.2

FreePlaces  == {p \in 1 .. Places : Free(p)}
LowestFree  == LET free == FreePlaces IN CHOOSE p \in free : \A q \in free : p <= q              \* P-4.5

-----------------------------------------------------------------------------
(* Commits *)

Room == mode = "open" /\ Len(log) < Commits /\ FreePlaces # {}

Put_(commit) ==
    LET place == LowestFree
    IN /\ log' = Append(log, commit @@ [place |-> place, says |-> durable])
       /\ at' = [at EXCEPT ![place] = <<"log", Len(log) + 1>>]

\* Clauses F-5.4, T-1.4, T-2.2: a commit takes its place. Nothing else changes.
Place(op, key, class) ==
    /\ Room
    /\ op = "delete" => Newest[key] # 0                                                          \* S-1.5
    /\ Put_([op |-> op, key |-> key, class |-> class, victim |-> 0, moves |-> FALSE])
    /\ UNCHANGED <<mode, written, durable, visible, syncing, incarnation, slots, pending, job, snapshot, truth>>

\* T-4.7: what is pending goes to the operating system.
WriteOut ==
    /\ "Written" \in Classes                              \* Where no call asks for it there are fewer orders to walk.
    /\ mode = "open" /\ written < Len(log)
    /\ written' = Len(log)
    /\ UNCHANGED <<mode, log, durable, visible, syncing, incarnation, slots, pending, at, job, snapshot, truth>>

\* R-7.1: the watermark frame where F-5.5 asks for one.
Watermark ==
    /\ Room /\ syncing = 0 /\ Len(log) > durable /\ log[Len(log)].says < durable
    /\ Put_([op |-> "watermark", key |-> NoKey, class |-> "Buffered", victim |-> 0, moves |-> FALSE])
    /\ UNCHANGED <<mode, written, durable, visible, syncing, incarnation, slots, pending, job, snapshot, truth>>

\* R-7.1, M-3.3: the hand-over, and a sync for what it handed over.
BeginSync ==
    /\ mode = "open" /\ syncing = 0 /\ Len(log) > durable
    /\ Obeyed("watermark") => log[Len(log)].says >= durable
    /\ written' = Len(log)
    /\ syncing' = Len(log)
    /\ UNCHANGED <<mode, log, durable, visible, incarnation, slots, pending, at, job, snapshot, truth>>

\* M-3.1: durable is what was handed over before the sync began (T-4.3). Whoever waits in `flush` may be told so (T-4.6).
EndSync ==
    /\ mode = "open" /\ syncing # 0
    /\ LET covered == IF Obeyed("a sync covers what came before it") THEN syncing ELSE written
       IN durable' = covered /\ promised' = Max(promised, covered)
    /\ safe' = IF holed THEN safe ELSE syncing
    /\ batch' = durable
    /\ syncing' = 0
    /\ UNCHANGED <<mode, log, written, visible, incarnation, slots, pending, at, job, snapshot, holed, handed, used>>

\* M-3.2, T-4.5: nothing of the batch is proven by this sync or by a later one, so there is no later one.
FailSync ==
    /\ "failed sync" \in Faults /\ mode = "open" /\ (syncing # 0 \/ pending.slot # 0)
    /\ mode' = IF Obeyed("a failed sync is final") THEN "stopped" ELSE mode
    /\ syncing' = 0
    /\ holed' = TRUE
    /\ UNCHANGED <<log, written, durable, visible, incarnation, slots, pending, at, job, snapshot, safe, batch, promised, handed, used>>

\* T-4.1, T-4.2: the next commit becomes visible, and its call may return.
Publish ==
    /\ mode = "open" /\ visible < Len(log)
    /\ LET n == visible + 1
           class == log[n].class
       IN /\ class = "Synced" /\ Obeyed("durable before visible") => n <= durable
          /\ class = "Written" => n <= written
          /\ visible' = n
          /\ promised' = IF class = "Synced" THEN Max(promised, n) ELSE promised
          /\ handed' = IF class = "Buffered" THEN handed ELSE Max(handed, n)
    /\ UNCHANGED <<mode, log, written, durable, syncing, incarnation, slots, pending, at, job, snapshot, safe, holed, batch, used>>

\* T-3.1
TakeSnapshot ==
    /\ Snapshots /\ mode = "open" /\ snapshot = NoSnapshot
    /\ snapshot' = visible
    /\ UNCHANGED <<mode, log, written, durable, visible, syncing, incarnation, slots, pending, at, job, truth>>

ReleaseSnapshot ==
    /\ snapshot # NoSnapshot
    /\ snapshot' = NoSnapshot
    /\ UNCHANGED <<mode, log, written, durable, visible, syncing, incarnation, slots, pending, at, job, truth>>

-----------------------------------------------------------------------------
(* Cleaning and checkpoints *)

\* P-3: a sealed segment's live record moves, and the segment is freed, in one system commit.
Clean(s) ==
    /\ Cleaning /\ Room
    /\ s < Len(log) /\ FreedAt(s) = 0 /\ Readable(s)
    /\ visible = Len(log)                                                                        \* P-3.3
    /\ job.step = "none"                                                                         \* P-2.3
    /\ LET live == \E k \in Keys : Newest[k] = s
       IN Put_([op |-> "clean", key |-> log[s].key, class |-> "Buffered", victim |-> s,
                   moves |-> live /\ Obeyed("live records move")])
    /\ UNCHANGED <<mode, written, durable, visible, syncing, incarnation, slots, pending, job, snapshot, truth>>

\* P-2.8: the older of the two that the slots name. Leaves are taken over from it and from no other.
Base == IF Obeyed("the base is the older one") THEN Shown(NewestSlot).before ELSE Shown(NewestSlot).newest

\* P-2.8: the leaf of a key that has the same entry is taken over, and every other one is written.
NewLeaves(own) ==
    LET then == Index(Empty, 0, Base[1])
    IN [k \in Keys |-> IF Newest[k] # 0 /\ then[k] = Newest[k] THEN Leaves(Base)[k] ELSE own]

\* P-2.2, P-2.3
BeginCheckpoint ==
    /\ Cleaning /\ mode = "open" /\ job.step = "none" /\ pending.slot = 0 /\ FreePlaces # {}
    /\ Len(log) > 0 /\ visible = Len(log)
    /\ job' = [step |-> "records", lsn |-> Len(log), place |-> LowestFree]
    /\ at' = [at EXCEPT ![LowestFree] = <<"unsynced", Len(log), NewLeaves(<<Len(log), LowestFree>>)>>]
    /\ UNCHANGED <<mode, log, written, durable, visible, syncing, incarnation, slots, pending, snapshot, truth>>

\* P-2.4, F-8.8: the first of the three syncs.
SyncRecords ==
    /\ mode = "open" /\ job.step = "records"
    /\ job' = [job EXCEPT !.step = "first"]
    /\ at' = IF Obeyed("records before the slot") THEN [at EXCEPT ![job.place][1] = "checkpoint"] ELSE at
    /\ UNCHANGED <<mode, log, written, durable, visible, syncing, incarnation, slots, pending, snapshot, truth>>

\* F-3.5: into the slot that is not the newest, with a generation one higher.
WriteSlot(value) ==
    pending' = [slot |-> OtherSlot, value |-> value @@
        [valid |-> TRUE, generation |-> Next4(Shown(NewestSlot).generation), durable |-> durable]]

\* P-2.4, P-2.5: the new one and the one that was the newest; then the same two once more.
NameCheckpoint ==
    /\ mode = "open" /\ job.step \in {"first", "second"} /\ pending.slot = 0
    /\ Obeyed("a checkpoint is durable before it is named") => job.lsn <= durable
    /\ LET newest == Shown(NewestSlot)
           named  == <<job.lsn, job.place>>
       IN WriteSlot([incarnation |-> incarnation, newest |-> named,
                     before |-> IF job.step = "first" THEN newest.newest ELSE newest.before])
    /\ UNCHANGED <<mode, log, written, durable, visible, syncing, incarnation, slots, at, job, snapshot, truth>>

\* P-2.4: the sync behind a slot write. It may cover more of the log; nobody is told.
SyncSlot ==
    /\ mode = "open" /\ pending.slot # 0
    /\ slots' = [slots EXCEPT ![pending.slot] = pending.value]
    /\ pending' = NoWrite
    /\ job' = IF job.step = "first" THEN [job EXCEPT !.step = "second"] ELSE NoJob
    /\ UNCHANGED <<mode, log, written, durable, visible, syncing, incarnation, at, snapshot, truth>>

-----------------------------------------------------------------------------
(* Ends and openings *)

End(k) ==
    /\ mode' = "down"
    /\ log' = SubSeq(log, 1, k)
    /\ written' = k
    /\ syncing' = 0 /\ job' = NoJob /\ snapshot' = NoSnapshot
    /\ durable' = 0 /\ visible' = 0
    /\ used' = used \cup (IF mode \in {"open", "stopped"} THEN {incarnation} ELSE {})
    /\ incarnation' = 0

\* M-2: of what no sync covered a power cut keeps what it likes; R-2 takes of that a prefix of the log. A slot tears.
\* Reopening after a failed sync is no better (S-8.4).
PowerCut ==
    /\ "power cut" \in Faults
    /\ \E k \in safe .. written : End(k) /\ safe' = k
    /\ IF pending.slot = 0 THEN slots' = slots
       ELSE \E v \in {slots[pending.slot], pending.value, Torn} : slots' = [slots EXCEPT ![pending.slot] = v]
    /\ pending' = NoWrite
    /\ at' = [p \in 1 .. Places |-> IF at[p][1] = "unsynced" THEN Nothing ELSE at[p]]
    /\ holed' = FALSE
    /\ handed' = promised
    /\ UNCHANGED <<batch, promised>>

\* S-7.2: the process ends, the operating system goes on: what was written is there, and no more durable than before.
ProcessEnd ==
    /\ "process end" \in Faults /\ mode # "down" /\ ~holed
    /\ End(written)
    /\ UNCHANGED <<slots, pending, at, safe, holed, batch, promised, handed>>

\* R-1 to R-4: the log is read. Nothing is written yet.
Recover ==
    /\ mode = "down"
    /\ \E i \in 1 .. 2 : Shown(i).valid    \* F-3.3: without one it is no store that could be opened.
    /\ Shown(NewestSlot).incarnation < Lives
    /\ mode' = "found"
    /\ UNCHANGED <<store, truth>>

\* R-5.3: what was found is made durable before anything rests on it.
Settle ==
    /\ mode = "found"
    /\ mode' = "settled"
    /\ IF Obeyed("sync what was found")
       THEN /\ safe' = Len(log)
            /\ slots' = [i \in 1 .. 2 |-> Shown(i)] /\ pending' = NoWrite
       ELSE UNCHANGED <<safe, slots, pending>>
    /\ durable' = Len(log)
    /\ UNCHANGED <<log, written, visible, syncing, incarnation, at, job, snapshot, holed, batch, promised, handed, used>>

\* R-5.4: a new incarnation, and the end of the log, into the older slot.
TakeIncarnation ==
    /\ mode = "settled" /\ incarnation = 0
    /\ LET newest == Shown(NewestSlot)
       IN /\ incarnation' = newest.incarnation + 1
          /\ WriteSlot([incarnation |-> newest.incarnation + 1, newest |-> newest.newest, before |-> newest.before])
    /\ UNCHANGED <<mode, log, written, durable, visible, syncing, slots, at, job, snapshot, truth>>

\* R-5.4, S-6.7: once the slot is durable the store answers, and places commits.
Open ==
    /\ mode = "settled" /\ incarnation # 0
    /\ mode' = "open"
    /\ IF Obeyed("incarnation before commits")
       THEN slots' = [slots EXCEPT ![pending.slot] = pending.value] /\ pending' = NoWrite
       ELSE UNCHANGED <<slots, pending>>
    /\ visible' = Len(log)
    /\ promised' = Len(log) /\ handed' = Len(log) /\ batch' = Len(log)
    /\ UNCHANGED <<log, written, durable, syncing, incarnation, at, job, snapshot, safe, holed, used>>

-----------------------------------------------------------------------------

\* R-6.2
Created(generation) ==
    [valid |-> TRUE, generation |-> generation, durable |-> 0, incarnation |-> 0, newest |-> <<0, 0>>, before |-> <<0, 0>>]

Init ==
    /\ mode = "down" /\ log = <<>> /\ written = 0 /\ durable = 0 /\ visible = 0 /\ syncing = 0 /\ incarnation = 0
    /\ slots = <<Created(0), Created(1)>> /\ pending = NoWrite
    /\ at = [p \in 1 .. Places |-> Nothing] /\ job = NoJob /\ snapshot = NoSnapshot
    /\ safe = 0 /\ holed = FALSE /\ batch = 0 /\ promised = 0 /\ handed = 0 /\ used = {}

Next ==
    \/ \E op \in {"put", "delete"}, key \in Keys, class \in Classes : Place(op, key, class)
    \/ WriteOut \/ Watermark \/ BeginSync \/ EndSync \/ FailSync \/ Publish
    \/ TakeSnapshot \/ ReleaseSnapshot
    \/ \E s \in 1 .. Len(log) : Clean(s)
    \/ BeginCheckpoint \/ SyncRecords \/ NameCheckpoint \/ SyncSlot
    \/ PowerCut \/ ProcessEnd
    \/ Recover \/ Settle \/ TakeIncarnation \/ Open

Spec == Init /\ [][Next]_vars

\* The keys are alike, so that states which differ by an exchange of them count once.
Alike == Permutations(Keys)

-----------------------------------------------------------------------------
(* Invariants *)

\* The order of the marks: T-1.4, and what the store believes is so.
Marks ==
    /\ durable <= safe /\ safe <= written /\ written <= Len(log)
    /\ visible <= Len(log)

\* Law 1 (S-7.1, S-7.2): what was promised is there. `log` only loses its end or gains one, so the rest is a prefix.
Prefix == promised <= Len(log) /\ handed <= Len(log)

\* Law 2 at this level (S-8.6, P-9.1): every version that a reader may ask for can be read where it stands.
Standing == {Version(i) : i \in {j \in 1 .. Len(log) : (log[j].op = "put" \/ log[j].moves) /\ Readable(j)}}
Found(n) == LET state == State(n) standing == Standing IN \A k \in Keys : state[k] = 0 \/ state[k] \in standing
RightAnswers == mode \in {"open", "stopped"} => Found(visible)

\* At a checkpoint's place stand its records.
IsThere(checkpoint) == at[checkpoint[2]][1] = "checkpoint" /\ at[checkpoint[2]][2] = checkpoint[1]

\* P-2.7, law 1: from every checkpoint that any slot names, and the log behind it, replay gives the same state.
Replayable(checkpoint) ==
    LET c == checkpoint[1]
    IN /\ c <= safe
       /\ c # 0 =>                                                                               \* F-8.8
            /\ IsThere(checkpoint)
            /\ \A k \in Keys : LET leaf == Leaves(checkpoint)[k]
                               IN /\ IsThere(leaf) /\ Leaves(leaf)[k] = leaf
                                  /\ Index(Empty, 0, leaf[1])[k] = Index(Empty, 0, c)[k]         \* P-2.8
       /\ \A i \in c + 1 .. Len(log) : Readable(i)
       /\ LET index == Index(Index(Empty, 0, c), c, Len(log))
              state == State(Len(log))
          IN \A k \in Keys : /\ index[k] # 0 => Readable(index[k])
                             /\ state[k] = (IF index[k] = 0 THEN 0 ELSE Version(index[k]))
EitherSuffices == \A s \in Leavable : \A c \in Named(s) : Replayable(c)

\* F-8.8: no record serves both checkpoints of a slot, so that no damage to one record meets both.
Apart == \A s \in Leavable : s.newest # s.before =>
    \A k \in Keys : s.newest[2] # 0 /\ s.before[2] # 0 => Leaves(s.newest)[k] # Leaves(s.before)[k]

\* Law 3, first half (R-4.1): no claim is above what every power cut leaves, so no legal crash looks like damage.
Claims == {0} \cup {s.durable : s \in Leavable} \cup {log[i].says : i \in 1 .. Len(log)}
NoFalseAlarm == \A claim \in Claims : claim <= safe

\* Law 3, second half (R-4.4, F-5.5): durable bytes attest everything in front of the last batch.
Witnessed == mode = "open" =>
    batch <= SetMax({0} \cup {s.durable : s \in {t \in {slots[1], slots[2]} : t.valid}} \cup {log[i].says : i \in 1 .. safe})

\* F-3.5: some slot always says where to begin.
SomeSlot ==
    /\ slots[1].valid \/ slots[2].valid
    /\ slots[1].valid /\ slots[2].valid =>
        slots[1].generation = Next4(slots[2].generation) \/ slots[2].generation = Next4(slots[1].generation)

\* Law 5 (T-3.1): a snapshot's state can be read for as long as it is held.
StableSnapshots == snapshot # NoSnapshot /\ mode \in {"open", "stopped"} => Found(snapshot)

\* Law 6, its part about durability (T-4.2): what readers see and rests on a `Synced` commit does not go back.
NothingTakenBack == \A i \in 1 .. visible : log[i].class = "Synced" => i <= safe

\* F-1.5: no LSN names two commits.
OneLsnOneCommit == mode = "open" => incarnation \notin used

(* Step properties *)

\* T-1.2: the visible state does not go back while a store is open.
Forward == [][mode = "open" /\ mode' = "open" => visible' >= visible]_vars

\* S-8.3: nothing is placed, handed over, synced or published after a failure.
StoppedStays == [][mode = "stopped" =>
    mode' = "down" \/ (mode' = mode /\ UNCHANGED <<log, written, durable, visible, slots, pending>>)]_vars
=============================================================================
