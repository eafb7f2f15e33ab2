//! Clauses, normalised: one kind per meaning, whichever standard spells it.

use source::Span;

use super::*;

/// One clause.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause<P: Phase> {
    /// What it says.
    pub kind: ClauseKind<P>,
    /// The leaf it is for, where the user named one: `if(parallel: …)`.
    pub on: Option<Leaf>,
    /// Index into [`Construct::groups`]: it holds for those device types only.
    pub group: Option<u16>,
    /// A constant behind a word that says all by itself: `read(1)`. If it is false the clause is as
    /// good as absent.
    pub switch: Option<P::Expr>,
    /// Where it was written.
    pub span: Span,
}

/// What a clause says.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "clauses are few and short-lived")]
pub enum ClauseKind<P: Phase> {
    // ---- data on devices
    /// Data is present on the device, with copies at the start and end of its life there.
    Map(Map<P>),
    /// Copies now.
    Transfer(Transfer<P>),
    /// Host code sees the device address of these.
    UseDevice(UseDevice, Vec<P::Expr>),
    /// Pointers that hold device addresses.
    DevicePointer(Vec<P::Expr>),
    /// Objects whose address is a device address.
    HasDeviceAddr(Vec<P::Expr>),
    /// Device copies of these pointers are made to point at device data.
    Attach(Vec<P::Expr>),
    /// And back.
    Detach(Vec<P::Expr>),
    /// The dynamic count goes to zero.
    Finalize,
    /// Absent data is left alone.
    IfPresent,
    /// Exists on devices from the start.
    DeviceEnter {
        /// `automap`
        automap: bool,
        /// Spelt `to`, the old word.
        old_word: bool,
        /// Functions and variables.
        items: Vec<P::Expr>,
    },
    /// Exists on devices once mapped.
    DeviceLink(Vec<P::Expr>),
    /// Exists on devices only.
    DeviceResident(Vec<P::Expr>),
    /// Has a copy per device.
    DeviceLocal(Vec<P::Expr>),
    /// For which side code is made.
    DeviceKind(DeviceKind),
    /// Unlisted variables of a category are treated so.
    DefaultMap(DefaultMap, Option<Category>),
    // ---- sharing
    /// Unlisted variables are treated so, optionally only those of a category.
    Default(DefaultSharing, Option<Category>),
    /// One object for all.
    Shared(Vec<P::Expr>),
    /// A copy each.
    Private(Vec<P::Expr>),
    /// An initialised copy each.
    FirstPrivate {
        /// The copy is made when a task graph is recorded.
        saved: bool,
        /// The variables.
        items: Vec<P::Expr>,
    },
    /// A copy each; the last iteration's value survives.
    LastPrivate {
        /// The last one that was assigned.
        conditional: bool,
        /// The variables.
        items: Vec<P::Expr>,
    },
    /// A copy each; the value follows the iteration.
    Linear(Linear<P>),
    /// A copy each, combined at the end.
    Reduction(Reduction<P>),
    /// Takes part in an enclosing reduction.
    InReduction(Reduction<P>),
    /// Tasks may take part in this reduction.
    TaskReduction(Reduction<P>),
    /// A value that a closed form gives for each iteration.
    Induction(Induction<P>),
    /// Thread copies start with the first thread's value.
    CopyIn(Vec<P::Expr>),
    /// Thread copies end with one thread's value.
    CopyPrivate(Vec<P::Expr>),
    /// The scan includes the current iteration.
    Inclusive(Vec<P::Expr>),
    /// The scan excludes it.
    Exclusive(Vec<P::Expr>),
    /// Ends the phase of a scan that sets up private copies.
    InitComplete,
    /// Pointers are aligned.
    Aligned(Vec<P::Expr>, Option<P::Expr>),
    /// Will not be needed again soon.
    Nontemporal(Vec<P::Expr>),
    /// Same value for all lanes.
    Uniform(Vec<P::Expr>),
    // ---- memory
    /// Private copies are allocated so.
    Allocate(Allocate<P>),
    /// Storage comes from here.
    Allocator(P::Expr),
    /// Storage is aligned so.
    Align(P::Expr),
    /// Allocators used in the region.
    UsesAllocators(Vec<AllocatorUse<P>>),
    // ---- where, how many
    /// Only if true.
    If(P::Expr),
    /// On the encountering device if true or bare.
    SelfExec(Option<P::Expr>),
    /// On which device.
    Device(DeviceModifier, P::Expr),
    /// On which device, for control directives.
    DeviceNum(P::Expr),
    /// Which types of device, for control directives; empty means `*`.
    DeviceTypes(Vec<P::Name>),
    /// How many teams: `lower`, then one count per dimension.
    NumTeams {
        /// At least.
        lower: Option<P::Expr>,
        /// At most, per dimension.
        counts: Vec<P::Expr>,
    },
    /// How many threads.
    NumThreads {
        /// Exactly.
        strict: Option<Strict>,
        /// Per nesting level.
        counts: Vec<P::Expr>,
    },
    /// How many threads per team at most.
    ThreadLimit(P::Expr),
    /// How many threads per team, as the level between teams and lanes.
    NumWorkers(P::Expr),
    /// How many lanes.
    VectorLength(P::Expr),
    /// Partitioned over teams.
    Gang(Vec<GangArg<P>>),
    /// Partitioned over threads.
    Worker(Option<LevelArg<P>>),
    /// Partitioned over lanes.
    Vector(Option<LevelArg<P>>),
    /// In order.
    Seq,
    /// The compiler must prove independence.
    Auto,
    /// The user vouches for independence.
    Independent,
    /// To which level a descriptive loop belongs.
    Bind(BindLevel),
    /// Which threads run it.
    Filter(P::Expr),
    /// Where threads are placed.
    ProcBind(ProcBind),
    /// Which threads may run tasks.
    Threadset(Threadset),
    // ---- loops
    /// How many loops are made one; `force` takes code between them along.
    Collapse {
        /// `force:`
        force: bool,
        /// How many.
        count: P::Expr,
    },
    /// Tile sizes of a parallel loop; nothing is `*`.
    TileLoop(Vec<Option<P::Expr>>),
    /// Tile sizes of a transformation.
    Sizes(Vec<P::Expr>),
    /// How iterations are dealt to threads.
    Schedule(Schedule<P>),
    /// How iterations are dealt to teams.
    DistSchedule(Option<P::Expr>),
    /// How many loops take part in ordering.
    Ordered(Option<P::Expr>),
    /// Any order.
    Order(OrderModifier),
    /// Whose order an `Ordered` region keeps.
    OrderedBy(OrderedBy),
    /// Vectors may be this long at most.
    Safelen(P::Expr),
    /// Vectors should be this long.
    Simdlen(P::Expr),
    /// Unrolled wholly.
    Full,
    /// Unrolled by a factor.
    Partial(Option<P::Expr>),
    /// Order of swapped loops.
    Permutation(Vec<P::Expr>),
    /// Which loops of a sequence: first, count.
    LoopRange(P::Expr, P::Expr),
    /// Lengths of pieces; nothing is `fill`.
    Counts(Vec<Option<P::Expr>>),
    /// Directives for the loops that a transformation makes.
    Apply {
        /// Which of them: `grid`, `intratile`, …; with an index list.
        which: Option<P::Name>,
        /// Positions, where given.
        positions: Vec<P::Expr>,
        /// What is applied.
        directives: Vec<Construct<P>>,
    },
    // ---- time
    /// Does not wait at the end (or: if true).
    Nowait(Option<P::Expr>),
    /// In this queue.
    Async(Option<P::Expr>),
    /// After these queues.
    Wait(Option<WaitArgs<P>>),
    /// The queue where none is named.
    DefaultAsync(P::Expr),
    /// After or before other tasks.
    Depend(Depend<P>),
    /// After other iterations.
    Doacross(Doacross<P>),
    /// Changes a stored dependence.
    DepobjUpdate(DependKind),
    /// Destroys a stored object.
    Destroy(Option<P::Expr>),
    // ---- tasks
    /// Runs at once, with all below it, if true.
    Final(P::Expr),
    /// May be resumed by any thread.
    Untied(Option<P::Expr>),
    /// May share its parent's data.
    Mergeable(Option<P::Expr>),
    /// Earlier if larger.
    Priority(P::Expr),
    /// Completed by an event.
    DetachEvent(P::Expr),
    /// Near this data.
    Affinity(Vec<IteratorVar<P>>, Vec<P::Expr>),
    /// Iterations per task.
    Grainsize(Option<Strict>, P::Expr),
    /// Number of tasks.
    NumTasks(Option<Strict>, P::Expr),
    /// No group around the tasks.
    Nogroup(Option<P::Expr>),
    /// Dependences pass through.
    Transparent(Option<P::Expr>),
    /// Part of a recorded graph.
    Replayable(Option<P::Expr>),
    /// Which recorded graph.
    GraphId(P::Expr),
    /// Record anew if true.
    GraphReset(P::Expr),
    // ---- atomics and memory order
    /// What kind of access.
    AtomicKind(AtomicKind),
    /// Ordering.
    MemoryOrder(MemoryOrder),
    /// Ordering when a comparison fails.
    Fail(MemoryOrder),
    /// May fail without reason.
    Weak,
    /// Who sees it.
    MemScope(MemScope),
    /// How a lock should behave.
    Hint(P::Expr),
    // ---- requirements and assumptions
    /// Needed from every device or implementation.
    Require(Requirement, Option<P::Expr>),
    /// Order of atomics that name none.
    AtomicDefaultOrder(MemoryOrder),
    /// Directives that do not occur.
    Absent(Vec<Vec<Leaf>>),
    /// Directives that occur.
    Contains(Vec<Vec<Leaf>>),
    /// True here.
    Holds(P::Expr),
    /// Things that do not happen here (or: if true).
    NoUse(NoUse, Option<P::Expr>),
    // ---- variants
    /// In which context.
    Match(Vec<SelectorSet<P>>),
    /// A directive for a context.
    When(Vec<SelectorSet<P>>, Option<Box<Construct<P>>>),
    /// A directive for the rest.
    Otherwise {
        /// Spelt `default`, the old word.
        old_word: bool,
        /// Which.
        directive: Option<Box<Construct<P>>>,
    },
    /// How arguments are passed to a variant.
    AdjustArgs(AdjustOp, Vec<P::Expr>),
    /// What is passed besides: kinds of interoperability objects.
    AppendArgs(Vec<InteropInit<P>>),
    /// No variant if true.
    Novariants(P::Expr),
    /// No context if true.
    Nocontext(P::Expr),
    /// Interoperability objects that are passed.
    InteropArgs(Vec<P::Expr>),
    // ---- interoperability
    /// Makes a handle.
    InteropInit(InteropInit<P>, P::Expr),
    /// Uses a handle.
    InteropUse(P::Expr),
    // ---- functions
    /// Called under a condition.
    Inbranch,
    /// Never called under a condition.
    Notinbranch,
    /// Callable through a pointer.
    Indirect(Option<P::Expr>),
    /// Another name on the device: an identifier, or a string as an expression.
    BindName(P::Expr),
    /// No host version.
    Nohost,
    // ---- messages
    /// When.
    At(ErrorTime),
    /// How bad.
    Severity(ErrorSeverity),
    /// What.
    Message(P::Expr),
    // ---- user reductions
    /// How a user's reduction combines, written as a clause.
    Combiner(P::Expr),
    /// How a user's reduction starts, written as a clause.
    Initializer(super::ReductionInit<P>),
    /// How a user's induction steps.
    Inductor(P::Expr),
    /// How a user's induction reaches a distant value.
    Collector(P::Expr),
    // ---- extensions
    /// The host runs a part of the iterations, and devices the rest.
    Coexecute,
    /// A clause of an extension, kept by name with its arguments.
    Extension(P::Name, Option<Vec<P::Expr>>),
}
