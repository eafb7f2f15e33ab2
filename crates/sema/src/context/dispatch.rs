//! Dispatched calls: the variant may be refused, and its arguments may be changed.
//!
//! In: the call that a dispatching region exists for. Out: the call in its place, or several behind
//! tests. What the region does around it (devices, dependences) is left to lowering.

use ir::construct::{ClauseKind, Leaf};
use ir::program::{ExprId, ExprKind, VarId};

use super::Plan;
use super::calls::Site;
use super::score::Selector;
use super::sides::Side;
use super::variants::Variant;
use crate::Cx;

impl Cx<'_> {
    pub(super) fn dispatched_call(
        &mut self,
        site: &Site,
        list: &[Variant],
        outside: &[Leaf],
        side: Side,
    ) {
        let Some(region) = site.region else { return };
        let construct = self.program.regions[region].construct.clone();
        let span = self.span(site.call);
        let selectors: Vec<Selector> = list.iter().map(|it| it.selector.clone()).collect();
        let mut spot = self.spot(outside, site.region, side, span);
        let mut plan = self.plan(&selectors, &spot);
        for kind in construct.kinds() {
            if let ClauseKind::Nocontext(test) = kind {
                spot.constructs.retain(|it| *it != Leaf::Dispatch);
                let without = self.plan(&selectors, &spot);
                plan = self.unless(*test, without, plan);
            }
        }
        for kind in construct.kinds() {
            if let ClauseKind::Novariants(test) = kind {
                plan = self.unless(*test, Plan::Take(None), plan);
            }
        }
        let kept: Vec<ExprId> = construct
            .kinds()
            .flat_map(|it| match it {
                ClauseKind::DevicePointer(items) => items.as_slice(),
                _ => &[],
            })
            .copied()
            .collect();
        let kept: Vec<VarId> = kept.into_iter().filter_map(|it| self.root(it)).collect();
        let given: Vec<ExprId> = construct
            .kinds()
            .flat_map(|it| match it {
                ClauseKind::InteropArgs(items) => items.as_slice(),
                _ => &[],
            })
            .copied()
            .collect();
        let asked: Vec<&[VarId]> = list.iter().map(|it| it.params.as_slice()).collect();
        let (plan, computed) = self.with_arguments(plan, &asked, site);
        let made = self.calls_of(&plan, site, list, &kept, &given);
        self.program.exprs[site.call].kind = match computed.is_empty() {
            true => self.program.exprs[made].kind.clone(),
            false => self.after(computed, made),
        };
    }

    /// `then` if a test holds, else `plan`.
    fn unless(&mut self, test: ExprId, then: Plan, plan: Plan) -> Plan {
        match self.constant(test) {
            Some(0) => plan,
            Some(_) => then,
            None if then == plan => plan,
            None => {
                let test = self.condition(test);
                Plan::If(test, Box::new(then), Box::new(plan))
            }
        }
    }

    fn calls_of(
        &mut self,
        plan: &Plan,
        site: &Site,
        list: &[Variant],
        kept: &[VarId],
        given: &[ExprId],
    ) -> ExprId {
        let (span, ty) = (self.span(site.call), self.ty(site.call));
        match plan {
            Plan::Take(index) => {
                let ExprKind::Call(callee, args) = self.program.exprs[site.call].kind.clone()
                else {
                    return site.call;
                };
                let Some(variant) = index.and_then(|it| list.get(it)) else {
                    return self.make(ExprKind::Call(callee, args), ty, span);
                };
                let args = self.arguments(&args, variant, kept, given);
                let callee = self.function_value(variant.function, span);
                self.make(ExprKind::Call(callee, args.into()), ty, span)
            }
            Plan::If(test, then, other) => {
                let then = self.calls_of(then, site, list, kept, given);
                let other = self.calls_of(other, site, list, kept, given);
                self.make(ExprKind::Conditional(*test, Some(then), other), ty, span)
            }
        }
    }

    /// The arguments of a variant: pointers that it wants for its device, and what is appended.
    fn arguments(
        &mut self,
        args: &[ExprId],
        variant: &Variant,
        kept: &[VarId],
        given: &[ExprId],
    ) -> Vec<ExprId> {
        let mut args = args.to_vec();
        for (at, arg) in args.iter_mut().enumerate() {
            let is_kept = self.root(*arg).is_some_and(|it| kept.contains(&it));
            if variant.device_pointers.contains(&at) && !is_kept {
                let (ty, span, void) = (self.ty(*arg), self.span(*arg), self.basics.void_ptr);
                let address = self.convert(*arg, self.basics.const_void_ptr);
                let name = abi::names::DEVICE_POINTER;
                let found = self.call_by_name(name, &[address], void, span);
                *arg = self.convert(found, ty);
            }
        }
        let wanted = self.program.functions[variant.function].ty;
        let wanted = self.program.types.callee(wanted).map(|it| it.params.clone());
        for at in 0..variant.appended {
            // Our devices belong to no foreign runtime: an object of none has the value zero.
            let object = match given.get(at) {
                Some(object) => self.decay(*object),
                None => {
                    let (int, span) =
                        (self.basics.int, self.program.functions[variant.function].span);
                    self.int(0, int, span)
                }
            };
            let ty = wanted.as_ref().and_then(|it| it.get(args.len()).copied());
            args.push(ty.map_or(object, |it| self.convert(object, it)));
        }
        args
    }

    /// The variable whose value or address an expression is.
    fn root(&self, expr: ExprId) -> Option<VarId> {
        match &self.program.exprs[expr].kind {
            ExprKind::Var(var) => Some(*var),
            ExprKind::Cast(_, inner) => self.root(*inner),
            _ => None,
        }
    }
}
