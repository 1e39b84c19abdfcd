//! Names that need no quotes: `member-name-shorthand` of RFC 9535.

/// Whether a name after a dot can begin so.
pub(super) fn is_name_first(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

/// Whether a name after a dot can go on so.
pub(super) fn is_name_char(c: char) -> bool {
    is_name_first(c) || c.is_ascii_digit()
}
