//! The store tells those who wait what became of their commit.

use holotype_crash_tests::waits::every_check;

#[test]
fn who_waits_is_told() {
    every_check().unwrap_or_else(|what| panic!("{what}"));
    #[cfg(feature = "seeded")]
    {
        use holotype::seeded::{Bug, switch_on};
        for bug in [Bug::WatermarkBeforeSeal, Bug::AnsweredUnsealed] {
            switch_on(Some(bug));
            let seen = every_check();
            switch_on(None);
            assert!(seen.is_err(), "{bug:?} goes unnoticed");
        }
    }
}
