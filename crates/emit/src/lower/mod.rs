//! From a checked program to what compilers get: the host's text with regions replaced by calls,
//! and kernels.
//!
//! In: a program without errors, the preprocessed text it came from. Out: [`Lowered`]. Host text is
//! edited: bytes outside the directives that the host's compiler cannot do leave as they came.
//! Those directives become calls of the offload ABI ([`stub`], [`entries`]), their bodies become
//! kernels ([`kernel`]) that stand at the end of the same text, where the file's own functions and
//! variables are seen; what remains inside is left to the host's compiler ([`nested`]).

mod allocators;
mod atomics;
mod bound;
mod chosen;
mod clauses;
mod cluster;
mod coexecute;
mod control;
mod copies;
#[allow(clippy::wildcard_enum_match_arm, reason = "a rule names the clauses it is about")]
mod cores;
mod criticals;
mod data;
mod deepen;
mod device;
mod dispatch;
mod entries;
mod fallback;
mod fission;
mod foreign;
mod frame;
mod grid;
mod group;
mod handed_back;
mod hints;
mod in_order;
mod indirect;
mod kernel;
mod kinds;
mod known;
mod lanes;
mod library;
mod location;
mod loops;
mod mapper;
mod mentions;
mod nested;
mod nests;
mod offload;
mod parts;
mod place;
mod queue;
mod room;
mod scans;
mod scope;
mod sections;
mod standalone;
mod storage;
mod stub;
mod sums;
mod task_sums;
mod team_sizes;
mod teams;
mod thread;
mod trips;
mod unknown;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;

use ir::construct::{Construct, Leaf};
use ir::program::{
    ExprId, ExprKind, FunctionId, Program, RegionId, StmtId, StmtKind, Typed, VarId,
};
use ir::types::Ty;
use ir::walk::Part;
use opt::decisions::{Decision, Decisions};
use opt::dependence::Analysis;
use opt::profile::{Profile, Profiles};
use rustc_hash::{FxHashMap, FxHashSet};
use source::{Diagnostic, Diagnostics, EditError, Edits, FileId, Locator, SourceMap, Span};

use crate::c::{Grid, Hook, Out, Place, Printer, Setting};
use ::levels::{self, mapping, reshape};
pub use cores::is_optimized;
use fallback::Stays;
use frame::Row;
pub use grid::{Given, Pipeline, Pipelines, no_hardware};
pub(crate) use grid::{bug, groups};
use kinds::{Kind, is_for_host_compiler, is_taken_out, kind};
pub use levels::{About, Note};
use mapper::Mappers;
pub use standalone::{Standalone, host_file, host_header, kernel_ending};

/// What a program becomes.
#[derive(Debug)]
pub struct Lowered {
    /// Text for the host's compiler; none if it can have the text that came in.
    pub host: Option<Vec<u8>>,
    /// Text for devices that do not see the host's memory, if it was asked for and is not empty.
    pub device: Option<String>,
    /// The same in pieces, for a program that stands alone, if that was asked for.
    pub standalone: Option<Standalone>,
    /// Text for a cluster with a scratchpad, if that was asked for and is not empty.
    pub cluster: Option<String>,
    /// Texts for devices made of a grid of threads, likewise.
    pub grids: Vec<(Grid, String)>,
    /// Kernels as pipelines, for those who make hardware of them, if that was asked for and there are some.
    pub pipelines: Option<Pipelines>,
    /// What became of each region that was to leave the host.
    pub verdicts: Vec<Verdict>,
    /// Who runs the loops of those regions, where that was ours to choose.
    pub notes: Vec<Note>,
    /// The mapping of each nest by its name, if decisions were asked for.
    pub decisions: Vec<(String, Decision)>,
    /// What could not be done.
    pub diagnostics: Diagnostics,
}

/// What became of one region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The directive.
    pub directive: String,
    /// Where it stands.
    pub span: Span,
    /// The function around it.
    pub function: String,
    /// The kernel it became.
    pub kernel: String,
}

/// What lowering must know beside the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The device's text is asked for too.
    pub wants_device: bool,
    /// And one for a cluster, whose loops bring their arrays into its scratchpad.
    pub wants_cluster: bool,
    /// The device's text is for the cluster too: what that lacks is an error.
    pub is_for_cluster: bool,
    /// It is for other machines too: what means something else there is an error.
    pub is_for_others: bool,
    /// And texts for grids.
    pub grids: Vec<Grid>,
    /// There must be one for OpenCL 1.2: what that lacks is an error. Otherwise the text says it.
    pub needs_opencl_12: bool,
    /// The texts are for people and for a program that does without our runtime.
    pub standalone: bool,
    /// The texts for these grids are pipelines for such an FPGA: one thread runs each.
    pub fabrics: Vec<(Grid, opt::passes::Fabrics)>,
    /// Kernels are asked for as pipelines for such an FPGA.
    pub hardware: Option<opt::passes::Fabrics>,
    /// A product and a sum are rounded each: no text may make one operation of them.
    pub rounds_each: bool,
    /// Sums of floating-point numbers may be added in another order though no clause says so.
    pub reassociates: bool,
    /// How far directives are believed that say that iterations are independent.
    pub trust: opt::marks::Trust,
}

/// What the choice of mappings rests on besides the program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chosen<'a> {
    /// Decisions of an earlier build, if they are kept.
    pub decisions: Option<&'a Decisions>,
    /// The numbers of the device, if they are not those of the cores that are known.
    pub profile: Option<&'a Profile>,
}

/// The device that kernels are made for.
const PROFILE: &str = "cpu";

/// What is like all grids of threads.
const GRID_PROFILE: &str = "gpu";

/// Lowers `program`, which was read from the preprocessed text `file`.
pub fn lower(
    program: &Program,
    map: &SourceMap,
    file: FileId,
    locator: &Locator<'_>,
    options: Options,
) -> Lowered {
    lower_with(program, map, file, locator, options, Chosen::default())
}

/// The same with decisions of an earlier build, and decisions asked for, or for another device.
pub fn lower_with(
    program: &Program,
    map: &SourceMap,
    file: FileId,
    locator: &Locator<'_>,
    options: Options,
    chosen: Chosen<'_>,
) -> Lowered {
    let Chosen { decisions, profile } = chosen;
    let reassociates = options.reassociates;
    let marks = opt::marks::Options {
        reassociates,
        trust: options.trust,
        ..opt::marks::Options::default()
    };
    let has_groups = !options.grids.is_empty();
    let fissioned = has_groups.then(|| fission::split(program)).flatten();
    let program = fissioned.as_ref().unwrap_or(program);
    let parted = coexecute::split(program, locator, options.standalone);
    let program = parted.as_ref().map_or(program, |it| &it.program);
    let held = in_order::hold(program, &marks);
    let written = held.as_ref().map_or(program, |it| &it.program);
    let known = Profiles::built_in().get(PROFILE);
    let mapping = profile.or(known.as_ref().ok()).map(|profile| mapping::Mapping {
        profile,
        marks: marks.clone(),
        decisions,
        locator,
        text: (map.bytes(file), map.base(file)),
        blocked: None,
    });
    let is_foreign = |it: &ir::region::Region| it.construct.dialect != directive::HOST_DIALECT;
    let has_foreign = program.regions.iter().any(|it| is_foreign(it.1));
    // The levels of loops, and who is called: on devices functions may stand for others.
    let prepared = |program: &Program, leaves: bool, mapping: Option<&mapping::Mapping<'_>>| {
        let named = mapping.filter(|_| has_foreign).map(|it| reshape::name_levels(program, it));
        let shaped = named.as_ref().map_or(program, |it| &it.program);
        let without_lanes = named.as_ref().map(|it| it.without_lanes.clone()).unwrap_or_default();
        let mut leveled =
            levels::assign(shaped, reassociates, options.trust, mapping, &without_lanes);
        leveled = criticals::combine(shaped, leveled);
        if leaves {
            leveled = bound::rename(shaped, leveled);
        }
        let within = named.as_ref().map(|it| it.within.clone()).unwrap_or_default();
        if let Some(leveled) = &mut leveled {
            leveled.share_inside(&within);
        }
        if let Some(mapping) = mapping {
            leveled = nests::remap(shaped, leveled, mapping);
        }
        leveled = team_sizes::drop_unobserved(shaped, leveled, locator);
        leveled = team_sizes::deal_in_chunks(shaped, leveled, locator);
        leveled = lanes::without_moved_sums(shaped, leveled);
        leveled = scans::known(shaped, leveled);
        leveled = atomics::embraced(shaped, leveled);
        leveled = atomics::in_any_order(shaped, leveled);
        leveled = sections::embraced(shaped, leveled);
        (named, leveled)
    };
    let (mut named, mut leveled) = prepared(written, true, mapping.as_ref());
    // Blocks keep what a nest reads again in caches too, and in registers.
    let is_for_cores = !options.is_for_cluster && !options.wants_cluster;
    if leveled.as_ref().is_some_and(|it| it.shares_inside) && !options.standalone && is_for_cores {
        let all: FxHashSet<RegionId> = written.regions.iter().map(|it| it.0).collect();
        let with = |blocked| mapping.clone().map(|it| mapping::Mapping { blocked, ..it });
        let tried = prepared(written, true, with(Some(&all)).as_ref()).1;
        let tried = tried.as_ref().map_or(written, |it| &it.program);
        let made = cores::block(written, tried, map.bytes(file), &marks);
        let blocked: FxHashSet<RegionId> = made.into_iter().flat_map(|it| it.changed).collect();
        if !blocked.is_empty() {
            (named, leveled) = prepared(written, true, with(Some(&blocked)).as_ref());
        }
    }
    let has_grids = !options.grids.is_empty() || options.hardware.is_some();
    let for_grids = mapping
        .as_ref()
        .filter(|_| has_grids)
        .and_then(|it| for_grids(written, has_foreign, options.trust, it));
    let program = leveled.as_ref().map_or(written, |it| &it.program);
    let mut changed = all_changed(leveled.as_ref(), held.as_ref());
    // Text for people stays as they wrote it.
    let blocked = (!options.standalone)
        .then(|| cores::block(written, program, map.bytes(file), &marks))
        .flatten();
    changed.extend(blocked.iter().flat_map(|it| it.changed.iter().copied()));
    let for_cores = blocked.as_ref().map_or(program, |it| &it.program);
    let place = |span: Span| {
        let at = locator.locate(span)?;
        Some((at.file.to_string(), at.line))
    };
    let grid_program = for_grids.as_ref().map_or(written, |it| &it.program);
    let grid_changed = all_changed(for_grids.as_ref(), held.as_ref());
    let regions = grid_program.regions.iter();
    let league = regions.filter(|it| it.1.construct.has(Leaf::Teams)).map(|it| it.0).collect();
    let bound = bound::regions(written);
    let chosen_otherwise = written.fallback.as_deref();
    let differing = chosen_otherwise.map(|it| it.regions.clone()).unwrap_or_default();
    let differing: Vec<Span> = differing.into_iter().chain(bound).collect();
    let staying = chosen_otherwise.map_or(written, |it| &it.program);
    let stays_held = chosen_otherwise.and_then(|it| in_order::hold(&it.program, &marks));
    let staying = stays_held.as_ref().map_or(staying, |it| &it.program);
    let stays_leveled =
        (!differing.is_empty()).then(|| prepared(staying, false, mapping.as_ref()).1).flatten();
    let stays_changed = all_changed(stays_leveled.as_ref(), stays_held.as_ref());
    let stays = Stays {
        program: stays_leveled.as_ref().map_or(staying, |it| &it.program),
        written: staying,
        changed: &stays_changed,
        regions: differing,
    };
    let wants_device = options.wants_device || options.wants_cluster;
    // A cluster brings arrays of the loops that were written into its scratchpad.
    let for_device = if is_for_cores { for_cores } else { program };
    let away = wants_device.then(|| fallback::answered(for_device, false)).flatten();
    let away = away.as_ref().unwrap_or(for_device);
    let away_library = options.is_for_cluster.then(|| library::with_quotients(away)).flatten();
    let away = away_library.as_ref().unwrap_or(away);
    let grid_away = has_grids.then(|| fallback::answered(grid_program, false));
    let grid_away = grid_away.flatten();
    let grid_program = grid_away.as_ref().unwrap_or(grid_program);
    let grid_aligned = has_grids.then(|| storage::aligned(grid_program)).flatten();
    let grid_program = grid_aligned.as_ref().unwrap_or(grid_program);
    let grid_moved = has_grids.then(|| grid::statics::moved_out(grid_program)).flatten();
    let grid_program = grid_moved.as_ref().unwrap_or(grid_program);
    let grid_library = has_grids.then(|| library::with_quotients(grid_program)).flatten();
    let grid_program = grid_library.as_ref().unwrap_or(grid_program);
    let has_kernels = !options.grids.is_empty();
    let grid_ending = has_kernels.then(|| library::with_ends(grid_program)).flatten();
    let grid_program = grid_ending.as_ref().unwrap_or(grid_program);
    let grid_stubbed = has_grids.then(|| handed_back::stubbed(grid_program)).flatten();
    let grid_program = grid_stubbed.as_ref().unwrap_or(grid_program);
    let has_groups = options.grids.iter().any(|it| it.is_cpp());
    let deeper = has_groups.then(|| deepen::nests(written, grid_program, &marks));
    let deeper = deeper.unwrap_or_default();
    // Without the runtime the text of the host runs there only.
    let here = options.standalone.then(|| fallback::answered(program, true)).flatten();
    let here = here.as_ref().unwrap_or(for_cores);
    let lowering = |is_device, grid: Option<Grid>| Lowering {
        program: match is_device {
            _ if grid.is_some() => grid_program,
            true => away,
            false => here,
        },
        stays: (!is_device).then_some(&stays),
        written,
        parted: parted.as_ref(),
        changed: if grid.is_some() { &grid_changed } else { &changed },
        locator,
        place: &place,
        unit: fingerprint(map.bytes(file)),
        mappers: Mappers::new(program),
        // A grid has one kind of memory for its threads.
        moved: match grid {
            Some(_) => FxHashMap::default(),
            None => storage::moved(program, is_device),
        },
        apart: storage::apart(program),
        is_device,
        standalone: options.standalone,
        rounds_each: options.rounds_each,
        text: (map.bytes(file), map.base(file)),
        grid,
        near: None,
        league: &league,
        deeper: &deeper,
        spmd: None,
        shared: FxHashMap::default(),
        state: RefCell::default(),
    };
    let shared = options.grids.first().map(|it| lowering(true, Some(*it)).shared_by_all());
    let host = Lowering { shared: shared.unwrap_or_default(), ..lowering(false, None) };
    let mut edits = Edits::new();
    let base = map.base(file);
    let text = map.bytes(file);
    host.refuse_extensions();
    host.refuse_literals();
    let made = host.unit(text, base, &mut edits).and_then(|()| edits.apply(text));
    let frame = host.standalone.then(|| host.standalone_frame());
    let state = host.state.into_inner();
    let mut diagnostics = state.faults;
    diagnostics.append(parted.as_ref().map(|it| it.told.clone()).unwrap_or_default());
    diagnostics.append(held.as_ref().map(|it| it.faults.clone()).unwrap_or_default());
    diagnostics.append(leveled.as_ref().map(|it| it.faults.clone()).unwrap_or_default());
    diagnostics.append(named.as_ref().map(|it| it.faults.clone()).unwrap_or_default());
    diagnostics.append(blocked.as_ref().map(|it| it.bugs.clone()).unwrap_or_default());
    let mut device = None;
    // Faults of the host's text would be found a second time.
    if options.wants_device && diagnostics.errors() == 0 {
        let lowering = lowering(true, None);
        device = lowering.device_unit(&state.kernels);
        diagnostics.append(lowering.state.into_inner().faults);
    }
    if (options.is_for_cluster || options.is_for_others) && diagnostics.errors() == 0 {
        // What the host runs devices need not have.
        let stubbed = handed_back::stubbed(away);
        let program = stubbed.as_ref().unwrap_or(away);
        let lowering = Lowering { program, ..lowering(true, None) };
        if options.is_for_cluster {
            lowering.check_cluster(&state.kernels);
        }
        if options.is_for_others {
            lowering.check_foreign(&state.kernels);
        }
        diagnostics.append(lowering.state.into_inner().faults);
    }
    let (mut cluster, mut near_notes) = (None, Vec::new());
    if options.wants_cluster && diagnostics.errors() == 0 {
        let analysis = Analysis::new(program);
        let lowering = Lowering { near: Some(&analysis), ..lowering(true, None) };
        cluster = lowering.device_unit(&state.kernels);
        let state = lowering.state.into_inner();
        diagnostics.append(state.faults);
        near_notes = state.notes;
    }
    let (mut grids, mut grid_notes) = (Vec::new(), Vec::new());
    let goes_back = |it: &&device::Kernel| grid_program.regions[it.region].construct.goes_back();
    let back: Vec<device::Kernel> = state.kernels.iter().filter(goes_back).cloned().collect();
    let stays = |it: &&device::Kernel| !goes_back(it);
    let launched: Vec<device::Kernel> = state.kernels.iter().filter(stays).cloned().collect();
    for grid in options.grids.iter().copied() {
        if diagnostics.errors() != 0 {
            break;
        }
        let fabric = options.fabrics.iter().find(|it| it.0 == grid).map(|it| &it.1);
        let kernels = match fabric {
            None => lowering(true, Some(grid)).kernels(grid, &launched),
            Some(fabric) => {
                let (program, said) = lowering(true, Some(grid)).pipelined(&launched, fabric);
                diagnostics.append(said);
                let lowering = Lowering { program: &program, ..lowering(true, Some(grid)) };
                lowering.kernels(grid, &launched)
            }
        };
        diagnostics.append(kernels.bugs.clone());
        let (program, spmd) = (&kernels.program, Some(&kernels));
        let lowering = Lowering { program, spmd, ..lowering(true, Some(grid)) };
        lowering.state.borrow_mut().back.clone_from(&back);
        let made = lowering.grid_unit(grid, &launched);
        let made = made.map(|it| if options.standalone { standalone::readable(&it) } else { it });
        if grid == Grid::OpenCl12 && !options.needs_opencl_12 {
            // Devices that need this text are few: what it lacks is told there.
            let faults = lowering.state.into_inner().faults;
            let lacks = faults.iter().next().map(|it| lacking(it, locator));
            grids.extend(made.map(|it| (grid, lacks.unwrap_or(it))));
            continue;
        }
        grids.extend(made.map(|it| (grid, it)));
        if grid != Grid::OpenCl12 {
            grid_notes.extend(lowering.kernels_told(grid, &launched));
        }
        diagnostics.append(lowering.state.into_inner().faults);
    }
    let mut pipelines = None;
    if let Some(fabric) = options.hardware.as_ref().filter(|_| diagnostics.errors() == 0) {
        let grid = Some(Grid::OpenCl12);
        let made = lowering(true, grid).pipelines(&launched, &back, fabric);
        diagnostics.append(made.1);
        pipelines = made.0;
    }
    let standalone = frame.map(|frame| Standalone::new(frame, &edits));
    let host = match made {
        Ok(_) if edits.is_empty() => None,
        Ok(host) => Some(host),
        Err(error) => {
            diagnostics
                .push(Diagnostic::error("F0701", format!("the text cannot be changed: {error}")));
            None
        }
    };
    if !options.fabrics.is_empty() || options.hardware.is_some() {
        diagnostics = without_taken(diagnostics, written);
    }
    let decisions = mapping.map(|it| it.decided(written, program)).unwrap_or_default();
    let mut notes = leveled.map(|it| it.notes).unwrap_or_default();
    notes.extend(named.map(|it| it.notes).unwrap_or_default());
    notes.extend(blocked.map(|it| it.notes).unwrap_or_default());
    notes.extend(grid_notes);
    notes.extend(near_notes);
    let verdicts = state.verdicts;
    Lowered {
        host,
        device,
        cluster,
        standalone,
        grids,
        pipelines,
        verdicts,
        notes,
        decisions,
        diagnostics,
    }
}

/// Without what is said of advice for FPGAs, which is taken there.
fn without_taken(said: Diagnostics, program: &Program) -> Diagnostics {
    let advice = program.regions.iter().filter(|it| it.1.construct.has(Leaf::Resources));
    let advice: Vec<Span> = advice.map(|it| it.1.construct.span).collect();
    let mut kept = Diagnostics::new();
    for it in &said {
        let span = it.primary.as_ref().map(|it| it.span);
        if it.code != ::levels::ADVICE || !span.is_some_and(|it| advice.contains(&it)) {
            kept.push(it.clone());
        }
    }
    kept
}

/// Regions that say something else than their text, by what was done to the program first and later.
fn all_changed(
    leveled: Option<&levels::Leveled>,
    held: Option<&levels::Leveled>,
) -> FxHashSet<RegionId> {
    let both = leveled.into_iter().chain(held);
    both.flat_map(|it| it.changed.iter().copied()).collect()
}

/// A text that says why there is none.
fn lacking(fault: &Diagnostic, locator: &Locator<'_>) -> String {
    let place = fault.primary.as_ref().and_then(|it| locator.locate(it.span));
    let place = place.map(|it| format!("{}:{}: ", it.file, it.line)).unwrap_or_default();
    let [word, lacks] = [abi::image::OPENCL_12, abi::image::OPENCL_12_LACKS];
    format!("{word}{lacks}{place}{}\n", fault.message)
}

/// The program with levels for grids, which have threads in their teams.
fn for_grids(
    program: &Program,
    has_foreign: bool,
    trust: opt::marks::Trust,
    mapping: &mapping::Mapping<'_>,
) -> Option<levels::Leveled> {
    let profile = Profiles::built_in().get(GRID_PROFILE).ok()?;
    let marks = mapping.marks.clone();
    let mapping = mapping::Mapping { profile: &profile, decisions: None, marks, ..*mapping };
    let named = has_foreign.then(|| reshape::name_levels(program, &mapping));
    let shaped = named.as_ref().map_or(program, |it| &it.program);
    let without_lanes = named.as_ref().map(|it| it.without_lanes.clone()).unwrap_or_default();
    let leveled = levels::assign_grid(shaped, trust, &without_lanes);
    bound::rename(shaped, criticals::combine(shaped, leveled))
}

/// The program whose regions become kernels of a grid: loops have levels, and choices are made as on a device.
pub(crate) fn grid_program(
    program: &Program,
    map: &SourceMap,
    file: FileId,
    locator: &Locator<'_>,
) -> Program {
    let marks = opt::marks::Options::default();
    let held = in_order::hold(program, &marks);
    let written = held.as_ref().map_or(program, |it| &it.program);
    let profile = Profiles::built_in().get(PROFILE);
    let text = (map.bytes(file), map.base(file));
    let mapping = profile.as_ref().ok().map(|profile| mapping::Mapping {
        profile,
        marks: marks.clone(),
        decisions: None,
        locator,
        text,
        blocked: None,
    });
    let is_foreign = |it: &ir::region::Region| it.construct.dialect != directive::HOST_DIALECT;
    let has_foreign = program.regions.iter().any(|it| is_foreign(it.1));
    let leveled = mapping.and_then(|it| for_grids(written, has_foreign, marks.trust, &it));
    let leveled = leveled.as_ref().map_or(written, |it| &it.program);
    fallback::answered(leveled, false).unwrap_or_else(|| leveled.clone())
}

/// A number that tells this text from others, for names.
fn fingerprint(text: &[u8]) -> u64 {
    // FNV-1a: short, and the same everywhere.
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// What is known while a unit is lowered.
struct Lowering<'p> {
    program: &'p Program,
    /// The program before levels were given to its loops.
    written: &'p Program,
    /// Regions whose loops may be run in parts.
    parted: Option<&'p coexecute::Parted>,
    /// Regions that say something else than their text.
    changed: &'p FxHashSet<RegionId>,
    locator: &'p Locator<'p>,
    place: &'p Place<'p>,
    unit: u64,
    mappers: Mappers,
    /// Regions whose iterations all threads of a grid share, and of how many loops.
    shared: FxHashMap<RegionId, trips::Nest>,
    /// Variables that live elsewhere than where they are declared.
    moved: FxHashMap<VarId, String>,
    /// Variables that may have storage of their own on devices that share the host's memory.
    apart: FxHashSet<VarId>,
    /// The device's text is made, not the host's.
    is_device: bool,
    /// It is part of a program that does without our runtime, and for people to read.
    standalone: bool,
    /// No text may make one operation of a product and a sum.
    rounds_each: bool,
    /// The preprocessed text, and where it begins.
    text: (&'p [u8], u32),
    /// It is made for a grid of threads, in this language.
    grid: Option<Grid>,
    /// Regions that teams of a grid run.
    league: &'p FxHashSet<RegionId>,
    /// Loops that threads of a grid share too, as there is something to gain.
    deeper: &'p deepen::Deeper,
    /// Kernels that went through the kernel form.
    spmd: Option<&'p grid::Kernels>,
    /// What is known of loops, if arrays are brought into the scratchpad of a cluster.
    near: Option<&'p Analysis<'p>>,
    /// The program as the host runs it, in the host's text.
    stays: Option<&'p Stays<'p>>,
    state: RefCell<State>,
}

/// What has been made so far.
#[derive(Default)]
struct State {
    /// Kernels and mappers, to stand at the end.
    functions: Vec<String>,
    /// Their declarations, to stand at the beginning.
    declarations: Vec<String>,
    rows: Vec<Row>,
    /// The text calls the runtime.
    is_framed: bool,
    kernels: Vec<device::Kernel>,
    /// Regions that kernels hand back to the host.
    back: Vec<device::Kernel>,
    verdicts: Vec<Verdict>,
    faults: Diagnostics,
    /// Which arrays are brought into a scratchpad.
    notes: Vec<Note>,
    /// Variables that a text for grids has found a place for.
    placed: Vec<grid::Placed>,
    /// A text for grids hands out memory.
    has_heap: bool,
    /// How many threads the kernel that is printed wants for how many iterations, and from how many on.
    spread: Option<[usize; 3]>,
    /// How many registers its threads are to have, if few of its blocks at a time keep a unit of the device busy.
    registers: Option<u64>,
    /// So many sums of the kernel that is printed are left in parts, for the last group to combine.
    parts: usize,
    /// Variables that are on the stack of a thread in the memory of the device, and where on it.
    lent: FxHashMap<VarId, grid::StackPlace>,
    /// Variables of the file that pointers lead to, in a language whose pointers lead to one memory only.
    pointed_vars: FxHashSet<VarId>,
    /// Computed lengths that have names, and the variables in whose types they are; whether there are such arrays; how
    /// many copies of them there are.
    lengths: Vec<(VarId, ExprId)>,
    has_arrays: bool,
    array_copies: FxHashMap<VarId, u32>,
    /// Types of functions that are called through pointers, and functions that pointers lead to.
    called_types: Vec<Ty>,
    pointed: Vec<FunctionId>,
    /// Compound literals that have room of their own.
    literals: Vec<VarId>,
    /// Strings that pointers lead to, where those must be variables.
    strings: Vec<ExprId>,
    /// How much of that stack is taken.
    stack: u64,
    /// What a text for grids uses that is defined in other files.
    uses: BTreeSet<String>,
    /// The last number given to a name.
    fresh: u32,
}

impl Lowering<'_> {
    fn printer(&self, setting: Setting) -> Printer<'_> {
        let mut printer = Printer::new(self.program, setting).with_hook(self);
        if let Some(grid) = self.grid {
            printer = printer.for_grid(grid);
        }
        self.moved.iter().for_each(|(var, text)| printer.substitute(*var, text.clone()));
        if self.is_device {
            self.use_pointers(&mut printer);
        }
        if self.is_device && self.grid.is_none() {
            printer = printer.for_machines();
            printer.name_enumerations(&[directive::EVENT_TYPE.0]);
        }
        if self.grid.is_some() {
            self.use_places(&mut printer);
            self.use_stack(&mut printer);
            self.use_rounded(&mut printer);
            self.use_literals(&mut printer);
            self.use_lengths(&mut printer);
            self.use_function_names(&mut printer);
        }
        printer
    }

    /// All edits of the unit.
    fn unit(&self, text: &[u8], base: u32, edits: &mut Edits) -> Result<(), EditError> {
        let printer = self.printer(Setting::InPlace);
        for (_, function) in self.program.functions.iter() {
            if let Some(body) = function.body {
                self.statements(&printer, body, text, base, edits)?;
            }
        }
        self.rewrites(&printer, text, base, edits);
        for declaration in &self.program.declarations {
            if let Some(stored) = self.stored(&printer, declaration) {
                // As below.
                let _ = edits.replace(lines(text, base, declaration.construct.span), stored);
                continue;
            }
            if let Some(scope) = self.scope_data(&printer, declaration) {
                let range = lines(text, base, declaration.construct.span);
                let scope = scope + &self.marker(base, range.end);
                // As below.
                let _ = edits.replace(range, scope);
                continue;
            }
            if is_for_host_compiler(&declaration.construct) {
                continue;
            }
            if let Some(older) = clauses::older(&declaration.construct) {
                let pragma = self.pragma(&printer.spelled(&older)).unwrap_or_default();
                // As below.
                let _ = edits.replace(lines(text, base, older.span), pragma);
                continue;
            }
            if !is_taken_out(&declaration.construct) {
                self.not_lowered(&declaration.construct);
                continue;
            }
            let marks = [Some(declaration.construct.span), declaration.ended];
            for range in marks.into_iter().flatten().map(|it| lines(text, base, it)) {
                // One directive may be recorded for each thing it names, or stand in a body that
                // was replaced.
                let _ = edits.delete(range);
            }
        }
        if !self.standalone {
            self.mapper_functions();
        }
        self.requirements();
        if self.standalone {
            return Ok(());
        }
        let state = self.state.borrow();
        if state.rows.is_empty() && state.declarations.is_empty() && !state.is_framed {
            return Ok(());
        }
        edits.insert(0, frame::before() + &state.declarations.concat())?;
        let mut tail = String::from("\n# 1 \"<ferry>\" 3\n");
        state.functions.iter().for_each(|it| tail.push_str(it));
        tail.push_str("# 1 \"<ferry>\" 3\n");
        tail.push_str(&frame::rows(&state.rows));
        if !state.rows.is_empty() {
            tail.push_str(&frame::registration());
        }
        edits.insert(text.len(), tail)
    }

    /// Edits in and below a statement.
    fn statements(
        &self,
        printer: &Printer<'_>,
        stmt: StmtId,
        text: &[u8],
        base: u32,
        edits: &mut Edits,
    ) -> Result<(), EditError> {
        let mut open = vec![Part::Stmt(stmt)];
        while let Some(part) = open.pop() {
            if let Part::Stmt(id) = part
                && let StmtKind::Region(region) = self.program.stmts[id].kind
                && !self.is_left_alone(region)
            {
                let whole = self.program.stmts[id].span;
                let start = beginning(text, base, self.program.regions[region].construct.span);
                let body = self.program.regions[region].body;
                if let Some((before, after)) = self.data_around(printer, region)
                    && let Some(body) = body
                {
                    let before = before + &self.marker(base, start.end);
                    edits.replace(start, before)?;
                    self.statements(printer, body, text, base, edits)?;
                    let end = offset(base, whole.end);
                    edits.insert(end, format!("\n{after}{}", self.marker(base, end)))?;
                    continue;
                }
                let end = match body {
                    Some(_) => offset(base, whole.end).max(start.end),
                    None => start.end,
                };
                let mut out = Out::placed(self.place);
                self.region(printer, region, &mut out);
                let mut made = out.into_text();
                if text.get(..start.start).and_then(<[u8]>::last).is_some_and(|it| *it != b'\n') {
                    made.insert(0, '\n');
                }
                made.push_str(&self.marker(base, end));
                edits.replace(start.start..end, made)?;
                continue;
            }
            if let Part::Stmt(id) = part
                && let StmtKind::Region(region) = self.program.stmts[id].kind
            {
                self.without_hints(region, text, base, edits);
            }
            if let Part::Expr(id) = part
                && let ExprKind::Var(var) = self.program.exprs[id].kind
                && let Some(moved) = self.moved.get(&var)
            {
                let span = self.program.exprs[id].span;
                // An expression that is met twice has been changed.
                let _ =
                    edits.replace(offset(base, span.start)..offset(base, span.end), moved.clone());
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
        Ok(())
    }

    fn refuse(&self, span: Span, why: &directive::Unwritable) {
        let fault =
            Diagnostic::error("F0702", format!("the host's compiler cannot be given this: {why}"))
                .at(span, "here");
        self.state.borrow_mut().faults.push(fault);
    }
}

impl Lowering<'_> {
    /// Offload is never silent: what cannot be compiled is not compiled to something else.
    fn not_lowered(&self, construct: &Construct<Typed>) {
        let name = directive::directive_name(construct);
        let fault = Diagnostic::error("F0030", format!("`{name}` cannot be compiled yet"))
            .at(construct.span, "this directive is not known to the host's compiler")
            .help("`ferry explain` tells what it does; `ferry check` finds faults in it");
        self.state.borrow_mut().faults.push(fault);
    }
}

impl Hook for Lowering<'_> {
    fn region(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        if self.grid.is_some() {
            return self.on_grid(printer, id, out);
        }
        let construct = &self.program.regions[id].construct;
        match kind(construct) {
            Kind::Offload if self.is_device && construct.goes_back() => {
                self.ask_host(printer, id, out);
            }
            Kind::Offload | Kind::DataRegion | Kind::DataCall if self.is_device => {
                self.on_device(printer, id, out);
            }
            Kind::Offload => self.offload(printer, id, out),
            Kind::DataRegion => self.data_region(printer, id, out),
            Kind::DataCall => self.data_call(printer, id, out),
            Kind::Choice => self.choice(printer, id, out),
            Kind::Dispatch => self.dispatch(printer, id, out),
            Kind::Host if self.in_thread(printer, id, out) => {}
            Kind::Host if self.unknown(printer, id, out) => {}
            Kind::Host => {
                let leaves = construct.leaves.clone();
                if !self.is_atomic_of_team(id) {
                    return self.construct(printer, id, &leaves, out);
                }
                self.atomic_of_team(printer, id, out);
            }
        }
    }

    fn local(&self, printer: &Printer<'_>, var: VarId, out: &mut Out<'_>) -> bool {
        self.grid.is_some()
            && (self.array_local(printer, var, out)
                || self.stack_local(printer, var, out)
                || self.rounded_local(printer, var, out))
    }

    fn begins(&self, printer: &Printer<'_>, id: FunctionId) -> Vec<String> {
        let lengths = match self.grid {
            Some(_) => self.lengths_of_parameters(printer, id),
            None => Vec::new(),
        };
        let rooms = self.array_rooms_of(id).0;
        [self.stack_parameters(id), lengths, self.literal_rooms_of(id), rooms].concat()
    }

    fn ends(&self, id: FunctionId) -> Vec<String> {
        self.array_rooms_of(id).1
    }

    fn before_functions(&self, printer: &Printer<'_>, out: &mut Out<'_>) {
        self.put_callers(printer, out);
    }

    fn function_number(&self, id: FunctionId) -> u64 {
        self.number_of(id)
    }

    fn caller(&self, ty: Ty) -> String {
        self.caller_of(ty)
    }

    fn asks_for_functions(&self) -> bool {
        self.asks_table()
    }

    fn is_offered(&self, id: FunctionId) -> bool {
        self.links() && self.offers(id)
    }

    fn has_function(&self, name: &str) -> bool {
        self.grid.is_some_and(|it| {
            let is_known = grid::known(name) || grid::by_clock(it, name).is_some();
            is_known || directive::alone_answer(name).is_some()
        })
    }

    fn variable(
        &self,
        printer: &Printer<'_>,
        id: VarId,
        is_defined: bool,
        out: &mut Out<'_>,
    ) -> bool {
        if let Some(grid) = self.grid {
            self.grid_variable(grid, printer, id, is_defined, out);
        }
        self.grid.is_some()
    }

    fn declaration(&self, printer: &Printer<'_>, index: u32, out: &mut Out<'_>) {
        let Some(it) = self.program.declarations.get(index as usize) else { return };
        // What declarations say has been decided, or is for compilers of directives.
        if self.grid.is_some() {
            return;
        }
        if let Some(stored) = self.stored(printer, it) {
            out.line(&stored);
            return;
        }
        if let Some(scope) = self.scope_data(printer, it) {
            out.raw(&scope);
            return;
        }
        let older = clauses::older(&it.construct);
        if older.is_none() && !is_for_host_compiler(&it.construct) {
            return;
        }
        let construct = older.as_ref().unwrap_or(&it.construct);
        let is_apart = self.is_device && it.within.is_none();
        // In a text of its own it does not stand before what it speaks of.
        if is_apart && construct.has(Leaf::DeclareSimd) {
            for function in &it.functions {
                if let Some(named) = printer.named_prototype(*function, &it.params) {
                    printer.pragma(construct, out);
                    out.line(&named);
                }
            }
            return;
        }
        printer.pragma(construct, out);
        if is_apart && construct.has(Leaf::DeclareVariant) {
            it.functions.iter().for_each(|it| printer.prototype(*it, out));
        }
    }
}

/// The lines of the preprocessed text that a directive takes, as offsets.
fn lines(text: &[u8], base: u32, span: Span) -> Range<usize> {
    let (start, end) = (offset(base, span.start), offset(base, span.end));
    let before = text.get(..start).unwrap_or_default();
    let start = before.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
    let after = text.get(end..).unwrap_or_default();
    let end = end + after.iter().position(|it| *it == b'\n').unwrap_or(after.len());
    start..end.min(text.len())
}

/// What comes before the body of a region: the lines of its directive, and nothing if we have made it of a statement, which
/// shares its lines with others.
fn beginning(text: &[u8], base: u32, span: Span) -> Range<usize> {
    let whole = lines(text, base, span);
    let written = text.get(whole.clone()).unwrap_or_default().trim_ascii_start();
    let at = offset(base, span.start);
    if written.starts_with(b"#") { whole } else { at..at }
}

fn offset(base: u32, at: u32) -> usize {
    at.saturating_sub(base) as usize
}
