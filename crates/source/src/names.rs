//! Names: each distinct spelling is stored once and compared as a number.

use std::hash::{BuildHasher, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// A spelling in a [`Names`] table. Equal names have equal spellings.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(u32);

impl Name {
    /// Position in the table: dense, from 0, in the order of first sight.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl std::fmt::Debug for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "n{}", self.0)
    }
}

/// The table of spellings of one run.
#[derive(Clone, Debug, Default)]
pub struct Names {
    text: String,
    /// Where each spelling ends in `text`; it starts where the one before ends.
    ends: Vec<u32>,
    table: HashTable<u32>,
}

impl Names {
    /// An empty table.
    pub fn new() -> Names {
        Names::default()
    }

    /// The name spelt `text`, made if it is new.
    pub fn intern(&mut self, text: &str) -> Name {
        let hash = hash(text);
        let (all, ends) = (&self.text, &self.ends);
        if let Some(&index) = self.table.find(hash, |&it| slice(all, ends, it) == text) {
            return Name(index);
        }
        let index = self.ends.len() as u32;
        self.text.push_str(text);
        self.ends.push(self.text.len() as u32);
        let (all, ends) = (&self.text, &self.ends);
        self.table.insert_unique(hash, index, |&it| self::hash(slice(all, ends, it)));
        Name(index)
    }

    /// The name spelt `text`, if anything was ever called so.
    pub fn find(&self, text: &str) -> Option<Name> {
        let found = self.table.find(hash(text), |&it| slice(&self.text, &self.ends, it) == text);
        found.map(|&index| Name(index))
    }

    /// The spelling.
    pub fn text(&self, name: Name) -> &str {
        slice(&self.text, &self.ends, name.0)
    }

    /// How many distinct spellings there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether nothing has been named.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// The spelling with this index; empty for a name of another table.
fn slice<'a>(text: &'a str, ends: &[u32], index: u32) -> &'a str {
    let index = index as usize;
    let start = index.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    let end = ends.get(index).copied().unwrap_or(start);
    text.get(start as usize..end as usize).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_spellings_are_one_name() {
        let mut names = Names::new();
        let (a, b) = (names.intern("alpha"), names.intern("beta"));
        assert_ne!(a, b);
        assert_eq!(names.intern("alpha"), a);
        assert_eq!((names.text(a), names.text(b)), ("alpha", "beta"));
        assert_eq!(names.find("beta"), Some(b));
        assert_eq!(names.find("gamma"), None);
    }

    #[test]
    fn the_empty_spelling_is_a_name_too() {
        let mut names = Names::new();
        let empty = names.intern("");
        let x = names.intern("x");
        assert_eq!((names.text(empty), names.text(x)), ("", "x"));
        assert_eq!(names.intern(""), empty);
    }
}
