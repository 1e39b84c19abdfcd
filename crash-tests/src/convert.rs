//! Between the model's documents and keys and the store's. Each has its own, so that a mistake in one is not made twice.

use holotype_model as model;

/// The store's form of a document of the model.
pub fn document(document: &model::Document) -> holotype::Document {
    document.iter().map(|(name, field)| (name.clone(), value(field))).collect()
}

/// The store's form of a value of the model.
pub fn value(value_in: &model::Value) -> holotype::Value {
    use holotype::Value;
    match value_in {
        model::Value::Null => Value::Null,
        model::Value::Bool(bool) => Value::Bool(*bool),
        model::Value::Int(int) => Value::Int(*int),
        model::Value::Float(float) => Value::Float(*float),
        model::Value::Text(text) => Value::Text(text.as_str().into()),
        model::Value::Bytes(bytes) => Value::Bytes(bytes.clone()),
        model::Value::Array(items) => Value::Array(items.iter().map(value).collect()),
        model::Value::Object(fields) => Value::Object(document(fields)),
    }
}

/// The model's form of a document of the store.
pub fn model_document(document: &holotype::Document) -> model::Document {
    document.iter().map(|(name, value)| (name.to_owned(), model_value(value))).collect()
}

/// The model's form of a value of the store.
pub fn model_value(value: &holotype::Value) -> model::Value {
    use holotype::Value;
    match value {
        Value::Null => model::Value::Null,
        Value::Bool(bool) => model::Value::Bool(*bool),
        Value::Int(int) => model::Value::Int(*int),
        Value::Float(float) => model::Value::Float(*float),
        Value::Text(text) => model::Value::Text(text.as_str().to_owned()),
        Value::Bytes(bytes) => model::Value::Bytes(bytes.clone()),
        Value::Array(items) => model::Value::Array(items.iter().map(model_value).collect()),
        Value::Object(fields) => model::Value::Object(model_document(fields)),
    }
}

/// The store's form of a key of the model.
pub fn key(key: &model::Key) -> holotype::Key {
    match key {
        model::Key::Int(int) => holotype::Key::Int(*int),
        model::Key::Text(text) => holotype::Key::Text(text.as_str().into()),
        model::Key::Bytes(bytes) => holotype::Key::Bytes(bytes.as_slice().into()),
    }
}

/// The model's form of a key of the store.
pub fn model_key(key: &holotype::Key) -> model::Key {
    match key {
        holotype::Key::Int(int) => model::Key::Int(*int),
        holotype::Key::Text(text) => model::Key::Text(text.as_str().to_owned()),
        holotype::Key::Bytes(bytes) => model::Key::Bytes(bytes.to_vec()),
    }
}

/// The store's durability class of that name.
pub fn durability(durability: model::Durability) -> holotype::Durability {
    match durability {
        model::Durability::Buffered => holotype::Durability::Buffered,
        model::Durability::Written => holotype::Durability::Written,
        model::Durability::Synced => holotype::Durability::Synced,
    }
}

/// The model's form of a definition of the store.
pub fn model_definition(definition: &holotype::IndexDefinition) -> model::index::Definition {
    use model::index::{Definition, DefinitionText, PathText};
    let paths = definition.texts().map(|text| match text.strip_prefix('-') {
        Some(path) => PathText { path: path.to_owned(), descending: true },
        None => PathText { path: text, descending: false },
    });
    let (unique, sparse) = (definition.is_unique(), definition.is_sparse());
    let filter = definition.filter().map(ToString::to_string);
    let text = DefinitionText { paths: paths.collect(), unique, sparse, filter };
    Definition::parse(&text).unwrap_or_else(|| panic!("the store has an index that can be none: {text}"))
}

/// The same, with the name of its index.
pub fn named_definition(definition: &holotype::IndexDefinition) -> (String, model::index::Definition) {
    (definition.name().to_owned(), model_definition(definition))
}
