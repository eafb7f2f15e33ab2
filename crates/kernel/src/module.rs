//! The data: modules, kernels, statements.

use ir::construct::ReductionOp;
use ir::program::{ExprId, Program, RegionId, StmtId, Typed, VarId};
use ir::region::LoopTest;
use source::Span;

/// Kernels, and the program that their expressions, types and variables belong to.
#[derive(Clone, Debug)]
pub struct Module {
    /// Passes add expressions, statements and variables to it; what is there stays.
    pub program: Program,
    /// In the order of the text.
    pub kernels: Vec<Kernel>,
}

/// What a region is on a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// The region it was outlined from.
    pub region: RegionId,
    /// Number and count of a group's threads as launched. Both are set when the kernel begins.
    pub threads: Crew,
    /// The same of the groups.
    pub groups: Crew,
    /// The same of the threads of all groups, if the kernel is run by all of them from its beginning: it is in SPMD
    /// form but for loops that they share, and both are set as the first two are.
    pub all: Option<Crew>,
    /// How it wants to be launched.
    pub launch: Launch,
    /// Where its variables lie that are declared by [`StmtKind::Local`], in the order of declaration.
    pub spaces: Vec<(VarId, Space)>,
    /// What it does. As outlined: what one thread does until a construct asks for more. In SPMD form: what
    /// every thread of every group does.
    pub body: Block,
    /// The directive.
    pub span: Span,
}

/// How a kernel wants to be launched. It is right with any number of groups and threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// So many threads for so many iterations of its loops, from this many iterations on; fewer have a thread each.
    pub spread: Option<[u32; 3]>,
    /// How many of its loops, from the outermost on, those iterations are of.
    pub loops: usize,
    /// How many registers its threads are to have, if few groups at a time keep the device busy then.
    pub registers: Option<u64>,
    /// How many words of 64 bits each group leaves in memory of the launch.
    pub words: u64,
    /// How many times each group asks whether it is the last.
    pub questions: u64,
    /// Loops of its code whose iterations do not depend on each other through memory, by the word of directives.
    pub independent: Vec<StmtId>,
    /// Variables of its code that anyone may combine in any order, by the word of directives.
    pub combined: Vec<VarId>,
    /// Loops of its code, by where they stand, and variables that each may combine in any order, by the word of directives
    /// of which nothing else is left.
    pub joined: Vec<(Span, VarId)>,
    /// Crews of subgroups whose threads sum up what they share.
    pub summing: Vec<Crew>,
    /// What passes have chosen, each as a sentence for reports.
    pub notes: Vec<String>,
}

impl Kernel {
    /// The variables that are set when it begins.
    pub fn launched(&self) -> Vec<VarId> {
        let crews = [self.threads, self.groups].into_iter().chain(self.all);
        crews.flat_map(Crew::vars).collect()
    }

    /// Where a variable lies, if the kernel declares it.
    pub fn space(&self, var: VarId) -> Option<Space> {
        self.spaces.iter().find(|it| it.0 == var).map(|it| it.1)
    }
}

/// Where a variable of a kernel lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// One for each thread.
    Private,
    /// One for each thread, with the same value in all threads of a group whenever it is read.
    Uniform,
    /// One for each group, in its memory.
    Group,
}

/// Statements, in order.
pub type Block = Vec<Stmt>;

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it was written.
    pub span: Span,
}

impl Stmt {
    /// A statement of this kind.
    pub fn new(kind: StmtKind, span: Span) -> Stmt {
        Stmt { kind, span }
    }
}

/// The kinds of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// A statement of C that one thread runs by itself: no construct in it concerns others, and no jump leaves it.
    Code(StmtId),
    /// A variable comes to life, without a value; [`Kernel::spaces`] says where.
    Local(VarId),
    /// An expression is evaluated.
    Eval(ExprId),
    /// A scope.
    Block(Block),
    /// `if (c) a else b`
    If(ExprId, Block, Block),
    /// A loop of C.
    Loop(Box<Loop>),
    /// `switch (e)`: its cases are statements in it.
    Switch(ExprId, Block),
    /// `case lo ... hi:`
    Case(i128, i128),
    /// `default:`
    Default,
    /// Leaves the loop or switch around it.
    Break,
    /// Goes on with the next round of the loop around it.
    Continue,
    /// A league of teams, each with one thread that runs the body.
    Teams(Box<Teams>),
    /// The threads of a team run the body, and wait for each other at its end.
    Parallel(Box<Parallel>),
    /// Iterations are dealt to a crew. Nobody waits at the end.
    Share(Box<Share>),
    /// One thread of the team runs the body. Nobody waits at the end.
    On(Who, Block),
    /// All threads of the team wait for each other, and see what was written before.
    Barrier,
    /// Threads get what others have in registers. All threads of the group take part, and nobody's writes are seen.
    Shuffle(Box<Shuffle>),
    /// What each of a crew has is combined.
    Reduce(Box<Reduce>),
    /// A crew computes prefixes over iterations, and its threads wait for each other at the end.
    Scan(Box<Scan>),
}

/// Those who share work: who I am among them and how many they are, both unsigned numbers of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crew {
    /// From 0.
    pub number: VarId,
    /// At least 1.
    pub count: VarId,
}

/// Values go from thread to thread, among as many neighbours as a subgroup has.
#[derive(Clone, Debug, PartialEq)]
pub struct Shuffle {
    /// What a thread gets: a variable of its own, of the type of `from`.
    pub to: VarId,
    /// What it gives: an object of its own.
    pub from: ExprId,
    /// It gets what the thread so many places behind it gives, its own if that is in no subgroup or another; without a
    /// number what the first of the subgroup gives.
    pub far: Option<ExprId>,
    /// Threads of a subgroup.
    pub lanes: u64,
}

/// A loop of C.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// Where its condition stands.
    pub kind: LoopKind,
    /// Goes on while this is true; always if absent.
    pub condition: Option<ExprId>,
    /// After each round.
    pub step: Option<ExprId>,
    /// The body.
    pub body: Block,
}

/// Where the condition of a loop stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoopKind {
    /// Before each round.
    Before,
    /// After each round.
    After,
}

/// A league of teams.
#[derive(Clone, Debug, PartialEq)]
pub struct Teams {
    /// Set before the body begins.
    pub crew: Crew,
    /// How many are asked for.
    pub teams: Option<ExprId>,
    /// How many threads each may have at most.
    pub limit: Option<ExprId>,
    /// What each team does.
    pub body: Block,
}

/// A team of threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Parallel {
    /// Set before the body begins.
    pub crew: Crew,
    /// How many are asked for.
    pub threads: Option<ExprId>,
    /// If this is false there is one.
    pub condition: Option<ExprId>,
    /// How many there may be at most, from outside.
    pub limit: Option<VarId>,
    /// What each thread does.
    pub body: Block,
}

/// Iterations that are dealt to a crew.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// To whom.
    pub crew: Crew,
    /// The loops, outermost first; their iterations are numbered from zero in the order of the serial program.
    pub dims: Vec<Dim>,
    /// Only these are dealt; all if absent.
    pub within: Option<Range>,
    /// How.
    pub schedule: Schedule,
    /// They run one after the other, each by whom it is dealt to.
    pub ordered: bool,
    /// The body runs once for iterations that follow each other, whose numbers it finds here; else once for each
    /// iteration.
    pub pieces: Option<Range>,
    /// The number of the iteration, an unsigned number of 64 bits.
    pub number: VarId,
    /// What is done.
    pub body: Block,
    /// What is done besides after the last iteration, by whoever has run it.
    pub last: Block,
}

/// One loop of a nest that is dealt.
#[derive(Clone, Debug, PartialEq)]
pub struct Dim {
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
    /// Whether it is taken away instead.
    pub descending: bool,
    /// Neither `begin` nor `bound` depends on the variable of an outer loop.
    pub rectangular: bool,
}

/// Numbers from `begin` up to `end`, which is not one of them: unsigned, of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first.
    pub begin: VarId,
    /// One behind the last.
    pub end: VarId,
}

/// How iterations are dealt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Each member of the crew gets at most one piece; all are as long as each other, give or take one.
    Blocks,
    /// Pieces of so many go round, beginning with the first member.
    RoundRobin(ExprId),
}

/// One thread of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The first.
    Primary,
    /// The one with this number, which each thread evaluates for itself.
    Numbered(ExprId),
}

/// What each of a crew has is combined, in the order of their numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduce {
    /// Whose.
    pub crew: Crew,
    /// Teams of a league, not threads of a team.
    pub is_league: bool,
    /// How, for those who know a better way than to run `combine` for one after the other.
    pub op: ReductionOp<Typed>,
    /// What each has.
    pub copy: VarId,
    /// If it is an array: what is combined are its elements, one by one.
    pub elements: Option<Elements>,
    /// Combines `copy`, or an element of it, with the original. It may change `copy` too: each finds its own as it was
    /// left.
    pub combine: Block,
    /// Combines two copies, if that can be done before any of them is combined with the original.
    pub join: Option<Join>,
}

/// Prefixes: what iterations give is combined in their order, and each finds what those before it have given.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan {
    /// The iterations; whose they are is left open. Its body is the half of an iteration that gives.
    pub share: Share,
    /// The half that finds the prefix.
    pub using: Block,
    /// What an iteration gives itself is not part of what it finds.
    pub is_exclusive: bool,
    /// What is given and found.
    pub prefixes: Vec<Prefix>,
}

/// What iterations give and find under one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Prefix {
    /// How it is combined.
    pub op: ReductionOp<Typed>,
    /// What one iteration gives, and then what it finds: a private variable that lives in the iteration.
    pub copy: VarId,
    /// What was there before the loop, and the whole after it.
    pub original: VarId,
    /// Gives the copy its first value.
    pub begin: Block,
    /// Combines the original with the copy, and leaves the result there.
    pub combine: Block,
    /// Combines the copy with another.
    pub join: Join,
}

/// The elements of an array that is combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elements {
    /// Which of them is combined, counted in the order of memory: an unsigned number of 64 bits that lives in the code
    /// of the reduction.
    pub index: VarId,
    /// The first.
    pub begin: u64,
    /// One behind the last.
    pub end: u64,
}

/// Combines two copies of a reduction, or an element of each.
#[derive(Clone, Debug, PartialEq)]
pub struct Join {
    /// A private variable of the type that the copy or its element has; it lives in `code`.
    pub other: VarId,
    /// Combines the copy or its element with `other`, and leaves the result there.
    pub code: Block,
}
