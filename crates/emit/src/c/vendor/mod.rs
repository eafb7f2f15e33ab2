//! Words of FPGA vendors in OpenCL C: what each says of kernels, loops and arrays.
//!
//! One file per vendor, and a line in [`words`]. Words that other compilers do not know are attributes and pragmas, which
//! these pass over; what only a vendor's compiler takes is guarded by a macro that it alone defines.

mod intel;
mod xilinx;

use abi::target::Vendor;
use ir::program::{ExprKind, For, Program, StmtId, StmtKind, VarId};
use ir::walk::Part;
use rustc_hash::FxHashSet;

/// How a vendor says it.
pub(crate) struct Words {
    /// The macro that its compiler alone defines.
    pub(crate) defined: &'static str,
    /// Before a kernel that one work-item runs.
    pub(crate) single: &'static str,
    /// Before a loop that is written out so many times.
    pub(crate) unrolled: fn(rounds: u32) -> String,
    /// Before a loop whose iterations do not meet in memory, if there is a word for that.
    pub(crate) independent: Option<&'static str>,
    /// Before a loop that is a pipeline, if it must be asked for.
    pub(crate) pipelined: Option<&'static str>,
    /// Behind an array of so many elements that are registers.
    pub(crate) registers: fn(elements: u64) -> String,
}

/// Those of a vendor.
pub(crate) fn words(vendor: Vendor) -> &'static Words {
    match vendor {
        Vendor::Intel => &intel::WORDS,
        Vendor::Xilinx => &xilinx::WORDS,
    }
}

/// Lines that stand before a loop.
pub(super) fn before(words: &Words, program: &Program, it: &For) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(rounds) = it.unroll.filter(|it| *it != opt::registers::ALL_ROUNDS) {
        lines.push((words.unrolled)(rounds));
        return lines;
    }
    lines.extend(words.independent.filter(|_| it.lanes).map(str::to_owned));
    let is_innermost = loops(program, it.body).iter().all(|it| it.unroll.is_some());
    lines.extend(words.pipelined.filter(|_| is_innermost).map(str::to_owned));
    lines
}

/// Loops of a statement.
fn loops(program: &Program, body: StmtId) -> Vec<&For> {
    let (mut found, mut open) = (Vec::new(), vec![Part::Stmt(body)]);
    while let Some(part) = open.pop() {
        if let Part::Stmt(id) = part
            && let StmtKind::For(it) = &program.stmts[id].kind
        {
            found.push(&**it);
        }
        program.parts(part, &mut |it| open.push(it));
    }
    found
}

/// Local arrays that loops which are written out go through: each element is a register.
pub(super) fn registers(program: &Program) -> FxHashSet<VarId> {
    let bodies = program.functions.iter().filter_map(|it| it.1.body);
    let all = bodies.flat_map(|it| loops(program, it));
    all.filter(|it| it.unroll.is_some()).flat_map(|it| arrays(program, it.body)).collect()
}

/// Local arrays that a statement names.
pub(crate) fn arrays(program: &Program, body: StmtId) -> FxHashSet<VarId> {
    let (mut found, mut open) = (FxHashSet::default(), vec![Part::Stmt(body)]);
    while let Some(part) = open.pop() {
        if let Part::Expr(id) = part
            && let ExprKind::Var(var) = program.exprs[id].kind
            && matches!(program.vars[var].storage, ir::program::VarStorage::Local(_))
            && program.types.is_array(program.vars[var].ty)
        {
            found.insert(var);
        }
        program.parts(part, &mut |it| open.push(it));
    }
    found
}
