//! What stands above a kernel that people read: where it came from, and where its loops went.

use ir::construct::Leaf;
use ir::program::{ExprKind, RegionId, StmtId, StmtKind, VarId};
use ir::region::Region;
use ir::walk::Part;
use source::Span;

use super::Form;
use crate::c::Grid;
use crate::lower::device::Kernel;
use crate::lower::loops::collapsed;
use crate::lower::{Lowering, loops};

impl Lowering<'_> {
    /// `/* a.c:12, in main: #pragma … */`, with a line for each loop.
    pub(super) fn told(&self, grid: Grid, kernel: &Kernel) -> String {
        let at = self.at(kernel.region);
        let region = &self.program.regions[kernel.region];
        let mut lines = vec![
            format!("{}:{}, in `{}`:", at.file, at.line, at.function),
            self.quoted_directive(region.construct.span),
        ];
        let form = self.form(kernel.region);
        if let Form::Solo(why) = &form {
            lines.push(format!("one thread runs it: {why}"));
        }
        if let Form::Team(team) = &form {
            lines.extend(self.block_told(team.block()));
        }
        if form == Form::Spmd {
            let notes = self.launch(kernel.region).map(|it| it.notes.clone()).unwrap_or_default();
            lines.extend(notes);
            lines.extend(self.dealt_told(kernel.region).iter().cloned());
            if lines.len() == 2 {
                let text = "every thread runs it from the beginning: a group is a team";
                lines.push(text.to_owned());
            }
        } else {
            lines.extend(self.loops_told(grid, kernel.region, &form, false));
        }
        format!("/* {} */\n", lines.join("\n   ").replace("*/", "* /"))
    }

    /// A line for each loop of a region: who has its iterations. `is_flat`: all threads share the loops of teams and threads.
    pub(super) fn loops_told(
        &self,
        grid: Grid,
        id: RegionId,
        form: &Form,
        is_flat: bool,
    ) -> Vec<String> {
        let [block, blocks, threads] = match grid {
            Grid::OpenCl | Grid::OpenCl12 | Grid::Fpga(_) => {
                ["work-group", "work-groups", "work-items"]
            }
            Grid::Cuda | Grid::Hip => ["block", "blocks", "threads"],
        };
        let all = format!("to all {threads} of all {blocks}");
        let told = |(stmt, span): (StmtId, Span)| {
            let to = match form {
                Form::Flat(inner) if self.deals(*inner, stmt) => all.clone(),
                Form::Team(_) if self.deals(id, stmt) => {
                    if is_flat {
                        all.clone()
                    } else {
                        format!("to {blocks}")
                    }
                }
                Form::Team(team) => {
                    let shares =
                        |(id, _): &(RegionId, _)| team.has_threads(*id) && self.deals(*id, stmt);
                    let is_league = |(id, region): &(RegionId, &Region)| {
                        region.construct.has(Leaf::Distribute) && self.deals(*id, stmt)
                    };
                    let is_both = |it: &(RegionId, &Region)| {
                        is_league(it) && it.1.construct.has(Leaf::Parallel)
                    };
                    match self.program.regions.iter().any(|it| shares(&it)) {
                        true if is_flat || self.program.regions.iter().any(|it| is_both(&it)) => {
                            all.clone()
                        }
                        true => format!("to the {threads} of its {block}"),
                        false if self.program.regions.iter().any(|it| is_league(&it)) => {
                            format!("to {blocks}")
                        }
                        false => "in order".to_owned(),
                    }
                }
                Form::Flat(_) | Form::Solo(_) | Form::Spmd => "in order".to_owned(),
            };
            let name = self.counter(stmt).map_or_else(String::new, |it| format!(" over {it}"));
            format!("line {}, loop{name}: {to}", self.line(span.start + 1))
        };
        self.loops_in(id).into_iter().map(told).collect()
    }

    /// Whether a construct deals out the iterations of a loop.
    fn deals(&self, id: RegionId, stmt: StmtId) -> bool {
        let program = self.program;
        let dealt = program.regions[id].loops.iter().take(collapsed(program, id));
        let is_made = loops::needs_loops_made(program, id);
        !is_made && dealt.chain(self.loops_joined(id)).any(|it| it.stmt == stmt)
    }

    /// All loops in a region that count something, in their order.
    fn loops_in(&self, id: RegionId) -> Vec<(StmtId, Span)> {
        let mut found = Vec::new();
        let body = self.program.regions[id].body;
        let mut open: Vec<Part> = body.into_iter().map(Part::Stmt).collect();
        while let Some(part) = open.pop() {
            if let Part::Stmt(stmt) = part
                && let StmtKind::For(_) = self.program.stmts[stmt].kind
            {
                found.push((stmt, self.program.stmts[stmt].span));
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
        found.sort_by_key(|it| it.1.start);
        found.dedup_by_key(|it| it.0);
        found
    }

    /// The variable that a loop counts with.
    fn counter(&self, stmt: StmtId) -> Option<&str> {
        let StmtKind::For(it) = &self.program.stmts[stmt].kind else { return None };
        let var: VarId = match self.program.stmts[*it.init.first()?].kind {
            StmtKind::Local(var) => var,
            StmtKind::Expr(e) => match self.program.exprs[e].kind {
                ExprKind::Assign(to, _) => match self.program.exprs[to].kind {
                    ExprKind::Var(var) => var,
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
        Some(self.program.names.text(self.program.vars[var].name?))
    }
}
