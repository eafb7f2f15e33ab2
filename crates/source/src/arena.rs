//! Arenas and typed handles: how trees are stored.
//!
//! A handle is four bytes, cheap to copy and free of lifetimes; an arena only grows, so a handle
//! it gave out stays good. Using a handle with an arena that did not make it is a bug of ours, and
//! the one place where indexing may panic.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A handle to a `T` in an [`Arena<T>`].
pub struct Id<T> {
    index: u32,
    of: PhantomData<fn() -> T>,
}

impl<T> Id<T> {
    /// The handle with this index; for tables that run beside an arena.
    pub fn from_index(index: u32) -> Id<T> {
        Id { index, of: PhantomData }
    }

    /// Position in the arena.
    pub fn index(self) -> usize {
        self.index as usize
    }
}

// Derives would ask the same of `T`.
impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Id<T> {}
impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}
impl<T> Eq for Id<T> {}
impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Id<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.index.cmp(&other.index)
    }
}
impl<T> Hash for Id<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.index.hash(state);
    }
}
impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.index)
    }
}

/// A growing list of `T`, named by [`Id<T>`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arena<T> {
    items: Vec<T>,
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Arena { items: Vec::new() }
    }
}

impl<T> Arena<T> {
    /// An empty arena.
    pub fn new() -> Arena<T> {
        Arena::default()
    }

    /// Stores `item` and gives its handle.
    ///
    /// Texts are limited to 4 GiB and every item stems from at least one byte, so handles cannot
    /// run out.
    pub fn push(&mut self, item: T) -> Id<T> {
        let index = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
        self.items.push(item);
        Id::from_index(index)
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// All items with their handles, in order of birth.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Id<T>, &T)> {
        self.items.iter().enumerate().map(|(index, item)| (Id::from_index(index as u32), item))
    }

    /// The item behind a handle, or nothing for a handle of another arena.
    pub fn find(&self, id: Id<T>) -> Option<&T> {
        self.items.get(id.index())
    }
}

#[allow(clippy::indexing_slicing, reason = "the one place: a foreign handle is a bug of ours")]
impl<T> Index<Id<T>> for Arena<T> {
    type Output = T;
    fn index(&self, id: Id<T>) -> &T {
        &self.items[id.index()]
    }
}

#[allow(clippy::indexing_slicing, reason = "the one place: a foreign handle is a bug of ours")]
impl<T> IndexMut<Id<T>> for Arena<T> {
    fn index_mut(&mut self, id: Id<T>) -> &mut T {
        &mut self.items[id.index()]
    }
}
