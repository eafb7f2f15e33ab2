//! Tests that ask about the arguments of a call: `condition(n > 3)`.
//!
//! In: a plan whose tests name parameters of the function that is called. Out: the plan with tests of
//! this call, and declarations of variables that hold the arguments, which are then computed once.

use ir::program::{ExprId, ExprKind, HostWords, Init, StmtId, StmtKind, Var, VarId, VarStorage};
use ir::walk::Part;
use rustc_hash::FxHashMap;

use super::Plan;
use super::calls::Site;
use crate::Cx;

impl Cx<'_> {
    /// A plan for one call: `params` are those that its tests may name, each list in their order.
    pub(super) fn with_arguments(
        &mut self,
        plan: Plan,
        params: &[&[VarId]],
        site: &Site,
    ) -> (Plan, Vec<StmtId>) {
        let mut tests = Vec::new();
        tests_of(&plan, &mut tests);
        let place = |var: VarId| params.iter().find_map(|it| it.iter().position(|it| *it == var));
        let mut named: Vec<(VarId, usize)> = Vec::new();
        let mut open: Vec<Part> = tests.into_iter().map(Part::Expr).collect();
        while let Some(part) = open.pop() {
            if let Part::Expr(id) = part
                && let ExprKind::Var(var) = self.program.exprs[id].kind
                && let Some(at) = place(var)
                && !named.iter().any(|it| it.0 == var)
            {
                named.push((var, at));
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
        let ExprKind::Call(callee, args) = self.program.exprs[site.call].kind.clone() else {
            return (plan, Vec::new());
        };
        let mut args = args.into_vec();
        let mut values: FxHashMap<VarId, VarId> = FxHashMap::default();
        let mut held: FxHashMap<usize, VarId> = FxHashMap::default();
        let mut computed = Vec::new();
        for (param, at) in named {
            let Some(arg) = args.get_mut(at) else { continue };
            let value = match held.get(&at) {
                Some(value) => *value,
                None => {
                    let (value, declared) = self.holder(*arg, at, site);
                    held.insert(at, value);
                    computed.push(declared);
                    let (ty, span) = (self.program.vars[value].ty, self.span(*arg));
                    *arg = self.make(ExprKind::Var(value), ty, span);
                    value
                }
            };
            values.insert(param, value);
        }
        if computed.is_empty() {
            return (plan, computed);
        }
        self.program.exprs[site.call].kind = ExprKind::Call(callee, args.into());
        (self.replaced_in(&plan, &values), computed)
    }

    /// A block that has an expression's value after it has declared something.
    pub(super) fn after(&mut self, declared: Vec<StmtId>, value: ExprId) -> ExprKind {
        let span = self.span(value);
        let mut list = declared;
        list.push(self.stmt_of(StmtKind::Expr(value), span));
        ExprKind::StmtExpr(self.stmt_of(StmtKind::Block(list.into()), span))
    }

    /// A variable with the value of an argument.
    fn holder(&mut self, arg: ExprId, at: usize, site: &Site) -> (VarId, StmtId) {
        let span = self.span(arg);
        let name = format!("__ferry_argument{at}_{}", site.call.index());
        let name = self.program.names.intern(&name);
        let init = self.program.inits.push(Init::Expr(arg));
        let ty = self.ty(arg).plain();
        let var = self.program.vars.push(Var {
            name: Some(name),
            ty,
            declared_len: None,
            storage: VarStorage::Local(site.caller),
            thread_local: false,
            align: None,
            init: Some(init),
            device: None,
            host: HostWords::default(),
            span,
        });
        (var, self.stmt_of(StmtKind::Local(var), span))
    }

    fn replaced_in(&mut self, plan: &Plan, values: &FxHashMap<VarId, VarId>) -> Plan {
        match plan {
            Plan::Take(index) => Plan::Take(*index),
            Plan::If(test, then, other) => {
                let test = self.copy_with(*test, values);
                let then = self.replaced_in(then, values);
                let other = self.replaced_in(other, values);
                Plan::If(test, Box::new(then), Box::new(other))
            }
        }
    }

    /// A copy of an expression with other variables.
    fn copy_with(&mut self, expr: ExprId, values: &FxHashMap<VarId, VarId>) -> ExprId {
        let first = self.program.exprs[expr].clone();
        let first = self.program.exprs.push(first);
        let mut open = vec![first];
        while let Some(id) = open.pop() {
            let mut kind = self.program.exprs[id].kind.clone();
            if let ExprKind::Var(var) = &mut kind
                && let Some(value) = values.get(var)
            {
                *var = *value;
            }
            let exprs = &mut self.program.exprs;
            kind.operands_mut(&mut |it| {
                let copy = exprs[*it].clone();
                *it = exprs.push(copy);
                open.push(*it);
            });
            self.program.exprs[id].kind = kind;
        }
        first
    }
}

fn tests_of(plan: &Plan, out: &mut Vec<ExprId>) {
    if let Plan::If(test, then, other) = plan {
        out.push(*test);
        tests_of(then, out);
        tests_of(other, out);
    }
}
