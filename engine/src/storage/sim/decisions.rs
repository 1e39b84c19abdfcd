//! Who settles what a crash left: a path of choices that an explorer backtracks over, or a seed.

/// What a choice was about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    /// What the sector of this index holds, or, at [`Level::Pages`](super::Level::Pages), the page. One sector can be
    /// decided in several steps, if a search had to know only a part.
    Sector(u64),
    /// The length of the file.
    Length,
    /// Whether the file is in its directory at all.
    Name,
    /// How many of the writes since the last sync persisted, at [`Level::Prefix`](super::Level::Prefix).
    Prefix,
}

/// One choice that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decision {
    /// Which: 0 is the oldest bytes or length, the last one the newest. Of a name, 0 is that it is lost.
    pub choice: u32,
    /// Among how many, at least two.
    pub alternatives: u32,
    /// About what.
    pub what: What,
}

/// Takes the choices of a disk, and keeps a record of them.
#[derive(Debug, Clone)]
pub struct Decisions {
    source: Source,
    taken: Vec<Decision>,
}

#[derive(Debug, Clone)]
enum Source {
    Path(Vec<u32>),
    Seeded(Seeded),
}

impl Decisions {
    /// These choices in turn, then always the first.
    pub fn path(choices: Vec<u32>) -> Self {
        Decisions { source: Source::Path(choices), taken: Vec::new() }
    }

    /// Choices by a seed. Every second crash meets a corner (nothing persisted, everything, all but one sector, only
    /// the last write), the others settle each thing at random.
    pub fn seeded(seed: u64) -> Self {
        let seeded = Seeded { state: seed, corner: Corner::Random };
        Decisions { source: Source::Seeded(seeded), taken: Vec::new() }
    }

    /// The choices taken so far.
    pub fn taken(&self) -> &[Decision] {
        &self.taken
    }

    /// The path that takes the choices taken so far again.
    pub fn taken_path(&self) -> Vec<u32> {
        self.taken.iter().map(|decision| decision.choice).collect()
    }

    /// A crash has left these sectors open.
    pub(super) fn begin_crash(&mut self, unread: &[u64]) {
        if let Source::Seeded(seeded) = &mut self.source {
            seeded.draw_corner(unread);
        }
    }

    /// Chooses one of several. `is_last` says whether the newest alternative comes from the last write before the crash.
    pub(super) fn decide(&mut self, alternatives: u32, what: What, is_last: bool) -> u32 {
        assert!(alternatives > 1, "a choice is among at least two");
        let choice = match &mut self.source {
            Source::Path(path) => path.get(self.taken.len()).copied().unwrap_or(0),
            Source::Seeded(seeded) => seeded.decide(alternatives, what, is_last),
        };
        assert!(choice < alternatives, "the path was recorded on another image");
        self.taken.push(Decision { choice, alternatives, what });
        choice
    }
}

/// What the seed makes of one crash.
#[derive(Debug, Clone, Copy)]
enum Corner {
    AllOld,
    AllNew,
    AllNewBut(u64),
    OnlyLast,
    Random,
}

#[derive(Debug, Clone)]
struct Seeded {
    state: u64,
    corner: Corner,
}

impl Seeded {
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(1);
        splitmix(self.state)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn draw_corner(&mut self, unread: &[u64]) {
        self.corner = match self.below(8) {
            0 => Corner::AllOld,
            1 => Corner::AllNew,
            2 if !unread.is_empty() => Corner::AllNewBut(unread[self.below(unread.len() as u64) as usize]),
            3 => Corner::OnlyLast,
            _ => Corner::Random,
        };
    }

    fn decide(&mut self, alternatives: u32, what: What, is_last: bool) -> u32 {
        let (oldest, newest) = (0, alternatives - 1);
        match self.corner {
            Corner::AllOld => oldest,
            Corner::AllNewBut(sector) if what == What::Sector(sector) => oldest,
            Corner::AllNew | Corner::AllNewBut(_) => newest,
            Corner::OnlyLast if is_last => newest,
            Corner::OnlyLast => oldest,
            // Of many lengths, the old one and the new one are the likely ones.
            Corner::Random => match self.below(4) {
                0 => oldest,
                1 => newest,
                _ => self.below(u64::from(alternatives)) as u32,
            },
        }
    }
}

/// The `n`-th number of a fixed random sequence: SplitMix64 (Steele, Lea and Flood, 2014).
pub(super) fn splitmix(n: u64) -> u64 {
    let z = n.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
