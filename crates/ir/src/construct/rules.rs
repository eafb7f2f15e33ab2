//! What holds where no clause says otherwise: each standard's implicit rules as plain data.

use super::{Motion, Presence};

/// How a variable that no clause names enters a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Implicit {
    /// The same object as outside.
    Shared,
    /// A copy of its own, not initialised.
    Private,
    /// A copy of its own, initialised from outside.
    FirstPrivate,
    /// Mapped like a clause with this motion and presence.
    Map(Motion, Presence),
    /// If a pointer's target is on the device, the pointer is made to point there; else it stays.
    PointerToMapped,
    /// There must be a clause: leaving the variable out is an error.
    MustBeListed,
    /// This construct has no data environment of its own.
    NotApplicable,
}

/// What the compiler may believe of a loop that is marked without saying more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoopTrust {
    /// The user vouches for it: iterations are independent.
    Independent,
    /// The compiler must prove it.
    Prove,
    /// Runs in order.
    Sequential,
    /// The construct has no loop of its own.
    NotApplicable,
}

/// What happens to data that is not on the device where it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnAbsent {
    /// Nothing.
    Ignore,
    /// The program stops with an error.
    Error,
}

/// The implicit rules of one construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    /// Arithmetic types and enumerations.
    pub scalar: Implicit,
    /// Arrays, structures, unions.
    pub aggregate: Implicit,
    /// Pointers.
    pub pointer: Implicit,
    /// A data clause on a lexically enclosing data region replaces the implicit attribute here.
    pub yields_to_data_region: bool,
    /// Implicit and explicit first-private copies are made per team, not once per region.
    pub copies_per_team: bool,
    /// Data that this construct maps is held by the structured count: no dynamic release inside
    /// the region can remove it.
    pub holds_data: bool,
    /// A reduction variable is mapped both ways unless a clause says otherwise.
    pub reduction_maps: bool,
    /// What an unmarked loop of this construct is taken for.
    pub loop_trust: LoopTrust,
    /// Loops that are made one must follow each other directly, and the bounds of none may depend
    /// on the variable of another.
    pub plain_nests: bool,
    /// Code between the construct's loops is run by every team, so any construct may stand there;
    /// else only those that deal out work to teams or make threads.
    pub redundant_teams: bool,
    /// An update or exit of absent data.
    pub on_absent: OnAbsent,
}

impl Rules {
    /// For constructs without data environment and loops.
    pub const NONE: Rules = Rules {
        scalar: Implicit::NotApplicable,
        aggregate: Implicit::NotApplicable,
        pointer: Implicit::NotApplicable,
        yields_to_data_region: false,
        copies_per_team: false,
        holds_data: false,
        reduction_maps: false,
        loop_trust: LoopTrust::NotApplicable,
        plain_nests: false,
        redundant_teams: false,
        on_absent: OnAbsent::Ignore,
    };
}
