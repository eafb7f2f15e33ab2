//! A region: an executable directive, the code it governs, and what that code touches.
//!
//! Sema fills every field; analyses read them. "Where from" is kept with each variable, so that a
//! report can say which clause or which implicit rule decided.

use source::Span;

use crate::construct::{Clause, Construct, Motion, Presence, ReductionOp};
use crate::program::{ExprId, FunctionId, RegionId, StmtId, Typed, VarId};

/// An executable directive with its body.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// What it says.
    pub construct: Construct<Typed>,
    /// The code it governs; none for directives that stand alone.
    pub body: Option<StmtId>,
    /// The function it stands in.
    pub function: FunctionId,
    /// The region around it, in the same function.
    pub parent: Option<RegionId>,
    /// The loops it applies to, outermost first; empty for constructs that are not about loops.
    pub loops: Vec<Loop>,
    /// Variables from outside that are used in the body or named in clauses, in order of first
    /// mention.
    pub vars: Vec<RegionVar>,
    /// Functions that may run as part of it: called from its body, and from those in turn.
    pub reaches: Vec<FunctionId>,
    /// Calls through pointers in the body or in functions reached: the set above is then open.
    pub indirect_calls: Vec<Span>,
    /// Where the directive stands.
    pub span: Span,
}

impl Region {
    /// Takes clauses away. Its variables, which know clauses by their numbers, know the others by their new ones; of one that
    /// is gone they know the next.
    pub fn retain_clauses(&mut self, keeps: impl Fn(&Clause<Typed>) -> bool) {
        let mut numbers: Vec<u32> = Vec::new();
        let mut next = 0;
        self.construct.clauses.retain(|it| {
            let stays = keeps(it);
            numbers.push(next);
            next += u32::from(stays);
            stays
        });
        let renumber = |origin: &mut Origin| {
            if let Origin::Clause(at) = origin
                && let Some(now) = usize::try_from(*at).ok().and_then(|it| numbers.get(it))
            {
                *at = *now;
            }
        };
        for var in &mut self.vars {
            var.sharing.iter_mut().for_each(|it| renumber(&mut it.origin));
            var.mappings.iter_mut().for_each(|it| renumber(&mut it.origin));
        }
    }
}

/// A loop in the form that directives ask for.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The `for` statement.
    pub stmt: StmtId,
    /// The variable that counts.
    pub var: VarId,
    /// Its first value.
    pub begin: ExprId,
    /// The other side of the test.
    pub bound: ExprId,
    /// The test.
    pub test: LoopTest,
    /// What is added each time; none means one.
    pub step: Option<ExprId>,
    /// Whether `step` is taken away rather than added.
    pub descending: bool,
    /// How often it runs, where that is a constant.
    pub trips: Option<u64>,
    /// The body.
    pub body: StmtId,
    /// Neither `begin` nor `bound` depends on the variable of an outer loop of the nest.
    pub rectangular: bool,
    /// Where.
    pub span: Span,
}

/// The test of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum LoopTest {
    Lt,
    Le,
    Gt,
    Ge,
    Ne,
}

/// A variable in a region.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionVar {
    /// Which.
    pub var: VarId,
    /// How it is shared among those who run the region.
    pub sharing: Option<Attribute<Sharing>>,
    /// How it comes to the device, if the region runs on one or moves data: one for each clause
    /// item that names it or a part of it, in the order written; else at most one.
    pub mappings: Vec<Attribute<Mapping>>,
    /// Whether the body reads it, before or without writing it as far as can be told.
    pub read: bool,
    /// Whether the body writes it.
    pub written: bool,
    /// What becomes of the data that it leads to, if it is or holds a pointer.
    pub pointee: Pointee,
    /// First mention.
    pub span: Span,
}

/// What is done with data that is reached through a pointer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pointee {
    /// It is read.
    pub read: bool,
    /// It is written.
    pub written: bool,
    /// The pointer goes where its use cannot be seen: anything may happen to the data.
    pub escapes: bool,
}

impl Pointee {
    /// Nothing is done with it.
    pub const UNTOUCHED: Pointee = Pointee { read: false, written: false, escapes: false };

    /// What both do.
    #[must_use]
    pub fn and(self, other: Pointee) -> Pointee {
        Pointee {
            read: self.read || other.read,
            written: self.written || other.written,
            escapes: self.escapes || other.escapes,
        }
    }
}

/// An attribute and why it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute<A> {
    /// What.
    pub value: A,
    /// Why.
    pub origin: Origin,
}

/// Why an attribute holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A clause says so: its position in the construct.
    Clause(u32),
    /// A clause of an enclosing data region says so.
    Enclosing(RegionId, u32),
    /// A declaration says so: index into the program's declarations.
    Declared(u32),
    /// A rule of the standard says so.
    Rule(Rule),
}

/// Implicit and predetermined rules, each told by [`Rule::text`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// The loop variable of an associated loop.
    LoopVariable,
    /// The loop variable of a lane loop.
    LaneLoopVariable,
    /// Declared inside the enclosing region: those who run that have one each.
    DeclaredInside,
    /// Static storage.
    StaticStorage,
    /// One per thread by declaration.
    ThreadLocal,
    /// The `default` clause.
    DefaultClause,
    /// The `defaultmap` clause.
    DefaultMapClause,
    /// What the construct does with scalars that no clause names.
    ScalarDefault,
    /// The region only reads such a scalar, which nothing else brings to devices.
    ScalarRead,
    /// What it does with arrays and records.
    AggregateDefault,
    /// What it does with pointers.
    PointerDefault,
    /// What it does with data behind a pointer that it touches all of.
    Touched,
    /// Shared in the enclosing parallel region.
    EnclosingShared,
    /// Not shared in the enclosing region, by a rule that holds there.
    EnclosingPrivate,
    /// An automatic variable of a function that is called by those who run the region.
    CallersOwn,
    /// A task's copy of a variable that is not shared around it.
    TaskCopy,
    /// Shared because nothing says otherwise.
    SharedDefault,
    /// A reduction variable is mapped both ways.
    ReductionMapped,
    /// A clause on a combined construct brings the variable to the device.
    CombinedClause,
}

impl Rule {
    /// The rule in words, as a clause of a sentence that begins "because".
    pub fn text(self) -> &'static str {
        match self {
            Rule::LoopVariable => "it counts a loop of the construct",
            Rule::LaneLoopVariable => "it counts a loop whose iterations run in lanes",
            Rule::DeclaredInside => "it is declared inside the enclosing region",
            Rule::StaticStorage => "it has static storage",
            Rule::ThreadLocal => "each thread has its own by declaration",
            Rule::DefaultClause => "the `default` clause says so",
            Rule::DefaultMapClause => "the `defaultmap` clause says so",
            Rule::ScalarDefault => "no clause names it and it is a scalar",
            Rule::ScalarRead => "no clause names it, it is a scalar, and the region only reads it",
            Rule::AggregateDefault => "no clause names it and it is an array or record",
            Rule::PointerDefault => "no clause names it and it is a pointer",
            Rule::Touched => "no clause names it, and the region touches so much of it",
            Rule::EnclosingShared => "it is shared in the enclosing region",
            Rule::EnclosingPrivate => "it is not shared in the enclosing region",
            Rule::CallersOwn => "each thread that runs the function has its own",
            Rule::TaskCopy => "no clause names it and it is not shared around the task",
            Rule::SharedDefault => "no clause names it",
            Rule::ReductionMapped => "it is a reduction variable",
            Rule::CombinedClause => "another clause of the combined construct names it",
        }
    }
}

/// How a variable is shared.
#[derive(Clone, Debug, PartialEq)]
pub enum Sharing {
    /// One for all.
    Shared,
    /// One each.
    Private,
    /// One each, initialised.
    FirstPrivate,
    /// One each; the last value survives.
    LastPrivate,
    /// Both.
    FirstLastPrivate,
    /// One each, combined.
    Reduction(ReductionOp<Typed>),
    /// One each, following the iteration.
    Linear,
    /// One per thread, for the life of the thread.
    ThreadPrivate,
}

/// How a variable comes to a device.
#[derive(Clone, Debug, PartialEq)]
pub enum Mapping {
    /// With a lifetime and copies; the item as named in the clause, if one names a part.
    Map(Motion, Presence, Option<ExprId>),
    /// As an argument: each has its own copy.
    FirstPrivate,
    /// Lives on the device, not initialised.
    Private,
    /// Holds a device address already.
    DevicePointer,
    /// Its address is a device address already.
    DeviceAddress,
    /// Refers to device data if there is any, else stays as it is.
    PointerToMapped,
    /// Has its own storage on the device by declaration.
    Declared,
}
