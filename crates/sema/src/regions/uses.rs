//! Which variables from outside each region uses, and which functions it calls.
//!
//! One walk over all functions. A use counts for the region it stands in and for those around it,
//! out to where the variable is declared or a region has a copy of its own. What clauses name
//! counts as a mention; what they compute is read by those who meet the directive.

use ir::construct::{Leaf, Motion};
use ir::program::{FunctionId, Program, RegionId, StmtId, StmtKind, VarId, VarStorage};
use ir::region::{Pointee, RegionVar};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use super::items::{self, Item, Role};
use super::loops;
use super::pointees::{Parameter, Pointees};
use super::walk::{self, Access, Beyond, Visit};

/// One variable in one region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) var: VarId,
    pub(super) read: bool,
    pub(super) written: bool,
    /// What the body does with data that it leads to.
    pub(super) pointee: Pointee,
    /// A clause names it or computes with it.
    pub(super) in_clause: bool,
    /// The body uses it: it needs an attribute even if no clause names it.
    pub(super) in_body: bool,
    /// First mention.
    pub(super) span: Span,
    /// First use in the body.
    pub(super) body_span: Span,
}

/// What one region uses.
#[derive(Clone, Debug, Default)]
pub(super) struct Used {
    pub(super) list: Vec<Use>,
    index: FxHashMap<VarId, usize>,
    /// Functions called by name, each once, with the first call.
    pub(super) calls: Vec<(FunctionId, Span)>,
    called: FxHashSet<FunctionId>,
    pub(super) indirect_calls: Vec<Span>,
    /// The list items of its clauses, by the variable they are about.
    items: FxHashMap<VarId, Vec<Item>>,
    /// Variables of which it has copies.
    copies: FxHashSet<VarId>,
    /// Variables whose values are handed to functions, each once.
    handed: Vec<(VarId, Parameter)>,
    handed_once: FxHashSet<(VarId, Parameter)>,
    /// Where each variable stands among the region's own, once those are known.
    vars: FxHashMap<VarId, usize>,
}

impl Used {
    /// The list items about a variable.
    pub(super) fn items(&self, var: VarId) -> &[Item] {
        self.items.get(&var).map_or(&[], Vec::as_slice)
    }

    /// What the region does with a variable.
    pub(super) fn use_of(&self, var: VarId) -> Option<&Use> {
        self.list.get(*self.index.get(&var)?)
    }

    fn entry(&mut self, var: VarId, span: Span) -> Option<&mut Use> {
        let at = *self.index.entry(var).or_insert_with(|| {
            self.list.push(Use {
                var,
                read: false,
                written: false,
                pointee: Pointee::UNTOUCHED,
                in_clause: false,
                in_body: false,
                span,
                body_span: Span::NONE,
            });
            self.list.len() - 1
        });
        self.list.get_mut(at)
    }
}

/// What all regions and functions use.
#[derive(Debug, Default)]
pub(super) struct Uses {
    regions: Vec<Used>,
    /// In how many regions of its function each variable is declared; none for those that are not
    /// declared by a statement (iterators and the like).
    depth: FxHashMap<VarId, usize>,
    /// Functions called by each function, each once, with the first call.
    pub(super) calls: Vec<Vec<(FunctionId, Span)>>,
    pub(super) indirect_calls: Vec<Vec<Span>>,
    /// Calls from host code to functions that are made for devices only.
    pub(super) host_calls_of_device_functions: Vec<(FunctionId, Span)>,
    /// First uses of variables that a directive must name before.
    pub(super) first_uses: FxHashMap<VarId, Span>,
    /// The first directive that gives each variable a place on devices.
    pub(super) device_declarations: FxHashMap<VarId, u32>,
}

impl Uses {
    /// Remembers where the variables of a region stand.
    pub(super) fn index_vars(&mut self, id: RegionId, vars: &[RegionVar]) {
        if let Some(used) = self.regions.get_mut(id.index()) {
            used.vars = (0..).zip(vars).map(|(at, it)| (it.var, at)).collect();
        }
    }

    /// A variable among those of a region that has been filled.
    pub(super) fn var<'p>(
        &self,
        program: &'p Program,
        id: RegionId,
        var: VarId,
    ) -> Option<&'p RegionVar> {
        program.regions[id].vars.get(*self.region(id).vars.get(&var)?)
    }

    pub(super) fn region(&self, id: RegionId) -> &Used {
        static NONE: std::sync::LazyLock<Used> = std::sync::LazyLock::new(Used::default);
        self.regions.get(id.index()).unwrap_or(&NONE)
    }

    /// Whether the variable is declared outside the region.
    pub(super) fn is_outside(&self, program: &Program, var: VarId, id: RegionId) -> bool {
        let around = super::ancestors(program, program.regions[id].parent).count();
        depth(program, &self.depth, var).is_some_and(|it| it <= around)
    }
}

fn depth(program: &Program, depths: &FxHashMap<VarId, usize>, var: VarId) -> Option<usize> {
    match program.vars[var].storage {
        VarStorage::Global | VarStorage::Extern | VarStorage::Static | VarStorage::Param(_) => {
            Some(0)
        }
        VarStorage::LocalStatic(_) | VarStorage::Local(_) => depths.get(&var).copied(),
    }
}

/// Walks all functions.
pub(super) fn collect(program: &Program) -> Uses {
    let regions = program.regions.iter().map(|(_, region)| {
        let listed = items::all(&region.construct).filter(|it| it.role.makes_copy());
        let listed = listed.filter_map(|it| items::plain(program, it.expr));
        let counted = region.loops.iter().filter(|_| deals(region)).map(|it| it.var);
        let items = items::by_variable(program, &region.construct);
        Used { items, copies: listed.chain(counted).collect(), ..Used::default() }
    });
    let mut collect = Collect {
        program,
        uses: Uses {
            regions: regions.collect(),
            depth: FxHashMap::default(),
            calls: vec![Vec::new(); program.functions.len()],
            indirect_calls: vec![Vec::new(); program.functions.len()],
            host_calls_of_device_functions: Vec::new(),
            first_uses: FxHashMap::default(),
            device_declarations: device_declarations(program),
        },
        watched: watched(program),
        pointees: Pointees::default(),
        open: Vec::new(),
        function: None,
        called: vec![None; program.functions.len()],
        written: Written::default(),
        maybe: 0,
    };
    for (id, function) in program.functions.iter() {
        if let Some(body) = function.body {
            collect.function = Some(id);
            walk::stmt(program, body, &mut collect);
        }
    }
    collect.follow_handed();
    collect.uses
}

/// The first directive that gives each variable a place on devices.
fn device_declarations(program: &Program) -> FxHashMap<VarId, u32> {
    let mut first = FxHashMap::default();
    let gives = [Leaf::DeclareTarget, Leaf::BeginDeclareTarget, Leaf::Declare];
    for (at, declaration) in (0u32..).zip(&program.declarations) {
        if gives.iter().any(|it| declaration.construct.has(*it)) {
            for &var in &declaration.vars {
                first.entry(var).or_insert(at);
            }
        }
    }
    first
}

/// Variables that directives name which must come before all uses.
fn watched(program: &Program) -> FxHashSet<VarId> {
    let early = [Leaf::Threadprivate, Leaf::Memory];
    let declarations = program.declarations.iter();
    let declarations = declarations.filter(|it| early.iter().any(|leaf| it.construct.has(*leaf)));
    declarations.flat_map(|it| it.vars.iter().copied()).collect()
}

/// Whether those who run the loops have their own loop variables.
fn deals(region: &ir::region::Region) -> bool {
    region.construct.leaves.iter().any(|&it| loops::deals_iterations(it))
}

/// Variables that have certainly been written, with the number of regions open at that time.
#[derive(Default)]
struct Written {
    now: FxHashMap<VarId, usize>,
    log: Vec<(VarId, Option<usize>)>,
    marks: Vec<usize>,
}

impl Written {
    fn open(&mut self) {
        self.marks.push(self.log.len());
    }

    fn close(&mut self) {
        let mark = self.marks.pop().unwrap_or(0);
        self.back_to(mark);
    }

    /// Control may come from elsewhere: nothing is certain.
    fn forget(&mut self) {
        self.now.clear();
        self.log.clear();
        self.marks.iter_mut().for_each(|it| *it = 0);
    }

    fn back_to(&mut self, mark: usize) {
        while self.log.len() > mark {
            match self.log.pop() {
                Some((var, Some(before))) => self.now.insert(var, before),
                Some((var, None)) => self.now.remove(&var),
                None => break,
            };
        }
    }

    fn add(&mut self, var: VarId, depth: usize) {
        let before = self.now.insert(var, depth);
        self.log.push((var, before));
    }
}

struct Collect<'a> {
    program: &'a Program,
    uses: Uses,
    open: Vec<RegionId>,
    function: Option<FunctionId>,
    /// In whose body each function was last seen called.
    called: Vec<Option<FunctionId>>,
    /// Variables whose first use matters.
    watched: FxHashSet<VarId>,
    written: Written,
    pointees: Pointees,
    /// Branches that may be left out, around the present statement.
    maybe: usize,
}

impl Collect<'_> {
    fn used(&mut self, id: RegionId) -> Option<&mut Used> {
        self.uses.regions.get_mut(id.index())
    }

    /// A use by code that stands in the first `inside` of the open regions.
    fn note(&mut self, var: VarId, read: bool, write: bool, span: Span, inside: usize) {
        let Some(declared) = depth(self.program, &self.uses.depth, var) else { return };
        let certain = self.written.now.get(&var).copied().unwrap_or(0);
        for at in (declared..inside).rev() {
            let Some(&id) = self.open.get(at) else { continue };
            let Some(used) = self.used(id) else { continue };
            let is_copy = used.copies.contains(&var);
            let Some(entry) = used.entry(var, span) else { continue };
            entry.read |= read && certain <= at;
            entry.written |= write;
            if !entry.in_body {
                (entry.in_body, entry.body_span) = (true, span);
            }
            if is_copy {
                return;
            }
        }
    }

    /// A use of data that a variable leads to. A copy that has the value of the original leads to
    /// the same data.
    fn note_beyond(&mut self, var: VarId, beyond: Beyond, span: Span) {
        let Some(declared) = depth(self.program, &self.uses.depth, var) else { return };
        for at in (declared..self.open.len()).rev() {
            let Some(&id) = self.open.get(at) else { continue };
            let Some(used) = self.used(id) else { continue };
            let handed = beyond.handed.map(|it| (var, it));
            used.handed.extend(handed.filter(|it| used.handed_once.insert(*it)));
            let is_copy = used.copies.contains(&var);
            let starts_same = used.items(var).iter().any(|it| it.role == Role::FirstPrivate);
            if let Some(entry) = used.entry(var, span) {
                entry.pointee = entry.pointee.and(beyond.pointee);
            }
            if is_copy && !starts_same {
                return;
            }
        }
    }

    /// What functions do with the data of those who call them.
    fn follow_handed(&mut self) {
        self.pointees.settle(self.program);
        for used in &mut self.uses.regions {
            for (var, parameter) in std::mem::take(&mut used.handed) {
                let done = self.pointees.of(self.program, parameter);
                let entry = used.index.get(&var).and_then(|&at| used.list.get_mut(at));
                if let Some(entry) = entry {
                    entry.pointee = entry.pointee.and(done);
                }
            }
        }
    }

    /// Whether the present code runs on the host only.
    fn is_host_code(&self) -> bool {
        let is_device = |it: FunctionId| self.program.functions[it].device.declared;
        !self.function.is_some_and(is_device)
            && !self.open.iter().any(|&it| offloads(&self.program.regions[it]))
    }

    /// What the clauses of a region name and compute.
    fn clauses(&mut self, id: RegionId) {
        let program = self.program;
        let construct = &program.regions[id].construct;
        let outside = self.open.len();
        for item in items::all(construct) {
            let span = program.exprs[item.expr].span;
            for (var, span) in items::indices(program, item.expr) {
                self.mention(id, var, true, span);
                self.note(var, true, false, span, outside);
            }
            let Some(var) = items::base(program, item.expr) else { continue };
            self.mention(id, var, false, span);
            let clause = construct.clauses.get(item.clause as usize).map(|it| &it.kind);
            let (read, write) = touches(item.role, clause);
            if read || write {
                self.note(var, read, write, span, outside);
            }
        }
        for &item in items::args(construct) {
            if let Some(var) = items::base(program, item) {
                let span = program.exprs[item].span;
                self.mention(id, var, false, span);
            }
        }
        for value in items::values(construct) {
            let is_sink = value.clause.and_then(|it| construct.clauses.get(it as usize));
            if is_sink.is_some_and(|it| items::is_sink(&it.kind)) {
                continue;
            }
            let inside = value.clause.is_some_and(|it| items::computed_inside(construct, it));
            let mut reads: Vec<VarId> = loops::variables(program, value.expr).into_iter().collect();
            reads.sort();
            for var in reads {
                let span = program.exprs[value.expr].span;
                self.mention(id, var, true, span);
                if inside {
                    self.open.push(id);
                    self.note(var, true, false, span, outside + 1);
                    self.open.pop();
                } else {
                    self.note(var, true, false, span, outside);
                }
            }
        }
    }

    /// A clause names a variable or computes with it.
    fn mention(&mut self, id: RegionId, var: VarId, read: bool, span: Span) {
        let declared = depth(self.program, &self.uses.depth, var);
        if declared.is_none_or(|it| it > self.open.len()) {
            return;
        }
        if let Some(entry) = self.used(id).and_then(|it| it.entry(var, span)) {
            entry.read |= read;
            entry.in_clause = true;
        }
    }
}

/// What a list item means to the variable outside: read, written.
fn touches(
    role: Role,
    clause: Option<&ir::construct::ClauseKind<ir::program::Typed>>,
) -> (bool, bool) {
    use ir::construct::ClauseKind as K;
    match role {
        Role::FirstPrivate | Role::CopyIn => (true, false),
        Role::LastPrivate | Role::CopyPrivate => (false, true),
        Role::Linear
        | Role::Reduction
        | Role::InReduction
        | Role::TaskReduction
        | Role::Induction => (true, true),
        Role::Map => match clause {
            Some(K::Map(map)) => match map.motion {
                Motion::To => (true, false),
                Motion::From => (false, true),
                Motion::Unsaid | Motion::ToFrom => (true, true),
                Motion::Alloc | Motion::Release | Motion::Delete => (false, false),
            },
            _ => (false, false),
        },
        Role::Transfer => match clause {
            Some(K::Transfer(transfer)) => (transfer.to_device, !transfer.to_device),
            _ => (false, false),
        },
        Role::Shared
        | Role::Private
        | Role::UseDevice
        | Role::DevicePointer
        | Role::HasDeviceAddr
        | Role::Attach
        | Role::Declared
        | Role::Scan
        | Role::Aligned
        | Role::Nontemporal
        | Role::Uniform
        | Role::Allocate
        | Role::Depend
        | Role::Affinity
        | Role::Named => (false, false),
    }
}

impl Visit for Collect<'_> {
    fn enter(&mut self, program: &Program, id: StmtId) {
        match &program.stmts[id].kind {
            StmtKind::Local(var) => {
                self.uses.depth.insert(*var, self.open.len());
            }
            StmtKind::Region(region) => {
                self.clauses(*region);
                self.open.push(*region);
                self.written.open();
            }
            StmtKind::While(..) | StmtKind::DoWhile(..) | StmtKind::For(_) => self.written.open(),
            StmtKind::If(..) | StmtKind::Switch(..) => self.maybe += 1,
            StmtKind::Label(..) => self.written.forget(),
            _ => {}
        }
    }

    fn leave(&mut self, program: &Program, id: StmtId) {
        match &program.stmts[id].kind {
            StmtKind::Region(_) => {
                self.open.pop();
                self.written.close();
            }
            StmtKind::While(..) | StmtKind::DoWhile(..) | StmtKind::For(_) => self.written.close(),
            StmtKind::If(..) | StmtKind::Switch(..) => self.maybe -= 1,
            _ => {}
        }
    }

    fn access(&mut self, var: VarId, access: Access, span: Span) {
        if self.watched.contains(&var) {
            let first = self.uses.first_uses.entry(var).or_insert(span);
            *first = if span.start < first.start { span } else { *first };
        }
        if access.beyond != Beyond::NOTHING {
            if let Some(function) = self.function {
                self.pointees.note(self.program, function, var, access.beyond);
            }
            self.note_beyond(var, access.beyond, span);
        }
        if self.open.is_empty() {
            return;
        }
        self.note(var, access.read, access.write, span, self.open.len());
        if access.write && !access.read && access.whole && !access.conditional && self.maybe == 0 {
            self.written.add(var, self.open.len());
        }
    }

    fn call(&mut self, callee: FunctionId, span: Span) {
        if self.program.functions[callee].device.nohost && self.is_host_code() {
            self.uses.host_calls_of_device_functions.push((callee, span));
        }
        for &id in &self.open.clone() {
            if let Some(used) = self.used(id)
                && used.called.insert(callee)
            {
                used.calls.push((callee, span));
            }
        }
        let Some(function) = self.function else { return };
        let Some(last) = self.called.get_mut(callee.index()) else { return };
        if last.replace(function) != Some(function)
            && let Some(calls) = self.uses.calls.get_mut(function.index())
        {
            calls.push((callee, span));
        }
    }

    fn indirect_call(&mut self, span: Span) {
        for &id in &self.open.clone() {
            if let Some(used) = self.used(id) {
                used.indirect_calls.push(span);
            }
        }
        let list = self.function.and_then(|it| self.uses.indirect_calls.get_mut(it.index()));
        if let Some(list) = list {
            list.push(span);
        }
    }
}

/// Whether code of the region runs on a device.
pub(super) fn offloads(region: &ir::region::Region) -> bool {
    region.construct.has(Leaf::Offload) || region.construct.has(Leaf::Kernels)
}
