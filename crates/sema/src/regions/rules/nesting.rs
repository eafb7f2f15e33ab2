//! Where constructs may stand: what may be inside what, and what needs something around it.
//!
//! "Directly inside" looks at the next region around, "closely inside" at all out to the next that
//! makes new threads or teams. Directives that only say something of a statement are looked through.

use ir::construct::{
    Args, CancelKind, ClauseKind, DoacrossKind, Leaf, OrderedBy, ReductionModifier,
};
use ir::program::{ExprKind, FunctionId, Program, RegionId, StmtId, StmtKind, VarId};
use ir::region::Region;
use ir::walk::Part;
use rustc_hash::{FxHashMap, FxHashSet};
use source::{Diagnostics, Span};

use crate::regions::uses::offloads;
use crate::regions::{ancestors, constant, loops, messages};

pub(super) fn check(program: &Program, faults: &mut Diagnostics) {
    let inside = children(program);
    let device_functions = device_functions(program);
    for (id, region) in program.regions.iter() {
        let inside: &[RegionId] = inside.get(&id).map_or(&[], Vec::as_slice);
        let cx = Cx { program, region, inside, device_functions: &device_functions };
        if !cx.is_chosen_later() {
            cx.check(faults);
        }
    }
    beside_teams(program, &inside, faults);
}

/// The regions that stand directly in each region, in the order of the text.
fn children(program: &Program) -> FxHashMap<RegionId, Vec<RegionId>> {
    let mut inside: FxHashMap<RegionId, Vec<RegionId>> = FxHashMap::default();
    for (id, region) in program.regions.iter() {
        if let Some(parent) = region.parent {
            inside.entry(parent).or_default().push(id);
        }
    }
    inside
}

/// The functions that device code calls: by declaration, in this file, or under a name that a
/// declaration binds one of them to, which may be any.
struct DeviceFunctions {
    any: bool,
    reached: FxHashSet<FunctionId>,
}

fn device_functions(program: &Program) -> DeviceFunctions {
    let binds = |it: &ClauseKind<_>| matches!(it, ClauseKind::BindName(_));
    let any = program.declarations.iter().any(|it| it.construct.kinds().any(binds));
    let mut reached: FxHashSet<FunctionId> =
        program.functions.iter().filter(|it| it.1.device.declared).map(|it| it.0).collect();
    for region in program.regions.iter().map(|it| it.1).filter(|it| offloads(it)) {
        reached.extend(&region.reaches);
    }
    DeviceFunctions { any, reached }
}

struct Cx<'a> {
    program: &'a Program,
    region: &'a Region,
    /// The regions directly inside.
    inside: &'a [RegionId],
    device_functions: &'a DeviceFunctions,
}

fn first(region: &Region) -> Leaf {
    region.construct.leaves.first().copied().unwrap_or(Leaf::Nothing)
}

fn last(region: &Region) -> Leaf {
    region.construct.leaves.last().copied().unwrap_or(Leaf::Nothing)
}

fn is_worksharing(leaf: Leaf) -> bool {
    matches!(leaf, Leaf::For | Leaf::Sections | Leaf::Section | Leaf::Single)
}

/// New threads, or a device: what is outside does not matter any more.
fn begins_anew(leaf: Leaf) -> bool {
    matches!(leaf, Leaf::Parallel | Leaf::Teams | Leaf::Offload | Leaf::Kernels)
}

/// Of one iteration or task: not all threads of a team come by.
fn not_all_come_by(leaf: Leaf) -> bool {
    is_worksharing(leaf)
        || matches!(
            leaf,
            Leaf::Critical
                | Leaf::Ordered
                | Leaf::Masked
                | Leaf::Master
                | Leaf::Task
                | Leaf::Taskloop
                | Leaf::Loop
        )
}

impl<'a> Cx<'a> {
    /// The regions around that mean something, from the inside out.
    fn around(&self) -> impl Iterator<Item = &'a Region> {
        let program = self.program;
        ancestors(program, self.region.parent)
            .map(move |it| &program.regions[it])
            .filter(|it| !it.construct.leaves.iter().all(|&leaf| loops::is_transparent(leaf)))
    }

    /// Whether a directive around is still to be chosen among several: nobody knows what is around.
    fn is_chosen_later(&self) -> bool {
        ancestors(self.program, self.region.parent).any(|it| {
            let construct = &self.program.regions[it].construct;
            construct.has(Leaf::Metadirective) || construct.has(Leaf::BeginMetadirective)
        })
    }

    /// The closest region around with a leaf that `stops`, unless new threads come first.
    fn closely_inside(&self, stops: impl Fn(Leaf) -> bool) -> Option<&'a Region> {
        for outer in self.around() {
            for &leaf in outer.construct.leaves.iter().rev() {
                if stops(leaf) {
                    return Some(outer);
                } else if begins_anew(leaf) {
                    return None;
                }
            }
        }
        None
    }

    fn check(&self, faults: &mut Diagnostics) {
        self.directly_inside(faults);
        match first(self.region) {
            Leaf::For | Leaf::Sections | Leaf::Single => {
                let why = "all threads of the team must come by here";
                self.refuse_inside(not_all_come_by, why, faults);
            }
            Leaf::Barrier => {
                let why = "waits for threads that never come by";
                self.refuse_inside(not_all_come_by, why, faults);
            }
            Leaf::Masked | Leaf::Master => {
                let stops = |it| {
                    is_worksharing(it) || matches!(it, Leaf::Task | Leaf::Taskloop | Leaf::Loop)
                };
                self.refuse_inside(stops, "the chosen threads may never come by here", faults);
            }
            Leaf::Critical => self.critical(faults),
            Leaf::Ordered => self.ordered(faults),
            Leaf::OrderedPoint => self.ordered_point(faults),
            Leaf::Distribute => {
                if let Some(outer) = self.around().next()
                    && last(outer) != Leaf::Teams
                {
                    let needed = "directly inside a league of teams";
                    faults.push(messages::wrong_parent(self.region, outer, needed));
                }
            }
            Leaf::Teams => {
                if let Some(outer) = self.around().next()
                    && last(outer) != Leaf::Offload
                {
                    let needed = "directly inside a device region or outside of all";
                    faults.push(messages::wrong_parent(self.region, outer, needed));
                }
            }
            Leaf::Section => match self.around().next() {
                Some(outer) if last(outer) == Leaf::Sections => {}
                _ => faults.push(messages::outside(self.region, "among the sections of a region")),
            },
            Leaf::Cancel | Leaf::CancellationPoint => self.cancel(faults),
            Leaf::Scan => self.scan(faults),
            Leaf::Loop => self.descriptive_loop(faults),
            _ => {}
        }
        self.scan_missing(faults);
        self.device_code(faults);
    }

    fn refuse_inside(&self, stops: impl Fn(Leaf) -> bool, why: &str, faults: &mut Diagnostics) {
        if let Some(outer) = self.closely_inside(stops) {
            faults.push(messages::inside(self.region, outer, why));
        }
    }

    /// What may stand directly in teams and in lanes.
    fn directly_inside(&self, faults: &mut Diagnostics) {
        let Some(outer) = self.around().next() else { return };
        if self.region.construct.leaves.iter().all(|&it| loops::is_transparent(it)) {
            return;
        }
        let leaf = first(self.region);
        if last(outer) == Leaf::Teams && !outer.construct.rules.redundant_teams {
            let fits = matches!(
                leaf,
                Leaf::Distribute
                    | Leaf::Parallel
                    | Leaf::Loop
                    | Leaf::Workdistribute
                    // Not by the letter, but compilers take it and it is well defined.
                    | Leaf::Atomic
            );
            if !fits {
                faults.push(messages::directly_in_teams(self.region, outer));
            }
        }
        if last(outer) == Leaf::Simd {
            let by_lanes = |it: &ClauseKind<_>| {
                matches!(it, ClauseKind::OrderedBy(OrderedBy::Simd) | ClauseKind::Doacross(_))
            };
            let fits = match leaf {
                Leaf::Simd | Leaf::Loop | Leaf::Atomic | Leaf::Scan => true,
                Leaf::Ordered => self.region.construct.kinds().any(by_lanes),
                Leaf::OrderedPoint => true,
                other => loops::transforms(other),
            };
            if !fits {
                let why = "the lanes of one thread run the loop together";
                faults.push(messages::inside(self.region, outer, why));
            }
        }
    }

    fn critical(&self, faults: &mut Diagnostics) {
        let same = |it: &&Region| {
            first(it) == Leaf::Critical && it.construct.args == self.region.construct.args
        };
        if let Some(outer) = self.around().find(same) {
            faults.push(messages::same_critical(self.region, outer));
        }
    }

    fn ordered(&self, faults: &mut Diagnostics) {
        let by_lanes = |it: &ClauseKind<_>| matches!(it, ClauseKind::OrderedBy(OrderedBy::Simd));
        if self.region.construct.kinds().any(by_lanes) {
            return;
        }
        let stops = |it| {
            matches!(it, Leaf::For | Leaf::Critical | Leaf::Ordered | Leaf::Task | Leaf::Taskloop)
        };
        let needed = "in a loop whose directive says that parts of it are ordered";
        match self.closely_inside(stops) {
            Some(outer) if outer.construct.has(Leaf::For) => {
                let says = |it: &ClauseKind<_>| matches!(it, ClauseKind::Ordered(_));
                if !outer.construct.kinds().any(says) {
                    faults.push(messages::wrong_parent(self.region, outer, needed));
                }
            }
            Some(outer) => faults.push(messages::wrong_parent(self.region, outer, needed)),
            None if self.around().any(|it| it.construct.has(Leaf::Parallel)) => {
                faults.push(messages::outside(self.region, needed));
            }
            // The function may be called from such a loop.
            None => {}
        }
    }

    fn ordered_point(&self, faults: &mut Diagnostics) {
        let stops = |it| matches!(it, Leaf::For | Leaf::Simd);
        let needed = "in a loop whose directive says how many loops are ordered";
        let Some(outer) = self.closely_inside(stops) else {
            if self.around().next().is_some() {
                faults.push(messages::outside(self.region, needed));
            }
            return;
        };
        let depth = outer.construct.kinds().find_map(|it| match it {
            ClauseKind::Ordered(Some(depth)) => Some(constant::int(self.program, *depth)),
            ClauseKind::Ordered(None) => Some(None),
            _ => None,
        });
        match depth {
            None => faults.push(messages::wrong_parent(self.region, outer, needed)),
            Some(depth) => {
                for clause in &self.region.construct.clauses {
                    if let ClauseKind::Doacross(it) = &clause.kind
                        && let (DoacrossKind::Sink(list), Some(depth)) = (&it.kind, depth)
                        && list.len() as i128 != depth
                    {
                        let fault =
                            messages::sink_length(self.region, list.len(), depth, clause.span);
                        faults.push(fault);
                    }
                }
            }
        }
    }

    fn cancel(&self, faults: &mut Diagnostics) {
        let Args::Cancel(kind) = &self.region.construct.args else { return };
        let (fits, needed): (&[Leaf], _) = match kind {
            CancelKind::Parallel => (&[Leaf::Parallel], "directly inside the threads it ends"),
            CancelKind::For => (&[Leaf::For], "directly inside the loop it ends"),
            CancelKind::Sections => {
                (&[Leaf::Sections, Leaf::Section], "directly inside the sections it ends")
            }
            CancelKind::Taskgroup => {
                (&[Leaf::Task, Leaf::Taskloop], "directly inside a task of the group it ends")
            }
        };
        match self.around().next() {
            Some(outer) if fits.contains(&last(outer)) => {}
            Some(outer) => faults.push(messages::wrong_parent(self.region, outer, needed)),
            None => faults.push(messages::outside(self.region, needed)),
        }
    }

    fn scan(&self, faults: &mut Diagnostics) {
        let needed = "in a loop with a scan reduction";
        match self.around().next() {
            Some(outer) if scans(outer).is_some() => {}
            Some(outer) => faults.push(messages::wrong_parent(self.region, outer, needed)),
            None => faults.push(messages::outside(self.region, needed)),
        }
    }

    /// A scan reduction whose loop is never divided, or not where it can be.
    fn scan_missing(&self, faults: &mut Diagnostics) {
        let (Some(clause), Some(_)) = (scans(self.region), self.region.body) else { return };
        let is_scan = |it: &RegionId| self.program.regions[*it].construct.has(Leaf::Scan);
        let Some(&scan) = self.inside.iter().find(|it| is_scan(it)) else {
            faults.push(messages::no_scan(self.region, clause));
            return;
        };
        let kind = |it: StmtId| &self.program.stmts[it].kind;
        let Some(StmtKind::For(it)) = self.region.loops.last().map(|it| kind(it.stmt)) else {
            return;
        };
        let list: &[StmtId] = match kind(it.body) {
            StmtKind::Block(list) => list,
            _ => &[],
        };
        let Some(at) = list.iter().position(|it| *kind(*it) == StmtKind::Region(scan)) else {
            let needed = "among the statements of the loop's body";
            let scan = &self.program.regions[scan];
            faults.push(messages::wrong_parent(scan, self.region, needed));
            return;
        };
        let (before, after) = list.split_at(at);
        self.across_scan(scan, before, after, faults);
    }

    /// The phases of a scan do not run one right after the other, so what one declares is unknown to the other.
    fn across_scan(
        &self,
        scan: RegionId,
        before: &[StmtId],
        after: &[StmtId],
        faults: &mut Diagnostics,
    ) {
        let declared: Vec<VarId> = before
            .iter()
            .filter_map(|it| match self.program.stmts[*it].kind {
                StmtKind::Local(var) => Some(var),
                _ => None,
            })
            .collect();
        for var in declared {
            let mut open: Vec<Part> = after.iter().map(|it| Part::Stmt(*it)).collect();
            let mut first: Option<Span> = None;
            while let Some(part) = open.pop() {
                if let Part::Expr(id) = part
                    && self.program.exprs[id].kind == ExprKind::Var(var)
                {
                    let span = self.program.exprs[id].span;
                    first = Some(
                        first.map_or(span, |it| if span.start < it.start { span } else { it }),
                    );
                }
                self.program.parts(part, &mut |it| open.push(it));
            }
            if let Some(span) = first {
                let scan = &self.program.regions[scan];
                faults.push(messages::across_scan(self.program, scan, var, span));
            }
        }
    }

    /// A loop that belongs to whoever runs it needs somebody.
    fn descriptive_loop(&self, faults: &mut Diagnostics) {
        let region = self.region;
        if region.construct.rules.plain_nests {
            let is_run =
                |it: &Region| it.construct.has(Leaf::Offload) || it.construct.has(Leaf::Kernels);
            if !self.is_for_devices(region.function) && !self.around().any(is_run) {
                faults.push(messages::loop_nowhere(region));
            }
        } else if self.around().next().is_none()
            && !region.construct.kinds().any(|it| matches!(it, ClauseKind::Bind(_)))
        {
            let needed = "inside a region that runs it, and does not say to which level it belongs";
            faults.push(messages::outside(region, needed));
        }
    }

    /// Whether device code calls the function, as far as is known.
    fn is_for_devices(&self, function: FunctionId) -> bool {
        self.device_functions.any || self.device_functions.reached.contains(&function)
    }

    /// Offloading from device code.
    fn device_code(&self, faults: &mut Diagnostics) {
        let is_device = matches!(
            first(self.region),
            Leaf::Offload
                | Leaf::Kernels
                | Leaf::DataRegion
                | Leaf::EnterData
                | Leaf::ExitData
                | Leaf::Update
        );
        if !is_device {
            return;
        }
        let is_run =
            |it: &&Region| it.construct.has(Leaf::Offload) || it.construct.has(Leaf::Kernels);
        let Some(outer) = self.around().find(is_run) else { return };
        if self.region.construct.goes_back() || outer.construct.goes_back() {
            return;
        }
        let computes = matches!(first(self.region), Leaf::Offload | Leaf::Kernels);
        if computes && outer.construct.rules.yields_to_data_region {
            let why = "compute regions do not nest";
            faults.push(messages::inside(self.region, outer, why));
        } else {
            faults.push(messages::device_in_device(self.region, outer));
        }
    }
}

/// The clause that asks for a scan.
fn scans(region: &Region) -> Option<source::Span> {
    region.construct.clauses.iter().find_map(|it| match &it.kind {
        ClauseKind::Reduction(of) if of.modifier == Some(ReductionModifier::Inscan) => {
            Some(it.span)
        }
        _ => None,
    })
}

/// A device region that holds teams holds nothing else.
fn beside_teams(
    program: &Program,
    inside: &FxHashMap<RegionId, Vec<RegionId>>,
    faults: &mut Diagnostics,
) {
    // What stands first beside the teams of each device region, if anything.
    let mut found: FxHashMap<RegionId, Option<&Region>> = FxHashMap::default();
    for (_, teams) in program.regions.iter().filter(|it| first(it.1) == Leaf::Teams) {
        let Some(target) = teams.parent else { continue };
        if program.regions[target].construct.leaves != [Leaf::Offload] {
            continue;
        }
        let beside = found.entry(target).or_insert_with(|| {
            inside.get(&target)?.iter().map(|&it| &program.regions[it]).find(|it| {
                first(it) != Leaf::Teams
                    && !it.construct.leaves.iter().all(|&it| loops::is_transparent(it))
            })
        });
        if let Some(other) = beside {
            faults.push(messages::beside_teams(teams, other, &program.regions[target]));
        }
    }
}
