//! Which designs of its regions a program is built with for an FPGA: one lane each, or those that a search has found best.

use std::collections::BTreeMap;

use fpga::device::Device;
use fpga::search::{self, Space};
use ir::program::Program;
use opt::passes::Fabrics;
use source::{Locator, SourceMap};

/// Values of variables in the bounds of loops.
pub(crate) type Given = BTreeMap<String, u64>;

/// `name=value`
pub(crate) fn given(text: &str) -> Result<(String, u64), String> {
    let (name, value) = text.split_once('=').ok_or("this is not `name=value`")?;
    let value = value.parse().map_err(|_| format!("`{value}` is no number of iterations"))?;
    Ok((name.to_owned(), value))
}

/// What pipelines of a program are made for. `search`: designs are searched for; `hardware`: they must be such.
pub(crate) fn fabrics(
    program: &Program,
    map: &SourceMap,
    device: &Device,
    search: Option<&Given>,
    hardware: bool,
) -> Fabrics {
    let all = device.fabric();
    let (Some(given), Some(file)) = (search, map.files().next()) else { return all.into() };
    let read = crate::input::written;
    let kernels = emit::dialect::kernels(program, map, file, &Locator::new(map, &read));
    searched(&kernels, device, given, hardware)
}

/// The designs of its kernels that are fastest together on a device.
pub(crate) fn searched(
    kernels: &emit::dialect::Kernels,
    device: &Device,
    given: &Given,
    hardware: bool,
) -> Fabrics {
    let (mut spans, mut spaces) = (Vec::new(), Vec::new());
    for kernel in &kernels.module.kernels {
        let Space { mut points } = search::search(&kernels.module.program, kernel, device, given);
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
