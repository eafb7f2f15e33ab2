//! Calls of functions that have variants: each is given the function that fits its place.
//!
//! In: a program whose bodies are read. Out: its calls changed, and where. A choice that only the
//! running program can make becomes a conditional expression in the place of the function's name.

use ir::construct::Leaf;
use ir::program::{
    CastKind, ExprId, ExprKind, FunctionId, RegionId, Rewritten, StmtId, StmtKind, VarId,
};
use ir::walk::Part;
use rustc_hash::FxHashMap;

use super::Plan;
use super::score::Selector;
use super::sides::{self, Side};
use super::variants::{Variant, Variants};
use crate::Cx;

/// A call by name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub(super) call: ExprId,
    /// The expression that names the function.
    pub(super) name: ExprId,
    pub(super) called: FunctionId,
    pub(super) caller: FunctionId,
    /// The region around it.
    pub(super) region: Option<RegionId>,
    /// Whether that region exists for this call.
    pub(super) is_dispatched: bool,
}

impl Cx<'_> {
    /// Gives every call the function that fits.
    pub(crate) fn choose_functions(&mut self) {
        let variants = self.variants();
        let sites = self.sites(&variants);
        if sites.is_empty() {
            return;
        }
        let sides = sides::of(&self.program);
        let outside = stand_for(&variants);
        for site in sites {
            let Some(list) = variants.get(&site.called) else { continue };
            let side = sides.get(&site.caller).copied().unwrap_or(Side::Host);
            let outside = outside.get(&site.caller).map(Vec::as_slice).unwrap_or_default();
            if site.is_dispatched {
                self.dispatched_call(&site, list, outside, side);
            } else {
                self.plain_call(&site, list, outside, side);
            }
        }
    }

    /// Calls of functions that have variants, from the outside in.
    fn sites(&self, variants: &Variants) -> Vec<Site> {
        let mut found = Vec::new();
        if variants.is_empty() {
            return found;
        }
        for (caller, function) in self.program.functions.iter() {
            let Some(body) = function.body else { continue };
            let mut open = vec![(Part::Stmt(body), None)];
            while let Some((part, region)) = open.pop() {
                let inside = if let Part::Region(id) = part { Some(id) } else { region };
                if let Part::Expr(call) = part
                    && let ExprKind::Call(callee, _) = &self.program.exprs[call].kind
                    && let Some((name, called)) = self.named_function(*callee)
                    && variants.contains_key(&called)
                {
                    let dispatched = region.and_then(|it| self.dispatch_target(it));
                    let is_dispatched = dispatched == Some(call);
                    found.push(Site { call, name, called, caller, region, is_dispatched });
                }
                self.program.parts(part, &mut |it| open.push((it, inside)));
            }
        }
        found
    }

    /// The function that a call names, and where.
    fn named_function(&self, callee: ExprId) -> Option<(ExprId, FunctionId)> {
        match &self.program.exprs[callee].kind {
            ExprKind::Function(function) => Some((callee, *function)),
            ExprKind::Cast(CastKind::FunctionToPointer | CastKind::Implicit, inner) => {
                self.named_function(*inner)
            }
            _ => None,
        }
    }

    /// The call that a dispatching region exists for.
    fn dispatch_target(&self, region: RegionId) -> Option<ExprId> {
        let region = &self.program.regions[region];
        if region.construct.leaves != [Leaf::Dispatch] {
            return None;
        }
        let mut expr = self.only_expression(region.body?)?;
        loop {
            match &self.program.exprs[expr].kind {
                ExprKind::Call(..) => return Some(expr),
                ExprKind::Assign(_, inner) | ExprKind::Cast(_, inner) => expr = *inner,
                _ => return None,
            }
        }
    }

    fn only_expression(&self, stmt: StmtId) -> Option<ExprId> {
        match &self.program.stmts[stmt].kind {
            StmtKind::Expr(expr) => Some(*expr),
            StmtKind::Block(list) => match &**list {
                [one] => self.only_expression(*one),
                _ => None,
            },
            _ => None,
        }
    }

    /// A call where it stands: only the function's name changes.
    fn plain_call(&mut self, site: &Site, list: &[Variant], outside: &[Leaf], side: Side) {
        // Arguments are added only where a directive asks for it.
        let list: Vec<&Variant> = list.iter().filter(|it| it.appended == 0).collect();
        let selectors: Vec<Selector> = list.iter().map(|it| it.selector.clone()).collect();
        let span = self.span(site.name);
        let spot = self.spot(outside, site.region, side, span);
        let plan = self.plan(&selectors, &spot);
        let functions: Vec<FunctionId> = list.iter().map(|it| it.function).collect();
        if plan == Plan::Take(None) {
            return;
        }
        let asked: Vec<&[VarId]> = list.iter().map(|it| it.params.as_slice()).collect();
        let (plan, computed) = self.with_arguments(plan, &asked, site);
        let callee = self.callee(&plan, site, &functions);
        let ExprKind::Call(_, args) = &self.program.exprs[site.call].kind else { return };
        let args = args.clone();
        let call = ExprKind::Call(callee, args);
        if computed.is_empty() {
            self.program.exprs[site.call].kind = call;
            self.rewrite(span, Rewritten::Expr(callee));
            return;
        }
        let (ty, span) = (self.ty(site.call), self.span(site.call));
        let call = self.make(call, ty, span);
        self.program.exprs[site.call].kind = self.after(computed, call);
        self.rewrite(span, Rewritten::Expr(site.call));
    }

    fn callee(&mut self, plan: &Plan, site: &Site, functions: &[FunctionId]) -> ExprId {
        let span = self.span(site.name);
        match plan {
            Plan::Take(index) => {
                let taken = index.and_then(|it| functions.get(it)).copied();
                self.function_value(taken.unwrap_or(site.called), span)
            }
            Plan::If(test, then, other) => {
                let then = self.callee(then, site, functions);
                let other = self.callee(other, site, functions);
                let ty = self.ty(then);
                self.make(ExprKind::Conditional(*test, Some(then), other), ty, span)
            }
        }
    }

    /// A pointer to a function, by its name.
    pub(super) fn function_value(&mut self, function: FunctionId, span: source::Span) -> ExprId {
        let ty = self.program.functions[function].ty;
        let name = self.make(ExprKind::Function(function), ty, span);
        self.decay(name)
    }
}

/// The constructs that variants stand for: whoever calls one is inside of them.
fn stand_for(variants: &Variants) -> FxHashMap<FunctionId, Vec<Leaf>> {
    let mut found = FxHashMap::default();
    for variant in variants.values().flatten() {
        found.entry(variant.function).or_insert_with(|| variant.selector.constructs());
    }
    found
}
