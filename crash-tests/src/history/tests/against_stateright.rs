//! The search and stateright's `LinearizabilityTester` agree on small histories.
//!
//! The tester is no more than the judge of the judge, for it has no memory: of a contradiction in a history of twenty calls it
//! tries every interleaving, for up to thousands of times as long, and a reduction asks hundreds of times. Nor can it be told
//! what a reduction needs, a call with any answer in the middle of its thread, or that the log has an order.

use holotype_model::check::Rng;
use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};

use super::*;

impl SequentialSpec for Store {
    type Op = Call;
    type Ret = Answer;

    fn invoke(&mut self, call: &Call) -> Answer {
        self.carry_out(call)
    }
}

/// One moment of a history.
enum Moment {
    Invoke(usize, Call),
    Return(usize, Answer),
}

fn op(rng: &mut Rng) -> Op {
    let (one, other) = if rng.one_in(2) { (key(1), key(2)) } else { (key(2), key(1)) };
    let n = rng.below(9) as i64;
    match rng.below(19) {
        0 | 1 => Op::Get(one),
        2 => Op::Contains(one),
        3 | 4 => Op::Scan,
        5 | 6 => Op::Put(one, n),
        7 => Op::PutMany(vec![(one, n), (other, n)]),
        8 => Op::Insert(n),
        9 => Op::InsertWithKey(one, n),
        10 => Op::Delete(one),
        11 => Op::Transfer { from: one, to: other, amount: n },
        12 => Op::Spend { from: one, beside: other, amount: n },
        13 => Op::Increment(one),
        14 => Op::Add(one, n),
        15 => Op::AddToMany(n, 1),
        16 => Op::MakeUnique,
        17 => Op::DropUnique,
        _ => Op::DeleteMany(n),
    }
}

/// Three threads, the first few calls of each; each takes effect when it is invoked or when it returns, but now and then one is
/// answered from a state of the past.
fn moments(seed: u64) -> Vec<Moment> {
    let mut rng = Rng::seeded(seed);
    let mut states = vec![store()];
    let mut moments = Vec::new();
    let mut open: [Option<(Call, Option<Answer>)>; 3] = [None, None, None];
    let mut id = 0;
    while moments.len() < 14 {
        let thread = rng.below(3);
        let mut take_effect = |rng: &mut Rng, call: &Call| {
            let mut next = states.last().expect("there is the first one").clone();
            let answer = next.carry_out(call);
            let past = states[rng.below(states.len())].clone().carry_out(call);
            states.push(next);
            if rng.one_in(3) { past } else { answer }
        };
        match open[thread].take() {
            None => {
                id += 1;
                let call = Call { id, class: Durability::Synced, op: op(&mut rng) };
                moments.push(Moment::Invoke(thread, call.clone()));
                let answer = rng.one_in(2).then(|| take_effect(&mut rng, &call));
                open[thread] = Some((call, answer));
            }
            Some((call, answer)) => {
                let answer = answer.unwrap_or_else(|| take_effect(&mut rng, &call));
                moments.push(Moment::Return(thread, answer));
            }
        }
    }
    moments
}

fn events(moments: &[Moment]) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    for (time, moment) in (0..).zip(moments) {
        match moment {
            Moment::Invoke(thread, call) => events.push(Event {
                thread: *thread,
                call: call.clone(),
                invoked: time,
                returned: None,
                lsn: None,
            }),
            Moment::Return(thread, answer) => {
                let call = events.iter_mut().rfind(|event| event.thread == *thread);
                call.expect("it was invoked").returned = Some((time, answer.clone()));
            }
        }
    }
    events
}

fn tester(moments: &[Moment]) -> LinearizabilityTester<usize, Store> {
    let mut tester = LinearizabilityTester::new(store());
    for moment in moments {
        let result = match moment {
            Moment::Invoke(thread, call) => tester.on_invoke(*thread, call.clone()),
            Moment::Return(thread, answer) => tester.on_return(*thread, answer.clone()),
        };
        result.expect("calls and returns take turns");
    }
    tester
}

/// An explanation is one: every answer is right in its order.
fn holds(events: &[Event], order: &[usize]) -> bool {
    let mut state = store();
    order.iter().all(|index| {
        let right = state.carry_out(&events[*index].call);
        events[*index].returned.as_ref().is_none_or(|(_, answer)| *answer == right)
    })
}

#[test]
fn the_search_agrees_with_stateright_on_small_histories() {
    let (mut explained, mut inexplicable) = (0, 0);
    for seed in 0..3000 {
        let moments = moments(seed);
        let events = events(&moments);
        match checker::explain(&store(), &events, checker::STATES_MAX) {
            Verdict::Explained(order) => {
                assert!(holds(&events, &order), "seed {seed}");
                assert!(
                    tester(&moments).is_consistent(),
                    "seed {seed}: only this search explains {events:#?}"
                );
                explained += 1;
            }
            verdict => {
                assert_eq!(verdict, Verdict::Inexplicable);
                assert!(!tester(&moments).is_consistent(), "seed {seed}: stateright explains {events:#?}");
                inexplicable += 1;
            }
        }
    }
    assert!(explained > 500 && inexplicable > 500, "{explained} of one kind, {inexplicable} of the other");
}
