//! Which pointers may hold an address of the host.
//!
//! In: a [`Graph`] of what a program does with pointers, without LLVM. Out: a [`Solution`]: for each node the places it
//! may point to. A pointer whose places are all in the accelerator's memory is a *device* pointer and needs 32 bits;
//! all others are *generic*. What is not known is [`HOST`], and that means 64 bits.
//!
//! The analysis is by inclusion, for the whole program at once, and tells offsets in small objects apart. Two objects
//! stand for what cannot be seen: [`HOST`], any address at all, and [`LOW`], any address below 4 GiB. Both may be
//! the address of an object that has *escaped*: one whose address was turned into a number, given to somebody
//! outside, or written where such a pointer leads. Escaped objects may hold anything.

mod solve;
#[cfg(test)]
mod tests;

pub(crate) use solve::solve;

use std::collections::BTreeMap;

/// A pointer of the program: a value, a parameter, a result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Node(pub(crate) u32);

/// A piece of memory, or a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Object(pub(crate) u32);

/// Any address.
pub(crate) const HOST: Object = Object(0);
/// Any address below 4 GiB.
pub(crate) const LOW: Object = Object(1);

/// Where in an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Offset {
    /// So many bytes behind its beginning.
    At(u32),
    /// Anywhere.
    Any,
}

/// What a pointer may point to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Place {
    pub(crate) object: Object,
    pub(crate) offset: Offset,
}

/// Where in one object a pointer may point to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Offsets {
    /// At one of these, in order.
    At(Vec<u32>),
    /// Anywhere.
    Any,
}

/// More offsets into one object than this are taken for all: a pointer that walks through an array is everywhere.
const MOST_OFFSETS: usize = 8;

impl Offsets {
    /// Whether something was new.
    fn add(&mut self, offset: Offset) -> bool {
        let (Offsets::At(known), offset) = (&mut *self, offset) else { return false };
        match offset {
            Offset::Any => *self = Offsets::Any,
            Offset::At(offset) => match known.binary_search(&offset) {
                Ok(_) => return false,
                Err(_) if known.len() == MOST_OFFSETS => *self = Offsets::Any,
                Err(place) => known.insert(place, offset),
            },
        }
        true
    }

    fn iter(&self) -> impl Iterator<Item = Offset> + '_ {
        let (known, anywhere) = match self {
            Offsets::At(known) => (known.as_slice(), None),
            Offsets::Any => (&[][..], Some(Offset::Any)),
        };
        known.iter().map(|it| Offset::At(*it)).chain(anywhere)
    }
}

/// Places, by their objects.
pub(crate) type Places = BTreeMap<Object, Offsets>;

/// Why something is generic: an index into the texts of whoever made the graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Reason(pub(crate) u32);

/// What is known of an object.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectFacts {
    /// Its size in bytes if offsets in it are told apart.
    pub(crate) size: Option<u32>,
    /// By the user's word it never holds an address of the host.
    pub(crate) is_pure: bool,
    /// Somebody outside knows its address from the beginning, for this reason.
    pub(crate) escapes: Option<Reason>,
    /// What calls of it do, if it is a function.
    pub(crate) function: Option<Function>,
}

/// A function as calls see it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    /// Functions of another type are not called by a call of this one.
    pub(crate) shape: u32,
    /// Nodes of its parameters; none for those that are no pointers.
    pub(crate) parameters: Vec<Option<Node>>,
    /// Its result.
    pub(crate) result: Option<Node>,
    /// Parameters that calls through pointers do not feed: whoever made the graph has done it.
    pub(crate) fed: Vec<usize>,
}

/// What the program does with pointers.
#[derive(Clone, Debug)]
pub(crate) enum Constraint {
    /// `node` is the address of `object`.
    Address { node: Node, object: Object },
    /// `node` may be anything.
    Unknown { node: Node, reason: Reason },
    /// `node` may be any address below 4 GiB.
    Low { node: Node },
    /// `to = from`
    Copy { from: Node, to: Node },
    /// `to = from + by`; anywhere in the object if `by` is not known.
    Shift { from: Node, to: Node, by: Option<i64> },
    /// `to = *from`; all of the object if it is `whole`.
    Load { from: Node, to: Node, whole: bool },
    /// `*to = value`
    Store { value: Node, to: Node, whole: bool },
    /// `memcpy(to, from, len)`
    Transfer { to: Node, from: Node, len: Option<u64> },
    /// Bytes that may make up a pointer are written to what `node` points to.
    Taint { node: Node, len: Option<u64>, reason: Reason },
    /// The address is known outside.
    Escape { node: Node, reason: Reason },
    /// What lies at the address is read as a number.
    Reveal { node: Node, reason: Reason },
    /// A call through a pointer.
    Call { callee: Node, shape: u32, arguments: Vec<Option<Node>>, result: Option<Node> },
}

/// Nodes, objects and what is done with them.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    /// Nodes that are device pointers by the user's word.
    pub(crate) asserted: Vec<bool>,
    pub(crate) objects: Vec<ObjectFacts>,
    pub(crate) constraints: Vec<Constraint>,
}

impl Default for Graph {
    fn default() -> Graph {
        let unseen = ObjectFacts::default();
        Graph {
            asserted: Vec::new(),
            objects: vec![unseen.clone(), unseen],
            constraints: Vec::new(),
        }
    }
}

impl Graph {
    pub(crate) fn node(&mut self, is_asserted: bool) -> Node {
        self.asserted.push(is_asserted);
        Node(self.asserted.len() as u32 - 1)
    }

    pub(crate) fn object(&mut self, facts: ObjectFacts) -> Object {
        self.objects.push(facts);
        Object(self.objects.len() as u32 - 1)
    }

    pub(crate) fn add(&mut self, constraint: Constraint) {
        self.constraints.push(constraint);
    }
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Solution {
    places: Vec<Places>,
    reasons: Vec<Option<Reason>>,
    escaped: Vec<bool>,
}

impl Solution {
    /// What `node` may point to.
    pub(crate) fn places(&self, node: Node) -> impl Iterator<Item = Place> + '_ {
        let places = self.places.get(node.0 as usize).into_iter().flatten();
        places.flat_map(|(object, offsets)| {
            offsets.iter().map(|offset| Place { object: *object, offset })
        })
    }

    /// Whether all of it is in the accelerator's memory.
    pub(crate) fn is_device(&self, node: Node) -> bool {
        self.places.get(node.0 as usize).is_none_or(|it| !it.contains_key(&HOST))
    }

    /// Why it is generic.
    pub(crate) fn reason(&self, node: Node) -> Option<Reason> {
        self.reasons.get(node.0 as usize).copied().flatten()
    }

    /// Whether somebody outside may know the object.
    pub(crate) fn is_escaped(&self, object: Object) -> bool {
        self.escaped.get(object.0 as usize).copied().unwrap_or(true)
    }
}
