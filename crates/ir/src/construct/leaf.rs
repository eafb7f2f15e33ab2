//! The parts that directives are made of.

/// One part of a directive. A combined directive is a list of these, outermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Leaf {
    // ---- regions that run code
    /// The body runs on a device, on one thread unless a further leaf says otherwise.
    Offload,
    /// The body runs on a device and the compiler finds the parallelism in it.
    Kernels,
    /// A league of teams runs the body.
    Teams,
    /// Iterations are dealt to teams.
    Distribute,
    /// A team of threads runs the body.
    Parallel,
    /// Iterations are dealt to threads.
    For,
    /// Iterations are dealt to lanes.
    Simd,
    /// Iterations may run in any order, at the levels that clauses or the compiler choose.
    Loop,
    /// Each `Section` is run by one thread.
    Sections,
    /// One of them.
    Section,
    /// One thread runs the body.
    Single,
    /// Chosen threads run the body.
    Masked,
    /// The first thread runs the body (old name of `Masked`).
    Master,
    /// One thread at a time.
    Critical,
    /// In iteration order, with a body.
    Ordered,
    /// In iteration order, as a point in the program.
    OrderedPoint,
    /// Data environment for a team of threads.
    Scope,
    /// Statements are dealt to teams as units of work.
    Workdistribute,
    /// A deferred piece of work.
    Task,
    /// Iterations become tasks.
    Taskloop,
    /// Waits for descendants at its end.
    Taskgroup,
    /// Records and replays tasks.
    Taskgraph,
    /// Clauses for the tasks of a `Taskloop`.
    TaskIteration,
    /// Waits for child tasks.
    Taskwait,
    /// May switch tasks here.
    Taskyield,
    /// All threads meet.
    Barrier,
    /// Memory becomes consistent.
    Flush,
    /// One indivisible access.
    Atomic,
    /// Ends a region early.
    Cancel,
    /// Where that may happen.
    CancellationPoint,
    /// Separates the phases of a scan.
    Scan,
    /// Calls in the body may be replaced by variants.
    Dispatch,
    /// Properties that hold in the body.
    Assume,
    // ---- data on devices
    /// Data lives on the device during the body.
    DataRegion,
    /// Host code in the body sees device addresses.
    HostData,
    /// Data starts to live on the device.
    EnterData,
    /// Data ceases to.
    ExitData,
    /// Copies between host and device.
    Update,
    /// Data to keep near the processor.
    Cache,
    // ---- loop transformations
    /// Cut into tiles.
    Tile,
    /// Repeated bodies.
    Unroll,
    /// Swapped loops.
    Interchange,
    /// Backwards.
    Reverse,
    /// Made one.
    Fuse,
    /// Cut in pieces.
    Split,
    /// Tiles without changed order inside.
    Stripe,
    // ---- device and task control
    /// Waits for queues.
    Wait,
    /// Prepares devices.
    Init,
    /// Lets go of devices.
    Shutdown,
    /// Sets what is used by default.
    Set,
    /// Handles of a foreign runtime.
    Interop,
    /// A stored dependence.
    Depobj,
    // ---- declarations
    /// Functions and variables that exist on devices.
    DeclareTarget,
    /// The same for all up to the end marker.
    BeginDeclareTarget,
    /// The end marker.
    EndDeclareTarget,
    /// Lifetime of data on devices tied to a scope.
    Declare,
    /// A function that device code calls, and at which level.
    Routine,
    /// A replacement of a function in some contexts.
    DeclareVariant,
    /// The same for all up to the end marker.
    BeginDeclareVariant,
    /// The end marker.
    EndDeclareVariant,
    /// A function with lane-parallel versions.
    DeclareSimd,
    /// A user's reduction.
    DeclareReduction,
    /// A user's mapper.
    DeclareMapper,
    /// A user's induction.
    DeclareInduction,
    /// One copy per thread.
    Threadprivate,
    /// One copy per team.
    Groupprivate,
    /// Where variables are stored.
    Allocate,
    /// What the program needs from an implementation.
    Requires,
    /// Properties that hold in the whole file.
    Assumes,
    /// Properties that hold up to the end marker.
    BeginAssumes,
    /// The end marker.
    EndAssumes,
    /// In which memory variables are stored.
    Memory,
    // ---- about directives
    /// Chooses a directive.
    Metadirective,
    /// The same, for all up to the end marker.
    BeginMetadirective,
    /// The end marker.
    EndMetadirective,
    /// A message to the user.
    Error,
    /// Nothing.
    Nothing,
    /// Hints of a research compiler for the next loop or region.
    Transform,
    /// Hardware resources for the next region.
    Resources,
    /// Names for other directives (a macro).
    Define,
}
