//! Which entity a name means here: ordinary names and tags, block by block.
//!
//! A table indexed by name holds what each means now, a log of what was changed takes it back when
//! a scope ends. Entities with linkage are also kept beside, because an `extern` in a block means
//! the same object even where a local variable hides it. Labels are with the function ([`crate::stmt`]).

use ir::program::{FunctionId, VarId};
use ir::types::{AliasId, EnumId, RecordId};
use source::Name;

/// What an ordinary name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entity {
    Var(VarId),
    Function(FunctionId),
    Typedef(AliasId),
    /// A constant of an enumeration, by position.
    Constant(EnumId, u32),
    /// Its declaration was reported.
    Error,
}

/// What a tag means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    Record(RecordId),
    Enum(EnumId),
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    entity: Option<(Entity, u32)>,
    tag: Option<(Tag, u32)>,
    linked: Option<Entity>,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Entity(Name, Option<(Entity, u32)>),
    Tag(Name, Option<(Tag, u32)>),
    Sized(Option<u32>),
}

/// The open scopes.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    slots: Vec<Slot>,
    log: Vec<Change>,
    /// Length of the log when each open block began.
    begun: Vec<usize>,
    /// The innermost declaration of variable size: see [`crate::jumps`].
    sized: Option<u32>,
}

impl Scopes {
    pub(crate) fn new(names: usize) -> Scopes {
        Scopes { slots: vec![Slot::default(); names], ..Scopes::default() }
    }

    pub(crate) fn open(&mut self) {
        self.begun.push(self.log.len());
    }

    pub(crate) fn close(&mut self) {
        let begun = self.begun.pop().unwrap_or(0);
        while self.log.len() > begun {
            match self.log.pop() {
                Some(Change::Entity(name, before)) => self.slot(name).entity = before,
                Some(Change::Tag(name, before)) => self.slot(name).tag = before,
                Some(Change::Sized(before)) => self.sized = before,
                None => break,
            }
        }
    }

    /// The innermost declaration of variable size in scope.
    pub(crate) fn sized(&self) -> Option<u32> {
        self.sized
    }

    pub(crate) fn set_sized(&mut self, declaration: u32) {
        let before = self.sized.replace(declaration);
        self.log.push(Change::Sized(before));
    }

    /// Zero at file scope.
    pub(crate) fn depth(&self) -> u32 {
        self.begun.len() as u32
    }

    fn slot(&mut self, name: Name) -> &mut Slot {
        if self.slots.len() <= name.index() {
            self.slots.resize(name.index() + 1, Slot::default());
        }
        #[allow(clippy::indexing_slicing, reason = "made long enough above")]
        &mut self.slots[name.index()]
    }

    pub(crate) fn get(&self, name: Name) -> Option<Entity> {
        self.slots.get(name.index())?.entity.map(|it| it.0)
    }

    /// What the innermost scope itself declares under this name.
    pub(crate) fn here(&self, name: Name) -> Option<Entity> {
        let (entity, depth) = self.slots.get(name.index())?.entity?;
        (depth == self.depth()).then_some(entity)
    }

    pub(crate) fn set(&mut self, name: Name, entity: Entity) {
        let depth = self.depth();
        let before = self.slot(name).entity.replace((entity, depth));
        if depth > 0 {
            self.log.push(Change::Entity(name, before));
        }
    }

    /// Declares in the file scope, whatever block is open; a block's own declaration stays in front.
    pub(crate) fn set_global(&mut self, name: Name, entity: Entity) {
        let slot = self.slot(name);
        if slot.entity.is_none() {
            slot.entity = Some((entity, 0));
        }
    }

    pub(crate) fn tag(&self, name: Name) -> Option<Tag> {
        self.slots.get(name.index())?.tag.map(|it| it.0)
    }

    pub(crate) fn tag_here(&self, name: Name) -> Option<Tag> {
        let (tag, depth) = self.slots.get(name.index())?.tag?;
        (depth == self.depth()).then_some(tag)
    }

    pub(crate) fn set_tag(&mut self, name: Name, tag: Tag) {
        let depth = self.depth();
        let before = self.slot(name).tag.replace((tag, depth));
        if depth > 0 {
            self.log.push(Change::Tag(name, before));
        }
    }

    /// The entity with linkage of this name, hidden or not.
    pub(crate) fn linked(&self, name: Name) -> Option<Entity> {
        self.slots.get(name.index())?.linked
    }

    pub(crate) fn set_linked(&mut self, name: Name, entity: Entity) {
        self.slot(name).linked = Some(entity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::Names;

    #[test]
    fn what_a_block_declares_is_gone_at_its_end() {
        let mut names = Names::new();
        let x = names.intern("x");
        let (outer, inner) = (VarId::from_index(0), VarId::from_index(1));
        let mut scopes = Scopes::new(names.len());
        scopes.set(x, Entity::Var(outer));
        scopes.open();
        assert_eq!((scopes.get(x), scopes.here(x)), (Some(Entity::Var(outer)), None));
        scopes.set(x, Entity::Var(inner));
        assert_eq!(scopes.here(x), Some(Entity::Var(inner)));
        scopes.close();
        assert_eq!(scopes.get(x), Some(Entity::Var(outer)));
    }

    #[test]
    fn an_implicit_declaration_outlives_its_block() {
        let mut names = Names::new();
        let f = names.intern("f");
        let mut scopes = Scopes::new(0);
        scopes.open();
        scopes.set_global(f, Entity::Function(FunctionId::from_index(0)));
        scopes.close();
        assert!(scopes.get(f).is_some());
    }
}
