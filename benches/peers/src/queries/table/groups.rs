//! Documents in groups, and distinct values.

use holotype::Value;

use crate::queries::data::GROUPS;
use crate::queries::questions::{Came, NONE, Question, came, counts, distinct, few, find, grouped, of, whole};

pub static QUESTIONS: &[Question] = &[
    whole(
        "C10: groups of 5, count and mean",
        |c, _| Ok(counts(&c.find(..).group_by([of("$.category")]).avg(of("$.value")).run()?)),
        "SELECT COUNT(*), AVG(doc ->> '$.value') FROM bench GROUP BY doc ->> '$.category'",
        |all, _| grouped(all, |item| item.category, |_| true),
    ),
    whole(
        "G1: groups of 1,000, count",
        |c, _| Ok(counts(&c.find(..).group_by([of("$.group")]).run()?)),
        "SELECT COUNT(*), doc ->> '$.group' FROM bench GROUP BY 2",
        |all, _| grouped(all, |item| item.group, |_| true),
    ),
    whole(
        "G2: groups of 1,000, count, sum and mean",
        |c, _| Ok(counts(&c.find(..).group_by([of("$.group")]).sum(of("$.value")).avg(of("$.value")).run()?)),
        "SELECT COUNT(*), doc ->> '$.group', SUM(doc ->> '$.value'), AVG(doc ->> '$.value') FROM bench GROUP BY 2",
        |all, _| grouped(all, |item| item.group, |_| true),
    ),
    whole(
        "G3: groups of a range",
        |c, _| Ok(counts(&find(c, "between(@.group, 250, 749)").group_by([of("$.group")]).run()?)),
        "SELECT COUNT(*), doc ->> '$.group' FROM bench WHERE doc ->> '$.group' BETWEEN 250 AND 749 GROUP BY 2",
        |all, _| grouped(all, |item| item.group, |item| (250..=749).contains(&item.group)),
    ),
    few(
        "G4: the first 100 groups",
        |c, _| Ok(counts(&c.find(..).group_by([of("$.group")]).limit(100).run()?)),
        "SELECT COUNT(*), doc ->> '$.group' FROM bench GROUP BY 2 ORDER BY 2 LIMIT 100",
        |all, _| grouped(all, |item| item.group, |item| item.group < 100),
    ),
    few(
        "G5: one group, having",
        |c, _| Ok(counts(&find(c, "@.group == 250").group_by([of("$.group")]).having("@.count >= 1").run()?)),
        "SELECT COUNT(*), doc ->> '$.group' FROM bench WHERE doc ->> '$.group' = 250 GROUP BY 2 HAVING COUNT(*) >= 1",
        |all, _| grouped(all, |item| item.group, |item| item.group == 250),
    ),
    few(
        "G6: one group, having, sum and mean",
        |c, _| {
            let of_one = find(c, "@.group == 250").group_by([of("$.group")]).having("@.count >= 1");
            Ok(counts(&of_one.sum(of("$.id")).avg(of("$.id")).run()?))
        },
        "SELECT COUNT(*), doc ->> '$.group', SUM(doc ->> '$.id'), AVG(doc ->> '$.id') FROM bench \
         WHERE doc ->> '$.group' = 250 GROUP BY 2 HAVING COUNT(*) >= 1",
        |all, _| grouped(all, |item| item.group, |item| item.group == 250),
    ),
    whole(
        "G7: groups by two fields",
        |c, _| Ok(counts(&c.find(..).group_by([of("$.a"), of("$.b")]).run()?)),
        "SELECT COUNT(*), doc ->> '$.a', doc ->> '$.b' FROM bench GROUP BY 2, 3",
        |all, _| grouped(all, |item| (item.a, item.b), |_| true),
    ),
    whole(
        "G8: groups by the first of two fields",
        |c, _| Ok(counts(&c.find(..).group_by([of("$.a")]).run()?)),
        "SELECT COUNT(*), doc ->> '$.a' FROM bench GROUP BY 2",
        |all, _| grouped(all, |item| item.a, |_| true),
    ),
    whole(
        "D1: distinct values",
        |c, _| Ok(came(c.find(..).distinct(of("$.value"))?.iter().filter_map(Value::as_i64))),
        "SELECT DISTINCT doc ->> '$.value' FROM bench ORDER BY 1",
        |all, _| came(distinct(all, |item| item.value).into_iter()),
    ),
    few(
        "D2: the first 100 distinct values",
        |c, _| {
            let groups = c.find(..).group_by([of("$.value")]).limit(100).run()?;
            Ok(came(groups.iter().filter_map(|group| group.get("value")?.as_i64())))
        },
        "SELECT DISTINCT doc ->> '$.value' FROM bench ORDER BY 1 LIMIT 100",
        |all, _| came(distinct(all, |item| item.value).into_iter().take(100)),
    ),
    whole(
        "D3: count of distinct groups",
        |c, _| {
            let groups = c.find(..).group_by(NONE).count_distinct(of("$.group")).run()?;
            let count = groups[0].get("count_distinct").and_then(|all| all.get("$.group")?.as_i64());
            Ok(came(count.into_iter()))
        },
        "SELECT COUNT(DISTINCT doc ->> '$.group') FROM bench",
        |all, _| Came { count: 1, sum: (all.len() as i64).min(GROUPS) },
    ),
    whole(
        "D4: sum of distinct groups",
        |c, _| {
            let groups = c.find(..).distinct(of("$.group"))?;
            Ok(Came { count: 1, sum: groups.iter().filter_map(Value::as_i64).sum() })
        },
        "SELECT SUM(DISTINCT doc ->> '$.group') FROM bench",
        |all, _| Came { count: 1, sum: distinct(all, |item| item.group).into_iter().sum() },
    ),
];
