//! What context selectors ask for: from their words and expressions to [`Selector`].

use directive::{MatchRule, Trait};
use ir::construct::{Property, SelectorSet, SelectorSetKind};
use ir::program::{ExprId, ExprKind, Typed};
use source::Name;

use super::score::{Asked, Axis, Later, Selector, What};
use crate::Cx;

type Written = ir::construct::Selector<Typed>;

impl Cx<'_> {
    /// Reads the sets of a `match` or `when` clause.
    pub(super) fn selector(&self, sets: &[SelectorSet<Typed>]) -> Selector {
        let mut read = Selector { asked: Vec::new(), rule: MatchRule::All };
        for set in sets {
            if set.set == SelectorSetKind::TargetDevice {
                read.asked.push(self.target_device(&set.selectors));
                continue;
            }
            for selector in &set.selectors {
                self.one(set.set, selector, &mut read);
            }
        }
        read
    }

    fn one(&self, set: SelectorSetKind, selector: &Written, read: &mut Selector) {
        let name = self.program.names.text(selector.name);
        let words = || self.words(selector);
        let score = self.score(selector);
        let mut ask = |what: What| read.asked.push(Asked { what, score });
        match directive::selector_trait(set, name) {
            Trait::Construct => {
                // What a property says of lanes holds for no function that is called as it is.
                let leaves = match &selector.properties {
                    None => directive::named_construct(name),
                    Some(_) => None,
                };
                ask(leaves.map_or(What::Known(false), What::Construct));
            }
            Trait::Kind => ask(What::Device(Axis::Kind, words())),
            Trait::Isa => ask(What::Device(Axis::Isa, words())),
            Trait::Arch => ask(What::Device(Axis::Arch, words())),
            Trait::Vendor => ask(What::Vendor(words())),
            Trait::Required(it) => ask(What::Required(it)),
            Trait::Requires => {
                for word in words() {
                    let required = directive::requirement(&word);
                    ask(required.map_or(What::Known(false), What::Required));
                }
            }
            Trait::AtomicOrder => {
                for word in words() {
                    let order = directive::memory_order(&word);
                    ask(order.map_or(What::Known(false), What::Order));
                }
            }
            Trait::Condition => {
                for condition in self.values(selector) {
                    ask(match self.constant(condition) {
                        Some(value) => What::Known(value != 0),
                        None => What::Later(Later::Condition(condition)),
                    });
                }
            }
            Trait::Extension => {
                for word in words() {
                    match directive::match_rule(&word) {
                        Some(rule) => read.rule = rule,
                        None => read.asked.push(Asked { what: What::Known(false), score }),
                    }
                }
            }
            Trait::DeviceNum | Trait::Unknown => ask(What::Known(false)),
        }
    }

    /// The whole set is one question to the running program.
    fn target_device(&self, selectors: &[Written]) -> Asked {
        let (mut device, mut traits, mut score) = (None, Vec::new(), None::<u128>);
        for selector in selectors {
            let name = self.program.names.text(selector.name);
            let axis = match directive::selector_trait(SelectorSetKind::TargetDevice, name) {
                Trait::DeviceNum => {
                    device = self.values(selector).next();
                    continue;
                }
                Trait::Kind => Axis::Kind,
                Trait::Isa => Axis::Isa,
                Trait::Arch => Axis::Arch,
                Trait::Construct
                | Trait::Vendor
                | Trait::Extension
                | Trait::Requires
                | Trait::Required(_)
                | Trait::AtomicOrder
                | Trait::Condition
                | Trait::Unknown => return Asked { what: What::Known(false), score: None },
            };
            traits.extend(self.words(selector).into_iter().map(|it| (axis, it)));
            if let Some(more) = self.score(selector) {
                score = Some(score.unwrap_or(0).saturating_add(more));
            }
        }
        Asked { what: What::Later(Later::Device(device, traits)), score }
    }

    fn score(&self, selector: &Written) -> Option<u128> {
        u128::try_from(self.constant(selector.score?)?).ok()
    }

    /// Properties that are words, or strings, which are words that C could not spell.
    fn words(&self, selector: &Written) -> Vec<String> {
        let text = |name: &Name| self.program.names.text(*name);
        let word = |it: &Property<Typed>| match it {
            Property::Name(name) => text(name).to_owned(),
            Property::Expr(expr) => match &self.program.exprs[*expr].kind {
                ExprKind::Str(pieces) => {
                    pieces.iter().map(|it| text(it).trim_matches('"').to_owned()).collect()
                }
                // Nobody is called so.
                _ => String::new(),
            },
            Property::Clause(_) | Property::Nested(..) => String::new(),
        };
        selector.properties.iter().flatten().map(word).collect()
    }

    fn values<'s>(&self, selector: &'s Written) -> impl Iterator<Item = ExprId> + use<'s> {
        selector.properties.iter().flatten().filter_map(|it| match it {
            Property::Expr(expr) => Some(*expr),
            Property::Name(_) | Property::Clause(_) | Property::Nested(..) => None,
        })
    }
}
