//! Field paths: `"a.b.0"` is the first item of the array under `b` of the object under `a`.
//!
//! A path cannot name a field whose own name holds a dot; ask the object itself for that.

/// The names and indexes along `path`.
pub(super) fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('.')
}

/// The first segment of `path`, and what follows its dot; as bytes, since those are what the lazy reader compares.
#[inline]
pub(super) fn split_first(path: &[u8]) -> (&[u8], Option<&[u8]>) {
    match path.iter().position(|&byte| byte == b'.') {
        Some(dot) => (&path[..dot], Some(&path[dot + 1..])),
        None => (path, None),
    }
}

//= spec/values.md#v-5-2-step
//# A segment with a zero in front of other digits, or with a sign, MUST lead nowhere in an array.
/// The index that a segment stands for: decimal digits, with no zero in front.
pub(crate) fn index(segment: &[u8]) -> Option<usize> {
    match segment {
        [b'0'] => Some(0),
        [b'1'..=b'9', ..] => segment.iter().try_fold(0usize, |index, &digit| {
            let digit = digit.is_ascii_digit().then(|| usize::from(digit - b'0'))?;
            index.checked_mul(10)?.checked_add(digit)
        }),
        _ => None,
    }
}
