//! Which designs of its regions a program is built with for an FPGA: one lane each, or those that a search has found best.

use std::collections::BTreeMap;

use fpga::device::Device;
use fpga::pins::Pins;
use fpga::search::{self, Space};
use ir::construct::Leaf;
use ir::program::Program;
use opt::passes::Fabrics;
use opt::passes::pipeline::run_pipelined;
use source::{Diagnostic, Diagnostics, Locator, SourceMap};

/// Values of variables in the bounds of loops.
pub(crate) type Given = BTreeMap<String, u64>;

/// `name=value`
pub(crate) fn given(text: &str) -> Result<(String, u64), String> {
    let (name, value) = text.split_once('=').ok_or("this is not `name=value`")?;
    let value = value.parse().map_err(|_| format!("`{value}` is no number of iterations"))?;
    Ok((name.to_owned(), value))
}

/// What pipelines of a program are made for, and what is said of advice that cannot be taken. `search`: designs are searched for;
/// `hardware`: they must be such.
pub(crate) fn fabrics(
    program: &Program,
    map: &SourceMap,
    device: &Device,
    search: Option<&Given>,
    hardware: bool,
) -> (Fabrics, Diagnostics) {
    let all = device.fabric();
    let has_advice = program.regions.iter().any(|it| it.1.construct.has(Leaf::Resources));
    let (true, Some(file)) = (search.is_some() || has_advice, map.files().next()) else {
        return (all.into(), Diagnostics::new());
    };
    let read = crate::input::written;
    let kernels = emit::dialect::kernels(program, map, file, &Locator::new(map, &read));
    let (pinned, mut said) = (pinned(program, &kernels), Diagnostics::new());
    let mut own = Vec::new();
    for ((pins, told), kernel) in pinned.iter().zip(&kernels.module.kernels) {
        told.iter().for_each(|it| said.push(it.clone()));
        if *pins == Pins::default() {
            continue;
        }
        let fabric = pins.on(all);
        own.push((kernel.span, fabric));
        let made = run_pipelined(&mut kernels.module.program.clone(), kernel, fabric, None);
        let notes = made.map(|it| it.launch.notes).unwrap_or_default();
        pins.missing(&notes).into_iter().for_each(|it| said.push(it));
    }
    let found = search.map(|it| {
        let pins: Vec<Pins> = pinned.iter().map(|it| it.0).collect();
        searched(&kernels, &pins, device, it, hardware)
    });
    // What was found has what was asked for.
    let found = found.map(|it| it.own).unwrap_or_default();
    (Fabrics { all, own: found.into_iter().chain(own).collect() }, said)
}

/// What directives ask of each kernel.
pub(crate) fn pinned(
    program: &Program,
    kernels: &emit::dialect::Kernels,
) -> Vec<(Pins, Vec<Diagnostic>)> {
    kernels.module.kernels.iter().map(|it| Pins::of(program, it.span)).collect()
}

/// The designs of its kernels that are fastest together on a device.
pub(crate) fn searched(
    kernels: &emit::dialect::Kernels,
    pins: &[Pins],
    device: &Device,
    given: &Given,
    hardware: bool,
) -> Fabrics {
    let (mut spans, mut spaces) = (Vec::new(), Vec::new());
    let module = &kernels.module;
    for (at, kernel) in module.kernels.iter().enumerate() {
        let pins = pins.get(at).copied().unwrap_or_default();
        let Space { mut points } = search::search(&module.program, kernel, device, given, pins);
        points.retain(|it| it.is_hardware || !hardware);
        if !points.is_empty() {
            spans.push(kernel.span);
            spaces.push(Space { points });
        }
    }
    // What does not fit together even where it is small is built small.
    let chosen = search::choose(&spaces, device).unwrap_or_default();
    let own = spans.into_iter().zip(chosen).map(|(span, it)| (span, it.fabric(device))).collect();
    Fabrics { all: device.fabric(), own }
}
