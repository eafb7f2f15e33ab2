//! OpenMP's implicit rules: what holds for variables and loops where no clause says otherwise.

use ir::construct::{
    ByKind, Category, ClauseKind, Construct, DefaultMap, DefaultSharing, Implicit, Leaf, LoopTrust,
    Motion, Naming, OnAbsent, Phase, Presence, Rules, Unnamed,
};

/// The rules of one construct.
pub(super) fn rules<P: Phase>(construct: &Construct<P>) -> Rules {
    let mut rules = Rules { on_absent: OnAbsent::Ignore, ..Rules::NONE };
    if construct.has(Leaf::Offload) {
        rules.mapping = TARGET;
        // A reduction on a combined construct is brought back; on parts written apart it is not.
        rules.reduction_maps = construct.leaves.len() > 1;
    }
    let shares = SHARING.iter().any(|it| construct.has(*it));
    if shares {
        rules.sharing = ByKind::all(Implicit::Shared);
    }
    if LOOPS.iter().any(|it| construct.has(*it)) {
        rules.loop_trust = LoopTrust::Independent;
    }
    let is_concurrent = construct.kinds().any(|it| matches!(it, ClauseKind::Order(_)));
    rules.any_order = construct.has(Leaf::Loop) || is_concurrent;
    for kind in construct.kinds() {
        match kind {
            ClauseKind::Default(sharing, category) => {
                // On a combined construct this speaks of the teams and threads inside.
                let alone = construct.has(Leaf::Offload) && !shares;
                let rules = if alone { &mut rules.mapping } else { &mut rules.sharing };
                default(rules, *sharing, *category);
            }
            ClauseKind::DefaultMap(how, category) => {
                default_map(&mut rules.mapping, *how, *category);
            }
            _ => {}
        }
    }
    rules
}

/// Constructs whose unlisted variables are shared. What a task copies depends on what the variable
/// is outside, so that is for those who know.
const SHARING: &[Leaf] = &[Leaf::Parallel, Leaf::Teams, Leaf::Task, Leaf::Taskloop];

/// The user vouches for the iterations of these.
const LOOPS: &[Leaf] = &[Leaf::For, Leaf::Simd, Leaf::Distribute, Leaf::Loop, Leaf::Taskloop];

/// What a device region does with variables that nothing speaks of.
const TARGET: ByKind = ByKind {
    scalar: Unnamed::enters(Implicit::FirstPrivate),
    aggregate: Unnamed::enters(Implicit::Map(Motion::ToFrom, Presence::Any)),
    pointer: Unnamed::enters(Implicit::PointerToMapped),
};

fn default(rules: &mut ByKind, sharing: DefaultSharing, category: Option<Category>) {
    let implicit = match sharing {
        DefaultSharing::Shared => Implicit::Shared,
        DefaultSharing::Private => Implicit::Private,
        DefaultSharing::FirstPrivate => Implicit::FirstPrivate,
        DefaultSharing::Present => Implicit::Map(Motion::Alloc, Presence::Required),
        DefaultSharing::None => {
            return rules.change(category, |it| it.naming = Naming::Required);
        }
    };
    rules.change(category, |it| *it = Unnamed::enters(implicit));
}

fn default_map(rules: &mut ByKind, how: DefaultMap, category: Option<Category>) {
    let implicit = match how {
        DefaultMap::Alloc => Implicit::Map(Motion::Alloc, Presence::Any),
        DefaultMap::To => Implicit::Map(Motion::To, Presence::Any),
        DefaultMap::From => Implicit::Map(Motion::From, Presence::Any),
        DefaultMap::ToFrom => Implicit::Map(Motion::ToFrom, Presence::Any),
        // Storage is shared with the host: nothing moves.
        DefaultMap::SelfMap => Implicit::Map(Motion::Alloc, Presence::Any),
        DefaultMap::Present => Implicit::Map(Motion::Alloc, Presence::Required),
        DefaultMap::FirstPrivate => Implicit::FirstPrivate,
        DefaultMap::Private => Implicit::Private,
        DefaultMap::None => {
            return rules.change(category, |it| it.naming = Naming::Required);
        }
        DefaultMap::Default => {
            let every = matches!(category, None | Some(Category::All));
            if every || category == Some(Category::Scalar) {
                rules.scalar = TARGET.scalar;
            }
            if every || category == Some(Category::Aggregate) {
                rules.aggregate = TARGET.aggregate;
            }
            if every || category == Some(Category::Pointer) {
                rules.pointer = TARGET.pointer;
            }
            return;
        }
    };
    rules.change(category, |it| *it = Unnamed::enters(implicit));
}
