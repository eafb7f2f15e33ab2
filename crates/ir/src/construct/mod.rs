//! The one construct model: what a directive says, whichever standard it was spelt in.
//!
//! A [`Construct`] is a list of [`Leaf`]s from the outside in (a combined directive has several),
//! arguments, clauses, and the implicit [`Rules`] of the standard it came from. Later phases ask
//! the construct, never the standard: where the standards differ, the reader has written the
//! difference into a field. Levels have one name each: *team* (gang), *thread* (worker), *lane*
//! (vector element, SIMD).
//!
//! A construct is generic in its [`Phase`]: the same model holds expressions as written, as typed,
//! or as plain text, and [`Construct::convert`] carries it from one to the next.
//!
//! Not here: spellings (crate `directive`) and rules of use (crate `sema`).

mod clause;
mod convert;
mod leaf;
mod parts;
mod rules;

pub use clause::*;
pub use convert::Convert;
pub use leaf::Leaf;
pub use parts::*;
pub use rules::{ByKind, Implicit, LoopTrust, Naming, OnAbsent, Rules, Unnamed};

use std::fmt::Debug;

use source::Span;

/// What the expressions, types and initialisers inside a construct are.
pub trait Phase: Clone + Debug + PartialEq {
    /// An expression or list item.
    type Expr: Clone + Debug + PartialEq;
    /// A type.
    type Type: Clone + Debug + PartialEq;
    /// An initialiser, braces included.
    type Init: Clone + Debug + PartialEq;
    /// An identifier that is declared by the construct itself or names something outside C.
    type Name: Clone + Debug + PartialEq;
}

/// Everything is text: for writing directives and comparing them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelled;

impl Phase for Spelled {
    type Expr = String;
    type Type = String;
    type Init = String;
    type Name = String;
}

/// Which standard or extension a construct was spelt in. The numbers belong to crate `directive`;
/// here it is a tag to hand back when a message must be spelt as the user spells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dialect(pub u8);

/// One directive, understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Construct<P: Phase> {
    /// The spelling it came from.
    pub dialect: Dialect,
    /// What it is, from the outside in; never empty.
    pub leaves: Vec<Leaf>,
    /// What stands in parentheses or words directly after the name.
    pub args: Args<P>,
    /// Clauses, in the order written.
    pub clauses: Vec<Clause<P>>,
    /// Groups of clauses that hold for some device types only; see [`Clause::group`].
    pub groups: Vec<DeviceGroup<P>>,
    /// What holds where no clause says otherwise.
    pub rules: Rules,
    /// The whole directive.
    pub span: Span,
}

/// Device types that the clauses of a group are for.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceGroup<P: Phase> {
    /// Lower-case names as written; empty means `*`, every other type.
    pub types: Vec<P::Name>,
    /// The clause that opened the group.
    pub span: Span,
}

impl<P: Phase> Construct<P> {
    /// Whether `leaf` is one of its parts.
    pub fn has(&self, leaf: Leaf) -> bool {
        self.leaves.contains(&leaf)
    }

    /// Whether it hands its body back to the device that the code around it was started from.
    pub fn goes_back(&self) -> bool {
        self.kinds().any(|it| matches!(it, ClauseKind::Device(DeviceModifier::Ancestor, _)))
    }

    /// The kinds of all clauses that hold for every device type.
    pub fn kinds(&self) -> impl Iterator<Item = &ClauseKind<P>> {
        self.clauses.iter().filter(|it| it.group.is_none()).map(|it| &it.kind)
    }
}

/// What stands directly after a directive's name.
#[derive(Clone, Debug, PartialEq)]
pub enum Args<P: Phase> {
    /// Nothing.
    None,
    /// A list of variables: flush, threadprivate, allocate, declare target, cache, …
    Items(Vec<P::Expr>),
    /// `cache(readonly: …)`
    ReadonlyItems(Vec<P::Expr>),
    /// A name that is not a C object: critical, routine.
    Name(P::Name),
    /// Which function replaces which.
    Variant(VariantDecl<P>),
    /// An object the directive works on: depobj.
    Object(P::Expr),
    /// What is cancelled.
    Cancel(CancelKind),
    /// Queues to wait for.
    Wait(WaitArgs<P>),
    /// A user's reduction.
    Reduction(Box<ReductionDecl<P>>),
    /// A user's mapper.
    Mapper(Box<MapperDecl<P>>),
    /// Memory kinds for variables.
    Memory(Vec<MemoryKind<P>>),
    /// Unread text of a directive that is kept only for its spelling.
    Text(P::Name),
}

/// `([base :] variant)`
#[derive(Clone, Debug, PartialEq)]
pub struct VariantDecl<P: Phase> {
    /// The function that is replaced; the one declared behind the directive if absent.
    pub base: Option<P::Name>,
    /// The function that is called instead.
    pub variant: P::Name,
}

/// What `cancel` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum CancelKind {
    Parallel,
    Sections,
    For,
    Taskgroup,
}

/// `(devnum: d : queues: a, b)`
#[derive(Clone, Debug, PartialEq)]
pub struct WaitArgs<P: Phase> {
    /// Which device; the current one if absent.
    pub device: Option<P::Expr>,
    /// Whether the word `queues:` was written.
    pub has_queues_word: bool,
    /// Which queues.
    pub queues: Vec<P::Expr>,
}

/// `(name : types : combiner)`, of reductions and inductions. How it starts is a clause.
#[derive(Clone, Debug, PartialEq)]
pub struct ReductionDecl<P: Phase> {
    /// An identifier or an operator.
    pub name: ReductionOp<P>,
    /// The types it is for.
    pub types: Vec<P::Type>,
    /// Combines two values; absent if written as a clause.
    pub combiner: Option<P::Expr>,
}

/// How a user's reduction starts.
#[derive(Clone, Debug, PartialEq)]
pub enum ReductionInit<P: Phase> {
    /// The private copy is given a value.
    Assign(P::Init),
    /// A call sets it up.
    Call(P::Expr),
}

/// `([name :] type var)`
#[derive(Clone, Debug, PartialEq)]
pub struct MapperDecl<P: Phase> {
    /// Its name; `default` if absent.
    pub name: Option<P::Name>,
    /// The mapped type.
    pub ty: P::Type,
    /// The variable that stands for the mapped object in the clauses.
    pub var: P::Name,
}

/// `fastmem : val : a, b` of the memory-kind directive.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryKind<P: Phase> {
    /// The memory: `fastmem`, `persistent`, or a user's name; absent means the default.
    pub space: Option<P::Name>,
    /// `val` or `ref`.
    pub by: Option<MemoryBy>,
    /// The variables.
    pub items: Vec<P::Expr>,
}

/// What a memory-kind variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryBy {
    /// `val`: the variable itself.
    Value,
    /// `ref`: what it refers to.
    Reference,
}
