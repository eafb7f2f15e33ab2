//! Data on devices: regions, beginnings and ends of lives, copies now.

use ir::construct::UseDevice;
use ir::construct::{ClauseKind, Construct, Leaf, Map, MapFlags, Motion, Presence, Spelled};
use ir::program::{ExprKind, RegionId, Typed};

use super::super::data::transfer;
use super::super::{Fate, Line, Plan, clause};
use super::items::Items;
use super::{Descriptive, NO_COUNTERPART, RELEASED};
use levels::base;

impl Descriptive<'_, '_> {
    pub(super) fn data_region(&self, id: RegionId) -> Plan {
        let from = &self.program.regions[id].construct;
        let mut plan = Plan::default();
        self.may_end_inside(id, &mut plan);
        let mut items = Items::default();
        let mut host: Vec<String> = Vec::new();
        for it in &from.clauses {
            match &it.kind {
                ClauseKind::Map(map) => self.map_clause(map, it, &mut items, &mut plan),
                ClauseKind::UseDevice(_, list) => {
                    for item in list {
                        let expr = &self.program.exprs[*item];
                        let types = &self.program.types;
                        let is_taken = self.t.profile().takes_newest
                            || types.is_pointer(expr.ty)
                            || types.is_array(expr.ty);
                        let is_whole = matches!(expr.kind, ExprKind::Var(_)) && is_taken;
                        if !is_whole {
                            let text = "only whole variables have device addresses in host code";
                            let written = Some(self.t.words.written(it.span));
                            plan.remark(Fate::Refused, Some(NO_COUNTERPART), written, text);
                        }
                        host.push(self.t.words.expr(*item));
                    }
                }
                _ => {}
            }
        }
        let around = self.now(&items, from);
        let mut lines = around.before;
        let clauses = items.clauses();
        if !clauses.is_empty() {
            let mut to = self.t.directive(vec![Leaf::DataRegion], from.span);
            self.plain_if(from, &mut to);
            to.clauses.extend(clauses);
            lines.push(Line::Directive(Box::new(to)));
        }
        if !host.is_empty() {
            let mut to = self.t.directive(vec![Leaf::HostData], from.span);
            to.clauses.push(clause(ClauseKind::UseDevice(UseDevice::ByType, host)));
            self.plain_if(from, &mut to);
            // What is not there keeps its address.
            to.clauses.push(clause(ClauseKind::IfPresent));
            lines.push(Line::Directive(Box::new(to)));
        }
        self.on_device_number(id, lines, around.after, &mut plan);
        plan
    }

    /// Data of a region stays until its end here, whatever is released inside.
    fn may_end_inside(&self, id: RegionId, plan: &mut Plan) {
        let region = &self.program.regions[id];
        let ends = |it: RegionId| {
            let other = &self.program.regions[it];
            let is_inside =
                self.above(it).any(|up| up == id) || region.reaches.contains(&other.function);
            other.construct.has(Leaf::ExitData) && is_inside
        };
        let names = |at: RegionId| -> Vec<Option<ir::program::VarId>> {
            let kinds = self.program.regions[at].construct.kinds();
            let items = kinds.filter_map(|it| match it {
                ClauseKind::Map(map) => Some(map.items.clone()),
                _ => None,
            });
            items.flatten().map(|it| base(self.program, it)).collect()
        };
        let ours = names(id);
        for (other, it) in self.program.regions.iter() {
            let is_elsewhere = it.function != region.function;
            if ends(other) && (is_elsewhere || names(other).iter().any(|it| ours.contains(it))) {
                let text = "data is released inside the region, which would keep it to its end";
                plan.remark(Fate::Refused, Some(RELEASED), None, text);
            }
        }
    }

    pub(super) fn enter_data(&self, id: RegionId) -> Plan {
        let from = &self.program.regions[id].construct;
        let mut plan = Plan::default();
        let mut items = Items::default();
        for it in &from.clauses {
            if let ClauseKind::Map(map) = &it.kind {
                let motion = match map.motion {
                    Motion::To | Motion::ToFrom | Motion::Unsaid => Motion::To,
                    Motion::Alloc | Motion::From | Motion::Release | Motion::Delete => {
                        Motion::Alloc
                    }
                };
                let map = Map { motion, ..map.clone() };
                if map.presence == Presence::Required {
                    let written = Some(self.t.words.written(it.span));
                    let text = "a life cannot begin on the condition that it has begun";
                    plan.remark(Fate::Refused, Some(NO_COUNTERPART), written, text);
                }
                if map.items.iter().any(|it| self.is_nothing(*it)) {
                    let written = Some(self.t.words.written(it.span));
                    let text = "parts of no length are not attached";
                    plan.remark(Fate::Refused, Some(NO_COUNTERPART), written, text);
                }
                self.map_clause(&map, it, &mut items, &mut plan);
            }
        }
        let mut to = self.t.directive(vec![Leaf::EnterData], from.span);
        self.plain_if(from, &mut to);
        to.clauses.extend(items.clauses());
        self.later(id, &mut to, &mut plan);
        let mut lines = self.now(&items, from).before;
        lines.push(Line::Directive(Box::new(to)));
        self.on_device_number(id, lines, Vec::new(), &mut plan);
        plan
    }

    pub(super) fn exit_data(&self, id: RegionId) -> Plan {
        let from = &self.program.regions[id].construct;
        let mut plan = Plan::default();
        let mut now: Vec<String> = Vec::new();
        let (mut back, mut gone, mut deleted) = (Vec::new(), Vec::new(), Vec::new());
        for it in &from.clauses {
            let ClauseKind::Map(map) = &it.kind else { continue };
            let flags = map.flags;
            let written = || Some(self.t.words.written(it.span));
            if map.mapper.is_some() || !map.iterators.is_empty() || flags.delete {
                let text =
                    "lists that are computed, and mappers, have no counterpart; name the parts";
                plan.remark(Fate::Refused, Some(NO_COUNTERPART), written(), text);
                continue;
            }
            for item in &map.items {
                let Some(text) = self.item(*item, &mut plan) else { continue };
                let list = match map.motion {
                    Motion::From | Motion::ToFrom | Motion::Unsaid => &mut back,
                    Motion::Delete => &mut deleted,
                    Motion::To | Motion::Alloc | Motion::Release => &mut gone,
                };
                list.push(text.clone());
                if flags.always && map.motion != Motion::Delete && map.motion != Motion::Release {
                    now.push(text);
                }
            }
        }
        let mut lines: Vec<Line> = Vec::new();
        if !now.is_empty() {
            let mut items = Items::default();
            items.from_device = now;
            lines.extend(self.now(&items, from).after);
        }
        let map = |motion: Motion, items: &[String]| {
            clause(ClauseKind::Map(Map {
                motion,
                presence: Presence::Any,
                flags: MapFlags::default(),
                mapper: None,
                iterators: Vec::new(),
                items: items.to_vec(),
            }))
        };
        if !back.is_empty() || !gone.is_empty() {
            let mut to = self.t.directive(vec![Leaf::ExitData], from.span);
            self.plain_if(from, &mut to);
            if !back.is_empty() {
                to.clauses.push(map(Motion::From, &back));
            }
            if !gone.is_empty() {
                to.clauses.push(map(Motion::Release, &gone));
            }
            self.later(id, &mut to, &mut plan);
            lines.push(Line::Directive(Box::new(to)));
        }
        if !deleted.is_empty() {
            let mut to = self.t.directive(vec![Leaf::ExitData], from.span);
            self.plain_if(from, &mut to);
            to.clauses.push(map(Motion::Release, &deleted));
            to.clauses.push(clause(ClauseKind::Finalize));
            self.later(id, &mut to, &mut plan);
            lines.push(Line::Directive(Box::new(to)));
        }
        self.on_device_number(id, lines, Vec::new(), &mut plan);
        plan
    }

    pub(super) fn update(&self, id: RegionId) -> Plan {
        let from = &self.program.regions[id].construct;
        let mut plan = Plan::default();
        let mut lines: Vec<Line> = Vec::new();
        for presence in [Presence::Any, Presence::Required] {
            let mut to = self.t.directive(vec![Leaf::Update], from.span);
            for it in &from.clauses {
                let ClauseKind::Transfer(it_moves) = &it.kind else { continue };
                if it_moves.mapper.is_some() || !it_moves.iterators.is_empty() {
                    let text =
                        "lists that are computed, and mappers, have no counterpart; name the parts";
                    let written = Some(self.t.words.written(it.span));
                    plan.remark(Fate::Refused, Some(NO_COUNTERPART), written, text);
                    continue;
                }
                let is_required = it_moves.presence == Presence::Required;
                if is_required != (presence == Presence::Required) {
                    continue;
                }
                let list: Vec<String> =
                    it_moves.items.iter().filter_map(|it| self.item(*it, &mut plan)).collect();
                let kind = ClauseKind::Transfer(transfer(it_moves.to_device, Presence::Any, list));
                to.clauses.push(clause(kind));
            }
            if to.clauses.is_empty() {
                continue;
            }
            self.plain_if(from, &mut to);
            if presence == Presence::Any {
                to.clauses.push(clause(ClauseKind::IfPresent));
            }
            self.later(id, &mut to, &mut plan);
            lines.push(Line::Directive(Box::new(to)));
        }
        self.on_device_number(id, lines, Vec::new(), &mut plan);
        plan
    }

    pub(super) fn plain_if(&self, from: &Construct<Typed>, to: &mut Construct<Spelled>) {
        for kind in from.kinds() {
            if let ClauseKind::If(it) = kind {
                to.clauses.push(clause(ClauseKind::If(self.t.words.expr(*it))));
            }
        }
    }
}
