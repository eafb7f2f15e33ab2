//! Choosing by context: which directive, which function, at a place in the program.
//!
//! In: selectors of directives, typed, and where they are asked. Out: a [`Plan`]: one alternative, or
//! tests that the running program makes. What can be decided is decided here, so that all later
//! phases meet the program that was chosen; [`ir::program::Program::rewrites`] tells where the text
//! says otherwise.
//!
//! - [`score`]: which alternative fits best
//! - [`read`]: what selectors ask for
//! - [`sides`]: which functions may run on devices
//! - [`metadirective`]: choosing directives
//! - [`variants`], [`calls`], [`dispatch`], [`arguments`]: choosing functions
//!
//! Code of a function that runs on both sides is made once, and asks where it is. A region that leaves the host is
//! read for devices; where the host would choose otherwise it is read again, for when it stays there.

mod arguments;
mod calls;
mod dispatch;
mod metadirective;
mod read;
mod score;
pub(crate) mod sides;
mod variants;

use directive::MatchRule;
use ir::construct::{ClauseKind, Leaf};
use ir::program::{Declaration, ExprId, ExprKind, RegionId, UnaryOp};
use ir::types::{FunctionType, Ty, TypeKind};
use source::Span;

use crate::Cx;
pub(crate) use metadirective::{Governed, Statics};
use score::{Axis, Facts, Fit, Later, Selector, What};
use sides::Side;

/// What is done at a place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Plan {
    /// An alternative is taken, by position; none if none fits.
    Take(Option<usize>),
    /// It depends on an expression.
    If(ExprId, Box<Plan>, Box<Plan>),
}

/// A place where a choice is made.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    /// Constructs around it that its context consists of, from the outside in.
    pub(crate) constructs: Vec<Leaf>,
    pub(crate) side: Side,
    /// The directive of the region around it that leaves the host.
    pub(crate) offloaded: Option<Span>,
    pub(crate) span: Span,
}

impl Cx<'_> {
    /// The context of a place in a function that stands for the constructs `outside`, and may run on
    /// `side` as far as is known.
    pub(crate) fn spot(
        &self,
        outside: &[Leaf],
        region: Option<RegionId>,
        side: Side,
        span: Span,
    ) -> Spot {
        let around = std::iter::successors(region, |it| self.program.regions[*it].parent);
        let mut constructs = Vec::new();
        for region in around {
            for leaf in self.program.regions[region].construct.leaves.iter().rev() {
                let is_device = matches!(leaf, Leaf::Offload | Leaf::Kernels);
                constructs.push(if is_device { Leaf::Offload } else { *leaf });
                if is_device {
                    // What is outside of it does not belong to the context.
                    constructs.reverse();
                    let side = if self.stays { Side::Host } else { Side::Device };
                    let offloaded = Some(self.program.regions[region].construct.span);
                    return Spot { constructs, side, offloaded, span };
                }
            }
        }
        constructs.reverse();
        constructs.splice(0..0, outside.iter().copied());
        Spot { constructs, side, offloaded: None, span }
    }

    /// Chooses among `selectors`.
    pub(crate) fn plan(&mut self, selectors: &[Selector], spot: &Spot) -> Plan {
        let on_host = self.fits(selectors, &spot.constructs, false);
        let mut constructs = spot.constructs.clone();
        if spot.side != Side::Host && constructs.first() != Some(&Leaf::Offload) {
            constructs.insert(0, Leaf::Offload);
        }
        let on_device = self.fits(selectors, &constructs, true);
        if let Some(region) = spot.offloaded
            && on_host != on_device
            && !self.differing.contains(&region)
        {
            self.differing.push(region);
        }
        match spot.side {
            Side::Host => self.chain(selectors, &on_host, spot.span),
            Side::Device => self.chain(selectors, &on_device, spot.span),
            Side::Both if on_host == on_device => self.chain(selectors, &on_host, spot.span),
            Side::Both => {
                let is_on_host = self.call_of_runtime(directive::IS_ON_HOST, &[], spot.span);
                let host = self.chain(selectors, &on_host, spot.span);
                let device = self.chain(selectors, &on_device, spot.span);
                Plan::If(is_on_host, Box::new(host), Box::new(device))
            }
        }
    }

    /// Whether the choice is another one on devices.
    pub(crate) fn differs_on_devices(&self, selectors: &[Selector], spot: &Spot) -> bool {
        let mut constructs = spot.constructs.clone();
        constructs.insert(0, Leaf::Offload);
        let on_device = self.fits(selectors, &constructs, true);
        self.fits(selectors, &spot.constructs, false) != on_device
    }

    fn fits(&self, selectors: &[Selector], constructs: &[Leaf], on_device: bool) -> Vec<Fit> {
        let (mut required, mut order) = (Vec::new(), None);
        let requires = |it: &&Declaration| it.construct.has(Leaf::Requires);
        let requires = self.program.declarations.iter().filter(requires);
        for kind in requires.flat_map(|it| it.construct.kinds()) {
            match kind {
                ClauseKind::Require(it, _) => required.push(*it),
                ClauseKind::AtomicDefaultOrder(it) => order = Some(*it),
                _ => {}
            }
        }
        let facts = Facts { constructs, on_device, required: &required, order };
        score::rank(selectors, &facts)
    }

    /// Tests in order of weight.
    fn chain(&mut self, selectors: &[Selector], fits: &[Fit], span: Span) -> Plan {
        let mut plan = Plan::Take(None);
        for fit in fits.iter().rev() {
            let take = Plan::Take(Some(fit.index));
            let Some(selector) = selectors.get(fit.index) else { continue };
            plan = match self.run_time_test(selector, &fit.later, span) {
                Some(test) => Plan::If(test, Box::new(take), Box::new(plan)),
                None => take,
            };
        }
        plan
    }

    /// What must hold at run time.
    fn run_time_test(
        &mut self,
        selector: &Selector,
        later: &[usize],
        span: Span,
    ) -> Option<ExprId> {
        let int = self.basics.int;
        let mut test = None;
        for asked in later.iter().filter_map(|&it| selector.asked.get(it)) {
            let What::Later(later) = &asked.what else { continue };
            let one = self.answer(later, span);
            test = Some(match test {
                None => one,
                Some(before) if selector.rule == MatchRule::All => {
                    self.make(ExprKind::And(before, one), int, span)
                }
                Some(before) => self.make(ExprKind::Or(before, one), int, span),
            });
        }
        match (test, selector.rule) {
            (Some(test), MatchRule::None) => {
                Some(self.make(ExprKind::Unary(UnaryOp::Not, test), int, span))
            }
            (test, _) => test,
        }
    }

    /// The expression that answers a question at run time.
    fn answer(&mut self, later: &Later, span: Span) -> ExprId {
        let (device, traits) = match later {
            Later::Condition(condition) => return self.condition(*condition),
            Later::Device(device, traits) => (*device, traits),
        };
        let (int, long) = (self.basics.int, self.basics.llong);
        // A number that names no device is no device, whatever is asked of it.
        let any = [(Axis::Kind, "any".to_owned())];
        let mut answer = None;
        for (axis, word) in if traits.is_empty() { &any[..] } else { traits } {
            let device = match device {
                Some(device) => self.convert(device, long),
                None => self.int(abi::DEVICE_DEFAULT, long, span),
            };
            let axis = match axis {
                Axis::Kind => abi::TraitAxis::Kind,
                Axis::Arch => abi::TraitAxis::Arch,
                Axis::Isa => abi::TraitAxis::Isa,
            };
            let axis = self.int(axis as i64, int, span);
            let word = self.program.names.intern(&format!("{word:?}"));
            let word = self.string(&[word], span);
            let word = self.decay(word);
            let word = self.convert(word, self.basics.const_char_ptr);
            let asked = self.call_of_runtime(abi::names::DEVICE_IS, &[device, axis, word], span);
            answer = Some(match answer {
                None => asked,
                Some(before) => self.make(ExprKind::And(before, asked), int, span),
            });
        }
        answer.unwrap_or_else(|| self.int(1, int, span))
    }

    /// A call of a function of the runtime that answers with `int`.
    fn call_of_runtime(&mut self, name: &str, args: &[ExprId], span: Span) -> ExprId {
        let int = self.basics.int;
        self.call_by_name(name, args, int, span)
    }

    /// A call of a function that the program need not have declared.
    pub(crate) fn call_by_name(
        &mut self,
        name: &str,
        args: &[ExprId],
        ret: Ty,
        span: Span,
    ) -> ExprId {
        let name = self.program.names.intern(name);
        let known = self.program.functions.iter().find(|it| it.1.name == name).map(|it| it.0);
        let function = known.unwrap_or_else(|| {
            let params = args.iter().map(|it| self.program.exprs[*it].ty).collect();
            let ty = FunctionType { ret, params, variadic: false, prototyped: true };
            let ty = self.program.types.get(TypeKind::Function(ty));
            let function = self.new_function(name, ty, span);
            // Generated text declares it.
            self.program.functions[function].is_builtin = true;
            function
        });
        let ty = self.program.functions[function].ty;
        let callee = self.make(ExprKind::Function(function), ty, span);
        self.make(ExprKind::Call(callee, args.into()), ret, span)
    }
}
