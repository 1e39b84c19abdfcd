//! Anomalies by their names, each beside the history like it that is none.

use super::*;

use Answer::{Done, Taken, Twice};

#[test]
fn a_read_that_begins_behind_a_put_sees_it() {
    let put = || Told::default().call(0, [0, 1], Op::Put(key(1), 5), Done);
    put().call(1, [2, 3], Op::Get(key(1)), found(5, 1)).is_explained();
    // A stale read.
    put().call(1, [2, 3], Op::Get(key(1)), found(10, 0)).is_not_explained();
}

#[test]
fn a_read_beside_a_put_sees_it_or_not_but_the_next_one_does_not_go_back() {
    let put = || Told::default().call(0, [0, 9], Op::Put(key(1), 5), Done);
    let (old, new) = (|| found(10, 0), || found(5, 1));
    let reads = |first, second| {
        put().call(1, [1, 2], Op::Get(key(1)), first).call(2, [3, 4], Op::Get(key(1)), second)
    };
    reads(old(), old()).is_explained();
    reads(old(), new()).is_explained();
    reads(new(), new()).is_explained();
    reads(new(), old()).is_not_explained();
}

#[test]
fn of_two_increments_one_sees_the_other() {
    let both = |seen| {
        let first = Told::default().call(0, [0, 3], Op::Increment(key(1)), found(10, 0));
        first.call(1, [1, 2], Op::Increment(key(1)), seen)
    };
    both(found(11, 1)).is_explained();
    // A lost update.
    both(found(10, 0)).is_not_explained();
}

#[test]
fn of_two_updates_neither_is_lost() {
    let both = |n, by| {
        let first = Told::default().call(0, [0, 3], Op::Add(key(1), 2), Answer::Was(true));
        let second = first.call(1, [1, 2], Op::AddToMany(10, 3), Answer::Count(2));
        second.call(2, [4, 5], Op::Get(key(1)), found(n, by))
    };
    both(15, 1).is_explained();
    both(15, 2).is_explained();
    // The second read the document before the first had changed it.
    both(13, 2).is_not_explained();
}

#[test]
fn a_change_of_many_is_of_one_state() {
    let both = |was, count| {
        let add = Told::default().call(0, [0, 3], Op::Add(key(1), 2), Answer::Was(was));
        add.call(1, [1, 2], Op::DeleteMany(12), Answer::Count(count))
    };
    both(true, 1).is_explained();
    both(false, 2).is_explained();
    // One document was chosen before the other call, and taken away after it.
    both(true, 2).is_not_explained();
}

#[test]
fn two_transactions_do_not_spend_the_same_twice() {
    let spend = |from, beside| Op::Spend { from: key(from), beside: key(beside), amount: 15 };
    let (ten, left) = (Some(doc(10, 0)), Some(doc(-5, 1)));
    let both = |seen| {
        let first = Told::default().call(0, [0, 3], spend(1, 2), Answer::FoundBoth([ten, ten]));
        first.call(1, [1, 2], spend(2, 1), Answer::FoundBoth(seen))
    };
    both([ten, left]).is_explained();
    // Write skew: each read a snapshot from before the other.
    both([ten, ten]).is_not_explained();
}

#[test]
fn a_transfer_shows_whole_or_not_at_all() {
    let ten = Some(doc(10, 0));
    let transfer = Op::Transfer { from: key(1), to: key(2), amount: 4 };
    let seen = |entries: &[(i64, i64, u32)]| {
        let transfer = Told::default().call(0, [0, 9], transfer.clone(), Answer::FoundBoth([ten, ten]));
        transfer.call(1, [1, 2], Op::Snapshot, all(entries))
    };
    seen(&[(1, 10, 0), (2, 10, 0)]).is_explained();
    seen(&[(1, 6, 1), (2, 14, 1)]).is_explained();
    seen(&[(1, 6, 1), (2, 10, 0)]).is_not_explained();
}

#[test]
fn a_snapshot_is_not_older_than_its_taking() {
    let put = || Told::default().call(0, [0, 1], Op::Put(key(1), 5), Done);
    put().call(1, [2, 3], Op::Snapshot, all(&[(1, 5, 1), (2, 10, 0)])).is_explained();
    put().call(1, [2, 3], Op::Snapshot, all(&[(1, 10, 0), (2, 10, 0)])).is_not_explained();
}

#[test]
fn two_scans_agree_on_the_order_of_two_puts() {
    let scans = |second: &[(i64, i64, u32)]| {
        let puts = Told::default().call(0, [0, 9], Op::Put(key(1), 5), Done);
        let puts = puts.call(1, [1, 8], Op::Put(key(2), 6), Done);
        puts.call(2, [2, 3], Op::Scan, all(&[(1, 5, 1), (2, 10, 0)])).call(3, [2, 3], Op::Scan, all(second))
    };
    scans(&[(1, 5, 1), (2, 6, 2)]).is_explained();
    // The long fork of parallel snapshot isolation.
    scans(&[(1, 10, 0), (2, 6, 2)]).is_not_explained();
}

#[test]
fn a_refusal_is_about_what_others_can_see() {
    let refused = || {
        let insert = Told::default().pending(0, 0, Op::InsertWithKey(key(7), 1));
        insert.call(1, [1, 2], Op::InsertWithKey(key(7), 2), Taken)
    };
    refused().call(1, [3, 4], Op::Get(key(7)), found(1, 1)).is_explained();
    // The refusal rested on a commit that is not visible.
    refused().call(1, [3, 4], Op::Get(key(7)), Answer::Found(None)).is_not_explained();
}

#[test]
fn no_id_is_given_twice() {
    let inserts = |second| {
        let first = Told::default().call(0, [0, 3], Op::Insert(1), Answer::Key(key(3)));
        first.call(1, [1, 2], Op::Insert(1), Answer::Key(key(second)))
    };
    inserts(4).is_explained();
    inserts(3).is_not_explained();
}

#[test]
fn what_is_rolled_back_shows_inside_only() {
    let roll_back = |shown: &[(i64, i64, u32)]| {
        let inside = all(&[(1, 5, 1), (2, 10, 0)]);
        let roll_back = Told::default().call(0, [0, 9], Op::RollBack(vec![(key(1), 5)]), inside);
        roll_back.call(1, [1, 2], Op::Scan, all(shown))
    };
    roll_back(&[(1, 10, 0), (2, 10, 0)]).is_explained();
    roll_back(&[(1, 5, 1), (2, 10, 0)]).is_not_explained();
}

#[test]
fn a_call_that_did_not_return_may_have_taken_effect_or_not() {
    let pending = || Told::default().pending(0, 2, Op::Put(key(1), 5));
    pending().call(1, [3, 4], Op::Get(key(1)), found(10, 0)).is_explained();
    pending().call(1, [3, 4], Op::Get(key(1)), found(5, 1)).is_explained();
    // But not before it was invoked.
    pending().call(1, [0, 1], Op::Get(key(1)), found(5, 1)).is_not_explained();
}

#[test]
fn commits_take_effect_in_the_order_of_their_places() {
    let puts = |first, second| {
        let puts = Told::default().call(0, [0, 5], Op::Put(key(1), 5), Done).at_lsn(first);
        let puts = puts.call(1, [1, 6], Op::Put(key(1), 6), Done).at_lsn(second);
        puts.call(2, [7, 8], Op::Get(key(1)), found(6, 2))
    };
    puts(1, 2).is_explained();
    puts(2, 1).is_not_explained();
}

#[test]
fn what_was_shown_of_a_synced_commit_is_there_after_a_power_cut() {
    let (before, after) = (all(&[(1, 10, 0), (2, 10, 0)]), all(&[(1, 5, 1), (2, 10, 0)]));
    // The put has not returned, but a reader has.
    let shown = |class| {
        let put = Told::default().push(0, class, 0, Op::Put(key(1), 5), None);
        put.call(1, [1, 2], Op::Get(key(1)), found(5, 1))
    };
    shown(Durability::Synced).call(2, [3, 4], Op::Cut, after).is_explained();
    shown(Durability::Synced).call(2, [3, 4], Op::Cut, before.clone()).is_not_explained();
    shown(Durability::Written).call(2, [3, 4], Op::Cut, before).is_explained();
}

#[test]
fn a_power_cut_leaves_no_hole() {
    let cut = |entries: &[(i64, i64, u32)]| {
        let puts = Told::default().buffered(0, [0, 1], Op::Put(key(1), 5), Done);
        puts.buffered(0, [2, 3], Op::Put(key(2), 6), Done).call(0, [4, 5], Op::Cut, all(entries))
    };
    cut(&[(1, 10, 0), (2, 10, 0)]).is_explained();
    cut(&[(1, 5, 1), (2, 10, 0)]).is_explained();
    cut(&[(1, 5, 1), (2, 6, 2)]).is_explained();
    cut(&[(1, 10, 0), (2, 6, 2)]).is_not_explained();
}

#[test]
fn what_lies_in_front_of_a_synced_commit_or_a_flush_is_durable() {
    let before = || all(&[(1, 10, 0), (2, 10, 0)]);
    let put = || Told::default().buffered(0, [0, 1], Op::Put(key(1), 5), Done);
    put().call(0, [2, 3], Op::Cut, before()).is_explained();
    put().call(0, [2, 3], Op::Flush, Done).call(0, [4, 5], Op::Cut, before()).is_not_explained();
    let synced = put().call(1, [2, 3], Op::Put(key(2), 6), Done);
    synced.call(0, [4, 5], Op::Cut, all(&[(1, 10, 0), (2, 6, 2)])).is_not_explained();
    // A call that changes nothing makes nothing durable.
    let nothing = put().call(1, [2, 3], Op::Delete(key(9)), Answer::Was(false));
    nothing.call(0, [4, 5], Op::Cut, before()).is_explained();
}

#[test]
fn a_search_that_takes_too_long_says_so() {
    let told = Told::default().call(0, [0, 1], Op::Get(key(1)), found(9, 9));
    let put = told.pending(1, 0, Op::Put(key(1), 5));
    assert_eq!(checker::explain(&store(), &put.events, 0), Verdict::Undecided);
    assert_eq!(checker::explain(&store(), &put.events, 10), Verdict::Inexplicable);
}

#[test]
fn a_number_is_refused_while_another_document_has_it() {
    let told = || {
        let put = Told::default().call(0, [0, 1], Op::Put(key(1), 5), Done);
        put.call(0, [2, 3], Op::MakeUnique, Answer::Was(true))
    };
    told().call(1, [4, 5], Op::Put(key(2), 5), Twice).is_explained();
    told().call(1, [4, 5], Op::Put(key(2), 5), Done).is_not_explained();
    told().call(1, [4, 5], Op::Put(key(2), 6), Twice).is_not_explained();
    // A call of several counts by its end, and so does each call of a transaction.
    let swapped = || vec![(key(1), 10), (key(2), 5)];
    told().call(1, [4, 5], Op::PutMany(swapped()), Done).is_explained();
    told().call(1, [4, 5], Op::RollBack(swapped()), Twice).is_explained();
    told().call(1, [4, 5], Op::RollBack(swapped()), all(&[(1, 10, 3), (2, 5, 3)])).is_not_explained();
    // What is gone is free.
    let dropped = told().call(1, [4, 5], Op::DropUnique, Answer::Was(true));
    dropped.call(1, [6, 7], Op::Put(key(2), 5), Done).is_explained();
    // Both begin with one number.
    Told::default().call(0, [0, 1], Op::MakeUnique, Twice).is_explained();
}
