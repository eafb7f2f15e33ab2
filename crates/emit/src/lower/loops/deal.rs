//! Loops whose iterations are dealt to threads of a grid.
//!
//! One loop: threads that run in step take iterations side by side, and such bundles are dealt to the
//! groups in turns, so that few iterations busy all of the device. Several loops are one over all
//! their iterations, which threads take in the order of groups: neighbours in the last loop are often
//! neighbours in memory of those before and behind them too. Teams, and threads of one team, take
//! iterations in turns.

use super::{Code, Dealer, Made, Maker, Nest, collapsed};
use crate::c::{Grid, Out, Printer};
use crate::lower::Lowering;
use crate::lower::grid::{TEAM, TEAMS};
use ir::program::{ExprKind, RegionId, StmtKind};
use ir::region::{RegionVar, Sharing};
use ir::walk::Part;

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
        let mut maker = Maker::new(self, printer, id, Dealer::Us);
        let nest = match maker.nest(body, collapsed(self.program, id)) {
            Ok(nest) => nest,
            Err(why) => return self.refuse_loops(id, &why),
        };
        nest.prelude.iter().for_each(|it| out.line(&it.line));
        let last: &[String] = &[last, &maker.ends].concat();
        let in_league = self.state.borrow().team.as_ref().is_some_and(|it| it.is_league());
        // Where teams are counted they are not the groups.
        let all_of_league = (
            format!("({TEAM} * __ferry_places() + __ferry_place())"),
            format!("({TEAMS} * __ferry_places())"),
        );
        let all = match in_league {
            true => (all_of_league.0.as_str(), all_of_league.1.as_str()),
            false => ("__ferry_thread()", "__ferry_threads()"),
        };
        let taken = match to {
            To::All => Some(all),
            To::Threads => Some(("__ferry_place()", "__ferry_places()")),
            To::Teams => None,
        };
        if self.grid.is_some_and(Grid::is_opencl)
            && let Some(taken) = taken
            && maker.put_stretches(&nest, taken, last, out)
        {
            return;
        }
        let one_of_all = all;
        let [all, at] = ["all", "at"].map(|it| maker.name(it));
        out.line(&format!("const unsigned long {all} = {};", product(&nest.loops)));
        let (first, step) = match to {
            To::All if nest.loops.len() == 1 && !in_league => {
                ("__ferry_bundled()", "__ferry_threads()")
            }
            To::All => one_of_all,
            To::Teams if in_league => (TEAM, TEAMS),
            To::Teams => ("__ferry_team()", "__ferry_teams()"),
            To::Threads => ("__ferry_place()", "__ferry_places()"),
        };
        let put_one = |at: &str, out: &mut Out<'_>| {
            counters(&nest.loops, at).iter().for_each(|it| out.line(it));
            nest.loops.iter().flat_map(|it| &it.before).for_each(|it| out.line(it));
            maker.put_dealt(&nest, last, out);
        };
        if self.is_sum(id) && nest.loops.len() == 1 && last.is_empty() && self.is_short(&nest.body)
        {
            let [by, one] = ["by", "one"].map(|it| maker.name(it));
            return put_several(&at, &by, &one, [&all, first, step], put_one, out);
        }
        out.line(&format!("for (unsigned long {at} = {first}; {at} < {all}; {at} += {step})"));
        out.line("{");
        out.indented(|out| put_one(&at, out));
        out.line("}");
    }
}

impl Maker<'_, '_> {
    /// The body of a nest, and what is done when the last of all iterations is.
    pub(super) fn put_dealt(&self, nest: &Nest, last: &[String], out: &mut Out<'_>) {
        match last.is_empty() {
            true => self.block(&nest.body, out),
            // The body may say `continue`.
            false => self.block(&Code::Once(Box::new(nest.body.clone())), out),
        }
        let ends: Vec<String> =
            nest.loops.iter().map(|it| format!("{} + 1 == {}", it.counter, it.end)).collect();
        for line in last {
            out.line(&format!("if ({}) {{ {line} }}", ends.join(" && ")));
        }
    }
}

impl Lowering<'_> {
    /// Loops that threads of a GPU sum something up in.
    fn is_sum(&self, id: RegionId) -> bool {
        let is_summed = |it: &RegionVar| {
            matches!(it.sharing.as_ref().map(|it| &it.value), Some(Sharing::Reduction(_)))
        };
        let region = &self.program.regions[id];
        self.grid.is_some_and(Grid::is_cpp) && region.vars.iter().any(is_summed)
    }

    /// A body that may as well stand there several times.
    fn is_short(&self, body: &Code) -> bool {
        /// So many expressions and statements at most.
        const MOST: usize = 64;
        let Code::Stmt(stmt) = body else { return false };
        let (mut open, mut count) = (vec![Part::Stmt(*stmt)], 0);
        while let Some(part) = open.pop() {
            count += 1;
            let is_plain = match part {
                Part::Stmt(stmt) => matches!(
                    self.program.stmts[stmt].kind,
                    StmtKind::Empty
                        | StmtKind::Block(_)
                        | StmtKind::Local(_)
                        | StmtKind::Expr(_)
                        | StmtKind::If(..)
                        | StmtKind::Continue
                ),
                Part::Expr(expr) => !matches!(self.program.exprs[expr].kind, ExprKind::StmtExpr(_)),
                Part::Region(_) => false,
                Part::Local(_) | Part::Init(_) => true,
            };
            if !is_plain || count > MOST {
                return false;
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
        true
    }
}

/// Iterations that a thread takes several at a time, so that many loads are on their way at once: that
/// hides how long each takes. Compilers that are only told to unroll look after each iteration whether
/// there is another, and wait for its loads before.
fn put_several(
    at: &str,
    by: &str,
    one: &str,
    [all, first, step]: [&str; 3],
    put_one: impl Fn(&str, &mut Out<'_>),
    out: &mut Out<'_>,
) {
    /// So many loads of one thread are enough for all of a GPU to keep its memory busy.
    const TIMES: usize = 8;
    out.line("{");
    out.indented(|out| {
        out.line(&format!("const long {by} = (long){step};"));
        out.line(&format!("long {at} = (long){first};"));
        let (others, way) = (TIMES - 1, format!("{TIMES} * {by}"));
        out.line(&format!("for (; {at} < (long){all} - {others} * {by}; {at} += {way})"));
        out.line("{");
        out.indented(|out| {
            out.raw("#pragma unroll");
            out.line(&format!("for (int {one} = 0; {one} < {TIMES}; {one}++)"));
            out.line("{");
            out.indented(|out| put_one(&format!("{at} + {one} * {by}"), out));
            out.line("}");
        });
        out.line("}");
        out.line(&format!("for (; {at} < (long){all}; {at} += {by})"));
        out.line("{");
        out.indented(|out| put_one(at, out));
        out.line("}");
    });
    out.line("}");
}

/// How many iterations loops have.
pub(super) fn product(loops: &[Made]) -> String {
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
