//! The seam between the driver and lowering: typed program and its text in, texts to compile out.
//!
//! A directive that the host compiler handles by itself, without a device, is left to it; a text in
//! which all are of that kind leaves as it came. The others are refused here, by name and place.

use std::ops::ControlFlow;

use ir::construct::{Construct, Leaf};
use ir::program::{Program, Typed};
use source::{Diagnostic, Diagnostics, SourceMap, Span};

/// What became of one text.
#[derive(Debug)]
pub(crate) struct Lowered {
    /// The text for the host compiler; none if it is the one that came in.
    pub(crate) host: Option<Vec<u8>>,
    /// The text for devices that need an image.
    pub(crate) device: Option<Vec<u8>>,
    /// One for each region, in the order of the text.
    pub(crate) verdicts: Vec<Verdict>,
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
    /// The devices that can run it; empty means the host.
    pub(crate) devices: Vec<String>,
    /// Why.
    pub(crate) reason: String,
}

/// What lowering must know beside the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LowerOptions {
    /// Whether a device needs an image: then the device text is made too.
    pub(crate) wants_device_text: bool,
}

/// Lowers one text. `text` is the preprocessed text that `program` was read from.
pub(crate) fn lower(
    program: &Program,
    _text: &[u8],
    _map: &SourceMap,
    _options: LowerOptions,
) -> Lowered {
    let mut diagnostics = Diagnostics::new();
    let declarations = program.declarations.iter().map(|it| &it.construct);
    for construct in program.regions.iter().map(|(_, it)| &it.construct).chain(declarations) {
        if !is_left_to_host(construct) {
            diagnostics.push(not_lowered(construct));
        }
    }
    let mut verdicts: Vec<Verdict> =
        program.regions.iter().map(|(_, it)| host_verdict(program, it)).collect();
    verdicts.sort_by_key(|it| it.span.start);
    Lowered { host: None, device: None, verdicts, diagnostics }
}

fn host_verdict(program: &Program, region: &ir::region::Region) -> Verdict {
    Verdict {
        span: region.construct.span,
        directive: directive::directive_name(&region.construct),
        function: program.names.text(program.functions[region.function].name).to_owned(),
        devices: Vec::new(),
        reason: "no part of it asks for a device; the host compiler compiles it".to_owned(),
    }
}

/// Whether the host compiler compiles the construct as it stands.
fn is_left_to_host(construct: &Construct<Typed>) -> bool {
    let known = construct.leaves.iter().try_for_each(|leaf| {
        if host_compiles(*leaf) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    construct.dialect == directive::HOST_DIALECT && known.is_continue()
}

#[allow(clippy::wildcard_enum_match_arm, reason = "what is not known to be the host's is not")]
fn host_compiles(leaf: Leaf) -> bool {
    matches!(
        leaf,
        Leaf::Parallel
            | Leaf::For
            | Leaf::Simd
            | Leaf::Loop
            | Leaf::Sections
            | Leaf::Section
            | Leaf::Single
            | Leaf::Master
            | Leaf::Critical
            | Leaf::Ordered
            | Leaf::OrderedPoint
            | Leaf::Task
            | Leaf::Taskloop
            | Leaf::Taskgroup
            | Leaf::Taskwait
            | Leaf::Taskyield
            | Leaf::Barrier
            | Leaf::Flush
            | Leaf::Atomic
            | Leaf::Cancel
            | Leaf::CancellationPoint
            | Leaf::Scan
            | Leaf::DeclareSimd
            | Leaf::DeclareReduction
            | Leaf::Threadprivate
    )
}

/// Offload is never silent: what cannot be carried to a device is not compiled to something else.
fn not_lowered(construct: &Construct<Typed>) -> Diagnostic {
    let name = directive::directive_name(construct);
    Diagnostic::error("F0030", format!("`{name}` cannot be compiled yet"))
        .at(construct.span, "this directive needs a device")
        .help("`ferry explain` tells what it does; `ferry check` finds faults in it")
}
