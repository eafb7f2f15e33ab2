//! What the dependence test answers for a loop: its verdict, what the verdict rests on, the terms for running it in parallel.
//!
//! Values only; [`crate::dependence`] makes them, and what it is made of says by them what stood in the way.

use ir::construct::ReductionOp;
use ir::program::{ExprId, Program, StmtId, Typed, VarId};
use source::Span;

use crate::sum::Sum;

/// What is known of one loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The `for` statement.
    pub stmt: StmtId,
    /// The variable that counts, if the loop has the normal form.
    pub var: Option<VarId>,
    /// Its first value and the bound that it stays below (or reaches), if the loop counts up by one.
    pub range: Option<(ExprId, ExprId)>,
    /// How many loops of the same question stand around it; 0 for a loop that was asked about alone.
    pub depth: usize,
    /// Whether its iterations are independent.
    pub verdict: Verdict,
    /// Variables from outside the loop that each iteration must have for itself: written before
    /// they are read. The counting variable is among them if it was declared outside.
    pub private: Vec<VarId>,
    /// Those of them whose last value is used after the loop.
    pub last_private: Vec<VarId>,
    /// Variables that iterations only combine something into.
    pub reductions: Vec<(VarId, ReductionOp<Typed>)>,
    /// Whether the three lists above are whole although the verdict may be against the loop: then only
    /// memory stands in the way, and they are the terms for who vouches for that.
    pub is_settled: bool,
    /// Where the verdict is [`Reason::MayAlias`]: if at loop entry none of these overlap, the loop is parallel
    /// all the same, on the terms above. Empty if there is no such condition.
    pub conditions: Vec<Disjoint>,
    /// If these hold at loop entry, no two accesses to objects that may be the same one meet; which says nothing of what else
    /// stands in the way. Empty if there are none, or there are no such terms.
    pub unsure: Terms,
    /// Where the verdict is [`Verdict::Carried`] because of differences that nobody knows: if all of these are far enough, or
    /// nothing, the loop is parallel all the same, on the terms above. Empty if there is no such condition.
    pub apart: Vec<Far>,
    /// What the verdict rests on besides the subscripts.
    pub facts: Vec<Fact>,
    /// Where the loop stands.
    pub span: Span,
}

impl Finding {
    /// Whether iterations may run in any order.
    pub fn is_parallel(&self) -> bool {
        self.verdict == Verdict::Parallel
    }
}

/// Whether iterations are independent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Proven.
    Parallel,
    /// Two accesses reach the same place in different iterations, as far as can be told.
    Carried(Carried),
    /// Not proven.
    Unknown(Obstacle),
}

/// A dependence between iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The access in the earlier iteration.
    pub first: Access,
    /// The access in the later one.
    pub second: Access,
    /// What they do to each other.
    pub kind: DependenceKind,
    /// How many iterations lie between them, if that is always the same.
    pub distance: Option<u64>,
    /// It is there for certain as soon as the loop has two iterations: a value goes from one to a
    /// later one, or must be read before a later one changes it.
    pub certain: bool,
    /// It is not one of single iterations or under a condition: any two iterations meet so, or any two
    /// at this distance, as far as the loops inside are run.
    pub steady: bool,
}

/// One access in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The variable that was named: an array, a pointer, a scalar.
    pub var: Option<VarId>,
    /// Whether it writes.
    pub writes: bool,
    /// Where.
    pub span: Span,
}

/// Kinds of dependence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DependenceKind {
    /// Written, then read.
    Flow,
    /// Read, then written.
    Anti,
    /// Written twice.
    Output,
}

/// What stood in the way of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// Why.
    pub reason: Reason,
    /// The statement or access.
    pub span: Span,
    /// The other access, where there are two.
    pub other: Option<Span>,
    /// The variable or function it is about.
    pub name: Option<source::Name>,
}

impl Obstacle {
    pub(crate) fn new(reason: Reason, span: Span) -> Obstacle {
        Obstacle { reason, span, other: None, name: None }
    }
}

/// Why a proof was not found, each told by [`Reason::text`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Not `for (i = a; i < b; i += c)`.
    NotNormal,
    /// The counting variable is changed in the body, or might be from elsewhere.
    CounterChanged,
    /// Leaves the loop.
    Break,
    /// Leaves the function.
    Return,
    /// A jump or a label.
    Jump,
    /// Assembly.
    Assembly,
    /// An object that may change by itself.
    Volatile,
    /// A variable of which each thread has its own.
    ThreadLocal,
    /// An indivisible access: it is meant for iterations that meet.
    Atomic,
    /// A function about which nothing is known.
    UnknownCall,
    /// A function that does input or output, ends the program or keeps a state of its own.
    EffectCall,
    /// A call through a pointer.
    IndirectCall,
    /// A directive in the body that is more than a loop.
    Directive,
    /// Two pointers, or a pointer and an object, that may lead to the same place.
    MayAlias,
    /// A subscript that is no sum of counters and constants.
    Subscript,
    /// A value that survives the loop, but not every iteration sets it.
    LastValue,
    /// Too much to compare.
    TooLarge,
    /// Had errors.
    Faulty,
}

impl Reason {
    /// A short word for machines; stable.
    pub fn word(self) -> &'static str {
        match self {
            Reason::NotNormal => "not-normal",
            Reason::CounterChanged => "counter-changed",
            Reason::Break => "break",
            Reason::Return => "return",
            Reason::Jump => "jump",
            Reason::Assembly => "assembly",
            Reason::Volatile => "volatile",
            Reason::ThreadLocal => "thread-local",
            Reason::Atomic => "atomic",
            Reason::UnknownCall => "unknown-call",
            Reason::EffectCall => "effect-call",
            Reason::IndirectCall => "indirect-call",
            Reason::Directive => "directive",
            Reason::MayAlias => "may-alias",
            Reason::Subscript => "subscript",
            Reason::LastValue => "last-value",
            Reason::TooLarge => "too-large",
            Reason::Faulty => "faulty",
        }
    }

    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Reason::NotNormal => {
                "the loop does not count from a value to a bound in constant steps"
            }
            Reason::CounterChanged => "the variable that counts is or may be changed in the body",
            Reason::Break => "the loop may be left early",
            Reason::Return => "the function may be left from inside the loop",
            Reason::Jump => "jumps in the loop are not followed",
            Reason::Assembly => "assembly may do anything",
            Reason::Volatile => "a volatile object is accessed",
            Reason::ThreadLocal => "a variable is accessed of which each thread has its own",
            Reason::Atomic => "an atomic access is made",
            Reason::UnknownCall => "nothing is known of the function that is called",
            Reason::EffectCall => "the function that is called does more than compute",
            Reason::IndirectCall => "a function is called through a pointer",
            Reason::Directive => "a directive in the loop does more than mark a loop",
            Reason::MayAlias => "these accesses may reach the same memory",
            Reason::Subscript => "this access may reach any element, those of other iterations too",
            Reason::LastValue => {
                "the value is used after the loop, but not every iteration sets it"
            }
            Reason::TooLarge => "there is too much in the loop to compare",
            Reason::Faulty => "the loop has errors",
        }
    }
}

/// A difference of subscripts that must be nothing, or at least as much as the loop goes, one way or the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Far {
    /// The difference.
    pub by: Sum,
    /// How far the loop goes, and one more.
    pub way: Sum,
}

impl Far {
    /// As a condition: `n >= m, -n >= m, or n == 0`.
    pub fn text(&self, program: &Program) -> String {
        let (by, way) = (self.by.text(program), self.way.text(program));
        let minus = Sum { terms: Vec::new() }.minus(&self.by).text(program);
        format!("{by} >= {way}, {minus} >= {way}, or {by} == 0")
    }
}

/// What can be asked at run time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// None of these overlap.
    pub apart: Vec<Disjoint>,
    /// None of these is negative.
    pub at_least_zero: Vec<Sum>,
}

/// Two ranges of memory that must not overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disjoint {
    /// One.
    pub first: Range,
    /// The other.
    pub second: Range,
}

/// Bytes of an object, from `low` up to but not including `high`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// The object, or the pointer to it.
    pub var: VarId,
    /// Counted from where the pointer `var` leads, not from the address of `var`.
    pub is_pointee: bool,
    /// First byte.
    pub low: Sum,
    /// End.
    pub high: Sum,
}

/// Something a verdict rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// So many pairs of accesses were compared and found apart.
    Compared(usize),
    /// The pointer is declared `restrict`.
    Restrict(VarId),
    /// All that these pointers can hold is known.
    PointsApart(VarId, VarId),
}
