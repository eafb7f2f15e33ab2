//! What is known at one point of an iteration, and what is left of it where two ways meet.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ir::program::VarId;
use ir::types::Ty;

use super::Walk;
use crate::access::{Base, Place};
use crate::poly::Poly;

/// The value of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Val {
    /// An integer.
    Int(Poly),
    /// A pointer to this place.
    Addr(Place),
    /// Anything else.
    Other,
}

/// What is known at one point.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// Values of scalars; those that the loop does not write are not listed.
    pub(super) env: BTreeMap<VarId, Val>,
    /// Scalars that this iteration has written on every way here.
    pub(super) must: BTreeSet<VarId>,
    /// Polynomials that are not negative.
    pub(super) facts: Rc<Vec<Poly>>,
    /// No way leads here.
    pub(super) is_dead: bool,
}

impl State {
    pub(super) fn learn(&mut self, fact: Poly) {
        if fact.as_constant().is_none() && !self.facts.contains(&fact) {
            Rc::make_mut(&mut self.facts).push(fact);
        }
    }
}

/// A statement that `break` or `continue` may be about.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) kind: FrameKind,
    /// What is known at each `continue`.
    pub(super) continues: Vec<State>,
    /// What is known at each `break`.
    pub(super) breaks: Vec<State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// The loop in question.
    Examined,
    /// A loop inside it.
    Loop,
    /// A `switch`.
    Switch,
}

impl Frame {
    pub(super) fn new(kind: FrameKind) -> Frame {
        Frame { kind, continues: Vec::new(), breaks: Vec::new() }
    }

    pub(super) fn examined() -> Frame {
        Frame::new(FrameKind::Examined)
    }
}

impl Walk<'_> {
    /// Another way leads to where we are.
    pub(super) fn join(&mut self, other: State) {
        if other.is_dead {
            return;
        }
        if self.state.is_dead {
            self.state = other;
            return;
        }
        let vars: BTreeSet<VarId> =
            self.state.env.keys().chain(other.env.keys()).copied().collect();
        for var in vars {
            let ours = self.state.env.get(&var).cloned();
            let theirs = other.env.get(&var).cloned();
            // One that only one side lists may still have its value of loop entry on the other.
            if ours != theirs {
                let value = self.anything(self.program.vars[var].ty);
                self.state.env.insert(var, value);
            }
        }
        self.state.must.retain(|it| other.must.contains(it));
        let both: Vec<Poly> =
            self.state.facts.iter().filter(|it| other.facts.contains(it)).cloned().collect();
        self.state.facts = Rc::new(both);
    }

    /// A value of which nothing is known.
    pub(super) fn anything(&mut self, ty: Ty) -> Val {
        let types = &self.program.types;
        if types.is_integer(ty) {
            Val::Int(self.fresh())
        } else if types.is_pointer(ty) {
            Val::Addr(Place::anywhere(Base::Unknown))
        } else {
            Val::Other
        }
    }

    /// Forgets the values of variables.
    pub(super) fn forget<'v>(&mut self, vars: impl IntoIterator<Item = &'v VarId>) {
        for &var in vars {
            let value = self.anything(self.program.vars[var].ty);
            self.state.env.insert(var, value);
        }
    }
}
