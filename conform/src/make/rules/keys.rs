//! Keys in a store.

use holotype_model::Key;

use crate::forge::{Forge, Record};
use crate::make::Maker;
use crate::make::ladder::document;

pub(super) fn order(maker: &mut Maker) {
    let texts = ["", "a", "aa", "ab", "b", "\u{e9}", "\u{ffff}", "\u{1f600}"].map(Key::from);
    let bytes =
        [&[][..], &[0], &[0, 0], &[1], &[0x7f, 0xff], &[0x80]].map(|bytes| Key::Bytes(bytes.to_vec()));
    let ints = [i64::MIN, -300, -2, -1, 0, 1, 2, 300, i64::MAX - 1].map(Key::Int);
    let mut forge = Forge::opened(64, 4096, 2);
    forge.commit(&[Record::create(1, "notes")]);
    let puts: Vec<_> = [&bytes[..], &texts, &ints]
        .concat()
        .iter()
        .rev()
        .map(|key| Record::put(1, key, &document([])))
        .collect();
    forge.commit(&puts);
    let name = "Ints by number, then texts, then byte strings, however they were put";
    maker.holds(&["V-3.8", "R-9.2"], &["SignedBytes", "Utf16Order"], name, &forge.data, forge.state());
}
