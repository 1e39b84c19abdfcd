//! JSON to values, and the wrappers in it to what they stand for.

use super::lexer::{Lexer, Position};
use super::wrapper::{self, LITERAL};
use crate::document::{DEPTH_MAX, Document, Text, Value};
use crate::error::{Advice, Error, Result};

/// The longest wrapper, `{"$binary":{...}}`, takes two levels of JSON for a value that has none.
const WRAPPER_LEVELS: usize = 2;

/// Reads one JSON text.
#[derive(Debug)]
pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    /// How many objects and arrays are open, without those of `$literal` wrappers.
    level: usize,
    /// How deep the values read so far go, wrappers being the values that they stand for.
    deepest: usize,
    level_max: usize,
}

/// The fields of an object as they stand in the text.
struct Fields {
    document: Document,
    /// They stood in a `$literal`, so they are no wrapper whatever their shape.
    literal: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a [u8], place: Position, level_max: usize) -> Result<Self> {
        Ok(Parser { lexer: Lexer::new(text, place)?, level: 0, deepest: 0, level_max })
    }

    /// Where the next byte that is no white space stands.
    pub(super) fn position(&mut self) -> usize {
        self.lexer.peek();
        self.lexer.position()
    }

    pub(super) fn error(&self, at: usize, what: impl Into<String>) -> Error {
        self.lexer.error(at, what)
    }

    /// The text is over, and what it holds is not too deep.
    pub(super) fn end(&mut self) -> Result<()> {
        if self.lexer.peek().is_some() {
            return Err(self.lexer.unexpected("the end of the text"));
        }
        if self.deepest > self.level_max { Err(too_deep()) } else { Ok(()) }
    }

    pub(super) fn document(&mut self) -> Result<Document> {
        let start = self.position();
        match self.value()? {
            Value::Object(document) => Ok(document),
            other => Err(self.error(start, format!("{} where an object is due", other.kind()))),
        }
    }

    /// An object that is none but itself, whatever its names: neither a wrapper nor the content of one.
    pub(super) fn plain_object(&mut self) -> Result<Document> {
        self.position();
        self.descend()?;
        let Fields { document, .. } = self.fields(true)?;
        self.deepest = self.deepest.max(self.level);
        self.level -= 1;
        Ok(document)
    }

    pub(super) fn value(&mut self) -> Result<Value> {
        match self.lexer.peek() {
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'"') => Ok(self.lexer.string("a string")?.into()),
            Some(b'-' | b'0'..=b'9') => self.lexer.number(),
            _ => self.lexer.word(),
        }
    }

    fn array(&mut self) -> Result<Value> {
        self.lexer.expect(b'[', "an array")?;
        self.descend()?;
        let mut items = Vec::new();
        if !self.lexer.eat(b']') {
            loop {
                items.push(self.value()?);
                if self.lexer.eat(b']') {
                    break;
                }
                self.lexer.expect(b',', "a comma or a closing bracket")?;
            }
        }
        self.deepest = self.deepest.max(self.level);
        self.level -= 1;
        Ok(Value::Array(items))
    }

    fn object(&mut self) -> Result<Value> {
        let start = self.lexer.position();
        let deepest_before = self.deepest;
        self.descend()?;
        let fields = self.fields(false)?;
        let value = match fields.literal {
            true => Value::Object(fields.document),
            false => wrapper::unwrap(fields.document).map_err(|what| self.error(start, what))?,
        };
        self.deepest = match value {
            Value::Object(_) => self.deepest.max(self.level),
            _ => deepest_before,
        };
        self.level -= 1;
        Ok(value)
    }

    /// The fields of an object. What stands in a `$literal` is read `as_is`: it is no wrapper itself, though its fields may
    /// hold some.
    fn fields(&mut self, as_is: bool) -> Result<Fields> {
        self.lexer.expect(b'{', "an object")?;
        let (mut entries, mut places) = (Vec::new(), Vec::new());
        if self.lexer.eat(b'}') {
            return Ok(Fields { document: Document::new(), literal: false });
        }
        loop {
            let at = self.position();
            let name = self.lexer.string("a field name")?;
            self.lexer.expect(b':', "a colon")?;
            if name == LITERAL && !as_is {
                return self.literal(at, entries.is_empty());
            }
            entries.push((Text::from(name), self.value()?));
            places.push(at);
            if self.lexer.eat(b'}') {
                break;
            }
            self.lexer.expect(b',', "a comma or a closing brace")?;
        }
        let document = Document::from_entries(entries).map_err(|name| self.twice(&places, &name))?;
        Ok(Fields { document, literal: false })
    }

    //= spec/encoding.md#e-6-9-literal-objects
    //# A reader MUST read `{"$literal":` *object* `}` as that object, and the object itself not as a wrapper,
    //# though values in it may be wrappers.
    /// What follows the name `$literal`, which stands at `at`: an object, and nothing else.
    fn literal(&mut self, at: usize, first: bool) -> Result<Fields> {
        if !first {
            let what = format!("`$literal` beside another field; {}", Advice::PutIntoLiteral);
            return Err(self.error(at, what));
        }
        let Fields { document, .. } = self.fields(true)?;
        self.lexer.expect(b'}', "the end of the object that `$literal` is alone in")?;
        Ok(Fields { document, literal: true })
    }

    //= spec/encoding.md#e-6-2-names
    //# A reader MUST refuse a JSON object in which a name comes twice, escapes resolved.
    /// The error of a name that comes twice, among those that stand at `places`.
    #[cold]
    fn twice(&self, places: &[usize], twice: &str) -> Error {
        let mut again =
            places.iter().filter(|&&at| self.lexer.string_at(at).is_some_and(|name| name == twice));
        let second = again.nth(1).expect("a name that comes twice has a second place");
        self.error(*second, format!("the field name {twice:?} comes twice"))
    }

    fn descend(&mut self) -> Result<()> {
        self.level += 1;
        // Also what bounds the recursion: a `$literal` adds one level of JSON at most to each level that is counted.
        if self.level > self.level_max + WRAPPER_LEVELS { Err(too_deep()) } else { Ok(()) }
    }
}

//= spec/values.md#v-4-4-beyond-a-limit
//# A store MUST refuse a key or a document that is beyond a limit with an error that names the limit, whether
//# it comes from a caller, from JSON or from bytes.
fn too_deep() -> Error {
    Error::TooDeep { max: DEPTH_MAX }
}
