//! Loops whose iterations are dealt to threads of a grid.
//!
//! One loop: threads that run in step take iterations side by side, and such bundles are dealt to the
//! groups in turns, so that few iterations busy all of the device. Several loops are one over all
//! their iterations, which threads take in the order of groups: neighbours in the last loop are often
//! neighbours in memory of those before and behind them too. Teams, and threads of one team, take
//! iterations in turns.

use super::{Code, Made, Maker, collapsed, inner};
use crate::c::{Grid, Out, Printer};
use crate::lower::Lowering;
use ir::program::RegionId;

/// To whom iterations are dealt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) enum To {
    /// All threads of all groups.
    All,
    /// Groups.
    Teams,
    /// The threads of a group.
    Threads,
}

impl Lowering<'_> {
    /// The iterations of a region's loops that one thread or team has. `last`: what is done when the
    /// last of all iterations is.
    pub(in crate::lower) fn deal(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        to: To,
        last: &[String],
        out: &mut Out<'_>,
    ) {
        let region = &self.program.regions[id];
        let Some(body) = region.body else { return };
        let mut maker = Maker::new(self, printer, id);
        let nest = match maker.nest(body, collapsed(self.program, id)) {
            Ok(nest) => nest,
            Err(why) => return self.refuse_loops(id, &why),
        };
        nest.prelude.iter().for_each(|it| out.line(&it.line));
        let [all, at] = ["all", "at"].map(|it| maker.name(it));
        out.line(&format!("const unsigned long {all} = {};", product(&nest.loops)));
        let found = counters(&nest.loops, &at);
        let may_shape = to == To::All && self.grid == Some(Grid::Cuda) && last.is_empty();
        let mut is_shaped = false;
        if may_shape && let Some(tiled) = maker.tiled(&nest) {
            maker.put_tiles(&tiled, &nest, &all, out);
            is_shaped = true;
        } else if may_shape && let Some(along) = maker.along(&nest) {
            maker.put_along(&along, &all, out);
            is_shaped = true;
        }
        let (first, step) = match to {
            To::All if nest.loops.len() == 1 => ("__ferry_bundled()", "__ferry_threads()"),
            To::All => ("__ferry_thread()", "__ferry_threads()"),
            To::Teams => ("__ferry_team()", "__ferry_teams()"),
            To::Threads => ("__ferry_place()", "__ferry_places()"),
        };
        // Many loads on their way hide how long each takes; stores would keep them in order.
        let is_sum = region.vars.iter().any(|it| {
            matches!(
                it.sharing.as_ref().map(|it| &it.value),
                Some(ir::region::Sharing::Reduction(_))
            )
        });
        if is_sum && self.grid.is_some_and(Grid::is_cpp) && nest.loops.len() == 1 {
            out.raw("#pragma unroll 4");
        }
        out.line(&format!("for (unsigned long {at} = {first}; {at} < {all}; {at} += {step})"));
        out.line("{");
        out.indented(|out| {
            found.iter().for_each(|it| out.line(it));
            nest.loops.iter().flat_map(|it| &it.before).for_each(|it| out.line(it));
            match last.is_empty() {
                true if may_shape && !is_shaped => maker.put_unrolled(&nest.body, out),
                true => maker.block(&nest.body, out),
                // The body may say `continue`.
                false => maker.block(&Code::Once(Box::new(nest.body.clone())), out),
            }
            let ends: Vec<String> =
                nest.loops.iter().map(|it| format!("{} + 1 == {}", it.counter, it.end)).collect();
            for line in last {
                out.line(&format!("if ({}) {{ {line} }}", ends.join(" && ")));
            }
        });
        out.line("}");
    }
}

impl Maker<'_, '_> {
    /// A body; a loop in it that stores nothing has many loads on their way.
    fn put_unrolled(&self, body: &Code, out: &mut Out<'_>) {
        let inner = match body {
            Code::Stmt(stmt) => inner::find(self.lowering.program, *stmt),
            _ => None,
        };
        let Some(inner) = inner else { return self.block(body, out) };
        let is_short = inner.body.len() == 1 && inner.elements(self.lowering.program).len() <= 2;
        let (times, least) = if is_short { (64, 1) } else { (16, 2) };
        self.lowering.want_registers(least);
        out.line("{");
        out.indented(|out| {
            inner.before.iter().for_each(|it| self.inside.stmt(*it, out));
            out.raw(&format!("#pragma unroll {times}"));
            self.inside.stmt(inner.stmt, out);
            inner.after.iter().for_each(|it| self.inside.stmt(*it, out));
            out.beside(self.lowering.program.stmts[inner.stmt].span);
        });
        out.line("}");
    }
}

impl Lowering<'_> {
    /// A kernel that is fast with few blocks at a time, if its threads have registers instead: this many.
    /// A compiler that is not told so keeps room for all that would fit, and waits for each load.
    pub(super) fn want_registers(&self, least_blocks: u32) {
        let mut state = self.state.borrow_mut();
        state.blocks = Some(state.blocks.map_or(least_blocks, |it| it.max(least_blocks)));
    }
}

/// How many iterations loops have.
fn product(loops: &[Made]) -> String {
    let factors: Vec<&str> = loops.iter().map(|it| it.end.as_str()).collect();
    factors.join(" * ")
}

/// The counters of loops, from the number of the iteration among all.
pub(super) fn counters(loops: &[Made], at: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for (place, one) in loops.iter().enumerate() {
        let inner: Vec<&str> = loops.iter().skip(place + 1).map(|it| it.end.as_str()).collect();
        let value = match inner.is_empty() {
            true => at.to_owned(),
            false => format!("__ferry_quotient({at}, {})", inner.join(" * ")),
        };
        let value = if place == 0 { value } else { format!("__ferry_rest({value}, {})", one.end) };
        lines.push(format!("const unsigned long {} = {value};", one.counter));
    }
    lines
}
