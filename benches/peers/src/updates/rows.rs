//! What is changed, in both languages, and by a model.

/// A user. The key is the number, from 1 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct User {
    pub age: i64,
    pub score: i64,
}

pub fn users(count: u64) -> Vec<User> {
    (0..count as i64).map(|number| User { age: number * 31 % 97 % 80, score: number % 1_000 }).collect()
}

/// How many users there are, and the sum of their scores.
pub type State = (u64, i64);

pub fn state<'u>(users: impl Iterator<Item = &'u User>) -> State {
    users.fold((0, 0), |(count, sum), user| (count + 1, sum + user.score))
}

/// A change of many users at once: their score is raised by one, or they are deleted.
pub struct Many {
    pub row: &'static str,
    pub deletes: bool,
    pub filter: &'static str,
    pub sql: &'static str,
    pub admits: fn(&User) -> bool,
}

const fn many(
    row: &'static str,
    deletes: bool,
    filter: &'static str,
    sql: &'static str,
    admits: fn(&User) -> bool,
) -> Many {
    Many { row, deletes, filter, sql, admits }
}

pub static MANY: [Many; 8] = [
    many("W1: update all", false, "@.age >= 0", "1", |_| true),
    many("W2, W9: update where age is 25", false, "@.age == 25", "doc ->> '$.age' = 25", |user| {
        user.age == 25
    }),
    many("W3: update where age is above 45", false, "@.age > 45", "doc ->> '$.age' > 45", |user| {
        user.age > 45
    }),
    many(
        "W4: update where age is between 25 and 35",
        false,
        "@.age > 25 && @.age < 35",
        "doc ->> '$.age' > 25 AND doc ->> '$.age' < 35",
        |user| user.age > 25 && user.age < 35,
    ),
    many("W5: delete all", true, "@.age >= 0", "1", |_| true),
    many("W6: delete where age is 25", true, "@.age == 25", "doc ->> '$.age' = 25", |user| user.age == 25),
    many("W7: delete where age is below 35", true, "@.age < 35", "doc ->> '$.age' < 35", |user| {
        user.age < 35
    }),
    many(
        "W8: delete where age is below 25 or above 65",
        true,
        "@.age < 25 || @.age > 65",
        "doc ->> '$.age' < 25 OR doc ->> '$.age' > 65",
        |user| user.age < 25 || user.age > 65,
    ),
];

/// A change of single documents: their first field is raised by one.
pub struct One {
    pub row: &'static str,
    /// Bytes of the text beside it, about.
    pub len: usize,
    /// Whether all calls are one transaction.
    pub together: bool,
}

pub static ONE: [One; 4] = [
    One { row: "raise a field, a commit each", len: 20, together: false },
    One { row: "raise a field, in one transaction", len: 20, together: true },
    One { row: "raise a field beside 10 KB, a commit each", len: 10_000, together: false },
    One { row: "raise a field beside 100 KB, a commit each", len: 100_000, together: false },
];

/// Texts that make up so many bytes, of 100 each: a document of that length is one of many parts.
pub fn texts(len: usize) -> Vec<String> {
    (0..len.div_ceil(100)).map(|at| format!("{at:0width$}", width = len.min(100))).collect()
}
