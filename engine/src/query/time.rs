//! RFC 3339 times as milliseconds since 1970, UTC. spec.

/// The time that `text` names, if it is one by the grammar of RFC 3339, section 5.6. Digits beyond milliseconds are cut off.
pub(super) fn milliseconds(text: &str) -> Option<i64> {
    let mut reader = Reader { rest: text.as_bytes() };
    let year = reader.number(4)?;
    reader.one_of(b"-")?;
    let month = reader.number(2).filter(|month| (1..=12).contains(month))?;
    reader.one_of(b"-")?;
    let day = reader.number(2).filter(|&day| day >= 1 && day <= days_of_month(year, month))?;
    reader.one_of(b"Tt")?;
    let hour = reader.number(2).filter(|&hour| hour < 24)?;
    reader.one_of(b":")?;
    let minute = reader.number(2).filter(|&minute| minute < 60)?;
    reader.one_of(b":")?;
    let second = reader.number(2).filter(|&second| second <= 60)?;
    let fraction = reader.fraction()?;
    let offset = reader.offset_minutes()?;
    if !reader.rest.is_empty() {
        return None;
    }
    let minutes = (days_since_1970(year, month, day) * 24 + hour) * 60 + minute - offset;
    // A leap second is the last of a day in UTC; it counts as the first moment of the next.
    if second == 60 && minutes.rem_euclid(24 * 60) != 24 * 60 - 1 {
        return None;
    }
    Some((minutes * 60 + second) * 1000 + if second == 60 { 0 } else { fraction })
}

struct Reader<'t> {
    rest: &'t [u8],
}

impl Reader<'_> {
    fn one_of(&mut self, wanted: &[u8]) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        wanted.contains(&first).then_some(first)
    }

    fn number(&mut self, digits: usize) -> Option<i64> {
        let (number, rest) = self.rest.split_at_checked(digits)?;
        self.rest = rest;
        number.iter().try_fold(0, |number, digit| {
            digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0'))
        })
    }

    /// The fraction of a second in milliseconds, 0 where there is none.
    fn fraction(&mut self) -> Option<i64> {
        if self.rest.first() != Some(&b'.') {
            return Some(0);
        }
        self.rest = &self.rest[1..];
        let count = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        let kept = digits.iter().map(|digit| i64::from(digit - b'0')).chain(std::iter::repeat(0)).take(3);
        (count > 0).then(|| kept.fold(0, |fraction, digit| fraction * 10 + digit))
    }

    fn offset_minutes(&mut self) -> Option<i64> {
        let sign = match self.one_of(b"Zz+-")? {
            b'+' => 1,
            b'-' => -1,
            _ => return Some(0),
        };
        let hours = self.number(2).filter(|&hours| hours < 24)?;
        self.one_of(b":")?;
        let minutes = self.number(2).filter(|&minutes| minutes < 60)?;
        Some(sign * (hours * 60 + minutes))
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_of_month(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a day of the Gregorian calendar.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    const DAYS_BEFORE_1970: i64 = 719_528;
    // Of the years before this one, year 0 included.
    let leap_days = if year == 0 { 0 } else { (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 + 1 };
    let months: i64 = (1..month).map(|month| days_of_month(year, month)).sum();
    year * 365 + leap_days + months + day - 1 - DAYS_BEFORE_1970
}
