//! Ways out of and into the code of a region: `break`, `return`, `goto`.
//!
//! A region is entered at the top and left at the bottom, by all who run it; an associated loop
//! also runs all its iterations. In: the program with its loops found. Out: diagnostics only.

use ir::program::{FunctionId, LabelId, Program, RegionId, StmtId, StmtKind};
use rustc_hash::{FxHashMap, FxHashSet};
use source::{Diagnostics, Span};

use crate::regions::walk::{self, Visit};
use crate::regions::{loops, messages};

pub(super) fn check(program: &Program, faults: &mut Diagnostics) {
    // Only functions with regions have anything to escape from.
    let mut functions: Vec<FunctionId> = program.regions.iter().map(|it| it.1.function).collect();
    functions.sort();
    functions.dedup();
    // Loops whose iterations are dealt out, with the region that deals them.
    let mut dealt = FxHashMap::default();
    for (id, region) in program.regions.iter() {
        if !loops::may_have_any_form(program, region) {
            dealt.extend(region.loops.iter().map(|it| (it.stmt, id)));
        }
    }
    for id in functions {
        let Some(body) = program.functions[id].body else { continue };
        let mut ways = Ways {
            dealt: &dealt,
            faults,
            open: Vec::new(),
            labels: FxHashMap::default(),
            jumps: Vec::new(),
        };
        walk::stmt(program, body, &mut ways);
        ways.jumps(program);
    }
}

/// What `break` and `continue` may end.
#[derive(Clone, Copy)]
enum Open {
    Loop(StmtId),
    Switch,
    Region(RegionId),
    /// A directive that asks nothing of the code below it.
    Nothing,
}

struct Ways<'a> {
    dealt: &'a FxHashMap<StmtId, RegionId>,
    faults: &'a mut Diagnostics,
    open: Vec<Open>,
    labels: FxHashMap<LabelId, Vec<RegionId>>,
    jumps: Vec<(LabelId, Vec<RegionId>, Span)>,
}

impl Ways<'_> {
    fn regions(&self) -> Vec<RegionId> {
        let regions = self.open.iter().filter_map(|it| match it {
            Open::Region(id) => Some(*id),
            Open::Loop(_) | Open::Switch | Open::Nothing => None,
        });
        regions.collect()
    }

    /// `break` or `continue`: what it ends, met from the inside out.
    fn ends(&mut self, program: &Program, is_break: bool, span: Span) {
        for open in self.open.iter().rev() {
            match open {
                Open::Switch if is_break => return,
                Open::Switch | Open::Nothing => {}
                Open::Loop(stmt) => {
                    if let (true, Some(&region)) = (is_break, self.dealt.get(stmt)) {
                        let region = &program.regions[region];
                        self.faults.push(messages::break_out(region, span));
                    }
                    return;
                }
                Open::Region(id) => {
                    let word = if is_break { "break" } else { "continue" };
                    self.faults.push(messages::leaves(&program.regions[*id], word, span));
                    return;
                }
            }
        }
    }

    fn jumps(&mut self, program: &Program) {
        for (label, from, span) in std::mem::take(&mut self.jumps) {
            let Some(to) = self.labels.get(&label) else { continue };
            let inside: FxHashSet<&RegionId> = to.iter().collect();
            let left = from.iter().rev().find(|it| !inside.contains(it));
            let entered = to.iter().find(|it| !from.contains(it));
            if let Some(&left) = left {
                self.faults.push(messages::leaves(&program.regions[left], "goto", span));
            } else if let Some(&entered) = entered {
                self.faults.push(messages::jumps_in(&program.regions[entered], span));
            }
        }
    }
}

impl Visit for Ways<'_> {
    fn enter(&mut self, program: &Program, id: StmtId) {
        let stmt = &program.stmts[id];
        match &stmt.kind {
            StmtKind::For(_) | StmtKind::While(..) | StmtKind::DoWhile(..) => {
                self.open.push(Open::Loop(id));
            }
            StmtKind::Switch(..) => self.open.push(Open::Switch),
            StmtKind::Region(region) => {
                let is_block = loops::is_block(program, &program.regions[*region]);
                self.open.push(if is_block { Open::Region(*region) } else { Open::Nothing });
            }
            StmtKind::Break => self.ends(program, true, stmt.span),
            StmtKind::Continue => self.ends(program, false, stmt.span),
            StmtKind::Return(_) => {
                if let Some(&region) = self.regions().last() {
                    let region = &program.regions[region];
                    self.faults.push(messages::leaves(region, "return", stmt.span));
                }
            }
            StmtKind::Goto(label) => self.jumps.push((*label, self.regions(), stmt.span)),
            StmtKind::Label(label, _) => {
                let around = self.regions();
                self.labels.insert(*label, around);
            }
            _ => {}
        }
    }

    fn leave(&mut self, program: &Program, id: StmtId) {
        match &program.stmts[id].kind {
            StmtKind::For(_)
            | StmtKind::While(..)
            | StmtKind::DoWhile(..)
            | StmtKind::Switch(..)
            | StmtKind::Region(_) => {
                self.open.pop();
            }
            _ => {}
        }
    }
}
