//! Reducing a list that fails to a short one that fails as well.
//!
//! Delta debugging (Zeller and Hildebrandt, 2002) in its plain form: take away halves, quarters and so on down to single
//! items, for as long as that helps; then take away items that belong together wherever they stand; then put simpler items in
//! place of what is left; then begin again with single items, since a simpler item may need less beside it.

/// An item that has smaller forms.
pub trait Simplify: Sized {
    /// Smaller forms, the smallest first. Following them must come to an end.
    fn simpler(&self) -> Vec<Self>;

    /// Shorter lists, without items that are of use only together. None where each item stands for itself.
    fn shorter(_items: &[Self]) -> Vec<Vec<Self>> {
        Vec::new()
    }
}

/// A reduction in progress: at each moment a list to be tried.
#[derive(Debug, Clone)]
pub struct Reduction<T> {
    items: Vec<T>,
    /// The last list that failed, while another one is tried in its place.
    failing: Option<Vec<T>>,
    stage: Stage,
    /// The first item that is taken away or simplified next.
    at: usize,
}

#[derive(Debug, Clone)]
enum Stage {
    /// Taking away `chunk` items at a time; `helped` when one was of no account in this pass.
    Remove { chunk: usize, helped: bool },
    /// Trying the `form`-th shorter list; `helped` when one was taken.
    Shorten { form: usize, helped: bool },
    /// Trying the `form`-th simpler form of each item; `helped` when one was taken in this pass.
    Simplify { form: usize, helped: bool },
}

/// The shortest list found that still fails; `items` itself must fail.
pub fn minimise<T: Simplify + Clone>(items: Vec<T>, mut fails: impl FnMut(&[T]) -> bool) -> Vec<T> {
    let mut reduction = Reduction::new(items);
    while reduction.advance() {
        if !fails(reduction.current()) {
            reduction.reject();
        }
    }
    reduction.items
}

impl<T: Simplify + Clone> Reduction<T> {
    /// Begins with a list that fails.
    pub fn new(items: Vec<T>) -> Self {
        let chunk = items.len().div_ceil(2).max(1);
        Reduction { items, failing: None, stage: Stage::Remove { chunk, helped: false }, at: 0 }
    }

    /// The list to be tried; at the end, the shortest that failed.
    pub fn current(&self) -> &[T] {
        &self.items
    }

    /// Makes a smaller list to be tried, the current one having failed. False when there is none.
    pub fn advance(&mut self) -> bool {
        if self.failing.take().is_some() {
            self.accepted();
        }
        loop {
            match self.stage {
                Stage::Remove { chunk, .. } if self.at < self.items.len() => {
                    self.failing = Some(self.items.clone());
                    let end = self.items.len().min(self.at + chunk);
                    self.items.drain(self.at..end);
                    return true;
                }
                Stage::Remove { chunk, helped } => self.end_removal(chunk, helped),
                Stage::Shorten { form, helped } => match T::shorter(&self.items).into_iter().nth(form) {
                    Some(shorter) => {
                        assert!(shorter.len() < self.items.len(), "or the reduction need not end");
                        self.failing = Some(std::mem::replace(&mut self.items, shorter));
                        return true;
                    }
                    None if helped => self.stage = Stage::Remove { chunk: 1, helped: false },
                    None => self.stage = Stage::Simplify { form: 0, helped: false },
                },
                Stage::Simplify { form, helped } if self.at < self.items.len() => {
                    if let Some(simpler) = self.items[self.at].simpler().into_iter().nth(form) {
                        self.failing = Some(self.items.clone());
                        self.items[self.at] = simpler;
                        return true;
                    }
                    self.stage = Stage::Simplify { form: 0, helped };
                    self.at += 1;
                }
                Stage::Simplify { helped: true, .. } => {
                    self.at = 0;
                    self.stage = Stage::Remove { chunk: 1, helped: false };
                }
                Stage::Simplify { helped: false, .. } => return false,
            }
        }
    }

    /// Goes back to the last list that failed, the current one having passed.
    ///
    /// # Panics
    ///
    /// If no list is being tried.
    pub fn reject(&mut self) {
        self.items = self.failing.take().expect("a list is rejected after it was tried");
        match &mut self.stage {
            Stage::Remove { chunk, .. } => self.at += *chunk,
            Stage::Shorten { form, .. } | Stage::Simplify { form, .. } => *form += 1,
        }
    }

    /// Whether a list is being tried.
    pub fn is_trying(&self) -> bool {
        self.failing.is_some()
    }

    fn accepted(&mut self) {
        match &mut self.stage {
            // What followed the items taken away has moved up to their place.
            Stage::Remove { helped, .. } => *helped = true,
            Stage::Shorten { form, helped } | Stage::Simplify { form, helped } => {
                (*form, *helped) = (0, true);
            }
        }
    }

    fn end_removal(&mut self, chunk: usize, helped: bool) {
        self.at = 0;
        self.stage = match (chunk, helped) {
            (1, false) => Stage::Shorten { form: 0, helped: false },
            (1, true) => Stage::Remove { chunk: 1, helped: false },
            _ => Stage::Remove { chunk: chunk.div_ceil(2), helped: false },
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Simplify for u32 {
        fn simpler(&self) -> Vec<u32> {
            if *self == 0 { Vec::new() } else { vec![0, self / 2, self - 1] }
        }
    }

    #[test]
    fn only_what_makes_it_fail_is_left_in_its_smallest_form() {
        let fails = |items: &[u32]| {
            let first = items.iter().position(|item| *item >= 70);
            first.is_some_and(|first| items[first..].iter().any(|item| (5..20).contains(item)))
        };
        assert_eq!(minimise((0..100).rev().collect(), fails), [70, 5]);
    }

    #[test]
    fn an_item_that_only_a_larger_one_needed_goes_with_its_simplification() {
        // A 9 needs company, a 4 does not.
        let fails = |items: &[u32]| items.contains(&4) || (items.contains(&9) && items.len() > 2);
        assert_eq!(minimise(vec![9, 1, 1], fails), [4]);
    }

    #[test]
    fn a_list_that_fails_even_empty_becomes_empty() {
        assert_eq!(minimise(vec![1_u32, 2, 3], |_| true), Vec::<u32>::new());
    }

    #[test]
    fn a_list_of_which_nothing_can_go_stays() {
        assert_eq!(minimise(vec![0_u32; 7], |items| items.len() == 7), vec![0; 7]);
    }

    #[test]
    fn sixty_items_take_few_tries() {
        let mut tries = 0;
        let found = minimise((0..60).collect(), |items: &[u32]| {
            tries += 1;
            items.contains(&0) && items.contains(&59)
        });
        assert_eq!(found.len(), 2);
        assert!(tries < 100, "{tries} tries");
    }
}
