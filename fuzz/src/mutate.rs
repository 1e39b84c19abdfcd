//! A mutator that knows the format: it edits fields, not bytes anywhere, and makes the checksums right again.

use crate::layout::Layout;
use crate::reseal::edit;
use holotype_crash_tests::input::Input;

/// Bytes of choices for one mutation.
const CHOICES: usize = 64;

/// The most edits of one mutation.
const EDITS: u64 = 4;

/// Edits the file image in the first `len` bytes of `data` as the seed says, and gives its new length, which is at most that of `data`.
/// `None`, with nothing changed, where the bytes are no store whose layout can be told: let the fuzzer's own mutator try.
pub fn mutate_image(data: &mut [u8], len: usize, seed: u32) -> Option<usize> {
    let layout = Layout::of(&data[..len])?;
    let mut state = u64::from(seed);
    let choices: Vec<u8> = (0..CHOICES).map(|_| next(&mut state) as u8).collect();
    let mut image = data[..len].to_vec();
    let mut input = Input::new(&choices);
    for _ in 0..1 + next(&mut state) % EDITS {
        let kind = input.byte();
        // An edit that leads nowhere is one edit less.
        let _ = edit(&mut image, &layout, kind, &mut input);
    }
    image.truncate(data.len());
    layout.reseal(&mut image);
    data[..image.len()].copy_from_slice(&image);
    Some(image.len())
}

/// SplitMix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{aged_store, sample_store};

    #[test]
    fn most_mutations_get_past_the_checksums() {
        let (mut changed, mut valid) = (0, 0);
        for sample in [sample_store(), aged_store()] {
            for seed in 0..200 {
                let mut data = sample.clone();
                data.resize(sample.len() + 1024, 0);
                let len = mutate_image(&mut data, sample.len(), seed).unwrap();
                if data[..len] != sample {
                    changed += 1;
                    valid += u32::from(Layout::of(&data[..len]).is_some());
                }
            }
        }
        assert!(changed > 300, "{changed} of 400 changed something");
        assert!(valid * 10 > changed * 8, "in {valid} of {changed} a slot is still valid");
    }

    #[test]
    fn what_is_no_store_is_left_to_others() {
        assert_eq!(mutate_image(&mut [1, 2, 3, 4], 3, 7), None);
    }

    #[test]
    fn the_image_stays_within_the_room_that_there_is() {
        let sample = sample_store();
        for seed in 0..100 {
            let mut data = sample.clone();
            assert!(mutate_image(&mut data, sample.len(), seed).unwrap() <= sample.len());
        }
    }
}
