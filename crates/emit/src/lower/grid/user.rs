//! Reductions in the user's way, by a thread alone: a copy that begins as the declaration says, and one
//! call of what combines it with the variable itself.

use ir::construct::{Args, ClauseKind, Construct, Leaf, ReductionDecl, ReductionInit, ReductionOp};
use ir::program::{ExprKind, RegionId, Typed, VarId};
use ir::walk::Part;

use crate::c::{Out, Printer, Setting};
use crate::lower::Lowering;

impl Lowering<'_> {
    /// The declaration of a reduction for the type of a variable.
    pub(in crate::lower) fn declared_reduction(
        &self,
        id: RegionId,
        op: &ReductionOp<Typed>,
        var: VarId,
    ) -> Option<(&Construct<Typed>, &ReductionDecl<Typed>)> {
        let types = &self.program.types;
        let from = self.program.regions[id].construct.span;
        let seen: Vec<_> = self.program.declarations_seen(from).collect();
        let ty = types.resolve(self.program.vars[var].ty).plain();
        seen.into_iter().rev().find_map(|(_, it)| {
            let Args::Reduction(declared) = &it.construct.args else { return None };
            let [only] = declared.types.as_slice() else { return None };
            let is_meant = it.construct.has(Leaf::DeclareReduction)
                && declared.name == *op
                && types.compatible(types.resolve(*only).plain(), ty);
            is_meant.then_some((&it.construct, declared.as_ref()))
        })
    }

    /// A copy of what a construct combines in the user's way, which the printer then names; answers what joins it with its
    /// variable, as C.
    pub(in crate::lower) fn user_sum(
        &self,
        printer: &Printer<'_>,
        inside: &mut Printer<'_>,
        var: VarId,
        construct: &Construct<Typed>,
        declared: &ReductionDecl<Typed>,
        out: &mut Out<'_>,
    ) -> Option<String> {
        let clause = construct.kinds().find_map(|it| match it {
            ClauseKind::Combiner(it) => Some(*it),
            _ => None,
        });
        let combiner = declared.combiner.or(clause)?;
        let ty = self.program.vars[var].ty.plain();
        let original = printer.var_name(var);
        let own = match self.is_on_stack(var) {
            true => self.new_on_stack(printer, var),
            false => {
                let name = format!("__ferry_own{}", self.fresh());
                self.declare_own(printer, var, &name, "", out)
            }
        };
        let [to, from, fresh, old, ..] = directive::REDUCTION_VARIABLES;
        // In its own words the declaration names nothing of the region.
        let named = |part: Part, names: [(&str, &str); 2]| {
            let mut printer = self.printer(Setting::Alone);
            self.name_in(&mut printer, part, names);
            printer
        };
        let begins = [(fresh, own.as_str()), (old, original.as_str())];
        let start = construct.kinds().find_map(|it| match it {
            ClauseKind::Initializer(it) => Some(it),
            _ => None,
        });
        match start {
            Some(ReductionInit::Assign(init)) => {
                let value = named(Part::Init(*init), begins).init(*init, ty);
                let first = format!("__ferry_first{}", self.fresh());
                out.line(&format!("const {} = {value};", printer.declare(ty, &first)));
                out.line(&format!("{own} = {first};"));
            }
            Some(ReductionInit::Call(call)) => {
                out.line(&format!("{};", named(Part::Expr(*call), begins).expr(*call)));
            }
            None => {
                out.line(&format!("__builtin_memset(&{own}, 0, sizeof({own}));"));
            }
        }
        inside.substitute(var, own.clone());
        let joins = named(Part::Expr(combiner), [(to, &original), (from, &own)]);
        Some(format!("{};", joins.expr(combiner)))
    }

    /// Gives the variables of a declaration other names.
    fn name_in(&self, printer: &mut Printer<'_>, part: Part, names: [(&str, &str); 2]) {
        let mut open = vec![part];
        while let Some(part) = open.pop() {
            if let Part::Expr(id) = part
                && let ExprKind::Var(var) = self.program.exprs[id].kind
            {
                let name = self.program.vars[var].name.map_or("", |it| self.program.names.text(it));
                if let Some((_, text)) = names.iter().find(|it| it.0 == name) {
                    printer.substitute(var, (*text).to_owned());
                }
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
    }
}
