//! OpenMP's implicit rules: what holds for variables and loops where no clause says otherwise.

use ir::construct::{
    Category, ClauseKind, Construct, DefaultMap, DefaultSharing, Implicit, Leaf, LoopTrust, Motion,
    OnAbsent, Presence, Rules,
};

use crate::Written;

/// The rules of one construct.
pub(super) fn rules(construct: &Construct<Written>) -> Rules {
    let mut rules = Rules { on_absent: OnAbsent::Ignore, ..Rules::NONE };
    if construct.has(Leaf::Offload) {
        rules.scalar = Implicit::FirstPrivate;
        rules.aggregate = Implicit::Map(Motion::ToFrom, Presence::Any);
        rules.pointer = Implicit::PointerToMapped;
        // A reduction on a combined construct is brought back; on parts written apart it is not.
        rules.reduction_maps = construct.leaves.len() > 1;
    } else if SHARING.iter().any(|it| construct.has(*it)) {
        set_all(&mut rules, Implicit::Shared);
    }
    if LOOPS.iter().any(|it| construct.has(*it)) {
        rules.loop_trust = LoopTrust::Independent;
    }
    for kind in construct.kinds() {
        match kind {
            ClauseKind::Default(sharing, category) => {
                default(&mut rules, *sharing, *category, construct.has(Leaf::Offload));
            }
            ClauseKind::DefaultMap(how, category) => default_map(&mut rules, *how, *category),
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

fn set_all(rules: &mut Rules, implicit: Implicit) {
    (rules.scalar, rules.aggregate, rules.pointer) = (implicit, implicit, implicit);
}

fn set(rules: &mut Rules, category: Option<Category>, implicit: Implicit) {
    match category {
        None | Some(Category::All) => set_all(rules, implicit),
        Some(Category::Scalar) => rules.scalar = implicit,
        Some(Category::Aggregate) => rules.aggregate = implicit,
        Some(Category::Pointer) => rules.pointer = implicit,
        // C has none.
        Some(Category::Allocatable) => {}
    }
}

fn default(rules: &mut Rules, sharing: DefaultSharing, category: Option<Category>, offloads: bool) {
    let implicit = match sharing {
        // On a combined construct this speaks of the teams and threads inside the device region.
        DefaultSharing::Shared if offloads => return,
        DefaultSharing::Shared => Implicit::Shared,
        DefaultSharing::Private => Implicit::Private,
        DefaultSharing::FirstPrivate => Implicit::FirstPrivate,
        DefaultSharing::None => Implicit::MustBeListed,
        DefaultSharing::Present => Implicit::Map(Motion::Alloc, Presence::Required),
    };
    set(rules, category, implicit);
}

fn default_map(rules: &mut Rules, how: DefaultMap, category: Option<Category>) {
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
        DefaultMap::None => Implicit::MustBeListed,
        DefaultMap::Default => {
            if matches!(category, None | Some(Category::Scalar | Category::All)) {
                rules.scalar = Implicit::FirstPrivate;
            }
            if matches!(category, None | Some(Category::Aggregate | Category::All)) {
                rules.aggregate = Implicit::Map(Motion::ToFrom, Presence::Any);
            }
            if matches!(category, None | Some(Category::Pointer | Category::All)) {
                rules.pointer = Implicit::PointerToMapped;
            }
            return;
        }
    };
    set(rules, category, implicit);
}
