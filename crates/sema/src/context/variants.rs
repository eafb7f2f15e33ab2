//! Functions that replace others in some contexts: who, whom, when, and how arguments change.
//!
//! In: the declarations of a program. Out: for each function those that may be called instead. One
//! that was defined under the name of the function it replaces gets a name of its own.

use directive::MatchRule;
use ir::construct::{AdjustOp, Args, ClauseKind, Construct, Leaf};
use ir::program::{ExprKind, FunctionId, Rewritten, Typed, VarId};
use rustc_hash::FxHashMap;
use source::Name;

use super::score::{self, Facts, Selector, What};
use crate::Cx;
use crate::scope::Entity;

/// A function that may be called instead of another.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    pub(super) function: FunctionId,
    pub(super) selector: Selector,
    /// The parameters that its selector may ask about, in their order.
    pub(super) params: Vec<VarId>,
    /// Positions of arguments that become device pointers.
    pub(super) device_pointers: Vec<usize>,
    /// How many interoperability objects follow the arguments.
    pub(super) appended: usize,
}

/// For each function, those that may be called instead, in the order of their declarations.
pub(super) type Variants = FxHashMap<FunctionId, Vec<Variant>>;

impl Cx<'_> {
    /// Gathers all variants.
    pub(super) fn variants(&mut self) -> Variants {
        let mut by_name: FxHashMap<Name, FunctionId> = FxHashMap::default();
        for (id, function) in self.program.functions.iter() {
            let known = by_name.entry(function.name).or_insert(id);
            // Variants have the name of the function that they replace, and may come before it.
            if self.made_as_variants.contains(known) && !self.made_as_variants.contains(&id) {
                *known = id;
            }
        }
        let mut found = Variants::default();
        for at in 0..self.program.declarations.len() {
            let Some(declaration) = self.program.declarations.get(at) else { continue };
            let construct = declaration.construct.clone();
            let (functions, params) = (declaration.functions.clone(), declaration.params.clone());
            let selector = construct.kinds().find_map(|it| match it {
                ClauseKind::Match(sets) => Some(self.selector(sets)),
                _ => None,
            });
            let Some(selector) = selector else { continue };
            if construct.has(Leaf::BeginDeclareVariant) {
                self.renamed(&functions, &selector, &by_name, &mut found);
                continue;
            }
            let Args::Variant(named) = &construct.args else { continue };
            let Some(&variant) = by_name.get(&named.variant) else { continue };
            let base = named.base.and_then(|it| by_name.get(&it).copied());
            let mut made = Variant {
                function: variant,
                selector,
                params: params.clone(),
                device_pointers: Vec::new(),
                appended: 0,
            };
            for kind in construct.kinds() {
                match kind {
                    ClauseKind::AdjustArgs(AdjustOp::NeedDevicePtr, items) => {
                        let places = items.iter().filter_map(|it| self.parameter(*it, &params));
                        made.device_pointers.extend(places);
                    }
                    ClauseKind::AppendArgs(list) => made.appended += list.len(),
                    _ => {}
                }
            }
            for base in base.map_or(functions, |it| vec![it]) {
                found.entry(base).or_default().push(made.clone());
            }
        }
        found
    }

    /// Whether the functions of a variant's definition can be called on no device and not here.
    pub(crate) fn never_fits(&self, construct: &Construct<Typed>) -> bool {
        let found = construct.kinds().find_map(|it| match it {
            ClauseKind::Match(sets) => Some(self.selector(sets)),
            _ => None,
        });
        let Some(mut selector) = found else { return false };
        // Constructs and conditions may come true somewhere.
        selector.asked.retain(|it| matches!(it.what, What::Device(..) | What::Vendor(_)));
        selector.rule == MatchRule::All
            && [false, true].iter().all(|side| {
                let facts = Facts { constructs: &[], on_device: *side, required: &[], order: None };
                score::rank(std::slice::from_ref(&selector), &facts).is_empty()
            })
    }

    /// The position of the parameter that an item names.
    fn parameter(&self, item: ir::program::ExprId, params: &[VarId]) -> Option<usize> {
        match &self.program.exprs[item].kind {
            ExprKind::Var(var) => params.iter().position(|it| it == var),
            // Counted from one.
            ExprKind::Int(number) => usize::try_from(*number).ok()?.checked_sub(1),
            ExprKind::Cast(_, inner) => self.parameter(*inner, params),
            _ => None,
        }
    }

    /// Functions that were defined under the names of those they replace.
    fn renamed(
        &mut self,
        functions: &[FunctionId],
        selector: &Selector,
        by_name: &FxHashMap<Name, FunctionId>,
        found: &mut Variants,
    ) {
        // The same selector gives the same name in every file, so that one file's definition serves
        // another's declaration.
        let mark = fingerprint(&format!("{selector:?}"));
        let mut made: FxHashMap<Name, FunctionId> = FxHashMap::default();
        for &function in functions {
            let name = self.program.functions[function].name;
            let Some(&base) = by_name.get(&name).filter(|it| **it != function) else { continue };
            let own = format!("{}__ferry_variant_{mark:08x}", self.program.names.text(name));
            let own = self.program.names.intern(&own);
            let span = self.program.functions[function].span;
            self.program.functions[function].name = own;
            self.rewrite(span, Rewritten::Name(own));
            // A definition is better than a declaration in front of it.
            let is_defined = self.program.functions[function].body.is_some();
            if is_defined || !made.contains_key(&name) {
                made.insert(name, function);
            }
            let Some(&function) = made.get(&name) else { continue };
            let list = found.entry(base).or_default();
            match list.iter_mut().find(|it| it.selector == *selector) {
                Some(before) => before.function = function,
                None => list.push(Variant {
                    function,
                    selector: selector.clone(),
                    params: Vec::new(),
                    device_pointers: Vec::new(),
                    appended: 0,
                }),
            }
        }
    }

    /// The constructs that a variant stands for: whoever calls it is inside of them.
    pub(super) fn constructs_of_variant(&self, function: FunctionId) -> Vec<Leaf> {
        let is_it = |name: Name| match self.scopes.get(name) {
            Some(Entity::Function(known)) => known == function,
            _ => false,
        };
        let stands_for = self.program.declarations.iter().find(|it| match &it.construct.args {
            Args::Variant(named) => is_it(named.variant),
            _ => it.construct.has(Leaf::BeginDeclareVariant) && it.functions.contains(&function),
        });
        let sets = stands_for.iter().flat_map(|it| it.construct.kinds()).find_map(|it| match it {
            ClauseKind::Match(sets) => Some(self.selector(sets)),
            _ => None,
        });
        sets.map(|it| it.constructs()).unwrap_or_default()
    }
}

fn fingerprint(text: &str) -> u32 {
    // FNV-1a: short, and the same everywhere.
    text.bytes()
        .fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
