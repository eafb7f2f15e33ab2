//! What stands above a kernel that people read: where it came from, and where its loops went.

use ir::construct::Leaf;
use ir::program::{ExprKind, RegionId, StmtId, StmtKind, VarId};
use ir::walk::Part;
use source::Span;

use crate::c::Grid;
use crate::lower::device::Kernel;
use crate::lower::loops::collapsed;
use crate::lower::{About, Lowering, Note, loops};

/// What is told of such a directive.
const CACHE: &str = "`cache` stays advice: passes choose what lies in memory of groups";

impl Lowering<'_> {
    /// `/* a.c:12, in main: #pragma … */`, with a line for each loop.
    pub(super) fn told(&self, grid: Grid, kernel: &Kernel) -> String {
        let at = self.at(kernel.region);
        let region = &self.program.regions[kernel.region];
        let mut lines = vec![
            format!("{}:{}, in `{}`:", at.file, at.line, at.function),
            self.quoted_directive(region.construct.span),
        ];
        match self.launch(kernel.region) {
            Some(launch) => {
                lines.extend(launch.notes.clone());
                lines.extend(self.dealt_told(kernel.region).iter().cloned());
                if lines.len() == 2 {
                    let text = "every thread runs it from the beginning: a group is a team";
                    lines.push(text.to_owned());
                }
            }
            None => {
                lines.push(format!("one thread runs it: {}", self.why_one(kernel.region)));
                lines.extend(self.loops_told(grid, kernel.region, None));
            }
        }
        format!("/* {} */\n", lines.join("\n   ").replace("*/", "* /"))
    }

    /// What is told of kernels: that only one thread runs them, and why, or what passes did; that `cache` stays advice.
    pub(in crate::lower) fn kernels_told(&self, grid: Grid, kernels: &[Kernel]) -> Vec<Note> {
        let told = |kernel: &Kernel| {
            let text = match self.launch(kernel.region) {
                Some(launch) => launch.notes.join("; "),
                None => format!("one thread runs it: {}", self.why_one(kernel.region)),
            };
            let around = self.written.regions.find(kernel.region).map(|it| it.construct.span);
            let note = |span: Span, text: &str| Note {
                about: About::Loop,
                region: around.unwrap_or(span),
                span,
                text: format!("on `{}` {text}", grid.device()),
                at: None,
            };
            let inside = self.program.inside(kernel.region).into_iter();
            let inside = inside.filter_map(|it| self.written.regions.find(it));
            let caches = inside.filter(|it| it.construct.leaves == [Leaf::Cache]);
            let caches = caches.map(|it| note(it.construct.span, CACHE));
            let caches = caches.filter(|_| around.is_some()).collect::<Vec<Note>>();
            let own = around.filter(|_| !text.is_empty()).map(|it| note(it, &text));
            caches.into_iter().chain(own).collect::<Vec<Note>>()
        };
        kernels.iter().flat_map(told).collect()
    }

    /// A line for each loop of a region: who has its iterations. `is_flat`: all threads share the loops of teams and
    /// threads; nothing if one thread runs the region.
    pub(super) fn loops_told(
        &self,
        grid: Grid,
        id: RegionId,
        is_flat: Option<bool>,
    ) -> Vec<String> {
        let [block, blocks, threads] = match grid {
            Grid::OpenCl | Grid::OpenCl12 | Grid::Fpga(_) => {
                ["work-group", "work-groups", "work-items"]
            }
            Grid::Cuda | Grid::Hip => ["block", "blocks", "threads"],
        };
        let all = format!("to all {threads} of all {blocks}");
        let regions = [vec![id], self.program.inside(id)].concat();
        let told = |(stmt, span): (StmtId, Span)| {
            let dealer = regions.iter().find(|it| self.deals(**it, stmt));
            let construct = dealer.map(|it| &self.program.regions[*it].construct);
            let to = match construct.zip(is_flat) {
                None => "in order".to_owned(),
                Some((_, true)) => all.clone(),
                Some((it, false)) => {
                    let has_threads = it.has(Leaf::For) || it.has(Leaf::Parallel);
                    match (it.has(Leaf::Distribute), has_threads) {
                        (true, true) => all.clone(),
                        (true, false) => format!("to {blocks}"),
                        (false, true) => format!("to the {threads} of its {block}"),
                        (false, false) => "in order".to_owned(),
                    }
                }
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
