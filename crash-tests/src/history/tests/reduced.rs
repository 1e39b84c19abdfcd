//! What is said of a contradiction.

use super::*;
use crate::history::explain::judge;
use crate::history::record::History;

fn said(told: Told, cuts: Vec<Event>) -> String {
    judge(&initial(), &History { events: told.events, cuts, snapshots_read: 0 })
        .expect_err("it is a contradiction")
        .to_string()
}

#[test]
fn only_what_contradicts_is_said_one_line_a_call() {
    let told = Told::default()
        .call(0, [0, 1], Op::Put(key(2), 3), Answer::Done)
        .call(1, [2, 3], Op::Get(key(2)), found(3, 1))
        .call(0, [4, 6], Op::Put(key(1), 5), Answer::Done)
        .call(1, [5, 7], Op::Scan, all(&[(1, 10, 0), (2, 3, 1)]))
        .call(2, [8, 9], Op::Get(key(1)), found(10, 0))
        .call(1, [10, 11], Op::Delete(key(1)), Answer::Was(true))
        .call(2, [12, 13], Op::Get(key(1)), Answer::Found(None));
    let expected = "\
no order of these calls explains what they were answered:
  at first                 1 = 10 by #0, 2 = 10 by #0
  thread 0 at   4 to   6  #3   put 1 = 5 (Synced): done
  thread 2 at   8 to   9  #5   get 1: 10 by #0
nor do these help, if and whenever they took effect:
  thread 0 from   0 on    #1   put 2 = 3 (Synced)
";
    assert_eq!(said(told, vec![]), expected);
}

#[test]
fn a_cut_is_judged_by_what_had_returned_when_it_was_over() {
    let cut = |entries| {
        let call = Call { id: 9, class: Durability::Synced, op: Op::Cut };
        Event { thread: 2, call, invoked: 3, returned: Some((4, all(entries))), lsn: None }
    };
    let put = Told::default().call(0, [0, 9], Op::Put(key(1), 5), Answer::Done);
    // The disk had the commit before a reader could see it.
    let early = put.call(1, [5, 6], Op::Get(key(1)), found(10, 0));
    let history = History {
        events: early.events.clone(),
        cuts: vec![cut(&[(1, 5, 1), (2, 10, 0)])],
        snapshots_read: 0,
    };
    judge(&initial(), &history).expect("the commit became visible later");

    let put = Told::default().call(0, [0, 9], Op::Put(key(1), 5), Answer::Done);
    let late = put.call(1, [1, 2], Op::Get(key(1)), found(5, 1));
    let expected = "\
no order of these calls explains what they were answered:
  at first                 1 = 10 by #0, 2 = 10 by #0
  thread 1 at   1 to   2  #2   get 1: 5 by #1
  thread 2 at   3 to   4  #9   power cut, open, scan: 1 = 10 by #0, 2 = 10 by #0
nor do these help, if and whenever they took effect:
  thread 0 from   0 on    #1   put 1 = 5 (Synced)
";
    assert_eq!(said(late, vec![cut(&[(1, 10, 0), (2, 10, 0)])]), expected);
}
