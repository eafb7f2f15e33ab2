//! Inclusion, round by round, until nothing is new.
//!
//! A constraint is looked at again only if what it reads has changed since: nodes and objects carry the time of their last
//! change.

use std::collections::BTreeMap;

use super::{
    Constraint, Function, Graph, HOST, LOW, Node, Object, Offset, Offsets, Place, Places, Reason,
    Solution,
};

/// Bytes of a pointer in memory: the image never shrinks, so that both sides agree on it.
const CELL: u32 = 8;

/// Places with the reason for the first that is generic.
#[derive(Clone, Debug, Default)]
struct Set {
    places: Places,
    reason: Option<Reason>,
}

impl Set {
    /// Whether something was new.
    fn add(&mut self, place: Place, reason: Option<Reason>) -> bool {
        if place.object == HOST && self.reason.is_none() {
            self.reason = reason;
        }
        match self.places.get_mut(&place.object) {
            Some(offsets) => offsets.add(place.offset),
            None => {
                let offsets = match place.offset {
                    Offset::At(offset) => Offsets::At(vec![offset]),
                    Offset::Any => Offsets::Any,
                };
                self.places.insert(place.object, offsets);
                true
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = Place> + '_ {
        self.places.iter().flat_map(|(object, offsets)| {
            offsets.iter().map(|offset| Place { object: *object, offset })
        })
    }
}

/// What may lie in an object.
#[derive(Clone, Debug, Default)]
struct Contents {
    cells: BTreeMap<u32, Set>,
    anywhere: Set,
    /// When it last changed.
    changed: u64,
}

struct Solver<'a> {
    graph: &'a Graph,
    nodes: Vec<Set>,
    /// When each node last changed.
    changed: Vec<u64>,
    contents: Vec<Contents>,
    escaped: Vec<Option<Reason>>,
    is_escaped: Vec<bool>,
    /// Goes on with each constraint that is applied.
    now: u64,
    anything_new: bool,
}

/// Finds the smallest solution.
pub(crate) fn solve(graph: &Graph) -> Solution {
    let objects = graph.objects.len();
    let mut solver = Solver {
        graph,
        nodes: vec![Set::default(); graph.asserted.len()],
        changed: vec![0; graph.asserted.len()],
        contents: vec![Contents::default(); objects],
        escaped: vec![None; objects],
        is_escaped: vec![false; objects],
        now: 1,
        anything_new: true,
    };
    for (index, facts) in graph.objects.iter().enumerate() {
        if let Some(reason) = facts.escapes {
            solver.escape(Object(index as u32), Some(reason));
        }
    }
    let mut applied = vec![0; graph.constraints.len()];
    solver.anything_new = true;
    while solver.anything_new {
        solver.anything_new = false;
        for (constraint, applied) in graph.constraints.iter().zip(&mut applied) {
            if *applied == 0 || solver.latest_input(constraint) >= *applied {
                solver.now += 1;
                *applied = solver.now;
                solver.apply(constraint);
            }
        }
        solver.now += 1;
        solver.spread();
    }
    let (places, reasons) = solver.nodes.into_iter().map(|it| (it.places, it.reason)).unzip();
    Solution { places, reasons, escaped: solver.is_escaped }
}

fn is_unseen(object: Object) -> bool {
    object == HOST || object == LOW
}

impl Solver<'_> {
    /// When the last of what a constraint reads has changed.
    fn latest_input(&self, constraint: &Constraint) -> u64 {
        let node = |it: Node| self.changed.get(it.0 as usize).copied().unwrap_or(0);
        let object =
            |it: &Object| self.contents.get(it.0 as usize).map_or(0, |contents| contents.changed);
        let behind = |it: Node| {
            let places = self.nodes.get(it.0 as usize).map(|it| it.places.keys());
            places.into_iter().flatten().map(object).max().unwrap_or(0).max(node(it))
        };
        match constraint {
            Constraint::Address { .. } | Constraint::Unknown { .. } | Constraint::Low { .. } => 0,
            Constraint::Copy { from, .. } | Constraint::Shift { from, .. } => node(*from),
            Constraint::Load { from, .. } => behind(*from),
            Constraint::Store { value, to, .. } => node(*value).max(node(*to)),
            Constraint::Transfer { to, from, .. } => node(*to).max(behind(*from)),
            Constraint::Taint { node: it, .. } | Constraint::Escape { node: it, .. } => node(*it),
            Constraint::Reveal { node: it, .. } => behind(*it),
            Constraint::Call { callee, arguments, .. } => {
                let results = self.nodes.get(callee.0 as usize).map(|it| it.places.keys());
                let results = results.into_iter().flatten();
                let results = results.filter_map(|it| self.function(*it)?.result).map(node);
                let arguments = arguments.iter().flatten().map(|it| node(*it));
                results.chain(arguments).max().unwrap_or(0).max(node(*callee))
            }
        }
    }

    fn set(&self, node: Node) -> Set {
        self.nodes.get(node.0 as usize).cloned().unwrap_or_default()
    }

    /// Adds to a node. What is a device pointer by the user's word is low, whatever it is.
    fn add(&mut self, node: Node, place: Place, reason: Option<Reason>) {
        let is_asserted = self.graph.asserted.get(node.0 as usize).copied().unwrap_or(false);
        let place = match place.object {
            HOST if is_asserted => Place { object: LOW, offset: Offset::Any },
            _ => place,
        };
        if let (Some(set), Some(changed)) =
            (self.nodes.get_mut(node.0 as usize), self.changed.get_mut(node.0 as usize))
            && set.add(place, reason)
        {
            *changed = self.now;
            self.anything_new = true;
        }
    }

    fn add_all(&mut self, node: Node, set: &Set) {
        for place in set.iter() {
            self.add(node, place, set.reason);
        }
    }

    fn size(&self, object: Object) -> Option<u32> {
        self.graph.objects.get(object.0 as usize).and_then(|it| it.size)
    }

    fn function(&self, object: Object) -> Option<&Function> {
        self.graph.objects.get(object.0 as usize)?.function.as_ref()
    }

    /// Cells that `len` bytes from a place on lie in; none if that is not known.
    fn cells(&self, place: Place, len: u64) -> Option<std::ops::RangeInclusive<u32>> {
        let Offset::At(offset) = place.offset else { return None };
        let size = self.size(place.object)?;
        let end = u64::from(offset).checked_add(len.max(1))?;
        // Beyond the end nothing may be read; who does so all the same gets everything.
        (end <= u64::from(size).next_multiple_of(u64::from(CELL)))
            .then(|| offset / CELL..=((end - 1) as u32 / CELL))
    }

    /// What `len` bytes at a place may hold.
    fn read(&self, place: Place, len: u64) -> Set {
        let Some(contents) = self.contents.get(place.object.0 as usize) else {
            return Set::default();
        };
        let mut all = contents.anywhere.clone();
        let cells = self.cells(place, len);
        let seen = contents.cells.iter().filter(|(cell, _)| match &cells {
            Some(range) => range.contains(cell),
            None => true,
        });
        for (_, set) in seen {
            for place in set.iter() {
                all.add(place, set.reason);
            }
        }
        all
    }

    /// Writes a set to `len` bytes at a place of a seen object.
    fn write(&mut self, place: Place, len: u64, set: &Set) {
        let cells = self.cells(place, len);
        let facts = self.graph.objects.get(place.object.0 as usize);
        let is_pure = facts.is_some_and(|it| it.is_pure);
        let Some(contents) = self.contents.get_mut(place.object.0 as usize) else { return };
        let mut is_new = false;
        for it in set.iter() {
            let it = match it.object {
                HOST if is_pure => Place { object: LOW, offset: Offset::Any },
                _ => it,
            };
            match cells.clone() {
                Some(range) => {
                    for cell in range {
                        is_new |= contents.cells.entry(cell).or_default().add(it, set.reason);
                    }
                }
                None => is_new |= contents.anywhere.add(it, set.reason),
            }
        }
        if is_new {
            contents.changed = self.now;
            self.anything_new = true;
        }
    }

    fn host(reason: Option<Reason>) -> Set {
        let mut set = Set::default();
        set.add(Place { object: HOST, offset: Offset::Any }, reason);
        set
    }

    /// An object is known outside: it may hold anything.
    fn escape(&mut self, object: Object, reason: Option<Reason>) {
        let Some(is_escaped) = self.is_escaped.get_mut(object.0 as usize) else { return };
        if is_unseen(object) || *is_escaped {
            return;
        }
        *is_escaped = true;
        self.anything_new = true;
        if let Some(it) = self.escaped.get_mut(object.0 as usize) {
            *it = reason;
        }
        self.write(Place { object, offset: Offset::Any }, 1, &Self::host(reason));
    }

    fn escape_all(&mut self, set: &Set, reason: Option<Reason>) {
        for object in set.places.keys() {
            self.escape(*object, reason.or(set.reason));
        }
    }

    /// What lies in an escaped object is known outside as well.
    fn spread(&mut self) {
        for index in 0..self.contents.len() {
            if self.is_escaped.get(index).copied().unwrap_or(false) {
                let place = Place { object: Object(index as u32), offset: Offset::Any };
                let held = self.read(place, 1);
                let reason = self.escaped.get(index).copied().flatten();
                self.escape_all(&held, reason);
            }
        }
    }

    fn shift(&self, place: Place, by: Option<i64>) -> Place {
        let anywhere = Place { object: place.object, offset: Offset::Any };
        let (Offset::At(offset), Some(by)) = (place.offset, by) else { return anywhere };
        let size = self.size(place.object).unwrap_or(0);
        match i64::from(offset).checked_add(by).and_then(|it| u32::try_from(it).ok()) {
            Some(offset) if offset <= size => {
                Place { object: place.object, offset: Offset::At(offset) }
            }
            _ => anywhere,
        }
    }

    fn apply(&mut self, constraint: &Constraint) {
        match constraint {
            Constraint::Address { node, object } => {
                let offset = self.size(*object).map_or(Offset::Any, |_| Offset::At(0));
                self.add(*node, Place { object: *object, offset }, None);
            }
            Constraint::Unknown { node, reason } => {
                self.add_all(*node, &Self::host(Some(*reason)));
            }
            Constraint::Low { node } => {
                self.add(*node, Place { object: LOW, offset: Offset::Any }, None);
            }
            Constraint::Copy { from, to } => {
                let set = self.set(*from);
                self.add_all(*to, &set);
            }
            Constraint::Shift { from, to, by } => {
                let set = self.set(*from);
                for place in set.iter() {
                    let moved = self.shift(place, *by);
                    self.add(*to, moved, set.reason);
                }
            }
            Constraint::Load { from, to, whole } => self.load(*from, *to, *whole),
            Constraint::Store { value, to, whole } => self.store(*value, *to, *whole),
            Constraint::Transfer { to, from, len } => self.transfer(*to, *from, *len),
            Constraint::Taint { node, len, reason } => {
                for place in self.set(*node).iter() {
                    if !is_unseen(place.object) {
                        let place = if len.is_some() { place } else { self.shift(place, None) };
                        self.write(place, len.unwrap_or(1), &Self::host(Some(*reason)));
                    }
                }
            }
            Constraint::Escape { node, reason } => {
                let set = self.set(*node);
                self.escape_all(&set, Some(*reason));
            }
            Constraint::Reveal { node, reason } => {
                for place in self.set(*node).iter() {
                    if !is_unseen(place.object) {
                        let held = self.read(place, u64::from(CELL));
                        self.escape_all(&held, Some(*reason));
                    }
                }
            }
            Constraint::Call { callee, shape, arguments, result } => {
                self.call(*callee, *shape, arguments, *result);
            }
        }
    }

    fn load(&mut self, from: Node, to: Node, whole: bool) {
        let set = self.set(from);
        for place in set.iter() {
            let held = match is_unseen(place.object) {
                true => Self::host(set.reason),
                false if whole => self.read(self.shift(place, None), 1),
                false => self.read(place, u64::from(CELL)),
            };
            self.add_all(to, &held);
        }
    }

    fn store(&mut self, value: Node, to: Node, whole: bool) {
        let (value, to) = (self.set(value), self.set(to));
        for place in to.iter() {
            match is_unseen(place.object) {
                true => self.escape_all(&value, to.reason),
                false if whole => self.write(self.shift(place, None), 1, &value),
                false => self.write(place, u64::from(CELL), &value),
            }
        }
    }

    fn transfer(&mut self, to: Node, from: Node, len: Option<u64>) {
        let (to, from) = (self.set(to), self.set(from));
        for source in from.iter() {
            for target in to.iter() {
                self.transfer_between(target, source, len, from.reason.or(to.reason));
            }
        }
    }

    fn transfer_between(
        &mut self,
        to: Place,
        from: Place,
        len: Option<u64>,
        reason: Option<Reason>,
    ) {
        let held = match is_unseen(from.object) {
            true => Self::host(reason),
            false => self.read(from, len.unwrap_or(1)),
        };
        if is_unseen(to.object) {
            // All of it, wherever it lies: how much is copied may not be known.
            let held = if len.is_some() || is_unseen(from.object) {
                held
            } else {
                self.read(self.shift(from, None), 1)
            };
            return self.escape_all(&held, reason);
        }
        let cells = len.and_then(|it| Some((self.cells(to, it)?, self.cells(from, it)?)));
        let aligned = |it: Place| matches!(it.offset, Offset::At(at) if at % CELL == 0);
        match cells {
            Some((targets, sources)) if aligned(to) && aligned(from) => {
                for (target, source) in targets.zip(sources) {
                    let source = Place { offset: Offset::At(source * CELL), ..from };
                    let target = Place { offset: Offset::At(target * CELL), ..to };
                    let held = self.read(source, 1);
                    self.write(target, 1, &held);
                }
            }
            _ => {
                let all = match is_unseen(from.object) {
                    true => held,
                    false => self.read(self.shift(from, None), 1),
                };
                match len {
                    Some(len) if is_unseen(from.object) => self.write(to, len, &all),
                    _ => self.write(self.shift(to, None), 1, &all),
                }
            }
        }
    }

    fn call(&mut self, callee: Node, shape: u32, arguments: &[Option<Node>], result: Option<Node>) {
        for object in self.set(callee).places.keys() {
            let Some(function) = self.function(*object).cloned() else { continue };
            if function.shape != shape {
                continue;
            }
            for (index, (argument, parameter)) in
                arguments.iter().zip(&function.parameters).enumerate()
            {
                if let (Some(argument), Some(parameter)) = (argument, parameter)
                    && !function.fed.contains(&index)
                {
                    let set = self.set(*argument);
                    self.add_all(*parameter, &set);
                }
            }
            if let (Some(from), Some(to)) = (function.result, result) {
                let set = self.set(from);
                self.add_all(to, &set);
            }
        }
    }
}
