//! Which objects a pointer may lead to.
//!
//! In: the whole program, once. Out: [`Aliases::apart`], whether two bases can be told apart, and
//! what that rests on. A pointer variable that is only ever given addresses of known objects or
//! of fresh memory leads there and nowhere else; a parameter of a function that only this file
//! can call holds what its callers pass. A `restrict` pointer leads to what nothing else is used
//! for. Any other pointer may lead to whatever has an address that went somewhere unseen.
//!
//! The order of statements is not looked at: what is said holds at every time.

mod collect;

pub(crate) use collect::called;

use std::collections::{BTreeMap, BTreeSet};

use ir::program::{ExprId, Program, VarId, VarStorage};
use ir::types::{Ty, TypeKind};

use crate::access::Base;

/// Where the value of a pointer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Origin {
    /// The address of a variable or of a part of it.
    Object(VarId),
    /// Memory that a call has just made.
    Fresh(ExprId),
    /// What someone unknown passes for a parameter.
    Passed(VarId),
    /// What a `restrict` pointer holds.
    Restrict(VarId),
    /// Anything.
    Any,
}

/// What is known of addresses in a program.
#[derive(Debug)]
pub(crate) struct Aliases {
    /// Variables whose address some pointer may hold.
    addressed: BTreeSet<VarId>,
    /// Those of them that any pointer may lead to.
    escaped: BTreeSet<VarId>,
    /// Everything a pointer variable may hold.
    origins: BTreeMap<VarId, BTreeSet<Origin>>,
    /// Pointer variables whose value went where it cannot be followed.
    handed_on: BTreeSet<VarId>,
    /// What is assigned to variables.
    assigned: BTreeMap<VarId, BTreeSet<collect::Flow>>,
}

/// What a pointer of a function may lead to, as its caller sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// This variable.
    Object(VarId),
    /// What the caller passes for this parameter.
    Param(VarId),
    /// Anything.
    Any,
}

/// Whether two objects can be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Apart {
    /// The same object: the ways into it decide.
    Same,
    /// Different objects.
    Different,
    /// Different, since this pointer is `restrict`.
    Restrict(VarId),
    /// Different, since all that these hold is known.
    Known(VarId, VarId),
    /// Not known.
    Perhaps,
}

impl Aliases {
    pub(crate) fn new(program: &Program) -> Aliases {
        collect::run(program)
    }

    /// Whether something other than its name may reach a variable.
    /// Whether the address of a variable is taken in this file.
    pub(crate) fn is_addressed(&self, var: VarId) -> bool {
        self.addressed.contains(&var)
    }

    pub(crate) fn is_exposed(&self, program: &Program, var: VarId) -> bool {
        is_public(program, var) || self.addressed.contains(&var)
    }

    /// Whether two bases are different objects; each with the type of the access.
    pub(crate) fn apart(
        &self,
        program: &Program,
        a: (Base, Option<Ty>),
        b: (Base, Option<Ty>),
    ) -> Apart {
        match (a.0, b.0) {
            (Base::Nowhere, _) | (_, Base::Nowhere) => Apart::Different,
            (Base::Var(x), Base::Var(y)) if x != y => Apart::Different,
            (Base::Var(_), Base::Var(_)) => Apart::Same,
            (Base::Pointee(x), Base::Pointee(y)) if x == y => Apart::Same,
            (Base::Held(x), Base::Held(y)) if x == y => Apart::Same,
            (Base::Var(var), pointer) => self.object_and_pointer(program, var, pointer, b.1),
            (pointer, Base::Var(var)) => self.object_and_pointer(program, var, pointer, a.1),
            (Base::Pointee(x), Base::Pointee(y)) => self.pointers(program, x, y),
            (Base::Pointee(x), Base::Held(_) | Base::Unknown)
            | (Base::Held(_) | Base::Unknown, Base::Pointee(x)) => {
                let of_x = self.origins_of(program, x);
                let is_closed = of_x.iter().all(|it| self.is_out_of_reach(*it));
                if let Some(&Origin::Restrict(root)) = of_x.first()
                    && is_closed
                {
                    Apart::Restrict(root)
                } else {
                    Apart::Perhaps
                }
            }
            (Base::Held(_) | Base::Unknown, Base::Held(_) | Base::Unknown) => Apart::Perhaps,
        }
    }

    fn object_and_pointer(
        &self,
        program: &Program,
        var: VarId,
        pointer: Base,
        ty: Option<Ty>,
    ) -> Apart {
        // A declared object keeps its type; it is accessed as that or as characters.
        let is_reached = self.is_exposed(program, var)
            && ty.is_none_or(|it| may_be_accessed_as(program, program.vars[var].ty, it));
        if !is_reached {
            return Apart::Different;
        }
        let Base::Pointee(holder) = pointer else {
            let is_open = is_public(program, var) || self.escaped.contains(&var);
            return if is_open { Apart::Perhaps } else { Apart::Different };
        };
        let is_local =
            matches!(program.vars[var].storage, VarStorage::Local(_) | VarStorage::Param(_));
        let mut restrict = None;
        for origin in self.origins_of(program, holder) {
            let leads_there = match origin {
                Origin::Object(object) => object == var,
                Origin::Fresh(_) => false,
                // What was passed is older than the variables of this call.
                Origin::Passed(_) => !is_local,
                Origin::Restrict(root) => {
                    restrict = Some(root);
                    false
                }
                Origin::Any => is_public(program, var) || self.escaped.contains(&var),
            };
            if leads_there {
                return Apart::Perhaps;
            }
        }
        restrict.map_or(Apart::Known(holder, var), Apart::Restrict)
    }

    fn pointers(&self, program: &Program, x: VarId, y: VarId) -> Apart {
        let (of_x, of_y) = (self.origins_of(program, x), self.origins_of(program, y));
        let meet = |a: Origin, b: Origin| match (a, b) {
            (Origin::Restrict(a), Origin::Restrict(b)) => a == b,
            (Origin::Restrict(_), Origin::Any) => !self.is_out_of_reach(a),
            (Origin::Any, Origin::Restrict(_)) => !self.is_out_of_reach(b),
            (Origin::Restrict(_), _) | (_, Origin::Restrict(_)) => false,
            (Origin::Any | Origin::Passed(_), _) | (_, Origin::Any | Origin::Passed(_)) => true,
            (Origin::Object(_) | Origin::Fresh(_), Origin::Object(_) | Origin::Fresh(_)) => a == b,
        };
        if of_x.iter().any(|&a| of_y.iter().any(|&b| meet(a, b))) {
            return Apart::Perhaps;
        }
        let root = of_x.iter().chain(&of_y).find_map(|it| match it {
            Origin::Restrict(root) => Some(*root),
            Origin::Object(_) | Origin::Fresh(_) | Origin::Passed(_) | Origin::Any => None,
        });
        root.map_or(Apart::Known(x, y), Apart::Restrict)
    }

    fn origins_of(&self, program: &Program, var: VarId) -> BTreeSet<Origin> {
        if is_restrict(program, var) {
            return BTreeSet::from([Origin::Restrict(var)]);
        }
        self.origins.get(&var).cloned().unwrap_or_else(|| BTreeSet::from([Origin::Any]))
    }

    /// Whether no pointer that is loaded from somewhere can hold this.
    fn is_out_of_reach(&self, origin: Origin) -> bool {
        match origin {
            Origin::Restrict(root) => !self.handed_on.contains(&root),
            Origin::Object(_) | Origin::Fresh(_) | Origin::Passed(_) | Origin::Any => false,
        }
    }
}

fn is_restrict(program: &Program, var: VarId) -> bool {
    let ty = program.vars[var].ty;
    // In a variable that others see, the promise is about a scope that is not known here.
    let is_own = matches!(program.vars[var].storage, VarStorage::Local(_) | VarStorage::Param(_));
    is_own && program.types.resolve(ty).quals.is_restrict
}

/// Whether other files may take its address.
fn is_public(program: &Program, var: VarId) -> bool {
    match program.vars[var].storage {
        VarStorage::Global | VarStorage::Extern => true,
        VarStorage::Static
        | VarStorage::LocalStatic(_)
        | VarStorage::Param(_)
        | VarStorage::Local(_) => false,
    }
}

/// Whether C allows an object of the one type to be accessed as the other. Only scalars of clearly
/// different kinds are told apart.
fn may_be_accessed_as(program: &Program, object: Ty, access: Ty) -> bool {
    let object = program.types.innermost_element(object);
    let access = program.types.innermost_element(access);
    match (class(program, object), class(program, access)) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}

/// Scalars of one class may be the same object; none for what may be anything.
fn class(program: &Program, ty: Ty) -> Option<(u8, u64)> {
    let size = program.model.size_of(&program.types, ty).ok()?;
    match program.types.shape(ty) {
        TypeKind::Int(_) | TypeKind::Enum(_) if size > 1 => Some((0, size)),
        TypeKind::Float(_) => Some((1, size)),
        TypeKind::Pointer(_) => Some((2, 0)),
        TypeKind::Int(_)
        | TypeKind::Enum(_)
        | TypeKind::Error
        | TypeKind::Void
        | TypeKind::Bool
        | TypeKind::Complex(_)
        | TypeKind::ComplexInt(_)
        | TypeKind::Array(..)
        | TypeKind::Function(_)
        | TypeKind::Record(_)
        | TypeKind::Alias(_)
        | TypeKind::Atomic(_)
        | TypeKind::Vector(..)
        | TypeKind::VaList => None,
    }
}
