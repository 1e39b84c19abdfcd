//! Contenders take turns, so that what else the machine does falls on all of them.

use crate::failure::Result;

/// One that takes part, and what its trials showed.
pub struct Contender<T> {
    pub name: String,
    run: Box<dyn Fn() -> Result<T>>,
    pub trials: Vec<T>,
}

impl<T> Contender<T> {
    pub fn new(name: impl Into<String>, run: impl Fn() -> Result<T> + 'static) -> Self {
        Contender { name: name.into(), run: Box::new(run), trials: Vec::new() }
    }

    /// The same one, its trials seen in another way. It takes no more turns.
    pub fn map<U: 'static>(self, each: impl Fn(T) -> U) -> Contender<U> {
        let refuse = || unreachable!("its turns are over");
        Contender {
            name: self.name,
            run: Box::new(refuse),
            trials: self.trials.into_iter().map(each).collect(),
        }
    }

    /// One figure of all trials.
    pub fn spread(&self, figure: impl Fn(&T) -> f64) -> Spread {
        Spread::of(self.trials.iter().map(figure).collect())
    }
}

/// Runs `trials` trials of each. One more comes first, warms the machine up and is thrown away; where none is asked for it is kept, and
/// all there is. Each trial begins with another contender.
pub fn take_turns<T>(what: &str, contenders: &mut [Contender<T>], trials: usize) -> Result<()> {
    let count = contenders.len();
    for trial in 0..=trials {
        for turn in 0..count {
            let contender = &mut contenders[(trial + turn) % count];
            let figures = (contender.run)()?;
            if trial > 0 || trials == 0 {
                contender.trials.push(figures);
            }
        }
        eprintln!("{what}: trial {trial} of {trials}");
    }
    Ok(())
}

/// Runs `trials` trials of one by itself, none thrown away, and at least one: for figures that no other contender and no warm cache
/// bears on.
pub fn repeat<T>(contender: &mut Contender<T>, trials: usize) -> Result<()> {
    for _ in 0..trials.max(1) {
        let figures = (contender.run)()?;
        contender.trials.push(figures);
    }
    Ok(())
}

/// The median, and the least and the greatest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub median: f64,
    pub least: f64,
    pub greatest: f64,
}

impl Spread {
    fn of(mut figures: Vec<f64>) -> Self {
        assert!(!figures.is_empty(), "whoever takes part has at least one trial");
        figures.sort_by(f64::total_cmp);
        Spread { median: figures[figures.len() / 2], least: figures[0], greatest: figures[figures.len() - 1] }
    }

    /// For a cell of a table.
    pub fn cell(self) -> String {
        let digits = match self.median {
            median if median < 1.0 => 3,
            median if median < 100.0 => 1,
            _ => 0,
        };
        format!("{:.digits$} ({:.digits$} to {:.digits$})", self.median, self.least, self.greatest)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    #[test]
    fn each_trial_begins_with_another_and_the_first_is_thrown_away() {
        let order = Rc::new(RefCell::new(String::new()));
        let mut contenders = ["a", "b"].map(|name| {
            let order = Rc::clone(&order);
            Contender::new(name, move || {
                order.borrow_mut().push_str(name);
                Ok(order.borrow().len() as f64)
            })
        });
        take_turns("letters", &mut contenders, 2).unwrap();
        assert_eq!(*order.borrow(), "abbaab");
        assert_eq!(contenders[0].trials, [4.0, 5.0]);
        assert_eq!(contenders[0].spread(|figure| *figure), Spread { median: 5.0, least: 4.0, greatest: 5.0 });
    }

    #[test]
    fn where_no_trial_is_asked_for_the_one_that_warms_up_is_kept() {
        let mut contenders = [Contender::new("a", || Ok(1.0))];
        take_turns("numbers", &mut contenders, 0).unwrap();
        assert_eq!(contenders[0].trials, [1.0]);
    }

    #[test]
    fn a_failure_ends_the_run() {
        let fail = || Err(crate::failure::Failure::new("a store", "committing", "no room"));
        assert!(take_turns("failures", &mut [Contender::<()>::new("a", fail)], 1).is_err());
    }
}
