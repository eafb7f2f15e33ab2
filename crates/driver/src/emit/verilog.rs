//! `ferry emit --dialect verilog`: regions as hardware, a module in a file of its own for each.
//!
//! What is no hardware yet is named with a warning (F0737), and nothing is written for it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fpga::device::Device;
use fpga::hardware::{Hardware, design};
use ir::program::{Program, VarId};
use opt::passes::pipeline::run_pipelined;
use rtl::verilog;
use source::{Diagnostic, Locator, Severity, Span};

use super::{Made, complain, write_all};
use crate::cc::hardware::BOARD;
use crate::designs;
use crate::front;
use crate::options::EmitOptions;
use crate::report::{self, Stream};

pub(super) fn run(options: &EmitOptions) -> Result<ExitCode, String> {
    let device = crate::profiles::fpga(options.fpga.as_deref().unwrap_or(BOARD))?;
    let folder = options.out_dir.clone().unwrap_or_else(|| PathBuf::from("verilog"));
    let mut made = Vec::new();
    for path in &options.input.files {
        match one(path, &folder, options, &device)? {
            Some(files) => made.extend(files),
            None => return Ok(ExitCode::from(1)),
        }
    }
    if made.is_empty() {
        report::show("no region is hardware: nothing is written\n", Stream::Err)?;
        return Ok(ExitCode::from(1));
    }
    write_all(&folder, &made)?;
    for Made { path, .. } in &made {
        report::show(&format!("{}\n", path.display()), Stream::Out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The modules of one file; none if something is wrong with it, which was said.
fn one(
    path: &Path,
    folder: &Path,
    options: &EmitOptions,
    device: &Device,
) -> Result<Option<Vec<Made>>, String> {
    let unit = front::check(path, &options.input);
    if complain(&unit.diagnostics, &unit.map)? {
        return Ok(None);
    }
    let (Some(program), Some(file)) = (&unit.program, unit.map.files().next()) else {
        return Ok(None);
    };
    let read = crate::input::written;
    let locator = Locator::new(&unit.map, &read);
    let search = options.searched();
    let (fabrics, advice) = designs::fabrics(program, &unit.map, device, search.as_ref(), true);
    let kernels = emit::dialect::kernels(program, &unit.map, file, &locator);
    let mut program = kernels.module.program;
    let (mut said, mut made) = (advice, Vec::new());
    kernels.refused.iter().for_each(|(_, it)| said.push(refused(it.why, it.span)));
    for kernel in &kernels.module.kernels {
        let single = match run_pipelined(&mut program, kernel, fabrics.of(kernel.span), None) {
            Ok(single) => single,
            Err(refusal) => {
                said.push(refused(refusal.why, refusal.span));
                continue;
            }
        };
        match design(&program, &single, device, None) {
            Ok(it) => {
                let function = program.regions[kernel.region].function;
                let function = program.names.text(program.functions[function].name);
                let line = locator.locate(kernel.span).map_or(0, |it| it.line);
                let name = format!("{function}_l{line}");
                let mut text = told(&program, &it, device, &format!("{}:{line}", path.display()));
                single.launch.notes.iter().for_each(|it| text.push_str(&format!("// {it}\n")));
                let text = text + &verilog::verilog(&it.design, &name);
                made.push(Made { path: folder.join(format!("{name}.v")), text: text.into_bytes() });
            }
            Err(obstacle) => said.push(refused(&obstacle.why, obstacle.span)),
        }
    }
    complain(&said, &unit.map)?;
    Ok(Some(made))
}

fn refused(why: &str, span: Span) -> Diagnostic {
    // Others are written.
    Diagnostic { severity: Severity::Warning, ..emit::no_hardware(why, span) }
}

/// What stands before a module: where it is from, what its registers hold, and what its blocks take.
fn told(program: &Program, made: &Hardware, device: &Device, place: &str) -> String {
    let design = &made.design;
    let name = |var: VarId| program.vars[var].name.map_or("?", |it| program.names.text(it));
    let mut text = format!(
        "// {place}, for {}: loads take {} cycles, stores {}\n",
        device.name, design.memory.0, design.memory.1
    );
    for (var, register) in &made.values {
        text.push_str(&format!("// r{register}: `{}`\n", name(*var)));
    }
    for (var, register) in &made.addresses {
        text.push_str(&format!("// r{register}: the address of `{}`\n", name(*var)));
    }
    for (number, state) in design.states.iter().enumerate().filter(|it| it.1.block.is_loop) {
        let block = &state.block;
        text.push_str(&format!(
            "// block {number}: a loop, interval {}, depth {}\n",
            block.interval, block.depth
        ));
    }
    text
}
