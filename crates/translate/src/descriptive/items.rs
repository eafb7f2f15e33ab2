//! Lists of data clauses: their items in the user's words, gathered by what is done with them.

use ir::construct::{Clause, ClauseKind, Map, MapFlags, Motion, Presence, Spelled};
use ir::program::{ExprId, ExprKind, Typed, VarId};

use super::super::gathered::Gathered;
use super::super::{Fate, Plan, clause};
use super::{Descriptive, NO_COUNTERPART};

/// Data clauses, gathered by what they do.
#[derive(Debug, Default)]
pub(super) struct Items {
    list: Gathered,
    /// Copied now, whether they are there or not.
    pub(super) to_device: Vec<String>,
    pub(super) from_device: Vec<String>,
    /// Of these the host keeps its value, whatever memory the device has.
    pub(super) kept: Vec<String>,
    /// Of these everybody has one.
    pub(super) own: Vec<String>,
}

impl Items {
    /// Adds an item; of several clauses for one item the copies of all are made.
    pub(super) fn add(&mut self, motion: Motion, presence: Presence, item: String) {
        let known = self.list.find(&item);
        if known.is_some_and(|it| it.1 != presence) {
            return;
        }
        let motion = match (motion, known.map(|it| it.0)) {
            (it, None) | (Motion::Alloc, Some(it)) | (it, Some(Motion::Alloc)) => it,
            (one, Some(it)) if one == it => one,
            _ => Motion::ToFrom,
        };
        self.list.put(motion, presence, item);
    }

    pub(super) fn clauses(&self) -> Vec<Clause<Spelled>> {
        let groups = self.list.groups().into_iter();
        groups
            .map(|(motion, presence, items)| {
                clause(ClauseKind::Map(Map {
                    motion,
                    presence,
                    flags: MapFlags::default(),
                    mapper: None,
                    iterators: Vec::new(),
                    items,
                }))
            })
            .collect()
    }
}

impl Descriptive<'_, '_> {
    /// Items of a clause that brings data to the device.
    pub(super) fn map_clause(
        &self,
        map: &Map<Typed>,
        it: &Clause<Typed>,
        items: &mut Items,
        plan: &mut Plan,
    ) {
        let written = || Some(self.t.words.written(it.span));
        let flags = map.flags;
        let is_new = flags.attach.is_some() || flags.reference.is_some() || flags.delete;
        if map.mapper.is_some() || !map.iterators.is_empty() || is_new {
            let text = "lists that are computed, and mappers, have no counterpart; name the parts";
            plan.remark(Fate::Refused, Some(NO_COUNTERPART), written(), text);
            return;
        }
        let motion = if map.motion == Motion::Unsaid { Motion::ToFrom } else { map.motion };
        for item in &map.items {
            let Some(text) = self.item(*item, plan) else { continue };
            if self.is_nothing(*item) {
                items.add(Motion::Alloc, Presence::Optional, self.first_of(*item));
                continue;
            }
            if flags.always && matches!(motion, Motion::To | Motion::ToFrom) {
                items.to_device.push(text.clone());
            }
            if flags.always && matches!(motion, Motion::From | Motion::ToFrom) {
                items.from_device.push(text.clone());
            }
            match map.presence {
                Presence::Required => items.add(Motion::Alloc, Presence::Required, text),
                Presence::Any | Presence::Optional => items.add(motion, Presence::Any, text),
            }
        }
    }

    /// An item of a list in the user's words; nothing, and a remark, if it has no counterpart.
    pub(super) fn item(&self, item: ExprId, plan: &mut Plan) -> Option<String> {
        let mut at = item;
        let mut members = 0usize;
        let mut through = 0usize;
        loop {
            match &self.program.exprs[at].kind {
                ExprKind::Section(it) if it.stride.is_none() => at = it.base,
                ExprKind::Index(base, _) | ExprKind::Cast(_, base) => at = *base,
                ExprKind::Member(base, ..) => {
                    members += 1;
                    at = *base;
                }
                ExprKind::Deref(base) => {
                    through += 1;
                    at = *base;
                }
                ExprKind::Var(_) => break,
                _ => {
                    let text = "this kind of list item has no counterpart";
                    let written = Some(self.t.words.expr(item));
                    plan.remark(Fate::Refused, Some(NO_COUNTERPART), written, text);
                    return None;
                }
            }
        }
        if let ExprKind::Deref(pointer) = self.program.exprs[item].kind {
            return Some(format!("{}[0:1]", self.t.words.expr(pointer)));
        }
        let root = match self.program.exprs[at].kind {
            ExprKind::Var(var) => Some(var),
            _ => None,
        };
        if members > 0 && !root.is_some_and(|it| self.holds_whole(it)) {
            let text = "a member is attached where all of its record is mapped; map that too";
            let written = Some(self.t.words.expr(item));
            plan.remark(Fate::Refused, Some(NO_COUNTERPART), written, text);
            return None;
        }
        if members > 1 || members > 0 && through > 1 {
            let text = "members of members are not certain to be attached in the same way";
            let written = Some(self.t.words.expr(item));
            plan.remark(Fate::Refused, Some(NO_COUNTERPART), written, text);
            return None;
        }
        Some(self.t.words.expr(item))
    }

    /// Whether a clause anywhere maps a variable, or what it points at, without naming a member.
    fn holds_whole(&self, var: VarId) -> bool {
        let is_whole = |item: &ExprId| {
            let mut at = *item;
            loop {
                match &self.program.exprs[at].kind {
                    ExprKind::Section(it) => at = it.base,
                    ExprKind::Index(inner, _)
                    | ExprKind::Cast(_, inner)
                    | ExprKind::Deref(inner) => {
                        at = *inner;
                    }
                    ExprKind::Var(it) => return *it == var,
                    _ => return false,
                }
            }
        };
        self.program.regions.iter().any(|(_, it)| {
            it.construct.kinds().any(|it| match it {
                ClauseKind::Map(map) => map.items.iter().any(is_whole),
                _ => false,
            })
        })
    }

    /// Whether a list item is a part of no length.
    pub(super) fn is_nothing(&self, item: ExprId) -> bool {
        match &self.program.exprs[item].kind {
            ExprKind::Section(it) => {
                it.length.is_some_and(|it| matches!(self.constant(it), Some(0)))
            }
            _ => false,
        }
    }

    pub(super) fn constant(&self, at: ExprId) -> Option<i64> {
        match &self.program.exprs[at].kind {
            ExprKind::Int(value) => Some(*value),
            ExprKind::Cast(_, inner) => self.constant(*inner),
            _ => None,
        }
    }

    /// The first element of such a part.
    pub(super) fn first_of(&self, item: ExprId) -> String {
        match &self.program.exprs[item].kind {
            ExprKind::Section(it) => {
                let lower = it.lower.map_or_else(|| "0".to_owned(), |it| self.t.words.expr(it));
                format!("{}[{lower}:1]", self.t.words.expr(it.base))
            }
            _ => self.t.words.expr(item),
        }
    }
}
