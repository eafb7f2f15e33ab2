//! What holds where no clause says otherwise: each standard's implicit rules as plain data.

use super::{Category, Motion, Presence};

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
    /// This construct has no data environment of its own.
    NotApplicable,
}

/// Whether a clause must name a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Naming {
    /// The implicit rule is as good.
    Optional,
    /// The standard asks for it, but programs count on the implicit rule.
    Advised,
    /// Leaving it out is an error.
    Required,
}

/// What holds for variables of one kind that no clause names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unnamed {
    /// How they enter.
    pub implicit: Implicit,
    /// Whether that may be so.
    pub naming: Naming,
}

impl Unnamed {
    /// They may be left unnamed, and enter so.
    pub const fn enters(implicit: Implicit) -> Unnamed {
        Unnamed { implicit, naming: Naming::Optional }
    }
}

/// A rule for each kind of variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ByKind {
    /// Arithmetic types and enumerations.
    pub scalar: Unnamed,
    /// Arrays, structures, unions.
    pub aggregate: Unnamed,
    /// Pointers.
    pub pointer: Unnamed,
}

impl ByKind {
    /// The same for all kinds.
    pub const fn all(implicit: Implicit) -> ByKind {
        let rule = Unnamed::enters(implicit);
        ByKind { scalar: rule, aggregate: rule, pointer: rule }
    }

    /// The rule for one kind.
    pub fn of(&self, category: Category) -> Unnamed {
        match category {
            Category::Scalar => self.scalar,
            Category::Pointer => self.pointer,
            Category::Aggregate | Category::Allocatable | Category::All => self.aggregate,
        }
    }

    /// Changes the rules that a clause about `category` speaks of; none means all.
    pub fn change(&mut self, category: Option<Category>, change: impl Fn(&mut Unnamed)) {
        match category {
            None | Some(Category::All) => {
                change(&mut self.scalar);
                change(&mut self.aggregate);
                change(&mut self.pointer);
            }
            Some(Category::Scalar) => change(&mut self.scalar),
            Some(Category::Aggregate) => change(&mut self.aggregate),
            Some(Category::Pointer) => change(&mut self.pointer),
            // No variable of C is of this kind.
            Some(Category::Allocatable) => {}
        }
    }
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
    /// How threads and teams share what no clause names.
    pub sharing: ByKind,
    /// How it comes to the device.
    pub mapping: ByKind,
    /// A data clause on a lexically enclosing data region replaces the implicit attribute here.
    pub yields_to_data_region: bool,
    /// Implicit and explicit first-private copies are made per team, not once per region.
    pub copies_per_team: bool,
    /// What no clause names is a copy, unless threads around share it: as with tasks.
    pub copies_like_tasks: bool,
    /// Data that this construct maps is held by the structured count: no dynamic release inside
    /// the region can remove it.
    pub holds_data: bool,
    /// A reduction variable is mapped both ways unless a clause says otherwise.
    pub reduction_maps: bool,
    /// What an unmarked loop of this construct is taken for.
    pub loop_trust: LoopTrust,
    /// A loop whose iterations certainly depend on each other is run in order, whatever is said of it; else the
    /// word of who wrote the directive stands.
    pub orders_refuted: bool,
    /// Iterations of its loops may run in any order however few run them: one thread is no promise that each follows the last.
    pub any_order: bool,
    /// Loops that are made one must follow each other directly, and the bounds of none may depend
    /// on the variable of another.
    pub plain_nests: bool,
    /// Code between the construct's loops is run by every team, so any construct may stand there;
    /// else only those that deal out work to teams or make threads.
    pub redundant_teams: bool,
    /// An update or exit of absent data.
    pub on_absent: OnAbsent,
    /// An update or exit of data of which only a part is there is an error.
    pub whole_presence: bool,
    /// How often a pointer was attached is counted; what the construct attaches, its end detaches.
    pub counts_attachments: bool,
    /// A data clause that names a parameter declared as an array means the array, not the pointer.
    pub declared_shapes: bool,
    /// Data behind a pointer that no clause names are mapped like an array, where it can be told how
    /// much of them the construct touches.
    pub pointer_sections: bool,
    /// A record is reduced member by member.
    pub member_sums: bool,
}

impl Rules {
    /// For constructs without data environment and loops.
    pub const NONE: Rules = Rules {
        sharing: ByKind::all(Implicit::NotApplicable),
        mapping: ByKind::all(Implicit::NotApplicable),
        yields_to_data_region: false,
        copies_per_team: false,
        copies_like_tasks: false,
        holds_data: false,
        reduction_maps: false,
        loop_trust: LoopTrust::NotApplicable,
        orders_refuted: false,
        any_order: false,
        plain_nests: false,
        redundant_teams: false,
        on_absent: OnAbsent::Ignore,
        whole_presence: false,
        counts_attachments: false,
        declared_shapes: false,
        pointer_sections: false,
        member_sums: false,
    };
}
