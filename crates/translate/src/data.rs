//! Directives that move data or tie its life to a device, and those that control devices.

use ir::construct::{
    Args, ClauseKind, Construct, Leaf, Motion, Presence, Spelled, Transfer, UseDevice,
};
use ir::program::{ExprId, ExprKind, RegionId, Section, StmtKind, Typed, VarStorage};
use ir::types::{ArrayLen, TypeKind};
use ir::walk::Part;

use super::maps::Maps;
use super::{Fate, Line, Plan, Translator, clause, codes};
use levels::base;

impl Translator<'_> {
    /// Data lives on the device during the body.
    pub(super) fn data_region(&self, id: RegionId) -> Plan {
        let construct = &self.program.regions[id].construct;
        let mut plan = Plan::default();
        let mut maps = Maps::default();
        self.data_maps(construct, &mut maps, &mut plan);
        // What names device addresses on such a region is passed on to the constructs inside.
        maps.pointers.clear();
        if self.may_release_inside(id) {
            maps.holds = self.profile().has_hold;
            if !maps.holds {
                let text = "data may be released inside the region, whose end would find it gone";
                plan.remark(Fate::Refused, Some(codes::RELEASED), None, text);
            }
        }
        self.refuse_choices(construct, &mut plan);
        let mut to = self.directive(vec![Leaf::DataRegion], construct.span);
        self.plain_condition(construct, &mut to);
        to.clauses.extend(maps.clauses(self.profile()));
        self.after_queue(construct, &mut plan);
        self.wait_inside(id, &mut plan);
        if to.clauses.iter().any(|it| matches!(it.kind, ClauseKind::Map(_))) {
            plan.lines.push(Line::Directive(Box::new(to)));
        }
        plan
    }

    /// Refuses choices within what a data region maps where its reader breaks off at them.
    pub(super) fn refuse_choices(&self, construct: &Construct<Typed>, plan: &mut Plan) {
        if self.profile().chooses_maps {
            return;
        }
        for it in &construct.clauses {
            let ClauseKind::Map(map) = &it.kind else { continue };
            if map.items.iter().any(|it| self.has_choice(*it)) {
                let text = "clang 19 breaks off at `?:`, `&&` and `||` in what a data region maps: \
                            compute the value before the region";
                let written = Some(self.words.written(it.span));
                plan.remark(Fate::Refused, Some(codes::CHOSEN_MAPS), written, text);
            }
        }
    }

    /// Whether an expression takes a branch; a constant condition makes none.
    fn has_choice(&self, item: ExprId) -> bool {
        let varies = |it: ExprId| {
            let is_varying = |it: &ExprKind| matches!(it, ExprKind::Var(_) | ExprKind::Call(..));
            self.program.any_expr(Part::Expr(it), is_varying)
        };
        self.program.any_expr(Part::Expr(item), |it| match *it {
            ExprKind::And(cond, _) | ExprKind::Or(cond, _) | ExprKind::Conditional(cond, ..) => {
                varies(cond)
            }
            _ => false,
        })
    }

    /// What is queued in the body of a region is done before its data goes: programs count on that.
    fn wait_inside(&self, id: RegionId, plan: &mut Plan) {
        let regions = &self.program.regions;
        let is_inside = |at: RegionId| self.program.around(at).skip(1).any(|it| it == id);
        let is_queued = |it: &Construct<Typed>| {
            it.kinds().any(|it| matches!(it, ClauseKind::Async(_))) && !it.has(Leaf::Wait)
        };
        let waits = self.request.queues
            && regions.iter().any(|(at, it)| is_queued(&it.construct) && is_inside(at));
        let Some(body) = regions[id].body.filter(|_| waits) else { return };
        let waits_for_all = |id: RegionId| {
            let construct = &regions[id].construct;
            construct.has(Leaf::Wait)
                && construct.args == Args::None
                && construct.clauses.is_empty()
        };
        let StmtKind::Block(list) = &self.program.stmts[body].kind else { return };
        let last = list.last().map(|it| &self.program.stmts[*it].kind);
        if !matches!(last, Some(StmtKind::Region(id)) if waits_for_all(*id)) {
            let to = self.directive(vec![Leaf::Taskwait], source::Span::NONE);
            let place = super::Place::EndOf(self.program.stmts[body].span);
            plan.before.push((place, Line::Directive(Box::new(to))));
        }
    }

    /// Whether something in the body of a region, or in a function called there, ends the life of data.
    fn may_release_inside(&self, id: RegionId) -> bool {
        let region = &self.program.regions[id];
        let Some(body) = region.body else { return false };
        let mut open = vec![Part::Stmt(body)];
        open.extend(
            region.reaches.iter().filter_map(|it| self.program.functions[*it].body.map(Part::Stmt)),
        );
        while let Some(part) = open.pop() {
            match part {
                Part::Region(at) if self.program.regions[at].construct.has(Leaf::ExitData) => {
                    return true;
                }
                Part::Expr(at) => {
                    if let ExprKind::Function(it) = self.program.exprs[at].kind
                        && directive::ends_data(
                            self.program.names.text(self.program.functions[it].name),
                        )
                    {
                        return true;
                    }
                }
                _ => {}
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
        false
    }

    pub(super) fn enter_data(&self, id: RegionId) -> Plan {
        let construct = &self.program.regions[id].construct;
        let mut plan = Plan::default();
        let mut maps = Maps::default();
        self.data_maps(construct, &mut maps, &mut plan);
        let mut to = self.directive(vec![Leaf::EnterData], construct.span);
        self.plain_condition(construct, &mut to);
        to.clauses.extend(maps.clauses(self.profile()));
        self.after_queue(construct, &mut plan);
        plan.unsaid.has_no_end();
        if to.clauses.iter().any(|it| matches!(it.kind, ClauseKind::Map(_))) {
            plan.lines.push(Line::Directive(Box::new(to)));
        }
        // A pointer that is attached does not count what it leads to; a map does.
        let mut uncounted = Maps::default();
        for kind in construct.kinds() {
            let ClauseKind::Attach(items) = kind else { continue };
            for item in items {
                let item = format!("{}[:0]", self.words.expr(*item));
                uncounted.add(Motion::Release, Presence::Any, item);
            }
        }
        let uncounted = uncounted.clauses(self.profile());
        if !uncounted.is_empty() {
            let mut after = self.directive(vec![Leaf::ExitData], construct.span);
            self.plain_condition(construct, &mut after);
            after.clauses.extend(uncounted);
            plan.lines.push(Line::Directive(Box::new(after)));
        }
        plan
    }

    pub(super) fn exit_data(&self, id: RegionId) -> Plan {
        let construct = &self.program.regions[id].construct;
        let mut plan = Plan::default();
        let mut maps = Maps::default();
        let is_final = construct.kinds().any(|it| matches!(it, ClauseKind::Finalize));
        let mut back: Vec<String> = Vec::new();
        for it in construct.clauses.iter().filter(|it| it.group.is_none()) {
            match &it.kind {
                ClauseKind::Map(map) => {
                    self.modifiers(map, it.span, &mut maps, &mut plan);
                    for item in &map.items {
                        let copies = matches!(map.motion, Motion::From | Motion::ToFrom);
                        if let Some(rows) = self.rows(*item) {
                            if is_final && copies {
                                plan.unsaid.moves.push((rows.clone(), false, Presence::Any));
                            }
                            let motion = if is_final { Motion::Delete } else { map.motion };
                            plan.unsaid.ends.push((rows, motion));
                            continue;
                        }
                        let item = match self.as_mapped(*item) {
                            Some(pointer) if copies => {
                                let written = Some(self.words.expr(pointer));
                                let text = "how much is mapped where the pointer leads is not said; \
                                            name the elements: `p[0:n]`";
                                let code = Some(codes::NO_COUNTERPART);
                                plan.remark(Fate::Refused, code, written, text);
                                continue;
                            }
                            Some(pointer) => format!("{}[:0]", self.words.expr(pointer)),
                            None => self.words.expr(*item),
                        };
                        if is_final && copies {
                            back.push(item.clone());
                        }
                        let motion = match (is_final, copies) {
                            (true, _) => Motion::Delete,
                            (false, true) => Motion::From,
                            (false, false) => Motion::Release,
                        };
                        maps.add(motion, Presence::Any, item);
                    }
                }
                ClauseKind::Detach(items) if self.has_call(directive::attaches) => {
                    let call = if is_final { directive::DETACH_ALL } else { directive::DETACH };
                    let calls: Vec<String> = items
                        .iter()
                        .map(|it| format!("{call}((void **)&({}));", self.words.expr(*it)))
                        .collect();
                    let text = on_condition(self.condition_of(construct), &calls.join(" "));
                    plan.lines.push(Line::Statement(text));
                    plan.uses_header = true;
                }
                ClauseKind::Detach(_) => {
                    let text = "pointers are detached when their data goes";
                    let written = Some(self.words.written(it.span));
                    plan.remark(Fate::Approximated, Some(codes::DETACHED), written, text);
                }
                _ => {}
            }
        }
        if is_final && self.is_in_data_region(id) {
            let text = "a data region around may still hold the data";
            plan.remark(Fate::Refused, Some(codes::RELEASED), None, text);
        }
        if !back.is_empty() {
            let mut first = self.directive(vec![Leaf::Update], construct.span);
            self.plain_condition(construct, &mut first);
            first.clauses.push(clause(ClauseKind::Transfer(transfer(false, Presence::Any, back))));
            plan.lines.push(Line::Directive(Box::new(first)));
        }
        let mut to = self.directive(vec![Leaf::ExitData], construct.span);
        self.plain_condition(construct, &mut to);
        to.clauses.extend(maps.clauses(self.profile()));
        self.after_queue(construct, &mut plan);
        if to.clauses.iter().any(|it| matches!(it.kind, ClauseKind::Map(_))) {
            plan.lines.push(Line::Directive(Box::new(to)));
        }
        plan
    }

    /// Whether a data region stands around a directive, or around a call of its function.
    fn is_in_data_region(&self, id: RegionId) -> bool {
        let regions = &self.program.regions;
        let is_data = |it: RegionId| regions[it].construct.has(Leaf::DataRegion);
        let mut up = self.program.around(id).skip(1);
        let function = regions[id].function;
        up.any(is_data)
            || regions.iter().any(|(at, it)| is_data(at) && it.reaches.contains(&function))
    }

    pub(super) fn update(&self, id: RegionId) -> Plan {
        let construct = &self.program.regions[id].construct;
        let mut plan = Plan::default();
        let may_miss = construct.kinds().any(|it| matches!(it, ClauseKind::IfPresent));
        let presence = match may_miss || !self.profile().has_present {
            true => Presence::Any,
            false => Presence::Required,
        };
        let mut to = self.directive(vec![Leaf::Update], construct.span);
        self.plain_condition(construct, &mut to);
        for it in construct.kinds() {
            let ClauseKind::Transfer(it) = it else { continue };
            if it.items.iter().any(|it| self.has_stride(*it)) && !self.profile().takes_strides {
                let text = "this compiler takes no parts of arrays with strides";
                plan.remark(Fate::Refused, Some(codes::NO_COUNTERPART), None, text);
            }
            // Rows that pointers lead to are moved one by one.
            let is_block = |it: &&ExprId| self.has_gaps(**it) && self.rows(**it).is_none();
            let block = it.items.iter().find(is_block);
            if let Some(item) = block.filter(|_| !self.profile().moves_blocks) {
                let written = Some(self.words.expr(*item));
                let text = "this compiler moves no parts of arrays that lie apart: update whole rows, or each row by itself";
                plan.remark(Fate::Refused, Some(codes::NO_COUNTERPART), written, text);
            }
            let is_hidden = |item: ExprId| {
                let var = base(self.program, item).map(|it| &self.program.vars[it]);
                var.is_some_and(|it| {
                    let storage = &it.storage;
                    let is_static =
                        matches!(storage, VarStorage::Static | VarStorage::LocalStatic(_));
                    is_static && it.device.is_some()
                })
            };
            let hidden = it.items.iter().find(|it| is_hidden(**it));
            if let Some(item) = hidden.filter(|_| !self.profile().updates_hidden) {
                let written = Some(self.words.expr(*item));
                let text = "this compiler does not update variables that are declared for devices and `static`";
                plan.remark(Fate::Refused, Some(codes::NO_COUNTERPART), written, text);
            }
            let (mut items, mut declared) = (Vec::new(), Vec::new());
            for item in &it.items {
                match self.rows(*item) {
                    Some(rows) => plan.unsaid.moves.push((rows, it.to_device, presence)),
                    None if self.is_declared(*item) => declared.push(self.words.expr(*item)),
                    None => items.push(self.words.expr(*item)),
                }
            }
            for (presence, items) in [(presence, items), (Presence::Any, declared)] {
                if !items.is_empty() {
                    let kind = ClauseKind::Transfer(transfer(it.to_device, presence, items));
                    to.clauses.push(clause(kind));
                }
            }
        }
        self.order(construct, &mut to, &mut plan);
        if to.clauses.iter().any(|it| matches!(it.kind, ClauseKind::Transfer(_))) {
            plan.lines.push(Line::Directive(Box::new(to)));
        }
        plan
    }

    /// Whether an item exists on devices by its declaration; where device code does not use it, readers
    /// leave it out.
    fn is_declared(&self, item: ExprId) -> bool {
        let is_whole = matches!(self.program.exprs[item].kind, ExprKind::Var(_));
        let var = base(self.program, item).filter(|_| is_whole);
        var.is_some_and(|it| self.program.vars[it].device.is_some())
    }

    /// The pointer of an item that stands for all that is mapped where it leads.
    fn as_mapped(&self, item: ExprId) -> Option<ExprId> {
        let ExprKind::Section(section) = &self.program.exprs[item].kind else { return None };
        let is_open = section.lower.is_none() && section.length.is_none();
        let ty = self.program.exprs[section.base].ty;
        (is_open && self.program.types.is_pointer(ty)).then_some(section.base)
    }

    fn has_stride(&self, item: ExprId) -> bool {
        match &self.program.exprs[item].kind {
            ExprKind::Section(it) => it.stride.is_some() || self.has_stride(it.base),
            _ => false,
        }
    }

    /// Whether an item is several rows of which not all is asked for: what is copied lies apart.
    fn has_gaps(&self, item: ExprId) -> bool {
        let mut inner_is_whole = true;
        let mut at = item;
        loop {
            let expr = &self.program.exprs[at];
            let base = match &expr.kind {
                ExprKind::Section(it) => {
                    if !inner_is_whole && !self.is_one(it.length) {
                        return true;
                    }
                    inner_is_whole &= self.is_whole(it);
                    it.base
                }
                ExprKind::Index(base, _) => {
                    inner_is_whole = false;
                    *base
                }
                ExprKind::Cast(_, base) => *base,
                _ => return false,
            };
            at = base;
        }
    }

    fn is_one(&self, length: Option<ExprId>) -> bool {
        length.is_some_and(|it| matches!(self.program.exprs[it].kind, ExprKind::Int(1)))
    }

    /// Whether a part of an array is all of it.
    fn is_whole(&self, part: &Section) -> bool {
        let is_first =
            part.lower.is_none_or(|it| matches!(self.program.exprs[it].kind, ExprKind::Int(0)));
        let Some(length) = part.length.filter(|_| is_first && part.stride.is_none()) else {
            return is_first && part.stride.is_none();
        };
        let ty = self.program.exprs[part.base].ty;
        match self.program.types.kind(self.program.types.resolve(ty).id) {
            TypeKind::Array(_, ArrayLen::Known(count)) => match self.program.exprs[length].kind {
                ExprKind::Int(it) => u64::try_from(it) == Ok(*count),
                _ => false,
            },
            TypeKind::Array(_, ArrayLen::Variable(Some(count))) => {
                self.words.expr(*count) == self.words.expr(length)
            }
            _ => false,
        }
    }

    pub(super) fn host_data(&self, id: RegionId) -> Plan {
        let construct = &self.program.regions[id].construct;
        let mut to = self.directive(vec![Leaf::DataRegion], construct.span);
        self.plain_condition(construct, &mut to);
        let (mut pointers, mut others) = (Vec::new(), Vec::new());
        for it in construct.kinds() {
            let ClauseKind::UseDevice(_, items) = it else { continue };
            for item in items {
                let is_pointer = self.program.types.is_pointer(self.program.exprs[*item].ty);
                let list = if is_pointer { &mut pointers } else { &mut others };
                list.push(self.words.expr(*item));
            }
        }
        if !pointers.is_empty() {
            to.clauses.push(clause(ClauseKind::UseDevice(UseDevice::Pointer, pointers)));
        }
        if !others.is_empty() {
            to.clauses.push(clause(ClauseKind::UseDevice(UseDevice::Address, others)));
        }
        Plan::of(to)
    }

    /// The maps that the clauses of a directive name.
    fn data_maps(&self, construct: &Construct<Typed>, maps: &mut Maps, plan: &mut Plan) {
        for it in construct.clauses.iter().filter(|it| it.group.is_none()) {
            let written = || Some(self.words.written(it.span));
            if let ClauseKind::Map(map) = &it.kind {
                self.modifiers(map, it.span, maps, plan);
            }
            match &it.kind {
                ClauseKind::Map(map) if map.flags.zero => {
                    maps.zeros.extend(map.items.iter().map(|it| (*it, map.motion)));
                }
                ClauseKind::Map(map) if map.presence == Presence::Optional => {
                    if map.items.iter().all(|it| self.leads_from_pointer(*it)) {
                        let text = "pointers that no clause names are treated so";
                        plan.remark(Fate::Redundant, None, written(), text);
                    } else {
                        let text = "absent data is always made";
                        plan.remark(Fate::Refused, Some(codes::MADE_IF_ABSENT), written(), text);
                    }
                }
                ClauseKind::Map(map) => {
                    let is_required = map.presence == Presence::Required;
                    let motion = if is_required { Motion::Alloc } else { map.motion };
                    for item in &map.items {
                        self.map_item(*item, motion, map.presence, maps, plan);
                    }
                }
                ClauseKind::Attach(items) => {
                    for item in items {
                        let name = self.words.expr(*item);
                        maps.add(Motion::Alloc, Presence::Any, format!("{name}[:0]"));
                    }
                }
                ClauseKind::Default(..) => {
                    let text = "it holds for the constructs inside, where it is said";
                    plan.remark(Fate::Redundant, None, written(), text);
                }
                _ => {}
            }
        }
        self.fill_with_zeros(maps, plan);
    }

    /// One item of a map; rows are said in statements.
    pub(super) fn map_item(
        &self,
        item: ExprId,
        motion: Motion,
        presence: Presence,
        maps: &mut Maps,
        plan: &mut Plan,
    ) {
        let rows = self.rows(item);
        let is_bare = self.leads_from_pointer(item)
            && !self.words.written(self.program.exprs[item].span).contains('[');
        if presence == Presence::Required && self.is_declared(item) {
            let (item, text) =
                (Some(self.words.expr(item)), "it exists on devices by its declaration");
            return plan.remark(Fate::Redundant, None, item, text);
        }
        if presence == Presence::Required && (is_bare || rows.is_some()) {
            let text = "what pointers lead to is not looked for; it must be on the device";
            let item = Some(self.words.expr(item));
            return plan.remark(Fate::Approximated, Some(codes::NOT_LOOKED_FOR), item, text);
        }
        match rows {
            Some(rows) => {
                plan.unsaid.begins.push((rows.clone(), motion));
                plan.unsaid.ends.push((rows, motion));
            }
            None => maps.add(motion, presence, self.words.expr(item)),
        }
    }

    fn leads_from_pointer(&self, item: ExprId) -> bool {
        base(self.program, item)
            .is_some_and(|it| self.program.types.is_pointer(self.program.vars[it].ty))
    }

    pub(super) fn plain_condition(&self, from: &Construct<Typed>, to: &mut Construct<Spelled>) {
        for kind in from.kinds() {
            if let ClauseKind::If(it) = kind {
                to.clauses.push(clause(ClauseKind::If(self.words.expr(*it))));
            }
        }
    }

    /// Devices are ready when they are used, and let go at the end.
    pub(super) fn control(&self, id: RegionId) -> Plan {
        let construct = &self.program.regions[id].construct;
        let mut plan = Plan::default();
        let text = match construct.has(Leaf::Init) {
            true => "devices are ready when they are first used",
            false => "devices are let go at the end of the program",
        };
        plan.remark(Fate::Approximated, Some(codes::DEVICES_READY), None, text);
        plan
    }

    /// What is used by default.
    pub(super) fn set(&self, id: RegionId) -> Plan {
        let construct = &self.program.regions[id].construct;
        let mut plan = Plan::default();
        let mut statement: Vec<String> = Vec::new();
        for it in &construct.clauses {
            match &it.kind {
                ClauseKind::DeviceNum(number) => {
                    let number = self.words.expr(*number);
                    statement.push(format!("{}({number});", directive::SET_DEFAULT_DEVICE));
                }
                ClauseKind::DefaultAsync(queue) => {
                    let queue = self.words.expr(*queue);
                    statement.push(format!("{}({queue});", directive::SET_DEFAULT_QUEUE));
                    plan.uses_header = true;
                }
                ClauseKind::DeviceTypes(types) => {
                    let name = types.first().map_or("*", |it| self.program.names.text(*it));
                    match directive::device_type(name) {
                        Some(constant) => {
                            let call = directive::SET_DEVICE_TYPE;
                            statement.insert(0, format!("{call}({constant});"));
                        }
                        None => {
                            let written = Some(self.words.written(it.span));
                            let text = "this type of device is not known";
                            plan.remark(Fate::Refused, Some(codes::DEVICE_TYPE), written, text);
                        }
                    }
                    plan.uses_header = true;
                }
                _ => {}
            }
        }
        let text = on_condition(self.condition_of(construct), &statement.join(" "));
        plan.lines.push(Line::Statement(text));
        plan
    }

    fn condition_of(&self, construct: &Construct<Typed>) -> Option<String> {
        construct.kinds().find_map(|it| match it {
            ClauseKind::If(it) => Some(self.words.expr(*it)),
            _ => None,
        })
    }
}

/// Statements that are run if a condition holds.
fn on_condition(condition: Option<String>, statements: &str) -> String {
    match condition {
        Some(it) => format!("if ({it}) {{ {statements} }}"),
        None => statements.to_owned(),
    }
}

pub(super) fn transfer(
    to_device: bool,
    presence: Presence,
    items: Vec<String>,
) -> Transfer<Spelled> {
    let (mapper, iterators) = (None, Vec::new());
    Transfer { to_device, old_word: false, presence, mapper, iterators, items }
}
