//! What the words of context selectors mean, so that others can choose without knowing them.
//!
//! In: the name of a selector or of one of its properties, as written. Out: which trait it asks for.
//! Whether a context has that trait is not decided here.

use ir::construct::{Construct, Leaf, MemoryOrder, Requirement, SelectorSetKind};
use syntax::pragma::Shape;

use crate::table::Heading;
use crate::write::standard;
use crate::{Written, openmp};

/// A trait of a context that a selector asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trait {
    /// A construct around.
    Construct,
    /// What kind of device: `host`, `gpu`.
    Kind,
    /// What instructions it has.
    Isa,
    /// Its architecture.
    Arch,
    /// Its number.
    DeviceNum,
    /// Who made the implementation.
    Vendor,
    /// Extensions of the implementation; some change how all others are matched.
    Extension,
    /// What the program requires, as properties.
    Requires,
    /// What the program requires, by name.
    Required(Requirement),
    /// The order of atomics that name none.
    AtomicOrder,
    /// What the user says.
    Condition,
    /// No implementation has it.
    Unknown,
}

/// How many of its traits a context selector wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatchRule {
    /// All of them; what holds if nothing is said.
    All,
    /// At least one.
    Any,
    /// None.
    None,
}

/// The trait that a selector of a set asks for.
pub fn selector_trait(set: SelectorSetKind, name: &str) -> Trait {
    match (set, name) {
        (SelectorSetKind::Construct, _) => Trait::Construct,
        (SelectorSetKind::Device | SelectorSetKind::TargetDevice, "kind") => Trait::Kind,
        (SelectorSetKind::Device | SelectorSetKind::TargetDevice, "isa") => Trait::Isa,
        (SelectorSetKind::Device | SelectorSetKind::TargetDevice, "arch") => Trait::Arch,
        (SelectorSetKind::TargetDevice, "device_num") => Trait::DeviceNum,
        (SelectorSetKind::Implementation, "vendor") => Trait::Vendor,
        (SelectorSetKind::Implementation, "extension") => Trait::Extension,
        (SelectorSetKind::Implementation, "requires") => Trait::Requires,
        (SelectorSetKind::Implementation, "atomic_default_mem_order") => Trait::AtomicOrder,
        (SelectorSetKind::Implementation, word) => {
            requirement(word).map_or(Trait::Unknown, Trait::Required)
        }
        (SelectorSetKind::User, "condition") => Trait::Condition,
        (SelectorSetKind::Device | SelectorSetKind::TargetDevice | SelectorSetKind::User, _) => {
            Trait::Unknown
        }
    }
}

/// A requirement by the name of its clause.
pub fn requirement(word: &str) -> Option<Requirement> {
    Some(match word {
        "reverse_offload" => Requirement::ReverseOffload,
        "unified_address" => Requirement::UnifiedAddress,
        "unified_shared_memory" => Requirement::UnifiedSharedMemory,
        "self_maps" => Requirement::SelfMaps,
        "dynamic_allocators" => Requirement::DynamicAllocators,
        "device_safesync" => Requirement::DeviceSafesync,
        _ => return None,
    })
}

/// An order of memory by its name.
pub fn memory_order(word: &str) -> Option<MemoryOrder> {
    Some(match word {
        "seq_cst" => MemoryOrder::SeqCst,
        "acq_rel" => MemoryOrder::AcqRel,
        "acquire" => MemoryOrder::Acquire,
        "release" => MemoryOrder::Release,
        "relaxed" => MemoryOrder::Relaxed,
        _ => return None,
    })
}

/// What an extension says of matching, if it does.
pub fn match_rule(extension: &str) -> Option<MatchRule> {
    match extension {
        "match_all" => Some(MatchRule::All),
        "match_any" => Some(MatchRule::Any),
        "match_none" => Some(MatchRule::None),
        _ => None,
    }
}

/// The parts of the construct that a selector names.
pub fn named_construct(name: &str) -> Option<Vec<Leaf>> {
    // Nearly all of them are one row; only for others every combination is looked at.
    let standard = &openmp::STANDARD;
    let row = standard.directives.iter().find(|it| it.name() == name);
    let rows = row.map_or_else(|| standard.rows_named(name), |it| Some(vec![*it]))?;
    Some(Heading { rows }.leaves())
}

/// Whether the directive is about the statement or declaration that follows it.
pub fn takes_body(construct: &Construct<Written>) -> bool {
    standard(construct.dialect)
        .and_then(|it| it.heading(&construct.leaves))
        .is_some_and(|it| it.shape(construct) == Shape::Prefix)
}
