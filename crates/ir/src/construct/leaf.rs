//! The parts that directives are made of.

/// One part of a directive. A combined directive is a list of these, outermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Leaf {
    // ---- regions that run code
    /// The body runs on a device; on one thread of it, unless a further part says otherwise.
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
    /// Each section is run by one thread.
    Sections,
    /// One piece of work of `sections`.
    Section,
    /// One thread runs the body.
    Single,
    /// Chosen threads run the body.
    Masked,
    /// The first thread runs the body.
    Master,
    /// One thread at a time runs the body.
    Critical,
    /// The body runs in iteration order.
    Ordered,
    /// A point that iterations pass in order.
    OrderedPoint,
    /// All threads run the body, with data of their own.
    Scope,
    /// Statements are dealt to teams as units of work.
    Workdistribute,
    /// The body is work that may be done later.
    Task,
    /// Iterations become tasks.
    Taskloop,
    /// Waits for descendants at its end.
    Taskgroup,
    /// Records and replays tasks.
    Taskgraph,
    /// Says more of the tasks that a loop becomes.
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
    /// Where a region may end early.
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
    /// Data ceases to live on the device.
    ExitData,
    /// Copies between host and device.
    Update,
    /// Data to keep near the processor.
    Cache,
    // ---- loop transformations
    /// Cuts loops into tiles.
    Tile,
    /// Repeats the body of a loop.
    Unroll,
    /// Swaps loops.
    Interchange,
    /// Runs a loop backwards.
    Reverse,
    /// Makes one loop of several.
    Fuse,
    /// Cuts a loop in pieces.
    Split,
    /// Cuts loops into tiles that run across each other.
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
    /// Functions and variables up to the end marker exist on devices.
    BeginDeclareTarget,
    /// Ends that list.
    EndDeclareTarget,
    /// Lifetime of data on devices tied to a scope.
    Declare,
    /// A function that device code calls, and at which level.
    Routine,
    /// A replacement of a function in some contexts.
    DeclareVariant,
    /// Functions up to the end marker are replacements in some contexts.
    BeginDeclareVariant,
    /// Ends that list.
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
    /// Ends those properties.
    EndAssumes,
    /// In which memory variables are stored.
    Memory,
    // ---- about directives
    /// Chooses a directive.
    Metadirective,
    /// Chooses a directive for all up to the end marker.
    BeginMetadirective,
    /// Ends that choice.
    EndMetadirective,
    /// A message to the user.
    Error,
    /// Does nothing.
    Nothing,
    /// Hints of a research compiler for the next loop or region.
    Transform,
    /// Hardware resources for the next region.
    Resources,
    /// Hints on which memories hold the variables of the next region.
    Memories,
    /// Names for other directives (a macro).
    Define,
}

impl Leaf {
    /// Its name in reports: stable, and of neither standard.
    pub fn name(self) -> &'static str {
        match self {
            Leaf::Offload => "offload",
            Leaf::Kernels => "kernels",
            Leaf::Teams => "teams",
            Leaf::Distribute => "distribute",
            Leaf::Parallel => "parallel",
            Leaf::For => "for",
            Leaf::Simd => "simd",
            Leaf::Loop => "loop",
            Leaf::Sections => "sections",
            Leaf::Section => "section",
            Leaf::Single => "single",
            Leaf::Masked => "masked",
            Leaf::Master => "master",
            Leaf::Critical => "critical",
            Leaf::Ordered => "ordered",
            Leaf::OrderedPoint => "ordered-point",
            Leaf::Scope => "scope",
            Leaf::Workdistribute => "workdistribute",
            Leaf::Task => "task",
            Leaf::Taskloop => "taskloop",
            Leaf::Taskgroup => "taskgroup",
            Leaf::Taskgraph => "taskgraph",
            Leaf::TaskIteration => "task-iteration",
            Leaf::Taskwait => "taskwait",
            Leaf::Taskyield => "taskyield",
            Leaf::Barrier => "barrier",
            Leaf::Flush => "flush",
            Leaf::Atomic => "atomic",
            Leaf::Cancel => "cancel",
            Leaf::CancellationPoint => "cancellation-point",
            Leaf::Scan => "scan",
            Leaf::Dispatch => "dispatch",
            Leaf::Assume => "assume",
            Leaf::DataRegion => "data-region",
            Leaf::HostData => "host-data",
            Leaf::EnterData => "enter-data",
            Leaf::ExitData => "exit-data",
            Leaf::Update => "update",
            Leaf::Cache => "cache",
            Leaf::Tile => "tile",
            Leaf::Unroll => "unroll",
            Leaf::Interchange => "interchange",
            Leaf::Reverse => "reverse",
            Leaf::Fuse => "fuse",
            Leaf::Split => "split",
            Leaf::Stripe => "stripe",
            Leaf::Wait => "wait",
            Leaf::Init => "init",
            Leaf::Shutdown => "shutdown",
            Leaf::Set => "set",
            Leaf::Interop => "interop",
            Leaf::Depobj => "depobj",
            Leaf::DeclareTarget => "declare-target",
            Leaf::BeginDeclareTarget => "begin-declare-target",
            Leaf::EndDeclareTarget => "end-declare-target",
            Leaf::Declare => "declare",
            Leaf::Routine => "routine",
            Leaf::DeclareVariant => "declare-variant",
            Leaf::BeginDeclareVariant => "begin-declare-variant",
            Leaf::EndDeclareVariant => "end-declare-variant",
            Leaf::DeclareSimd => "declare-simd",
            Leaf::DeclareReduction => "declare-reduction",
            Leaf::DeclareMapper => "declare-mapper",
            Leaf::DeclareInduction => "declare-induction",
            Leaf::Threadprivate => "threadprivate",
            Leaf::Groupprivate => "groupprivate",
            Leaf::Allocate => "allocate",
            Leaf::Requires => "requires",
            Leaf::Assumes => "assumes",
            Leaf::BeginAssumes => "begin-assumes",
            Leaf::EndAssumes => "end-assumes",
            Leaf::Memory => "memory",
            Leaf::Metadirective => "metadirective",
            Leaf::BeginMetadirective => "begin-metadirective",
            Leaf::EndMetadirective => "end-metadirective",
            Leaf::Error => "error",
            Leaf::Nothing => "nothing",
            Leaf::Transform => "transform",
            Leaf::Resources => "resources",
            Leaf::Memories => "memories",
            Leaf::Define => "define",
        }
    }

    /// What it does, in words.
    pub fn meaning(self) -> &'static str {
        match self {
            Leaf::Offload => "the body runs on a device",
            Leaf::Kernels => {
                "the body runs on a device and the compiler finds the parallelism in it"
            }
            Leaf::Teams => "a league of teams runs the body",
            Leaf::Distribute => "iterations are dealt to teams",
            Leaf::Parallel => "a team of threads runs the body",
            Leaf::For => "iterations are dealt to threads",
            Leaf::Simd => "iterations are dealt to lanes",
            Leaf::Loop => {
                "iterations may run in any order, at the levels that clauses or the compiler choose"
            }
            Leaf::Sections => "each section is run by one thread",
            Leaf::Section => "one piece of work of sections",
            Leaf::Single => "one thread runs the body",
            Leaf::Masked => "chosen threads run the body",
            Leaf::Master => "the first thread runs the body",
            Leaf::Critical => "one thread at a time runs the body",
            Leaf::Ordered => "the body runs in iteration order",
            Leaf::OrderedPoint => "a point that iterations pass in order",
            Leaf::Scope => "all threads run the body, with data of their own",
            Leaf::Workdistribute => "statements are dealt to teams as units of work",
            Leaf::Task => "the body is work that may be done later",
            Leaf::Taskloop => "iterations become tasks",
            Leaf::Taskgroup => "waits for descendants at its end",
            Leaf::Taskgraph => "records and replays tasks",
            Leaf::TaskIteration => "says more of the tasks that a loop becomes",
            Leaf::Taskwait => "waits for child tasks",
            Leaf::Taskyield => "may switch tasks here",
            Leaf::Barrier => "all threads meet",
            Leaf::Flush => "memory becomes consistent",
            Leaf::Atomic => "one indivisible access",
            Leaf::Cancel => "ends a region early",
            Leaf::CancellationPoint => "where a region may end early",
            Leaf::Scan => "separates the phases of a scan",
            Leaf::Dispatch => "calls in the body may be replaced by variants",
            Leaf::Assume => "properties that hold in the body",
            Leaf::DataRegion => "data lives on the device during the body",
            Leaf::HostData => "host code in the body sees device addresses",
            Leaf::EnterData => "data starts to live on the device",
            Leaf::ExitData => "data ceases to live on the device",
            Leaf::Update => "copies between host and device",
            Leaf::Cache => "data to keep near the processor",
            Leaf::Tile => "cuts loops into tiles",
            Leaf::Unroll => "repeats the body of a loop",
            Leaf::Interchange => "swaps loops",
            Leaf::Reverse => "runs a loop backwards",
            Leaf::Fuse => "makes one loop of several",
            Leaf::Split => "cuts a loop in pieces",
            Leaf::Stripe => "cuts loops into tiles that run across each other",
            Leaf::Wait => "waits for queues",
            Leaf::Init => "prepares devices",
            Leaf::Shutdown => "lets go of devices",
            Leaf::Set => "sets what is used by default",
            Leaf::Interop => "handles of a foreign runtime",
            Leaf::Depobj => "a stored dependence",
            Leaf::DeclareTarget => "functions and variables that exist on devices",
            Leaf::BeginDeclareTarget => {
                "functions and variables up to the end marker exist on devices"
            }
            Leaf::EndDeclareTarget => "ends that list",
            Leaf::Declare => "lifetime of data on devices tied to a scope",
            Leaf::Routine => "a function that device code calls, and at which level",
            Leaf::DeclareVariant => "a replacement of a function in some contexts",
            Leaf::BeginDeclareVariant => {
                "functions up to the end marker are replacements in some contexts"
            }
            Leaf::EndDeclareVariant => "ends that list",
            Leaf::DeclareSimd => "a function with lane-parallel versions",
            Leaf::DeclareReduction => "a user's reduction",
            Leaf::DeclareMapper => "a user's mapper",
            Leaf::DeclareInduction => "a user's induction",
            Leaf::Threadprivate => "one copy per thread",
            Leaf::Groupprivate => "one copy per team",
            Leaf::Allocate => "where variables are stored",
            Leaf::Requires => "what the program needs from an implementation",
            Leaf::Assumes => "properties that hold in the whole file",
            Leaf::BeginAssumes => "properties that hold up to the end marker",
            Leaf::EndAssumes => "ends those properties",
            Leaf::Memory => "in which memory variables are stored",
            Leaf::Metadirective => "chooses a directive",
            Leaf::BeginMetadirective => "chooses a directive for all up to the end marker",
            Leaf::EndMetadirective => "ends that choice",
            Leaf::Error => "a message to the user",
            Leaf::Nothing => "does nothing",
            Leaf::Transform => "hints of a research compiler for the next loop or region",
            Leaf::Resources => "hardware resources for the next region",
            Leaf::Memories => "hints on which memories hold the variables of the next region",
            Leaf::Define => "names for other directives (a macro)",
        }
    }
}
