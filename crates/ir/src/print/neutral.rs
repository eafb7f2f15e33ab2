//! Plain data as compact text: what `{:?}` says, less what goes without saying.
//!
//! In: any value of ours that has a `Debug` form. Out: lower-case words; fields that are `false`,
//! `None` or empty are dropped, a wrapper of the same name as what it wraps too. So a new kind of
//! clause is printed without a line being added here.

use std::fmt::Debug;

/// The text of a value.
pub(super) fn of(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    let mut reader = Reader { rest: &text };
    reader.value().map(|it| it.show()).unwrap_or(text)
}

enum Value {
    /// A word: a variant without data, a number, `true`.
    Word(String),
    /// A string: the user's own text.
    Text(String),
    /// `Name(a, b)`
    Tuple(String, Vec<Value>),
    /// `Name { a: 1 }`
    Struct(String, Vec<(String, Value)>),
    /// `[a, b]`, or `(a, b)` without name.
    List(Vec<Value>),
}

impl Value {
    fn is_default(&self) -> bool {
        match self {
            Value::Word(word) => word == "false" || word == "None",
            Value::List(values) => values.is_empty(),
            Value::Struct(_, fields) => fields.iter().all(|it| it.1.is_default()),
            Value::Text(_) | Value::Tuple(..) => false,
        }
    }

    fn show(&self) -> String {
        match self {
            Value::Word(word) => kebab(word),
            Value::Text(text) => text.clone(),
            Value::List(values) => format!("[{}]", list(values)),
            Value::Tuple(name, values) => match values.as_slice() {
                [value] if name == "Some" => value.show(),
                [value] if value.is_default() => kebab(name),
                [Value::Struct(inner, fields)] if inner == name => shown_struct(inner, fields),
                [value @ Value::List(_)] => format!("{} {}", kebab(name), value.show()),
                values => format!("{}({})", kebab(name), list(values)),
            },
            Value::Struct(name, fields) => shown_struct(name, fields),
        }
    }
}

fn list(values: &[Value]) -> String {
    let shown: Vec<String> = values.iter().map(Value::show).collect();
    shown.join(", ")
}

/// `map motion=to items=[a]`
fn shown_struct(name: &str, fields: &[(String, Value)]) -> String {
    let mut words = vec![kebab(name)];
    for (field, value) in fields.iter().filter(|it| !it.1.is_default()) {
        match value {
            Value::Word(word) if word == "true" => words.push(field.clone()),
            Value::Struct(_, inner) => words.push(format!("{field}({})", without_name(inner))),
            Value::Word(_) | Value::Text(_) | Value::Tuple(..) | Value::List(_) => {
                words.push(format!("{field}={}", value.show()));
            }
        }
    }
    words.join(" ")
}

fn without_name(fields: &[(String, Value)]) -> String {
    shown_struct("", fields).trim_start().to_owned()
}

/// `FirstPrivate` as `first-private`.
fn kebab(word: &str) -> String {
    let mut text = String::with_capacity(word.len() + 4);
    let mut after_lower = false;
    for c in word.chars() {
        if c.is_ascii_uppercase() && after_lower {
            text.push('-');
        }
        after_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        text.push(c.to_ascii_lowercase());
    }
    text
}

/// Reads the derived `Debug` form.
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> String {
        let rest = self.rest.trim_start();
        let end = rest.find([' ', ',', ':', '(', ')', '[', ']', '{', '}', '"']);
        let (word, rest) = rest.split_at(end.unwrap_or(rest.len()));
        self.rest = rest;
        word.to_owned()
    }

    fn value(&mut self) -> Option<Value> {
        if self.eat("\"") {
            return self.quoted();
        }
        if self.eat("[") {
            return Some(Value::List(self.values("]")?));
        }
        let name = self.word();
        if self.eat("(") {
            let values = self.values(")")?;
            return Some(match name.is_empty() {
                true => Value::List(values),
                false => Value::Tuple(name, values),
            });
        }
        if self.eat("{") {
            let mut fields = Vec::new();
            while !self.eat("}") {
                let field = self.word();
                if field.is_empty() || !self.eat(":") {
                    return None;
                }
                let value = self.value()?;
                if field != "span" {
                    fields.push((field, value));
                }
                self.eat(",");
            }
            return Some(Value::Struct(name, fields));
        }
        (!name.is_empty()).then_some(Value::Word(name))
    }

    fn values(&mut self, end: &str) -> Option<Vec<Value>> {
        let mut values = Vec::new();
        while !self.eat(end) {
            values.push(self.value()?);
            self.eat(",");
        }
        Some(values)
    }

    /// The rest of a string whose first quote is read.
    fn quoted(&mut self) -> Option<Value> {
        let mut text = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = self.rest.get(at + 1..)?;
                    return Some(Value::Text(text));
                }
                '\\' => match chars.next()?.1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    other => text.push(other),
                },
                other => text.push(other),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::construct::{ClauseKind, Map, MapFlags, Motion, Presence, Spelled};

    #[test]
    fn what_goes_without_saying_is_not_said() {
        let flags = MapFlags { always: true, ..MapFlags::default() };
        let map: ClauseKind<Spelled> = ClauseKind::Map(Map {
            motion: Motion::ToFrom,
            presence: Presence::Any,
            flags,
            mapper: None,
            iterators: Vec::new(),
            items: vec!["a[0 : n]".to_owned(), "\"s\"".to_owned()],
        });
        let expect = "map motion=to-from presence=any flags(always) items=[a[0 : n], \"s\"]";
        assert_eq!(of(&map), expect);
        let plain: ClauseKind<Spelled> = ClauseKind::Private(vec!["x".to_owned()]);
        assert_eq!(of(&plain), "private [x]");
        assert_eq!(of(&ClauseKind::<Spelled>::Nowait(None)), "nowait");
    }
}
