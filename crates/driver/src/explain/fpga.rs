//! `ferry explain --fpga`: regions as pipelines of an FPGA, loop by loop.
//!
//! What the vendor's report says after hours: intervals and what bounds them, depth, cycles, resources; and what would help.
//! All of it is modelled ([`fpga::plan`]).

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;

use fpga::Obstacle;
use fpga::channels::{Piece, Single, channels};
use fpga::device::Device;
use fpga::plan::{Kind, LoopPlan, Part, Pipeline, Plan, Recurrence, Why, passed, plan};
use fpga::search::{self, Space};
use ir::program::{Program, VarId};
use opt::marks::{Trips, TripsFrom};
use opt::passes::pipeline::run_pipelined;
use serde::Serialize;
use source::{Diagnostics, Locator, Span, render};

use super::frontier;
use super::html::Page;
use super::records::Place;
use crate::options::ExplainOptions;
use crate::profiles;
use crate::report::{self, Format, Stream};
use crate::{designs, front};

pub(super) fn run(word: &str, options: &ExplainOptions) -> Result<ExitCode, String> {
    let device = profiles::fpga(word)?;
    let given: BTreeMap<String, u64> = options.given.iter().cloned().collect();
    let output = &options.output;
    let (mut report, mut page) = (String::new(), Page::new());
    let mut failed = false;
    for path in &options.input.files {
        let unit = front::check(path, &options.input);
        let read = crate::input::written;
        let locator = Locator::new(&unit.map, &read);
        failed |= unit.diagnostics.errors() > 0;
        if !unit.diagnostics.is_empty() {
            let colour = report::colour(output, Stream::Err);
            report::show(&render::terminal(&unit.diagnostics, &locator, colour), Stream::Err)?;
        }
        let Some(program) = unit.program.as_ref().filter(|_| unit.diagnostics.errors() == 0) else {
            continue;
        };
        let Some(file) = unit.map.files().next() else { continue };
        let kernels = emit::dialect::kernels(program, &unit.map, file, &locator);
        let (pinned, mut said) = (designs::pinned(program, &kernels), Diagnostics::new());
        let told = Told { locator: &locator, device: &device };
        let mut regions = Vec::new();
        let mut program = kernels.module.program;
        let searches = options.search || options.html.is_some() && options.after.is_none();
        let outlined = searches.then(|| program.clone());
        let (mut spaces, mut pipelines) = (Vec::new(), Vec::new());
        for (region, refusal) in kernels.refused {
            let region = &program.regions[region];
            let function = program.names.text(program.functions[region.function].name).to_owned();
            regions.push(told.refused(region.construct.span, function, refusal.why, refusal.span));
        }
        for (kernel, (pins, advice)) in kernels.module.kernels.iter().zip(pinned) {
            advice.into_iter().for_each(|it| said.push(it));
            let fabric = pins.on(device.fabric());
            let function = program.regions[kernel.region].function;
            let function = program.names.text(program.functions[function].name).to_owned();
            regions.push(
                match run_pipelined(&mut program, kernel, fabric, options.after.as_deref()) {
                    Ok(single) => {
                        let found = outlined
                            .as_ref()
                            .map(|it| search::search(it, kernel, &device, &given, pins));
                        spaces.extend(found.map(|it| (regions.len(), it)));
                        pins.missing(&single.launch.notes).into_iter().for_each(|it| said.push(it));
                        let plan = plan(&program, &single, &device, &given);
                        let told = told.region(kernel.span, function, &plan, &program);
                        let notes = single.launch.notes.clone();
                        let single = Single { kernel: single, rounds: plan.rounds };
                        pipelines.push((regions.len(), single));
                        RegionRecord { notes, ..told }
                    }
                    Err(refusal) => told.refused(kernel.span, function, refusal.why, refusal.span),
                },
            );
        }
        if !said.is_empty() && options.after.is_none() {
            let colour = report::colour(output, Stream::Err);
            report::show(&render::terminal(&said, &locator, colour), Stream::Err)?;
        }
        designs(&mut regions, &spaces, &device);
        if options.after.is_none() {
            told.channels(&program, &pipelines, &mut regions);
        }
        regions.sort_by_key(|it| (it.place.line, it.place.column));
        if options.html.is_some() {
            page.push(&frontier::drawn(&path.display().to_string(), &device, &regions));
        }
        match output.format() {
            Format::Json => {
                let file = FileRecord {
                    file: path.display().to_string(),
                    device: device.name.clone(),
                    regions,
                };
                // Strings and numbers under string keys: serialising them cannot fail.
                report.push_str(&serde_json::to_string(&file).unwrap_or_default());
                report.push('\n');
            }
            Format::Text | Format::Sarif => {
                for region in &regions {
                    told.write(&mut report, region);
                }
            }
        }
    }
    if let Some(file) = &options.html {
        report::write_file(file, page.finish().as_bytes())?;
    }
    report::deliver(&report, output.output.as_deref(), Stream::Out)?;
    Ok(if failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Tells regions their designs, and which of them fit together best.
fn designs(regions: &mut [RegionRecord], spaces: &[(usize, Space)], device: &Device) {
    let all: Vec<Space> = spaces.iter().map(|it| it.1.clone()).collect();
    let chosen = search::choose(&all, device).unwrap_or_default();
    for (number, (at, space)) in spaces.iter().enumerate() {
        let Some(region) = regions.get_mut(*at) else { continue };
        region.planned = space.points.len();
        let design = |it: &search::Point| DesignRecord {
            lanes: it.lanes,
            units: it.units,
            without: it.without,
            shares: it.shares,
            notes: it.notes.clone(),
            cycles: it.cycles,
            seconds: it.seconds,
            joules: it.joules,
            share: it.share,
            bound_by_memory: it.is_memory,
            chosen: chosen.get(number).is_some_and(|that| *that == it),
        };
        region.designs = space.frontier().into_iter().map(design).collect();
    }
}

/// A design of a region that no other beats in both time and size.
#[derive(Debug, Serialize)]
pub(super) struct DesignRecord {
    pub(super) lanes: u64,
    pub(super) units: u64,
    pub(super) without: &'static [&'static str],
    /// Elements that iterations share stay in registers.
    pub(super) shares: bool,
    pub(super) notes: Vec<String>,
    pub(super) cycles: u64,
    pub(super) seconds: f64,
    pub(super) joules: f64,
    /// The largest share of any part of the device.
    pub(super) share: f64,
    pub(super) bound_by_memory: bool,
    /// It is what all regions of the file are fastest with, together.
    pub(super) chosen: bool,
}

impl DesignRecord {
    /// What it is made of.
    pub(super) fn name(&self) -> String {
        let mut name = format!("lanes {}, units {}", self.lanes, self.units);
        self.without.iter().for_each(|it| name.push_str(&format!(", without {it}")));
        if self.shares {
            name.push_str(", with windows");
        }
        name
    }

    /// What it costs.
    pub(super) fn cost(&self) -> String {
        format!(
            "{} cycles, {}, {}, {:.1} % of the device{}",
            grouped(self.cycles),
            quantity(self.seconds, "s"),
            quantity(self.joules, "J"),
            self.share * 100.0,
            if self.bound_by_memory { ", bound by memory" } else { "" }
        )
    }
}

/// One file. The field names are the JSON report's.
#[derive(Debug, Serialize)]
struct FileRecord {
    file: String,
    device: String,
    regions: Vec<RegionRecord>,
}

/// One region.
#[derive(Debug, Serialize)]
pub(super) struct RegionRecord {
    #[serde(flatten)]
    pub(super) place: Place,
    pub(super) function: String,
    /// Why it is no pipeline.
    refused: Option<ObstacleRecord>,
    loops: Vec<LoopRecord>,
    /// What passes have chosen.
    notes: Vec<String>,
    /// Arrays on the chip: name and bits.
    arrays: Vec<(String, u64)>,
    cycles: Option<u64>,
    bytes: Option<u64>,
    logic: u64,
    registers: u64,
    dsp: u64,
    ram: u64,
    seconds: Option<f64>,
    memory_seconds: Option<f64>,
    joules: Option<f64>,
    /// Regions that run at the same time, this one among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    together: Option<TogetherRecord>,
    /// Designs that were planned, if they were searched for, and those that no other beats.
    #[serde(skip_serializing_if = "is_none")]
    pub(super) planned: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) designs: Vec<DesignRecord>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

/// Regions that run at the same time.
#[derive(Clone, Debug, Serialize)]
struct TogetherRecord {
    /// Their lines.
    lines: Vec<u32>,
    /// Cycles until all have ended.
    cycles: u64,
}

#[derive(Debug, Serialize)]
struct ObstacleRecord {
    #[serde(flatten)]
    place: Place,
    why: String,
}

/// One loop.
#[derive(Debug, Serialize)]
struct LoopRecord {
    #[serde(flatten)]
    place: Place,
    depth_in_nest: usize,
    variable: Option<String>,
    trips: u64,
    trips_text: String,
    /// Cycles from the start of an iteration to that of the next; none if iterations follow each other.
    interval: Option<u64>,
    bound: String,
    help: Option<String>,
    depth: Option<u64>,
    cycles: Option<u64>,
    operators: Vec<String>,
    accesses: Vec<String>,
    written_out: u64,
    independent: bool,
}

/// What turns spans into places.
struct Told<'a> {
    locator: &'a Locator<'a>,
    device: &'a Device,
}

impl Told<'_> {
    fn place(&self, span: Span) -> Place {
        match self.locator.locate(span) {
            Some(it) => Place { file: it.file.to_string(), line: it.line, column: it.column },
            None => Place { file: String::new(), line: 0, column: 0 },
        }
    }

    fn obstacle(&self, it: &Obstacle) -> ObstacleRecord {
        ObstacleRecord { place: self.place(it.span), why: it.why.clone() }
    }

    fn refused(&self, at: Span, function: String, why: &str, span: Span) -> RegionRecord {
        let refused = self.obstacle(&Obstacle { why: why.to_owned(), span });
        RegionRecord {
            place: self.place(at),
            function,
            refused: Some(refused),
            loops: Vec::new(),
            notes: Vec::new(),
            arrays: Vec::new(),
            cycles: None,
            bytes: None,
            logic: 0,
            registers: 0,
            dsp: 0,
            ram: 0,
            seconds: None,
            memory_seconds: None,
            joules: None,
            together: None,
            planned: 0,
            designs: Vec::new(),
        }
    }

    fn region(&self, at: Span, function: String, plan: &Plan, program: &Program) -> RegionRecord {
        let mut loops = Vec::new();
        let mut refused = None;
        self.parts(&plan.parts, 0, program, &mut loops, &mut refused);
        RegionRecord {
            place: self.place(at),
            function,
            refused,
            loops,
            notes: Vec::new(),
            arrays: plan.local.clone(),
            cycles: plan.cycles,
            bytes: plan.bytes,
            logic: plan.resources.logic,
            registers: plan.resources.registers,
            dsp: plan.resources.dsp,
            ram: plan.resources.ram,
            seconds: plan.seconds,
            memory_seconds: plan.memory_seconds,
            joules: plan.joules,
            together: None,
            planned: 0,
            designs: Vec::new(),
        }
    }

    /// Tells regions of channels whether those are queues, and which of them run at the same time.
    fn channels(
        &self,
        program: &Program,
        pipelines: &[(usize, Single)],
        regions: &mut [RegionRecord],
    ) {
        let passed: Vec<_> = pipelines.iter().map(|it| passed(program, &it.1.kernel)).collect();
        let pieces = pipelines.iter().zip(&passed);
        let pieces: Vec<Piece<'_>> =
            pieces.map(|(it, passed)| Piece { kernel: &it.1.kernel, passed }).collect();
        let found = channels(program, &pieces, self.device);
        let rounds = pipelines.iter().flat_map(|it| &it.1.rounds);
        let rounds = rounds.map(|it| (*it.0, *it.1)).collect();
        let name = |var: VarId| program.vars[var].name.map_or("?", |it| program.names.text(it));
        let line = |at: usize| pieces.get(at).map_or(0, |it| self.place(it.kernel.span).line);
        let mut note = |at: usize, text: String| {
            let region = pipelines.get(at).and_then(|it| regions.get_mut(it.0));
            region.into_iter().for_each(|it| it.notes.push(text.clone()));
        };
        for it in &found.left {
            let [from, to] = it.ends;
            let (name, place) = (name(it.var), self.place(it.span).line);
            note(from, format!("the channel `{name}` to line {} is an array", line(to)));
            let why = format!("{}, line {place}", it.why);
            note(to, format!("the channel `{name}` from line {} is an array: {why}", line(from)));
        }
        for group in &found.groups {
            let kernel = |member: usize| group.members.get(member).copied().unwrap_or(0);
            for it in &group.queues {
                let (name, [from, to], depth) = (name(it.var), it.ends.map(kernel), it.depth);
                let (a, b) = (line(from), line(to));
                note(from, format!("`{name}` is a queue of {depth} elements to line {b}"));
                note(to, format!("`{name}` is a queue of {depth} elements from line {a}"));
            }
        }
        for group in &found.groups {
            let lines: Vec<u32> = group.members.iter().map(|it| line(*it)).collect();
            let Some(cycles) = group.cycles(&rounds) else { continue };
            for it in group.members.iter().filter_map(|it| pipelines.get(*it)) {
                let together = Some(TogetherRecord { lines: lines.clone(), cycles });
                regions.get_mut(it.0).into_iter().for_each(|it| it.together = together.clone());
            }
        }
    }

    fn parts(
        &self,
        parts: &[Part],
        depth: usize,
        program: &Program,
        loops: &mut Vec<LoopRecord>,
        refused: &mut Option<ObstacleRecord>,
    ) {
        for part in parts {
            match part {
                Part::Straight(_) => {}
                Part::Refused(it) => {
                    if refused.is_none() {
                        *refused = Some(self.obstacle(it));
                    }
                }
                Part::Either(a, b) => {
                    self.parts(a, depth, program, loops, refused);
                    self.parts(b, depth, program, loops, refused);
                }
                Part::Loop(it) => {
                    loops.push(self.a_loop(it, depth, program));
                    if let Kind::Serial(parts) = &it.kind {
                        self.parts(parts, depth + 1, program, loops, refused);
                    }
                }
            }
        }
    }

    fn a_loop(&self, it: &LoopPlan, depth_in_nest: usize, program: &Program) -> LoopRecord {
        let pipeline = match &it.kind {
            Kind::Pipelined(pipeline) => Some(pipeline.as_ref()),
            Kind::Serial(_) => None,
        };
        let (bound, help) = match pipeline {
            Some(it) => {
                let (mut bound, help) = self.bound(it);
                if it.interval > it.least {
                    let _ = write!(bound, "; no schedule was found for {}", it.least);
                }
                (bound, help)
            }
            None => ("its parts run one after the other in each iteration".to_owned(), None),
        };
        let operators = pipeline.map(|it| {
            let count = |((unit, class), count): (&(_, _), &u64)| {
                let (unit, class): (&fpga::graph::Unit, &fpga::graph::Class) = (unit, class);
                format!("{count} {} {}", class.word(), unit.word())
            };
            it.operators.iter().map(count).collect()
        });
        let accesses = pipeline.map(|it| {
            let told = it.accesses.iter().map(|(memory, loads, stores)| {
                let chip = if memory.local.is_some() { " on the chip" } else { "" };
                format!("`{}`{chip}: {loads} in, {stores} out", memory.name)
            });
            told.collect()
        });
        LoopRecord {
            place: self.place(it.span),
            depth_in_nest,
            variable: it.var.clone(),
            trips: it.trips.estimate,
            trips_text: trips(&it.trips, program),
            interval: pipeline.map(|it| it.interval),
            bound,
            help,
            depth: pipeline.map(|it| it.depth),
            cycles: it.cycles(),
            operators: operators.unwrap_or_default(),
            accesses: accesses.unwrap_or_default(),
            written_out: pipeline.map_or(0, |it| it.written_out),
            independent: pipeline.is_some_and(|it| it.independent),
        }
    }

    /// What bounds an interval, and what would help.
    fn bound(&self, it: &Pipeline) -> (String, Option<String>) {
        match &it.why {
            Why::Free => ("an iteration starts every cycle".to_owned(), None),
            Why::Port(name, uses) => (
                format!("{uses} {name} in an iteration take turns"),
                Some("keep what neighbouring iterations share in a sliding window".to_owned()),
            ),
            Why::Recurrence(it) => (self.recurrence(it), self.remedy(it)),
        }
    }

    fn recurrence(&self, it: &Recurrence) -> String {
        let steps: Vec<String> =
            it.steps.iter().map(|(what, cycles)| format!("{what} {cycles}")).collect();
        let before = match it.distance {
            1 => "the iteration before".to_owned(),
            far => format!("{far} iterations before"),
        };
        let what = match (&it.memory, &it.variable) {
            (Some(memory), _) => format!("`{memory}`"),
            (None, Some(variable)) => format!("`{variable}`"),
            (None, None) => "a value".to_owned(),
        };
        let mut text = format!("waits for {what} of {before}: {} cycles", steps.join(" + "));
        if let Some(assumed) = &it.assumed {
            let place = self.place(assumed.span);
            let _ = write!(text, " (assumed: {}, line {})", assumed.why, place.line);
        }
        text
    }

    fn remedy(&self, it: &Recurrence) -> Option<String> {
        if it.assumed.is_some() && !it.may_alias {
            return None;
        }
        if it.may_alias {
            return Some(
                "say `restrict`, or that iterations are independent, if they are".to_owned(),
            );
        }
        if let Some((unit, class)) = it.operator {
            let operator = self.device.operator(unit, class)?;
            let cycles = operator.delay().ticks() / fpga::schedule::CYCLE;
            return (cycles > 1).then(|| {
                format!("{cycles} partial results, combined at the end: a `reduction` allows that")
            });
        }
        it.memory.as_ref().map(|_| "keep the value in a variable or a sliding window".to_owned())
    }

    fn write(&self, out: &mut String, region: &RegionRecord) {
        // Writing to a string cannot fail.
        let _ = self.written(out, region);
    }

    fn written(&self, out: &mut String, region: &RegionRecord) -> std::fmt::Result {
        let device = self.device;
        let place = &region.place;
        writeln!(
            out,
            "{}:{}: region of {}() on {}",
            place.file, place.line, region.function, device.name
        )?;
        for it in &region.loops {
            let pad = "  ".repeat(it.depth_in_nest);
            let name = it.variable.as_deref().unwrap_or("?");
            writeln!(out, "  {pad}loop {name}, line {}, {}", it.place.line, it.trips_text)?;
            match (it.interval, it.depth) {
                (Some(interval), Some(depth)) => {
                    writeln!(out, "  {pad}  II {interval}: {}", it.bound)?;
                    if let Some(help) = &it.help {
                        writeln!(out, "  {pad}    help: {help}")?;
                    }
                    let cycles = it.cycles.map_or_else(|| "?".to_owned(), grouped);
                    writeln!(out, "  {pad}  depth {depth}, {cycles} cycles")?;
                }
                (_, _) => writeln!(out, "  {pad}  {}", it.bound)?,
            }
            if it.written_out > 0 {
                writeln!(out, "  {pad}  inner loops written out: {} rounds", it.written_out)?;
            }
            if it.independent {
                writeln!(out, "  {pad}  independent by directive")?;
            }
            let lists = [("operators", &it.operators), ("memory", &it.accesses)];
            for (word, list) in lists.into_iter().filter(|it| !it.1.is_empty()) {
                writeln!(out, "  {pad}  {word}: {}", list.join(", "))?;
            }
        }
        if let Some(it) = &region.refused {
            writeln!(out, "  refused: {}, line {}", it.why, it.place.line)?;
        }
        for note in &region.notes {
            writeln!(out, "  {note}")?;
        }
        for (name, bits) in &region.arrays {
            writeln!(out, "  on the chip: `{name}`, {} bits", grouped(*bits))?;
        }
        if region.cycles.is_none() {
            return writeln!(out);
        }
        let share = |used: u64, of: u64| {
            format!("{} ({:.1} %)", grouped(used), used as f64 * 100.0 / of as f64)
        };
        writeln!(
            out,
            "  takes {} {}, {} registers, {} DSPs, {} blocks of RAM",
            device.unit,
            share(region.logic, device.logic),
            share(region.registers, device.registers),
            share(region.dsp, device.dsp),
            share(region.ram, device.ram),
        )?;
        if let (Some(cycles), Some(seconds), Some(memory), Some(joules)) =
            (region.cycles, region.seconds, region.memory_seconds, region.joules)
        {
            let bound = if memory >= seconds { "memory" } else { "the pipeline" };
            writeln!(
                out,
                "  {} cycles, {} at {} MHz, {}; bound by {bound} (modelled)",
                grouped(cycles),
                quantity(seconds, "s"),
                device.clock,
                quantity(joules, "J"),
            )?;
        }
        if let Some(it) = &region.together {
            let others = it.lines.iter().filter(|it| **it != place.line).map(u32::to_string);
            writeln!(
                out,
                "  at the same time as line {}: {} cycles until all have ended (modelled)",
                others.collect::<Vec<_>>().join(", "),
                grouped(it.cycles),
            )?;
        }
        if region.planned > 0 {
            writeln!(out, "  of {} designs these are beaten by none:", region.planned)?;
        }
        for it in &region.designs {
            let mark = if it.chosen { "  (chosen)" } else { "" };
            writeln!(out, "    {}: {}{mark}", it.name(), it.cost())?;
        }
        writeln!(out)
    }
}

/// How often a loop runs, in words.
fn trips(it: &Trips, program: &Program) -> String {
    let count = it.count.as_ref().map(|it| it.text(program));
    match (it.from, count) {
        (TripsFrom::Constant, _) => format!("{} iterations", grouped(it.estimate)),
        (from, Some(count)) => {
            format!("{count} iterations ({}, {})", grouped(it.estimate), from.text())
        }
        (from, None) => format!("{} iterations ({})", grouped(it.estimate), from.text()),
    }
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with three digits and a prefix.
fn quantity(value: f64, unit: &str) -> String {
    let scales = [(1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")];
    let (scale, prefix) = scales.into_iter().find(|it| value >= it.0).unwrap_or((1e-9, "n"));
    format!("{:.3} {prefix}{unit}", value / scale)
}
