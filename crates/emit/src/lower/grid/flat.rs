//! Kernels whose loops all threads share.
//!
//! Thread number *t* of *n* takes the iterations *t*, *t + n*, …, so that threads side by side touch
//! memory side by side. What they sum up is first combined in each group, through memory that its
//! threads share, and then by one thread of each group with the variable itself.

use ir::construct::ReductionOp;
use ir::program::{RegionId, Typed};
use ir::region::Sharing;

use crate::c::{Grid, Out, Printer};
use crate::lower::Lowering;
use crate::lower::loops::Share;
use crate::lower::parts::{begin, combined};

/// Threads in a group at most, for the memory that reductions need.
pub(super) const MOST_THREADS: usize = 256;

/// What threads sum up.
struct Sum {
    /// The variable, as the kernel names it.
    original: String,
    /// The thread's copy.
    own: String,
    ty: String,
    op: ReductionOp<Typed>,
}

impl Lowering<'_> {
    /// The body of such a kernel.
    pub(in crate::lower) fn flat(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let mut inside = printer.clone();
        let (mut sums, mut last) = (Vec::new(), Vec::new());
        for var in &region.vars {
            if region.loops.iter().any(|it| it.var == var.var) {
                continue;
            }
            match var.sharing.as_ref().map(|it| &it.value) {
                Some(Sharing::Reduction(op)) => {
                    sums.push(self.sum(printer, &mut inside, var.var, op, out));
                }
                // What came as a value is the thread's own already.
                Some(Sharing::Private | Sharing::FirstPrivate)
                    if !printer.var_name(var.var).starts_with('(') => {}
                Some(Sharing::Private) => {
                    self.thread_copy(printer, &mut inside, var.var, false, out);
                }
                Some(Sharing::FirstPrivate) => {
                    self.thread_copy(printer, &mut inside, var.var, true, out);
                }
                Some(Sharing::LastPrivate | Sharing::FirstLastPrivate) => {
                    let original = printer.var_name(var.var);
                    let own = self.thread_copy(printer, &mut inside, var.var, true, out);
                    last.push(format!("{original} = {own};"));
                }
                Some(Sharing::Shared | Sharing::Linear | Sharing::ThreadPrivate) | None => {}
            }
        }
        let share = Share {
            team: "__ferry_thread()".to_owned(),
            teams: "__ferry_threads()".to_owned(),
            turn: Some("1".to_owned()),
            last,
        };
        self.share_of_team(&inside, id, &share, out);
        sums.iter().for_each(|it| self.combine_groups(it, out));
    }

    fn sum(
        &self,
        printer: &Printer<'_>,
        inside: &mut Printer<'_>,
        var: ir::program::VarId,
        op: &ReductionOp<Typed>,
        out: &mut Out<'_>,
    ) -> Sum {
        let ty = self.program.vars[var].ty.plain();
        let is_floating = !self.program.types.is_integer(ty);
        let original = printer.var_name(var);
        let own = self.thread_copy(printer, inside, var, false, out);
        let ty = printer.type_name(ty);
        out.line(&format!("{own} = {};", begin(op, &ty, is_floating)));
        Sum { original, own, ty, op: op.clone() }
    }

    /// All threads of a group, then all groups.
    fn combine_groups(&self, sum: &Sum, out: &mut Out<'_>) {
        let Sum { original, own, ty, op } = sum;
        if self.grid == Some(Grid::Cuda) {
            let join = format!(
                "[]({ty} __ferry_x, {ty} __ferry_y) {{ return ({ty})({}); }}",
                combined(op, "__ferry_x", "__ferry_y")
            );
            out.line(&format!("{own} = __ferry_combine({own}, {join});"));
            out.line("if (__ferry_place() == 0)");
            return out.line(&match op {
                ReductionOp::Add | ReductionOp::Sub => {
                    format!("  __ferry_add(&{original}, {own});")
                }
                _ => format!(
                    "  __ferry_change(&{original}, [=]({ty} __ferry_x) {{ return ({ty})({}); }});",
                    combined(op, "__ferry_x", own)
                ),
            });
        }
        let group = format!("__ferry_group{}", self.fresh());
        out.line(&format!("__local {ty} {group}[{MOST_THREADS}];"));
        out.line(&format!("{group}[__ferry_place()] = {own};"));
        out.line("__ferry_meet();");
        out.line("if (__ferry_place() == 0)");
        out.line("{");
        out.indented(|out| {
            out.line("for (unsigned __ferry_at = 1; __ferry_at < __ferry_places(); __ferry_at++)");
            let next = format!("{group}[__ferry_at]");
            out.line(&format!("  {own} = {};", combined(op, own, &next)));
            out.line("__ferry_take();");
            out.line(&format!("{original} = {};", combined(op, original, own)));
            out.line("__ferry_give();");
        });
        out.line("}");
    }
}
