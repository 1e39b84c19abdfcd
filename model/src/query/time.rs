//! Times of RFC 3339. spec.

/// Milliseconds since 1970, UTC.
pub(super) fn time(text: &str) -> Option<i64> {
    let text = text.to_ascii_uppercase();
    let (date, clock) = text.split_once('T')?;
    let zone_at = clock.find(['Z', '+', '-'])?;
    let (clock, zone) = clock.split_at(zone_at);
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let (clock, fraction) = match clock.split_once('.') {
        Some((clock, digits)) if !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()) => {
            (clock, format!("{digits}00").get(..3)?.parse::<i64>().ok()?)
        }
        Some(_) => return None,
        None => (clock, 0),
    };
    let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
    let offset = if zone == "Z" {
        0
    } else {
        let [hours, minutes] = numbers(zone.get(1..)?, ':', [2, 2])?;
        if hours > 23 || minutes > 59 {
            return None;
        }
        (hours * 60 + minutes) * if zone.starts_with('-') { -1 } else { 1 }
    };
    let leap = |year: i64| (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let months = [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    if !(1..=12).contains(&month) || !(1..=months[month as usize - 1]).contains(&day) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let of_years =
        |from: i64, to: i64| (from..to).map(|year| if leap(year) { 366 } else { 365 }).sum::<i64>();
    let before = if year >= 1970 { of_years(1970, year) } else { -of_years(year, 1970) };
    let days = before + months[..month as usize - 1].iter().sum::<i64>() + day - 1;
    let minutes = (days * 24 + hour) * 60 + minute - offset;
    match second {
        60 if (minutes + 1) % (24 * 60) == 0 => Some((minutes + 1) * 60_000),
        60 => None,
        _ => Some((minutes * 60 + second) * 1000 + fraction),
    }
}

/// Numbers of so many digits each, with a sign between them.
fn numbers<const N: usize>(text: &str, between: char, digits: [usize; N]) -> Option<[i64; N]> {
    let parts: Vec<&str> = text.split(between).collect();
    let right =
        |(part, len): (&&str, &usize)| part.len() == *len && part.bytes().all(|digit| digit.is_ascii_digit());
    if parts.len() != N || !parts.iter().zip(&digits).all(right) {
        return None;
    }
    let numbers: Vec<i64> = parts.iter().map(|part| part.parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}
