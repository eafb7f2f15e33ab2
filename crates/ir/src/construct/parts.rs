//! What clauses are made of: modifiers, kinds and lists.

use super::{Clause, Phase};

/// Data on the device with a lifetime.
#[derive(Clone, Debug, PartialEq)]
pub struct Map<P: Phase> {
    /// What is copied.
    pub motion: Motion,
    /// Whether it must be there before.
    pub presence: Presence,
    /// Modifiers.
    pub flags: MapFlags,
    /// Through which user's mapper.
    pub mapper: Option<P::Name>,
    /// Variables that the items use.
    pub iterators: Vec<IteratorVar<P>>,
    /// What.
    pub items: Vec<P::Expr>,
}

/// What is copied at the start and end of a life on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Motion {
    /// The directive's own default, none was written.
    Unsaid,
    /// Nothing.
    Alloc,
    /// At the start.
    To,
    /// At the end.
    From,
    /// Both.
    ToFrom,
    /// Nothing; one user less.
    Release,
    /// Nothing; no user left.
    Delete,
}

/// Whether data must be on the device before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Presence {
    /// If absent it is made.
    Any,
    /// If absent the program stops.
    Required,
    /// If absent nothing is done, the host copy is used.
    Optional,
}

/// Modifiers of a map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MapFlags {
    /// Copies even if the data has other users.
    pub always: bool,
    /// That holds for one of the two copies only.
    pub always_at: Option<CopyEnd>,
    /// Memory near the device.
    pub close: bool,
    /// Storage is shared with the host.
    pub is_self: bool,
    /// Held by the structured count.
    pub hold: bool,
    /// The device only reads.
    pub readonly: bool,
    /// New storage is filled with zeros.
    pub zero: bool,
    /// Gets storage of its own even on a device that shares memory with the host.
    pub capture: bool,
    /// Pointer attachment: `attach(always|never|auto)`.
    pub attach: Option<AttachMode>,
    /// What of a reference is mapped.
    pub reference: Option<RefPart>,
    /// Storage is deleted (modifier form).
    pub delete: bool,
    /// The data goes from one region to another, each element once: on an FPGA by a channel.
    pub channel: Option<Channel>,
}

/// A channel between regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Its place: regions inside are its ends.
    Own,
    /// The region reads it.
    In,
    /// The region writes it.
    Out,
}

/// One end of a life on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum CopyEnd {
    Start,
    End,
}

/// When a pointer is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum AttachMode {
    Always,
    Never,
    Auto,
}

/// What of a reference is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum RefPart {
    Pointer,
    Pointee,
    Both,
}

/// A copy between host and device.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer<P: Phase> {
    /// Direction.
    pub to_device: bool,
    /// Spelt `host`, the old word for `self`.
    pub old_word: bool,
    /// Whether it must be on the device.
    pub presence: Presence,
    /// Through which user's mapper.
    pub mapper: Option<P::Name>,
    /// Variables that the items use.
    pub iterators: Vec<IteratorVar<P>>,
    /// What.
    pub items: Vec<P::Expr>,
}

/// What host code sees of a device object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UseDevice {
    /// Pointers are translated.
    Pointer,
    /// Addresses of objects are translated.
    Address,
    /// Whichever fits the variable's type.
    ByType,
}

/// For which side code is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum DeviceKind {
    Host,
    Nohost,
    Any,
}

/// How unlisted variables are mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum DefaultMap {
    Alloc,
    To,
    From,
    ToFrom,
    FirstPrivate,
    Private,
    Present,
    SelfMap,
    None,
    Default,
}

/// How unlisted variables are shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum DefaultSharing {
    Shared,
    Private,
    FirstPrivate,
    None,
    /// On the device already.
    Present,
}

/// Kinds of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum Category {
    Scalar,
    Aggregate,
    Pointer,
    Allocatable,
    All,
}

/// A value that follows the iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear<P: Phase> {
    /// What is linear.
    pub kind: Option<LinearKind>,
    /// Written as `linear(val(x))`, the old form.
    pub old_form: bool,
    /// The variables.
    pub items: Vec<P::Expr>,
    /// By how much; 1 if absent.
    pub step: Option<P::Expr>,
    /// Written as `step(e)`.
    pub has_step_word: bool,
}

/// What is linear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum LinearKind {
    Val,
    Ref,
    Uval,
}

/// Private copies, combined.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduction<P: Phase> {
    /// Modifier.
    pub modifier: Option<ReductionModifier>,
    /// Whether the original is a private variable.
    pub original: Option<OriginalSharing>,
    /// How two values become one.
    pub op: ReductionOp<P>,
    /// The variables.
    pub items: Vec<P::Expr>,
}

/// What else a reduction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum ReductionModifier {
    Default,
    Inscan,
    Task,
}

/// `original(…)`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum OriginalSharing {
    Default,
    Private,
    Shared,
}

/// How two values become one.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum ReductionOp<P: Phase> {
    Add,
    Sub,
    Mul,
    BitAnd,
    BitOr,
    BitXor,
    And,
    Or,
    Min,
    Max,
    /// A user's.
    User(P::Name),
}

/// A value given by a closed form.
#[derive(Clone, Debug, PartialEq)]
pub struct Induction<P: Phase> {
    /// `+`, `*` or a user's.
    pub op: ReductionOp<P>,
    /// `strict` or `relaxed`.
    pub strict: Option<bool>,
    /// By how much.
    pub step: Option<P::Expr>,
    /// The variables.
    pub items: Vec<P::Expr>,
}

/// `iterator(T v = begin : end : step)`
#[derive(Clone, Debug, PartialEq)]
pub struct IteratorVar<P: Phase> {
    /// Its type; `int` if absent.
    pub ty: Option<P::Type>,
    /// Its name.
    pub name: P::Name,
    /// First value.
    pub begin: P::Expr,
    /// One past the last.
    pub end: P::Expr,
    /// Step.
    pub step: Option<P::Expr>,
}

/// Allocation of private copies.
#[derive(Clone, Debug, PartialEq)]
pub struct Allocate<P: Phase> {
    /// From where.
    pub allocator: Option<P::Expr>,
    /// `allocator(…)` was written, rather than a bare expression.
    pub has_word: bool,
    /// Alignment.
    pub align: Option<P::Expr>,
    /// The variables.
    pub items: Vec<P::Expr>,
}

/// One allocator of a region.
#[derive(Clone, Debug, PartialEq)]
pub struct AllocatorUse<P: Phase> {
    /// Which.
    pub allocator: P::Expr,
    /// Its memory space.
    pub space: Option<P::Expr>,
    /// Its traits.
    pub traits: Option<P::Expr>,
    /// Written as `allocator(traits)`, the old form.
    pub old_form: bool,
}

/// What a device number means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceModifier {
    /// None was written.
    Unsaid,
    /// A device.
    DeviceNum,
    /// The device that offloaded to this one.
    Ancestor,
}

/// Exactly, not about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Strict;

/// Argument of a gang clause.
#[derive(Clone, Debug, PartialEq)]
pub enum GangArg<P: Phase> {
    /// How many; whether the word `num:` was written.
    Num(P::Expr, bool),
    /// Which dimension.
    Dim(P::Expr),
    /// Chunk size; nothing is `*`.
    Static(Option<P::Expr>),
}

/// Argument of a worker or vector clause.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelArg<P: Phase> {
    /// How many.
    pub count: P::Expr,
    /// Whether the word `num:` or `length:` was written.
    pub has_word: bool,
}

/// To which level a descriptive loop belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum BindLevel {
    Teams,
    Parallel,
    Thread,
}

/// Where threads are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum ProcBind {
    Primary,
    Master,
    Close,
    Spread,
}

/// Which threads may run tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum Threadset {
    Pool,
    Team,
}

/// How iterations are dealt to threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule<P: Phase> {
    /// The policy.
    pub kind: ScheduleKind,
    /// Chunks keep their order or not.
    pub monotonic: Option<bool>,
    /// Chunks are multiples of the vector length.
    pub simd: bool,
    /// Iterations per chunk.
    pub chunk: Option<P::Expr>,
}

/// Policy of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum ScheduleKind {
    Static,
    Dynamic,
    Guided,
    Auto,
    Runtime,
}

/// `order(… concurrent)`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum OrderModifier {
    Unsaid,
    Reproducible,
    Unconstrained,
}

/// Whose order is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum OrderedBy {
    Threads,
    Simd,
}

/// After or before other tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct Depend<P: Phase> {
    /// How.
    pub kind: DependKind,
    /// Variables that the items use.
    pub iterators: Vec<IteratorVar<P>>,
    /// On what; empty with `all_memory`.
    pub items: Vec<P::Expr>,
    /// On everything.
    pub all_memory: bool,
}

/// Kinds of task dependences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum DependKind {
    In,
    Out,
    Inout,
    Mutexinoutset,
    Inoutset,
    Depobj,
}

/// After other iterations.
#[derive(Clone, Debug, PartialEq)]
pub struct Doacross<P: Phase> {
    /// Written as `depend(source)` or `depend(sink: …)`, the old form.
    pub old_form: bool,
    /// Which iteration.
    pub kind: DoacrossKind<P>,
}

/// Which iteration a cross-iteration dependence names.
#[derive(Clone, Debug, PartialEq)]
pub enum DoacrossKind<P: Phase> {
    /// This one; others may wait for it.
    Source {
        /// `omp_cur_iteration` was written.
        has_word: bool,
    },
    /// An earlier one: an expression per loop.
    Sink(Vec<P::Expr>),
    /// The one before.
    SinkPrevious,
}

/// Kinds of indivisible accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum AtomicKind {
    Read,
    Write,
    Update,
    Capture,
    Compare,
}

/// Ordering of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum MemoryOrder {
    SeqCst,
    AcqRel,
    Acquire,
    Release,
    Relaxed,
}

/// Who sees an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum MemScope {
    All,
    Device,
    Cgroup,
}

/// What a program needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum Requirement {
    ReverseOffload,
    UnifiedAddress,
    UnifiedSharedMemory,
    SelfMaps,
    DynamicAllocators,
    DeviceSafesync,
    Safesync,
}

/// What does not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoUse {
    /// No directive, no runtime call.
    Directives,
    /// No construct.
    Constructs,
    /// No runtime call.
    Routines,
    /// No parallelism.
    Parallelism,
}

/// One set of a context selector: `device={…}`.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectorSet<P: Phase> {
    /// Which set.
    pub set: SelectorSetKind,
    /// Its selectors.
    pub selectors: Vec<Selector<P>>,
}

/// Sets of context selectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum SelectorSetKind {
    Construct,
    Device,
    TargetDevice,
    Implementation,
    User,
}

/// `name(score(e): properties)`
#[derive(Clone, Debug, PartialEq)]
pub struct Selector<P: Phase> {
    /// Its name: `kind`, `isa`, `arch`, `vendor`, `condition`, or a construct.
    pub name: P::Name,
    /// Its weight.
    pub score: Option<P::Expr>,
    /// Its properties; absent without parentheses.
    pub properties: Option<Vec<Property<P>>>,
}

/// A property of a selector.
#[derive(Clone, Debug, PartialEq)]
pub enum Property<P: Phase> {
    /// A word.
    Name(P::Name),
    /// An expression: conditions, device numbers, strings.
    Expr(P::Expr),
    /// A clause of a construct selector, as its text.
    Clause(Box<Clause<P>>),
    /// `name(args)`: an extension.
    Nested(P::Name, Vec<Property<P>>),
}

/// How an argument is passed to a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum AdjustOp {
    Nothing,
    NeedDevicePtr,
    NeedDeviceAddr,
}

/// What kind of handle is made.
#[derive(Clone, Debug, PartialEq)]
pub struct InteropInit<P: Phase> {
    /// `target`
    pub target: bool,
    /// `targetsync`
    pub targetsync: bool,
    /// `prefer_type(…)`
    pub prefer: Option<Vec<PreferredRuntime<P>>>,
    /// Dependence modifier of a stored dependence: `init(in, x : obj)`.
    pub depend: Option<(DependKind, Vec<P::Expr>)>,
}

/// One foreign runtime, in the order of preference.
#[derive(Clone, Debug, PartialEq)]
pub enum PreferredRuntime<P: Phase> {
    /// Its number or name.
    Id(P::Expr),
    /// `{fr(id), attr(…)}`
    Described {
        /// Its number or name.
        id: Option<P::Expr>,
        /// What else it should be.
        attrs: Vec<P::Expr>,
    },
}

/// When a message is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum ErrorTime {
    Compilation,
    Execution,
}

/// How bad a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum ErrorSeverity {
    Fatal,
    Warning,
}
