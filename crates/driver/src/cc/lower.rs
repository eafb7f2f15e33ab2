//! The seam between the driver and lowering: typed program and its text in, texts to compile out.
//!
//! Lowering is crate `emit`'s; here its answer becomes verdicts.

use ir::construct::Leaf;
use ir::program::Program;
use ir::region::Region;
use opt::decisions::Decision;
use source::{Diagnostics, Locator, SourceMap, Span};

/// What became of one text.
#[derive(Debug)]
pub(crate) struct Lowered {
    /// The text for the host compiler; none if it is the one that came in.
    pub(crate) host: Option<Vec<u8>>,
    /// The text for devices that need an image.
    pub(crate) device: Option<Vec<u8>>,
    /// The text for a cluster with a scratchpad.
    pub(crate) cluster: Option<Vec<u8>>,
    /// Texts for grids of threads.
    pub(crate) grids: Vec<(emit::Grid, Vec<u8>)>,
    /// Kernels that hardware is made of.
    pub(crate) pipelines: Option<emit::Pipelines>,
    /// One for each region, in the order of the text.
    pub(crate) verdicts: Vec<Verdict>,
    /// Who runs which loop, by nest, if that was asked for.
    pub(crate) decisions: Vec<(String, Decision)>,
    /// What was found wrong.
    pub(crate) diagnostics: Diagnostics,
}

/// Where a region runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The directive.
    pub(crate) span: Span,
    /// Its name as the standard spells it.
    pub(crate) directive: String,
    /// The function it stands in.
    pub(crate) function: String,
    /// What it became.
    pub(crate) outcome: Outcome,
    /// The devices concerned; empty means the host.
    pub(crate) devices: Vec<&'static str>,
    /// Who runs its loops, where that was the compiler's choice: `i: threads`, and the place that
    /// stood in the way of more.
    pub(crate) loops: Vec<(String, Option<Span>)>,
    /// What of the data behind its pointers is mapped without a clause: `p: p[0:n], …`, likewise.
    pub(crate) data: Vec<(String, Option<Span>)>,
}

/// What a region became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A kernel of its own.
    Kernel,
    /// A part of the kernel around it.
    Part,
    /// Calls that move data or wait; no code of it runs on a device.
    Data,
    /// What the host compiler makes of it.
    Host,
    /// The same, because it stands in a language that is not read.
    Unread,
    /// The compiler of its language made no kernel of it.
    NoKernel,
}

impl Outcome {
    /// Its name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Outcome::Kernel => "kernel",
            Outcome::Part => "part",
            Outcome::Data => "data",
            Outcome::Host => "host",
            Outcome::Unread => "unread",
            Outcome::NoKernel => "none",
        }
    }

    /// Why it is that.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Outcome::Kernel => "its body is a kernel",
            Outcome::Part => "it is part of the kernel around it",
            Outcome::Data => "the runtime does it; code of it, if any, runs on the host",
            Outcome::Host => "no part of it asks for a device; the host compiler compiles it",
            Outcome::Unread => "directives of its language are not read",
            Outcome::NoKernel => {
                "its compiler has made no kernel of it: a template that nobody uses, or code of the host alone"
            }
        }
    }
}

/// Lowers one text: the one that `program` was read from.
pub(crate) fn lower(
    program: &Program,
    map: &SourceMap,
    options: emit::Options,
    chosen: emit::Chosen<'_>,
    device_names: &[&'static str],
) -> Lowered {
    let read = crate::input::written;
    let locator = Locator::new(map, &read);
    let Some(file) = map.files().next() else {
        let diagnostics = Diagnostics::new();
        let (verdicts, decisions) = (Vec::new(), Vec::new());
        let (host, device, cluster, pipelines, grids) = (None, None, None, None, Vec::new());
        return Lowered {
            host,
            device,
            cluster,
            grids,
            pipelines,
            verdicts,
            decisions,
            diagnostics,
        };
    };
    let emit::Lowered {
        host,
        device,
        cluster,
        grids,
        pipelines,
        verdicts,
        notes,
        decisions,
        diagnostics,
        ..
    } = emit::lower_with(program, map, file, &locator, options, chosen);
    let device = device.map(String::into_bytes);
    let cluster = cluster.map(String::into_bytes);
    let grids: Vec<_> = grids.into_iter().map(|(it, text)| (it, text.into_bytes())).collect();
    let is_kernel = |region: &Region| verdicts.iter().any(|it| it.span == region.span);
    let mut devices = vec!["cpu"];
    if device.is_some() {
        devices.extend(device_names);
    }
    devices.extend(grids.iter().map(|(it, _)| it.device()));
    devices.extend(pipelines.iter().map(|_| abi::target::Kind::Rtl.target().name));
    // Two texts for one kind of device.
    devices.dedup();
    let mut verdicts: Vec<Verdict> = program
        .regions
        .iter()
        .map(|(_, region)| verdict(program, region, outcome(program, region, is_kernel), &devices))
        .collect();
    for verdict in &mut verdicts {
        for note in notes.iter().filter(|it| it.region == verdict.span) {
            let list = match note.about {
                emit::About::Loop | emit::About::Blocks | emit::About::Scratchpad => {
                    &mut verdict.loops
                }
                emit::About::Data => &mut verdict.data,
            };
            list.push((note.text.clone(), note.at));
        }
    }
    verdicts.sort_by_key(|it| it.span.start);
    Lowered { host, device, cluster, grids, pipelines, verdicts, decisions, diagnostics }
}

fn outcome(program: &Program, region: &Region, is_kernel: impl Fn(&Region) -> bool) -> Outcome {
    if is_kernel(region) {
        return Outcome::Kernel;
    }
    let mut around = region.parent;
    while let Some(id) = around {
        let outer = &program.regions[id];
        if is_kernel(outer) {
            return Outcome::Part;
        }
        around = outer.parent;
    }
    if region.construct.leaves.iter().any(|it| concerns_devices(*it)) {
        Outcome::Data
    } else {
        Outcome::Host
    }
}

#[allow(clippy::wildcard_enum_match_arm, reason = "all other constructs are about code")]
fn concerns_devices(leaf: Leaf) -> bool {
    matches!(
        leaf,
        Leaf::DataRegion
            | Leaf::HostData
            | Leaf::EnterData
            | Leaf::ExitData
            | Leaf::Update
            | Leaf::Wait
            | Leaf::Init
            | Leaf::Shutdown
            | Leaf::Set
            | Leaf::Interop
    )
}

fn verdict(
    program: &Program,
    region: &Region,
    outcome: Outcome,
    devices: &[&'static str],
) -> Verdict {
    let devices = if outcome == Outcome::Host { &[] } else { devices };
    Verdict {
        span: region.construct.span,
        directive: directive::directive_name(&region.construct),
        function: program.names.text(program.functions[region.function].name).to_owned(),
        outcome,
        devices: devices.to_vec(),
        loops: Vec::new(),
        data: Vec::new(),
    }
}
