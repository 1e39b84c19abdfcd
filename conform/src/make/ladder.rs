//! Values in their order: rung above rung, and on one rung those that stand at the same place (V-3). The order is written down here, not
//! computed.

use holotype_model::{Document, Value};

pub(super) fn text(text: &str) -> Value {
    Value::from(text)
}

pub(super) fn bytes(bytes: &[u8]) -> Value {
    Value::Bytes(bytes.to_vec())
}

pub(super) fn array<const N: usize>(items: [Value; N]) -> Value {
    Value::Array(Vec::from(items))
}

pub(super) fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(document(fields))
}

pub(super) fn document<const N: usize>(fields: [(&str, Value); N]) -> Document {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

const TWO_53: i64 = 1 << 53;

/// From the least to the greatest.
pub(super) fn rungs() -> Vec<Vec<Value>> {
    let mut rungs = vec![vec![Value::Null], vec![Value::Bool(false)], vec![Value::Bool(true)]];
    rungs.extend(numbers());
    rungs.extend(texts().into_iter().map(|text| vec![Value::Text(text)]));
    rungs.extend(byte_strings().into_iter().map(|bytes| vec![Value::Bytes(bytes)]));
    rungs.extend(arrays());
    rungs.extend(objects());
    rungs
}

fn numbers() -> Vec<Vec<Value>> {
    use Value::{Float, Int};
    let near = |int: i64| [Int(int), Float(int as f64)].to_vec();
    vec![
        vec![Float(f64::NAN)],
        vec![Float(f64::NEG_INFINITY)],
        vec![Float(f64::MIN)],
        vec![Float(-1e19)],
        vec![Int(i64::MIN), Float(i64::MIN as f64)],
        vec![Int(i64::MIN + 1)],
        vec![Int(-TWO_53 - 3)],
        near(-TWO_53 - 2),
        vec![Int(-TWO_53 - 1)],
        near(-TWO_53),
        near(-TWO_53 + 1),
        near(-4_294_967_297),
        near(-4_294_967_296),
        near(-65_537),
        near(-65_536),
        near(-257),
        near(-256),
        near(-25),
        near(-24),
        vec![Float(-1.5)],
        near(-1),
        vec![Float(-0.1)],
        vec![Float(-f64::MIN_POSITIVE)],
        vec![Float(-5e-324)],
        vec![Int(0), Float(0.0), Float(-0.0)],
        vec![Float(5e-324)],
        vec![Float(f64::MIN_POSITIVE)],
        // The smallest that sixteen bits hold, and the one below and above.
        vec![Float(2f64.powi(-25))],
        vec![Float(2f64.powi(-24))],
        vec![Float(1.5 * 2f64.powi(-24))],
        vec![Float(2f64.powi(-14))],
        vec![Float(f64::from(f32::MIN_POSITIVE) * 2f64.powi(113))],
        vec![Float(0.1)],
        vec![Float(0.5)],
        near(1),
        vec![Float(1.0 + 2f64.powi(-10))],
        vec![Float(1.1)],
        near(23),
        near(24),
        near(255),
        near(256),
        vec![Float(2048.5)],
        near(2049),
        vec![Float(65_504.0)],
        vec![Float(65_519.0)],
        near(65_535),
        near(65_536),
        near(16_777_217),
        near(2_147_483_647),
        near(2_147_483_648),
        near(4_294_967_295),
        near(4_294_967_296),
        near(TWO_53 - 1),
        near(TWO_53),
        vec![Int(TWO_53 + 1)],
        near(TWO_53 + 2),
        vec![Int(TWO_53 + 3)],
        vec![Int(i64::MAX - 1)],
        vec![Int(i64::MAX)],
        vec![Float(9_223_372_036_854_775_808.0)],
        vec![Float(1e19)],
        vec![Float(f64::from(f32::MAX))],
        vec![Float(f64::from(f32::MAX) * 2.0)],
        vec![Float(f64::MAX)],
        vec![Float(f64::INFINITY)],
    ]
}

fn texts() -> Vec<String> {
    let long = |len: usize| "t".repeat(len);
    let mut texts: Vec<String> =
        ["", "\0", "\0\0", "\0a", "\u{1}", "0", "10", "9", "A", "a", "a\0", "a\0b", "aa", "ab", "b", "s"]
            .map(str::to_owned)
            .to_vec();
    texts.extend([23, 24, 255, 256, 300].map(long));
    // By bytes of UTF-8, in which a plane beyond the first comes behind all of the first; unlike UTF-16.
    texts.extend(
        [
            "\u{7f}",
            "\u{80}",
            "e\u{301}",
            "\u{e9}",
            "\u{7ff}",
            "\u{800}",
            "\u{ffff}",
            "\u{10000}",
            "\u{10ffff}",
        ]
        .map(str::to_owned),
    );
    texts.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
    texts
}

fn byte_strings() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = vec![
        vec![],
        vec![0],
        vec![0, 0],
        vec![0, 0xff],
        vec![0, 0xff, 0],
        vec![1],
        b"a".to_vec(),
        b"aa".to_vec(),
        vec![0x7f],
        vec![0x80],
        vec![0xff],
        vec![0xff, 0],
        vec![0xff, 0xff],
    ];
    all.extend([23, 24, 255, 256].map(|len| vec![0x62; len]));
    all.sort();
    all
}

fn arrays() -> Vec<Vec<Value>> {
    use Value::{Float, Int, Null};
    vec![
        vec![array([])],
        vec![array([Null])],
        vec![array([Null, Null])],
        vec![array([Value::Bool(false)])],
        vec![array([Int(1)]), array([Float(1.0)])],
        vec![array([Int(1), Int(1)]), array([Float(1.0), Int(1)])],
        vec![array([Int(1), Int(2)])],
        vec![array([Int(2)])],
        vec![array([text("")])],
        vec![array([text("a")])],
        vec![array([text("a"), Null])],
        vec![array([text("a\0")])],
        vec![array([bytes(b"a")])],
        vec![array([array([])])],
        vec![array([array([array([])])])],
        vec![array([object([])])],
        vec![Value::Array(vec![object([]); 24])],
    ]
}

fn objects() -> Vec<Vec<Value>> {
    use Value::{Float, Int, Null};
    vec![
        vec![object([])],
        vec![object([("", Null)])],
        vec![object([("", Int(1))]), object([("", Float(1.0))])],
        vec![object([("", Int(1)), ("a", Null)])],
        vec![object([("a", Null)])],
        vec![object([("a", Null), ("b", Null)])],
        vec![object([("a", Int(1))])],
        vec![object([("a", Int(1)), ("b", Int(0))]), object([("a", Float(1.0)), ("b", Float(-0.0))])],
        vec![object([("a", Int(1)), ("aa", Int(0))])],
        vec![object([("a", Int(2))])],
        vec![object([("a", text("x"))])],
        vec![object([("a", object([]))])],
        vec![object([("b", Null)])],
        // Shorter names come first, whatever their bytes.
        vec![object([("z", Null)])],
        vec![object([("aa", Null)])],
        vec![object([("\u{e9}", Null)])],
        vec![object([("$numberInt", text("5"))])],
    ]
}
