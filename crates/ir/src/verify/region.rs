//! Regions: their loops, their variables and the reasons given for those.

use rustc_hash::FxHashSet;

use super::{Law, Verifier};
use crate::program::{StmtId, StmtKind, VarId};
use crate::region::{Loop, Origin, Region, RegionVar, Rule};
use crate::walk::Part;

/// What is inside of a region.
#[derive(Default)]
struct Inside {
    stmts: FxHashSet<StmtId>,
    declared: FxHashSet<VarId>,
}

impl Verifier<'_> {
    pub(super) fn region_handles(&mut self) {
        let program = self.program;
        for (_, region) in program.regions.iter() {
            let function = program.functions.find(region.function).is_some();
            let body = region.body.is_none_or(|it| program.stmts.find(it).is_some());
            let parent = region.parent.is_none_or(|it| program.regions.find(it).is_some());
            let reaches = region.reaches.iter().all(|it| program.functions.find(*it).is_some());
            let vars = region.vars.iter().all(|it| program.vars.find(it.var).is_some());
            let loops = region.loops.iter().all(|it| {
                let exprs = [Some(it.begin), Some(it.bound), it.step];
                program.stmts.find(it.stmt).is_some()
                    && program.stmts.find(it.body).is_some()
                    && program.vars.find(it.var).is_some()
                    && exprs.into_iter().flatten().all(|it| program.exprs.find(it).is_some())
            });
            let holds = function && body && parent && reaches && vars && loops;
            self.check(holds, Law::Handle, region.span, "a region names what does not exist");
        }
        for declaration in &program.declarations {
            let functions =
                declaration.functions.iter().all(|it| program.functions.find(*it).is_some());
            let vars = declaration.vars.iter().all(|it| program.vars.find(*it).is_some());
            let span = declaration.construct.span;
            self.check(functions && vars, Law::Handle, span, "a declaration names nothing");
        }
    }

    pub(super) fn regions(&mut self) {
        for (_, region) in self.program.regions.iter() {
            let construct = &region.construct;
            let named = !construct.leaves.is_empty();
            self.check(named, Law::Region, region.span, "the construct has no part");
            let groups = construct.groups.len();
            for clause in &construct.clauses {
                let fits = clause.group.is_none_or(|it| usize::from(it) < groups);
                self.check(fits, Law::Region, clause.span, "a clause of a group that is not there");
            }
            let inside = self.inside(region);
            for one in &region.loops {
                self.associated_loop(one, &inside);
            }
            let mut listed = FxHashSet::default();
            for var in &region.vars {
                let once = listed.insert(var.var);
                self.check(once, Law::RegionVar, var.span, "a variable is listed twice");
                self.region_var(region, var, &inside);
            }
        }
    }

    /// Statements and variables in the body, nested regions included.
    fn inside(&self, region: &Region) -> Inside {
        let mut inside = Inside::default();
        let mut pending: Vec<Part> = region.body.into_iter().map(Part::Stmt).collect();
        let mut seen = FxHashSet::default();
        while let Some(part) = pending.pop() {
            // What contains itself is reported elsewhere.
            if !seen.insert(part) {
                continue;
            }
            match part {
                Part::Stmt(stmt) => {
                    inside.stmts.insert(stmt);
                }
                Part::Local(var) => {
                    inside.declared.insert(var);
                }
                Part::Expr(_) | Part::Init(_) | Part::Region(_) => {}
            }
            self.program.parts(part, &mut |part| pending.push(part));
        }
        inside
    }

    fn associated_loop(&mut self, one: &Loop, inside: &Inside) {
        let is_inside = inside.stmts.contains(&one.stmt);
        self.check(is_inside, Law::Loop, one.span, "the loop is not in the region");
        let StmtKind::For(known) = &self.program.stmts[one.stmt].kind else {
            return self.report(Law::Loop, one.span, "the loop is no `for` statement");
        };
        let same = known.body == one.body;
        self.check(same, Law::Loop, one.span, "the body is not that of the statement");
        let types = &self.program.types;
        let ty = self.program.vars[one.var].ty;
        let fits = types.is_integer(ty) || types.is_pointer(ty) || types.is_error(ty);
        self.check(fits, Law::Loop, one.span, "what counts is no integer or pointer");
    }

    fn region_var(&mut self, region: &Region, it: &RegionVar, inside: &Inside) {
        let shared = it.sharing.iter().map(|it| it.origin);
        let origins = shared.chain(it.mappings.iter().map(|it| it.origin));
        let mut may_be_inside = false;
        for origin in origins {
            let holds = match origin {
                Origin::Clause(at) => (at as usize) < region.construct.clauses.len(),
                Origin::Enclosing(id, at) => {
                    let around = self.program.regions.find(id);
                    around.is_some_and(|it| (at as usize) < it.construct.clauses.len())
                }
                Origin::Declared(at) => (at as usize) < self.program.declarations.len(),
                Origin::Rule(rule) => {
                    may_be_inside |= matches!(rule, Rule::LoopVariable | Rule::LaneLoopVariable);
                    true
                }
            };
            self.check(holds, Law::RegionVar, it.span, "the reason given does not exist");
        }
        let is_outside = may_be_inside || !inside.declared.contains(&it.var);
        self.check(is_outside, Law::RegionVar, it.span, "the variable is declared inside");
    }
}
