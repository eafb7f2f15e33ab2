//! The implicit rules of OpenACC, written into each construct.
//!
//! In: a construct with its clauses. Out: its [`Rules`]. Two rules depend on what stands around a
//! construct and are for those who know it: a `loop` inside `kernels` without a clause of its own
//! takes the `loop_trust` of the `kernels`; a `default` clause of a data region is in the region's
//! rules and holds for the regions inside that have none.

use ir::construct::{
    ByKind, ClauseKind, Construct, DefaultSharing, Implicit, Leaf, LoopTrust, Motion, Naming,
    OnAbsent, Phase, Presence, Rules, Unnamed,
};

/// The rules of this construct.
pub(super) fn rules<P: Phase>(construct: &Construct<P>) -> Rules {
    let mut rules = match construct.leaves.first() {
        Some(Leaf::Offload) => COMPUTE,
        Some(Leaf::Kernels) => KERNELS,
        Some(Leaf::DataRegion | Leaf::Declare) => Rules { holds_data: true, ..DATA },
        Some(Leaf::EnterData | Leaf::ExitData) => DATA,
        Some(Leaf::Update | Leaf::HostData) => Rules { on_absent: OnAbsent::Error, ..DATA },
        _ => Rules::NONE,
    };
    rules.member_sums = true;
    if construct.has(Leaf::Loop) {
        rules.plain_nests = true;
        rules.orders_refuted = true;
        if !construct.has(Leaf::Kernels) {
            rules.loop_trust = LoopTrust::Independent;
        }
        rules.any_order = true;
    }
    for kind in construct.kinds() {
        apply(kind, &mut rules);
    }
    rules
}

/// What all that speak of data share.
const DATA: Rules =
    Rules { whole_presence: true, counts_attachments: true, declared_shapes: true, ..Rules::NONE };

const BOTH_WAYS: Implicit = Implicit::Map(Motion::ToFrom, Presence::Any);

/// By the letter a pointer is a scalar: the address travels, the data behind it do not. Where these are
/// on the device already, programs count on reaching them there, and compilers see to it.
const POINTER: Unnamed = Unnamed::enters(Implicit::PointerToMapped);

/// `parallel` and `serial`.
const COMPUTE: Rules = Rules {
    sharing: ByKind::all(Implicit::NotApplicable),
    mapping: ByKind {
        scalar: Unnamed::enters(Implicit::FirstPrivate),
        aggregate: Unnamed::enters(BOTH_WAYS),
        pointer: POINTER,
    },
    yields_to_data_region: true,
    copies_per_team: true,
    copies_like_tasks: false,
    holds_data: true,
    reduction_maps: true,
    loop_trust: LoopTrust::NotApplicable,
    orders_refuted: false,
    any_order: false,
    plain_nests: false,
    redundant_teams: true,
    on_absent: OnAbsent::Ignore,
    whole_presence: true,
    counts_attachments: true,
    declared_shapes: true,
    pointer_sections: true,
    member_sums: true,
};

/// `kernels`: values of scalars flow between the kernels that are made of it.
const KERNELS: Rules = Rules {
    mapping: ByKind {
        scalar: Unnamed::enters(BOTH_WAYS),
        aggregate: Unnamed::enters(BOTH_WAYS),
        pointer: POINTER,
    },
    copies_per_team: false,
    loop_trust: LoopTrust::Prove,
    ..COMPUTE
};

/// What a clause changes.
fn apply<P: Phase>(kind: &ClauseKind<P>, rules: &mut Rules) {
    match kind {
        ClauseKind::Default(DefaultSharing::None, _) => {
            rules.mapping.aggregate.naming = Naming::Required;
            // Programs leave out what travels as an argument, and compilers let them.
            rules.mapping.scalar.naming = Naming::Advised;
            rules.mapping.pointer.naming = Naming::Advised;
        }
        ClauseKind::Default(DefaultSharing::Present, _) => {
            rules.mapping.aggregate.implicit = Implicit::Map(Motion::Alloc, Presence::Required);
        }
        ClauseKind::Seq => trust(rules, LoopTrust::Sequential),
        ClauseKind::Auto => trust(rules, LoopTrust::Prove),
        ClauseKind::Independent => trust(rules, LoopTrust::Independent),
        ClauseKind::IfPresent => rules.on_absent = OnAbsent::Ignore,
        _ => {}
    }
}

/// Of a construct with a loop; `routine seq` has none.
fn trust(rules: &mut Rules, trust: LoopTrust) {
    if rules.loop_trust != LoopTrust::NotApplicable {
        rules.loop_trust = trust;
    }
}
