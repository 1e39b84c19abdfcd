//! Regular expressions of RFC 9485 by sets of places: slow, and plain.

use std::collections::BTreeSet;

enum Pattern {
    Choice(Vec<Vec<Piece>>),
}

struct Piece {
    atom: Atom,
    least: usize,
    most: Option<usize>,
}

enum Atom {
    Start,
    End,
    Any,
    Char(char),
    /// Whether what is listed is meant, or all else.
    Class(bool, Vec<(char, char)>),
    Group(Pattern),
}

//= spec/query.md#q-4-1-patterns
//# `match` and `search` MUST be false where the second argument is not a pattern.
/// Whether `text` matches, as a whole or in some part of it.
pub(super) fn matches(pattern: &str, text: &str, whole: bool) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let mut rest = pattern.as_slice();
    let Some(parsed) = choice(&mut rest).filter(|_| rest.is_empty()) else { return false };
    let text: Vec<char> = text.chars().collect();
    let starts = if whole { 0..=0 } else { 0..=text.len() };
    starts.into_iter().any(|start| {
        let ends = of_pattern(&parsed, &text, &BTreeSet::from([start]));
        if whole { ends.contains(&text.len()) } else { !ends.is_empty() }
    })
}

/// Where a match can end that begins at one of `starts`.
fn of_pattern(
    Pattern::Choice(branches): &Pattern,
    text: &[char],
    starts: &BTreeSet<usize>,
) -> BTreeSet<usize> {
    let of_branch = |branch: &Vec<Piece>| {
        branch.iter().fold(starts.clone(), |places, piece| of_piece(piece, text, &places))
    };
    branches.iter().flat_map(of_branch).collect()
}

fn of_piece(piece: &Piece, text: &[char], starts: &BTreeSet<usize>) -> BTreeSet<usize> {
    let mut places = starts.clone();
    for _ in 0..piece.least {
        places = of_atom(&piece.atom, text, &places);
    }
    let mut ends = places.clone();
    let mut further = 0;
    while piece.most.is_none_or(|most| piece.least + further < most) && !places.is_empty() {
        let reached = of_atom(&piece.atom, text, &places);
        places = reached.difference(&ends).copied().collect();
        ends.extend(&places);
        further += 1;
    }
    ends
}

fn of_atom(atom: &Atom, text: &[char], starts: &BTreeSet<usize>) -> BTreeSet<usize> {
    let step = |wanted: &dyn Fn(char) -> bool| {
        starts.iter().filter(|&&at| text.get(at).is_some_and(|&c| wanted(c))).map(|at| at + 1).collect()
    };
    match atom {
        Atom::Start => starts.iter().filter(|&&at| at == 0).copied().collect(),
        Atom::End => starts.iter().filter(|&&at| at == text.len()).copied().collect(),
        Atom::Any => step(&|c| c != '\n' && c != '\r'),
        Atom::Char(wanted) => step(&|c| c == *wanted),
        Atom::Class(listed, ranges) => {
            step(&|c| ranges.iter().any(|(first, last)| (first..=last).contains(&&c)) == *listed)
        }
        Atom::Group(pattern) => of_pattern(pattern, text, starts),
    }
}

fn eat(rest: &mut &[char], wanted: char) -> bool {
    match rest.split_first() {
        Some((&c, after)) if c == wanted => {
            *rest = after;
            true
        }
        _ => false,
    }
}

fn next(rest: &mut &[char]) -> Option<char> {
    let (&c, after) = rest.split_first()?;
    *rest = after;
    Some(c)
}

fn choice(rest: &mut &[char]) -> Option<Pattern> {
    let mut branches = vec![branch(rest)?];
    while eat(rest, '|') {
        branches.push(branch(rest)?);
    }
    Some(Pattern::Choice(branches))
}

fn branch(rest: &mut &[char]) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    while rest.first().is_some_and(|&c| c != '|' && c != ')') {
        let atom = match next(rest)? {
            '(' => {
                let inner = choice(rest)?;
                eat(rest, ')').then_some(Atom::Group(inner))?
            }
            '[' => class(rest)?,
            '.' => Atom::Any,
            '^' => Atom::Start,
            '$' => Atom::End,
            '\\' => Atom::Char(escaped(rest)?),
            ']' | '{' | '}' | '*' | '+' | '?' => return None,
            c => Atom::Char(c),
        };
        let (least, most) = quantifier(rest)?;
        pieces.push(Piece { atom, least, most });
    }
    Some(pieces)
}

fn quantifier(rest: &mut &[char]) -> Option<(usize, Option<usize>)> {
    if eat(rest, '*') {
        return Some((0, None));
    }
    if eat(rest, '+') {
        return Some((1, None));
    }
    if eat(rest, '?') {
        return Some((0, Some(1)));
    }
    if !eat(rest, '{') {
        return Some((1, Some(1)));
    }
    let least = count(rest)?;
    let most = if eat(rest, ',') { count(rest) } else { Some(least) };
    (eat(rest, '}') && most.is_none_or(|most| least <= most)).then_some((least, most))
}

fn count(rest: &mut &[char]) -> Option<usize> {
    let digits: String = rest.iter().take_while(|c| c.is_ascii_digit()).collect();
    *rest = &rest[digits.len()..];
    digits.parse().ok()
}

fn escaped(rest: &mut &[char]) -> Option<char> {
    Some(match next(rest)? {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        c if "()*+-.?[\\]^{|}".contains(c) => c,
        _ => return None,
    })
}

fn class(rest: &mut &[char]) -> Option<Atom> {
    let listed = !eat(rest, '^');
    let mut ranges = Vec::new();
    if eat(rest, '-') {
        ranges.push(('-', '-'));
    }
    loop {
        if !ranges.is_empty() && eat(rest, ']') {
            return Some(Atom::Class(listed, ranges));
        }
        if !ranges.is_empty() && rest.starts_with(&['-', ']']) {
            next(rest);
            ranges.push(('-', '-'));
            continue;
        }
        let first = class_char(rest)?;
        let is_range = rest.first() == Some(&'-') && rest.get(1).is_some_and(|&c| c != ']');
        let last = if is_range {
            next(rest);
            class_char(rest)?
        } else {
            first
        };
        if first > last {
            return None;
        }
        ranges.push((first, last));
    }
}

fn class_char(rest: &mut &[char]) -> Option<char> {
    match next(rest)? {
        '\\' => escaped(rest),
        '-' | '[' | ']' => None,
        c => Some(c),
    }
}
