//! Passes over kernels: each takes a kernel and gives one that means the same and says more of how.
//!
//! [`pipeline`] is the order. A pass that meets what it cannot do refuses the kernel, with the place; nothing is
//! half done, because the kernel that came in is kept until all passes are through.

#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod accesses;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod aggregate;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod blocks;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod boxes;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod branches;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod cache_block;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod checks;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod code;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod counters;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod deepen;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the statements it is about")]
mod facts;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod flatten;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the statements it is about")]
mod interchange;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod jam;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod lanes;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod lines;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod localize;
#[allow(clippy::wildcard_enum_match_arm, reason = "an analysis names the code it is about")]
mod nest;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod numbering;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the operators it is about")]
mod partial;
pub mod pipeline;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod poly;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the operators it is about")]
mod privatize;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod promote;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod records;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod rectangularize;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the statements it is about")]
mod reduce;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod register_block;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod rows;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the statements it is about")]
mod scan;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the statements it is about")]
mod scatter;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod single;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the statements it is about")]
mod spmdize;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod stage;
#[allow(clippy::wildcard_enum_match_arm, reason = "an analysis names the code it is about")]
pub mod stream;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod stretch;
#[allow(clippy::wildcard_enum_match_arm, reason = "an analysis names the code it is about")]
mod strip;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the statements it is about")]
mod subgroups;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod tile;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the statements it is about")]
mod transpose;
mod turns;
mod units;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod unroll;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod vector_rows;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the code it is about")]
mod window;
#[allow(clippy::wildcard_enum_match_arm, reason = "a pass names the statements it is about")]
mod workshare;

pub use deepen::{Free, independent};
pub use interchange::side_by_side;
use ir::construct::{Args, AtomicKind, Clause, ClauseKind, Construct, Leaf, Rules};
use ir::program::{ExprId, FunctionId, Program, RegionId, StmtId, VarId};
use ir::region::Region;
use kernel::build::Builder;
use kernel::{Block, Kernel, Space, Stmt, StmtKind};
use rustc_hash::FxHashSet;
use source::Span;
pub use vector_rows::summing;

/// Why a kernel cannot be given its form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What stood in the way, as a clause of a sentence.
    pub why: &'static str,
    /// Where it was written.
    pub span: Span,
    /// The law that a pass has broken, if that is why: a bug of ours.
    pub bug: Option<String>,
}

/// What a target's groups are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// Threads in a group at most.
    pub most_threads: u64,
    /// Neighbours that exchange values in registers; 1: nobody does.
    pub lanes: u64,
    /// Bytes of memory that a group has.
    pub memory: u64,
    /// Words of 64 bits that each group can leave in memory of the launch, for the last of them.
    pub words: u64,
    /// How many times each can ask whether it is the last.
    pub questions: u64,
    /// How many groups can tell others that they have left something, and be waited for.
    pub posts: u64,
    /// So many iterations keep the device busy though a thread has dozens of them.
    pub many: u32,
    /// Iterations that a thread sums up at once, so that as many loads are on their way.
    pub at_once: u32,
    /// Numbers of four and of eight bytes are changed by one instruction, in any memory.
    pub atomics: bool,
}

impl Groups {
    /// Neighbours that exchange values in registers, if one subgroup can hold a value of each; else 1.
    fn exchange(&self) -> u64 {
        if self.most_threads.div_ceil(self.lanes) <= self.lanes { self.lanes } else { 1 }
    }
}

/// What an FPGA is like: cycles of its operators on `int`, `long`, `float` and `double`; one if they take less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fabric {
    /// Sums.
    pub add: [u64; 4],
    /// Products.
    pub multiply: [u64; 4],
    /// The smaller or larger of two.
    pub extreme: [u64; 4],
    /// Loads of one array in a cycle; 0: no limit.
    pub reads: u64,
    /// Iterations of innermost loops that run side by side.
    pub lanes: u64,
    /// Rows of nests that do.
    pub units: u64,
    /// Bytes of the memory on the chip that elements may be kept in.
    pub memory: u64,
    /// Passes that are left out: what they gain on one device they cost on another.
    pub without: &'static [&'static str],
}

/// What pipelines of a program are made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fabrics {
    /// Those of which nothing else is said.
    pub all: Fabric,
    /// Regions with a design of their own.
    pub own: Vec<(Span, Fabric)>,
}

impl Fabrics {
    /// That of a region.
    pub fn of(&self, region: Span) -> Fabric {
        self.own.iter().find(|it| it.0 == region).map_or(self.all, |it| it.1)
    }
}

impl From<Fabric> for Fabrics {
    fn from(all: Fabric) -> Fabrics {
        Fabrics { all, own: Vec::new() }
    }
}

/// What cores are like, if a kernel is made for those.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cores {
    /// Bytes of a vector register.
    pub vector: u64,
    /// Where loops stand in the text whose rounds are independent, and on what terms.
    pub independent: Free,
    /// Where loops stand whose rounds only combine what the iterations around them combine too ([`summing`]).
    pub summing: FxHashSet<Span>,
}

type Result<T> = std::result::Result<T, Refusal>;

fn refuse<T>(why: &'static str, span: Span) -> Result<T> {
    Err(Refusal { why, span, bug: None })
}

/// A pass at work on one kernel.
struct Cx<'p> {
    program: &'p mut Program,
    kernel: &'p mut Kernel,
    function: FunctionId,
    groups: Groups,
    fabric: Fabric,
    vector: u64,
    independent: &'p Free,
    summing: &'p FxHashSet<Span>,
}

impl Cx<'_> {
    fn build(&mut self, span: Span) -> Builder<'_> {
        Builder { program: self.program, function: self.function, span }
    }

    /// Whether a pass has chosen who runs the loops, or how: a variable for an element says nothing of that, nor does
    /// another dimension.
    fn has_shape(&self) -> bool {
        self.kernel.launch.notes.iter().any(|it| ![promote::NOTE, deepen::NOTE].contains(&&**it))
    }

    /// An atomic construct about a statement; `kinds`: what it says of that.
    fn atomic(&mut self, body: StmtId, kinds: &[AtomicKind], span: Span) -> RegionId {
        let (around, function) = (self.kernel.region, self.function);
        let clause = |kind: &AtomicKind| Clause {
            kind: ClauseKind::AtomicKind(*kind),
            on: None,
            group: None,
            switch: None,
            span,
        };
        let construct = Construct {
            dialect: self.program.regions[around].construct.dialect,
            leaves: vec![Leaf::Atomic],
            args: Args::None,
            clauses: kinds.iter().map(clause).collect(),
            groups: Vec::new(),
            rules: Rules::NONE,
            span,
        };
        self.program.regions.push(Region {
            construct,
            body: Some(body),
            function,
            parent: Some(around),
            loops: Vec::new(),
            vars: Vec::new(),
            reaches: Vec::new(),
            indirect_calls: Vec::new(),
            span,
        })
    }

    /// A variable that the kernel places, and its declaration.
    fn fresh(
        &mut self,
        like: &str,
        ty: ir::types::Ty,
        space: Space,
        span: Span,
        out: &mut Block,
    ) -> VarId {
        let var = self.build(span).fresh(like, ty);
        self.kernel.spaces.push((var, space));
        out.push(Stmt::new(StmtKind::Local(var), span));
        var
    }

    fn number(&mut self, like: &str, space: Space, span: Span, out: &mut Block) -> VarId {
        let ty = self.build(span).number_type();
        self.fresh(like, ty, space, span, out)
    }

    /// `var = value`
    fn set(&mut self, var: VarId, value: ExprId, span: Span, out: &mut Block) {
        let e = self.build(span).set(var, value);
        out.push(Stmt::new(StmtKind::Eval(e), span));
    }
}

/// Replaces statements from the inside out: each by what `made` gives for it.
fn rewrite(block: Block, made: &mut dyn FnMut(Stmt, &mut Block) -> Result<()>) -> Result<Block> {
    let mut out = Block::new();
    for mut stmt in block {
        for inner in stmt.kind.blocks_mut() {
            *inner = rewrite(std::mem::take(inner), made)?;
        }
        made(stmt, &mut out)?;
    }
    Ok(out)
}
