//! Which names are types at this point of the text.
//!
//! C cannot be parsed without that. A table indexed by name holds what each means now; a log of
//! what was changed takes it back when a scope ends.

use source::Name;

/// What a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    /// Nothing was declared with it.
    Unknown,
    /// A variable, function, parameter or enumeration constant.
    Value,
    /// A typedef.
    Type,
    /// Used as a type though nobody declared it, which has been reported.
    UnknownType,
}

/// The open scopes.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    now: Vec<Binding>,
    /// Name and what it meant before.
    changes: Vec<(Name, Binding)>,
    /// How many changes there were when each open scope began; the file scope has none.
    begun: Vec<usize>,
}

impl Scopes {
    pub(crate) fn new(names: usize) -> Scopes {
        Scopes { now: vec![Binding::Unknown; names], changes: Vec::new(), begun: Vec::new() }
    }

    pub(crate) fn get(&self, name: Name) -> Binding {
        self.now.get(name.index()).copied().unwrap_or(Binding::Unknown)
    }

    pub(crate) fn set(&mut self, name: Name, binding: Binding) {
        if self.now.len() <= name.index() {
            self.now.resize(name.index() + 1, Binding::Unknown);
        }
        if let Some(place) = self.now.get_mut(name.index())
            && *place != binding
        {
            self.changes.push((name, *place));
            *place = binding;
        }
    }

    /// Remembers that a name is used as a type but was never declared, in all scopes.
    pub(crate) fn set_unknown_type(&mut self, name: Name) {
        if let Some(place) = self.now.get_mut(name.index()) {
            *place = Binding::UnknownType;
        }
    }

    pub(crate) fn is_type(&self, name: Name) -> bool {
        matches!(self.get(name), Binding::Type | Binding::UnknownType)
    }

    pub(crate) fn open(&mut self) {
        self.begun.push(self.changes.len());
    }

    pub(crate) fn close(&mut self) {
        if let Some(begun) = self.begun.pop() {
            self.undo(begun);
        }
    }

    pub(crate) fn is_file_scope(&self) -> bool {
        self.begun.is_empty()
    }

    /// A point to come back to while the same scopes are open.
    pub(crate) fn mark(&self) -> usize {
        self.changes.len()
    }

    /// Takes back all changes since `mark`.
    pub(crate) fn undo(&mut self, mark: usize) {
        while self.changes.len() > mark {
            if let Some((name, before)) = self.changes.pop()
                && let Some(place) = self.now.get_mut(name.index())
            {
                *place = before;
            }
        }
    }
}
