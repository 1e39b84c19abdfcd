//! Values, documents and keys: what a store holds, and how it looks as bytes.
