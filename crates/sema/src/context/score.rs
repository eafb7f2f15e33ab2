//! Which of several alternatives fits a context best, by the rules of the standard.
//!
//! In: context selectors, each a list of what it asks for, and the facts of a place in the program.
//! Out: the alternatives that may be taken there, best first, up to the first that needs nothing to
//! hold at run time. What the words of a selector mean was decided before ([`super::read`]).

use directive::MatchRule;
use ir::construct::{Leaf, MemoryOrder, Requirement};
use ir::program::ExprId;

/// A context selector.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Selector {
    pub(crate) asked: Vec<Asked>,
    pub(crate) rule: MatchRule,
}

impl Selector {
    /// The constructs that it asks for.
    pub(crate) fn constructs(&self) -> Vec<Leaf> {
        let leaves = self.asked.iter().filter_map(|it| match &it.what {
            What::Construct(leaves) => Some(leaves),
            _ => None,
        });
        leaves.flatten().copied().collect()
    }
}

/// One trait that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) what: What,
    /// What the user says it weighs.
    pub(crate) score: Option<u128>,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    /// Constructs around, from the outside in.
    Construct(Vec<Leaf>),
    /// The device is all of these.
    Device(Axis, Vec<String>),
    /// The implementation is all of these.
    Vendor(Vec<String>),
    Required(Requirement),
    Order(MemoryOrder),
    /// Known here already: a constant condition, or a trait that nobody has.
    Known(bool),
    /// Known when the program runs.
    Later(Later),
}

/// Traits of devices, in the order of their weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    Kind,
    Arch,
    Isa,
}

/// What only the running program can answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Later {
    /// An expression is not zero.
    Condition(ExprId),
    /// A device, the default one if none is named, has these traits.
    Device(Option<ExprId>, Vec<(Axis, String)>),
}

/// What is known of a place.
#[derive(Clone, Debug)]
pub(crate) struct Facts<'a> {
    /// Constructs around it, from the outside in.
    pub(crate) constructs: &'a [Leaf],
    /// On a device, not on the host.
    pub(crate) on_device: bool,
    pub(crate) required: &'a [Requirement],
    pub(crate) order: Option<MemoryOrder>,
}

/// Who we are.
const VENDOR: &str = "ferry";

/// An alternative that may be taken, and the rest of what must hold for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fit {
    /// Which alternative.
    pub(crate) index: usize,
    /// Positions in its list of what is known later; empty if it fits now.
    pub(crate) later: Vec<usize>,
}

/// The alternatives that fit, best first; all but the last depend on something later.
pub(crate) fn rank(selectors: &[Selector], facts: &Facts<'_>) -> Vec<Fit> {
    let mut fits: Vec<(u128, Fit)> = Vec::new();
    for (index, selector) in selectors.iter().enumerate() {
        if let Some((score, later)) = judge(selector, facts) {
            fits.push((score, Fit { index, later }));
        }
    }
    let of = |it: &Fit| selectors.get(it.index);
    let outdone: Vec<bool> = fits
        .iter()
        .map(|(_, it)| fits.iter().any(|(_, other)| is_part(of(it), of(other))))
        .collect();
    for ((score, _), outdone) in fits.iter_mut().zip(outdone) {
        if outdone {
            *score = 0;
        }
    }
    // Stable: of two that weigh the same the first written is taken.
    fits.sort_by_key(|it| std::cmp::Reverse(it.0));
    let certain = fits.iter().position(|it| it.1.later.is_empty());
    fits.truncate(certain.map_or(fits.len(), |it| it + 1));
    fits.into_iter().map(|it| it.1).collect()
}

/// Whether the traits of `a` are some but not all of those of `b`.
fn is_part(a: Option<&Selector>, b: Option<&Selector>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return false };
    a.rule == b.rule
        && a.asked.len() < b.asked.len()
        && a.asked.iter().all(|it| b.asked.iter().any(|other| it.what == other.what))
}

/// How well a selector fits, and what of it is still to be asked; nothing if it cannot fit.
fn judge(selector: &Selector, facts: &Facts<'_>) -> Option<(u128, Vec<usize>)> {
    let (mut score, mut later, mut has_true, mut has_false) = (1u128, Vec::new(), false, false);
    let weigh = |asked: &Asked, own: u128| asked.score.unwrap_or(own);
    let values = construct_values(selector, facts.constructs);
    for (at, asked) in selector.asked.iter().enumerate() {
        let value = match &asked.what {
            What::Later(_) => {
                later.push(at);
                Some(0)
            }
            What::Construct(_) => values.get(at).copied().flatten(),
            other => holds(other, facts).then(|| device_value(other, facts.constructs.len())),
        };
        let is_later = matches!(asked.what, What::Later(_));
        match value {
            Some(own) => score = score.saturating_add(weigh(asked, own)),
            None => has_false = true,
        }
        has_true |= value.is_some() && !is_later;
    }
    match selector.rule {
        MatchRule::All if has_false => None,
        MatchRule::All => Some((score, later)),
        MatchRule::Any if has_true => Some((score, Vec::new())),
        MatchRule::Any if later.is_empty() => None,
        MatchRule::Any => Some((score, later)),
        MatchRule::None if has_true => None,
        MatchRule::None => Some((score, later)),
    }
}

/// What each construct selector weighs, if it is found: a power of two that grows inwards. All of
/// them must be found in their order if all must hold, else each for itself.
fn construct_values(selector: &Selector, constructs: &[Leaf]) -> Vec<Option<u128>> {
    let mut values = vec![None; selector.asked.len()];
    // From the inside out, so that what is found weighs most.
    let mut end = constructs.len();
    for (at, asked) in selector.asked.iter().enumerate().rev() {
        let What::Construct(leaves) = &asked.what else { continue };
        if selector.rule != MatchRule::All {
            end = constructs.len();
        }
        let mut value = Some(0u128);
        for leaf in leaves.iter().rev() {
            let around = constructs.get(..end).unwrap_or_default();
            match around.iter().rposition(|it| it == leaf) {
                Some(found) => {
                    value = value.map(|it| it.saturating_add(power(found)));
                    end = found;
                }
                None => value = None,
            }
        }
        if let Some(place) = values.get_mut(at) {
            *place = value;
        }
    }
    values
}

fn power(exponent: usize) -> u128 {
    u32::try_from(exponent).ok().and_then(|it| 1u128.checked_shl(it)).unwrap_or(u128::MAX)
}

fn device_value(what: &What, constructs: usize) -> u128 {
    match what {
        // `any` says nothing, and weighs nothing.
        What::Device(Axis::Kind, words) if words.iter().all(|it| it == "any") => 0,
        What::Device(Axis::Kind, _) => power(constructs),
        What::Device(Axis::Arch, _) => power(constructs + 1),
        What::Device(Axis::Isa, _) => power(constructs + 2),
        What::Construct(_)
        | What::Vendor(_)
        | What::Required(_)
        | What::Order(_)
        | What::Known(_)
        | What::Later(_) => 0,
    }
}

fn holds(what: &What, facts: &Facts<'_>) -> bool {
    match what {
        What::Device(axis, words) => words.iter().all(|it| device_is(*axis, it, facts.on_device)),
        What::Vendor(words) => words.iter().all(|it| it == VENDOR),
        What::Required(it) => facts.required.contains(it),
        What::Order(it) => facts.order == Some(*it),
        What::Known(it) => *it,
        What::Construct(_) | What::Later(_) => false,
    }
}

/// Whether a trait is one of this host, or of a device whose code is made for now: one that has the
/// host's processor.
pub(crate) fn device_is(axis: Axis, word: &str, on_device: bool) -> bool {
    match axis {
        Axis::Kind => match word {
            "any" | "cpu" => true,
            "host" => !on_device,
            "nohost" => on_device,
            _ => false,
        },
        Axis::Arch => match std::env::consts::ARCH {
            "x86_64" => matches!(word, "x86_64" | "x86-64" | "x86"),
            "aarch64" => matches!(word, "aarch64" | "arm64"),
            arch => word == arch,
        },
        // What every processor of the architecture has; more depends on flags of the host's compiler.
        Axis::Isa => match std::env::consts::ARCH {
            "x86_64" => matches!(word, "x86-64" | "x86_64" | "mmx" | "sse" | "sse2" | "fxsr"),
            "aarch64" => matches!(word, "neon" | "fp" | "asimd"),
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(constructs: &[Leaf], on_device: bool) -> Facts<'_> {
        Facts { constructs, on_device, required: &[], order: None }
    }

    fn asks(what: What) -> Asked {
        Asked { what, score: None }
    }

    fn around(leaves: &[Leaf]) -> Asked {
        asks(What::Construct(leaves.to_vec()))
    }

    fn kind(word: &str) -> Asked {
        asks(What::Device(Axis::Kind, vec![word.to_owned()]))
    }

    fn vendor(word: &str, score: u128) -> Asked {
        Asked { what: What::Vendor(vec![word.to_owned()]), score: Some(score) }
    }

    fn later(index: u32) -> Asked {
        asks(What::Later(Later::Condition(ExprId::from_index(index))))
    }

    fn all(asked: Vec<Asked>) -> Selector {
        Selector { asked, rule: MatchRule::All }
    }

    fn order(selectors: &[Selector], facts: &Facts<'_>) -> Vec<usize> {
        rank(selectors, facts).iter().map(|it| it.index).collect()
    }

    use Leaf::{Dispatch, For, Offload, Parallel, Teams};

    #[test]
    fn the_inner_construct_weighs_more() {
        let list = [all(vec![around(&[Offload])]), all(vec![around(&[Parallel])])];
        assert_eq!(order(&list, &facts(&[Offload, Teams, Parallel], true)), [1]);
        assert_eq!(order(&list, &facts(&[Parallel, Offload], true)), [0]);
        assert_eq!(order(&list, &facts(&[Teams], true)), Vec::<usize>::new());
    }

    #[test]
    fn constructs_must_come_in_their_order() {
        let list = [all(vec![around(&[Parallel]), around(&[For])])];
        assert_eq!(order(&list, &facts(&[Parallel, For], false)), [0]);
        assert_eq!(order(&list, &facts(&[Parallel, Dispatch, For], false)), [0]);
        assert!(order(&list, &facts(&[For, Parallel], false)).is_empty());
        assert!(order(&list, &facts(&[For], false)).is_empty());
    }

    #[test]
    fn of_constructs_that_repeat_the_innermost_count() {
        let list = [all(vec![around(&[Parallel])]), all(vec![around(&[Teams])])];
        // Positions 1 and 3 against 2.
        assert_eq!(order(&list, &facts(&[Parallel, Teams, Parallel], false)), [0]);
    }

    #[test]
    fn a_device_weighs_more_than_all_constructs() {
        let list = [all(vec![around(&[Offload]), around(&[Parallel])]), all(vec![kind("nohost")])];
        assert_eq!(order(&list, &facts(&[Offload, Parallel], true)), [1]);
        assert!(order(&list, &facts(&[Parallel], false)).is_empty());
    }

    #[test]
    fn any_kind_fits_and_weighs_nothing() {
        let list = [all(vec![kind("any")]), all(vec![around(&[Parallel])])];
        assert_eq!(order(&list, &facts(&[Parallel], false)), [1]);
        assert_eq!(order(&list, &facts(&[], false)), [0]);
    }

    #[test]
    fn scores_decide_and_the_first_wins_a_tie() {
        let list = [
            all(vec![vendor(VENDOR, 2)]),
            all(vec![vendor(VENDOR, 7)]),
            all(vec![vendor("other", 9)]),
        ];
        assert_eq!(order(&list, &facts(&[], false)), [1]);
        let same = [all(vec![kind("cpu")]), all(vec![kind("host")])];
        assert_eq!(order(&same, &facts(&[], false)), [0]);
    }

    #[test]
    fn a_part_of_another_selector_that_fits_weighs_nothing() {
        let list =
            [all(vec![vendor(VENDOR, 50)]), all(vec![vendor(VENDOR, 0), around(&[Parallel])])];
        assert_eq!(order(&list, &facts(&[Parallel], false)), [1]);
        assert_eq!(order(&list, &facts(&[], false)), [0]);
    }

    #[test]
    fn what_is_known_later_is_asked_in_order_of_weight() {
        let weighted = |index, score| Asked { score: Some(score), ..later(index) };
        let list = [
            all(vec![weighted(0, 1)]),
            all(vec![weighted(1, 5)]),
            all(vec![kind("any")]),
            all(vec![weighted(2, 0)]),
        ];
        let fits = rank(&list, &facts(&[], false));
        assert_eq!(fits.iter().map(|it| it.index).collect::<Vec<_>>(), [1, 0, 2]);
        assert_eq!(fits.iter().map(|it| it.later.len()).collect::<Vec<_>>(), [1, 1, 0]);
    }

    #[test]
    fn one_is_enough_or_none_may_hold() {
        let some = |rule| Selector { asked: vec![kind("gpu"), around(&[Teams])], rule };
        let here = facts(&[Teams], false);
        assert!(order(&[some(MatchRule::All)], &here).is_empty());
        assert_eq!(order(&[some(MatchRule::Any)], &here), [0]);
        assert!(order(&[some(MatchRule::None)], &here).is_empty());
        let elsewhere = facts(&[Parallel], false);
        assert!(order(&[some(MatchRule::Any)], &elsewhere).is_empty());
        assert_eq!(order(&[some(MatchRule::None)], &elsewhere), [0]);
    }

    #[test]
    fn very_deep_nests_have_a_value_too() {
        let deep = vec![Parallel; 500];
        let list = [all(vec![around(&[Parallel])]), all(vec![kind("host")])];
        assert_eq!(order(&list, &facts(&deep, false)), [0]);
    }
}
