//! The order of values is a total preorder, and finer than nothing that equality joins.

use holotype_model::{Document, Value};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

/// Values that meet often: few of each kind, with the corners among the numbers.
fn value() -> impl Strategy<Value = Value> {
    let ints = prop_oneof![-3_i64..4, Just(i64::MIN), Just(i64::MAX), Just((1 << 53) + 1), any::<i64>()];
    let floats = prop_oneof![
        Just(f64::NAN),
        Just(-0.0),
        Just(9_223_372_036_854_775_808.0),
        Just(-9_223_372_036_854_775_808.0),
        Just(9_007_199_254_740_992.0),
        (-6_i8..7).prop_map(|half| f64::from(half) / 2.0),
        any::<f64>(),
    ];
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        ints.prop_map(Value::Int),
        floats.prop_map(Value::Float),
        "[ab\u{e9}]{0,2}".prop_map(Value::Text),
        vec(any::<u8>(), 0..3).prop_map(Value::Bytes),
    ];
    scalar.prop_recursive(2, 8, 3, |inner| {
        let object =
            btree_map("[ab]{0,2}", inner.clone(), 0..3).prop_map(|fields: Document| Value::Object(fields));
        prop_oneof![vec(inner, 0..3).prop_map(Value::Array), object]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn the_order_is_total_and_transitive((a, b, c) in (value(), value(), value())) {
        prop_assert!(a.order_cmp(&a).is_eq());
        prop_assert_eq!(a.order_cmp(&b), b.order_cmp(&a).reverse());
        if a.order_cmp(&b).is_le() && b.order_cmp(&c).is_le() {
            prop_assert!(a.order_cmp(&c).is_le());
        }
        if a.order_cmp(&b).is_eq() {
            prop_assert_eq!(a.order_cmp(&c), b.order_cmp(&c));
        }
    }

    #[test]
    fn what_is_equal_is_equal_in_the_order((a, b) in (value(), value())) {
        if a == b {
            prop_assert!(a.order_cmp(&b).is_eq());
        }
    }
}
