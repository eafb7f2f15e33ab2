//! The seam between the driver and lowering: typed program and its text in, texts to compile out.
//!
//! Lowering is crate `emit`'s; here its answer becomes verdicts.

use ir::program::Program;
use ir::region::Region;
use source::{Diagnostics, Locator, SourceMap, Span};

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

/// Lowers one text: the one that `program` was read from.
pub(crate) fn lower(program: &Program, map: &SourceMap, _options: LowerOptions) -> Lowered {
    let read = |name: &str| std::fs::read(name).ok();
    let locator = Locator::new(map, &read);
    let Some(file) = map.files().next() else {
        let diagnostics = Diagnostics::new();
        return Lowered { host: None, device: None, verdicts: Vec::new(), diagnostics };
    };
    let lowered = emit::lower(program, map, file, &locator);
    let mut verdicts: Vec<Verdict> = program
        .regions
        .iter()
        .map(|(_, region)| {
            let made = lowered.verdicts.iter().find(|it| it.span == region.span);
            verdict(program, region, made.is_some())
        })
        .collect();
    verdicts.sort_by_key(|it| it.span.start);
    Lowered { host: lowered.host, device: None, verdicts, diagnostics: lowered.diagnostics }
}

fn verdict(program: &Program, region: &Region, is_kernel: bool) -> Verdict {
    let (devices, reason) = match is_kernel {
        true => (vec!["cpu".to_owned()], "its body is a kernel".to_owned()),
        false => (
            Vec::new(),
            "no part of it asks for a device; the host compiler compiles it".to_owned(),
        ),
    };
    Verdict {
        span: region.construct.span,
        directive: directive::directive_name(&region.construct),
        function: program.names.text(program.functions[region.function].name).to_owned(),
        devices,
        reason,
    }
}
