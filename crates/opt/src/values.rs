//! Values that variables keep, as far as the program can be seen: good for estimates, no proof.

use ir::program::{ExprId, ExprKind, FunctionId, Init, Program, VarId};
use ir::walk::Part;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::normal;

/// Values by variable; those that are not listed may change.
#[derive(Debug, Default)]
pub(crate) struct Values {
    of: FxHashMap<VarId, i128>,
}

impl Values {
    pub(crate) fn new(program: &Program) -> Values {
        let mut written: FxHashSet<VarId> = FxHashSet::default();
        let mut args: FxHashMap<(FunctionId, usize), Option<i128>> = FxHashMap::default();
        let mut inits: Vec<VarId> = program.vars.iter().map(|it| it.0).collect();
        let mut values = Values::default();
        inits.retain(|it| program.vars[*it].init.is_some());
        let mut calls: Vec<(FunctionId, usize, ExprId)> = Vec::new();
        for (_, function) in program.functions.iter() {
            let mut stack: Vec<Part> = function.body.map(Part::Stmt).into_iter().collect();
            while let Some(part) = stack.pop() {
                if let Part::Expr(id) = part {
                    let kind = &program.exprs[id].kind;
                    if let ExprKind::Assign(to, _)
                    | ExprKind::AssignOp(_, to, ..)
                    | ExprKind::Step(_, to)
                    | ExprKind::AddrOf(to) = kind
                        && let ExprKind::Var(var) = program.exprs[*to].kind
                    {
                        written.insert(var);
                    } else if let ExprKind::Call(callee, given) = kind
                        && let Some(to) = callee_of(program, *callee)
                    {
                        calls.extend(given.iter().enumerate().map(|(at, &it)| (to, at, it)));
                    }
                }
                program.parts(part, &mut |it| stack.push(it));
            }
        }
        for var in inits {
            if let Some(init) = program.vars[var].init
                && let Init::Expr(value) = program.inits[init]
                && !written.contains(&var)
                && let Some(value) = normal::constant(program, value)
            {
                values.of.insert(var, value);
            }
        }
        for (to, at, given) in calls {
            let value = values.value(program, given);
            let entry = args.entry((to, at)).or_insert(value);
            if *entry != value {
                *entry = None;
            }
        }
        for (id, function) in program.functions.iter() {
            for (at, &param) in function.params.iter().enumerate() {
                if let Some(Some(value)) = args.get(&(id, at))
                    && !written.contains(&param)
                {
                    values.of.insert(param, *value);
                }
            }
        }
        values
    }

    /// The value that a variable keeps.
    pub(crate) fn get(&self, var: VarId) -> Option<i128> {
        self.of.get(&var).copied()
    }

    /// The value of a constant or of a variable that has only one.
    fn value(&self, program: &Program, id: ExprId) -> Option<i128> {
        if let Some(value) = normal::constant(program, id) {
            return Some(value);
        }
        if let ExprKind::Cast(_, inner) = program.exprs[id].kind {
            return self.value(program, inner);
        }
        let ExprKind::Var(var) = program.exprs[id].kind else { return None };
        self.of.get(&var).copied()
    }
}

fn callee_of(program: &Program, callee: ExprId) -> Option<FunctionId> {
    let mut at = callee;
    while let ExprKind::Cast(_, inner) | ExprKind::AddrOf(inner) | ExprKind::Deref(inner) =
        program.exprs[at].kind
    {
        at = inner;
    }
    if let ExprKind::Function(id) = program.exprs[at].kind { Some(id) } else { None }
}
