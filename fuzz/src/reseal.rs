//! Edits of a valid file, whose checksums are then made right again.
//!
//! Random bytes end at the first checksum. A file made by an enemy, or by a program with a bug, has right checksums over wrong
//! fields; law 2 holds for these files too, and this is how a fuzzer gets behind the checksums.

use std::sync::OnceLock;

use crate::image::file_image;
use crate::layout::{Layout, PLACES};
use crate::sample::{aged_store, sample_store};
use holotype_crash_tests::input::Input;

/// More edits than this only hide each other.
const EDITS_MAX: usize = 16;

/// The kinds of edits: those of one byte in each kind of place, of the length, and a stretch of bytes.
const KINDS: u8 = 10;

/// Set in the first byte: the edits are of the store that has been in use for long.
pub const AGED: u8 = 0x80;

/// An edit that puts bytes over others: this, the kind of place as [`Layout`] counts them, which, where in it, how many, and
/// the bytes.
pub const STRETCH: u8 = 8;

/// An edit of one byte that no checksum is made to fit: this, the kind of place, which, where in it, and what to change it by.
pub const DAMAGE: u8 = 9;

/// Applies edits to a valid store: for each, three bytes say where (what kind of place, which one of them, which byte in it) and
/// one what to change the byte by. Makes all checksums right, and opens the result as [`file_image`] does.
///
/// # Panics
/// As [`file_image`].
pub fn resealed_image(bytes: &[u8]) {
    file_image(&forged(bytes));
}

/// The file that the edits make.
///
/// # Panics
/// If the samples are not valid stores.
pub fn forged(edits: &[u8]) -> Vec<u8> {
    static SAMPLES: [OnceLock<(Vec<u8>, Layout)>; 2] = [OnceLock::new(), OnceLock::new()];
    let is_aged = edits.first().is_some_and(|first| first & AGED != 0);
    let (sample, layout) = SAMPLES[usize::from(is_aged)].get_or_init(|| {
        let sample = if is_aged { aged_store() } else { sample_store() };
        let layout = Layout::of(&sample).expect("a sample is a valid store");
        (sample, layout)
    });
    let mut image = sample.clone();
    let mut input = Input::new(edits);
    let mut damages = Vec::new();
    for _ in 0..EDITS_MAX {
        let Some(kind) = input.next() else { break };
        if (kind & !AGED) % KINDS == DAMAGE {
            damages.extend(damage(layout, &mut input));
        } else {
            edit(&mut image, layout, kind & !AGED, &mut input);
        }
    }
    layout.reseal(&mut image);
    for (at, by) in damages {
        if let Some(byte) = image.get_mut(at) {
            *byte ^= by;
        }
    }
    image
}

/// The byte that is damaged, and what it is changed by.
fn damage(layout: &Layout, input: &mut Input<'_>) -> Option<(usize, u8)> {
    let kind = input.byte();
    let place = layout.place(kind % PLACES, input)?;
    Some((place.start + input.short() % place.len(), input.byte()))
}

/// Carries out one edit. None where it leads nowhere.
pub(crate) fn edit(image: &mut Vec<u8>, layout: &Layout, kind: u8, input: &mut Input<'_>) -> Option<()> {
    let place = match kind % KINDS {
        5 => {
            let _ = input.byte();
            let len = image.len() + 512 - (input.short() % 1024).min(image.len());
            image.resize(len, 0);
            return Some(());
        }
        STRETCH => {
            let kind = input.byte();
            let place = layout.place(kind % PLACES, input)?;
            let at = place.start + input.short() % place.len();
            for at in at..at + usize::from(input.byte()) {
                *image.get_mut(at)? = input.byte();
            }
            return Some(());
        }
        kind if kind > 5 => layout.place((kind - 1) % PLACES, input)?,
        kind => layout.place(kind, input)?,
    };
    let at = place.start + input.short() % place.len();
    *image.get_mut(at)? ^= input.byte();
    Some(())
}
