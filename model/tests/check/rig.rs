//! The toy store's disk, and its faults.

use std::cell::Cell;
use std::rc::Rc;

use holotype_model::check::{Rig, Rng};
use holotype_model::{Ending, Failure, Subject};

use crate::bug::Bug;
use crate::image::Image;
use crate::toy::{Fault, Toy};

pub(crate) struct ToyRig {
    bug: Option<Bug>,
    /// A fault comes once in so many calls, or never.
    faults_one_in: Option<usize>,
    rng: Rng,
    next_fault: Rc<Cell<Fault>>,
    fault_met: Rc<Cell<bool>>,
}

impl ToyRig {
    pub(crate) fn new(bug: Option<Bug>) -> Self {
        let (next_fault, fault_met) = (Rc::new(Cell::new(Fault::None)), Rc::new(Cell::new(false)));
        ToyRig { bug, faults_one_in: None, rng: Rng::seeded(0), next_fault, fault_met }
    }

    pub(crate) fn with_faults(bug: Option<Bug>) -> Self {
        ToyRig { faults_one_in: Some(12), ..ToyRig::new(bug) }
    }

    fn open(&mut self, image: Image) -> Result<Toy, Failure> {
        let toy = Toy::open(image)?;
        self.next_fault.set(Fault::None);
        Ok(Toy { next_fault: Rc::clone(&self.next_fault), fault_met: Rc::clone(&self.fault_met), ..toy })
    }
}

impl Rig for ToyRig {
    type Subject = Toy;

    fn fresh(&mut self) -> Result<Toy, Failure> {
        self.rng = Rng::seeded(0);
        self.open(Image::new(self.bug))
    }

    fn restart(&mut self, toy: Toy, ending: Ending, choice: u64) -> Result<Toy, Failure> {
        self.open(toy.image.end(ending, choice))
    }

    fn endings(&self) -> Vec<Ending> {
        vec![Ending::Close, Ending::Kill, Ending::PowerCut]
    }

    fn take_fault(&mut self) -> bool {
        if let Some(times) = self.faults_one_in
            && self.rng.one_in(times)
        {
            self.next_fault.set(*self.rng.pick(&[Fault::Unknown, Fault::Full]));
        }
        self.fault_met.replace(false)
    }
}
