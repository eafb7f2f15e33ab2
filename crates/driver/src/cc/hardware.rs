//! Kernels as hardware that is simulated: designs, which travel as text ([`rtl::text`]); those that channels connect may run at
//! the same time.
//!
//! The device of the table of FPGAs whose latencies they have is named behind `fpga-rtl:`. What is no hardware is an error
//! (F0737): nothing runs elsewhere in silence.

use std::collections::BTreeMap;

use abi::image::{HARDWARE, ImageKind};
use fpga::channels::{Piece, channels};
use fpga::device::Device;
use fpga::hardware::{Passed, design};
use rtl::text::{Module, read, write};
use source::Diagnostics;

use super::bundle::Code;
use super::compile::Job;
use super::image::Part;
use super::numbers::Numbers;
use super::toolchain::{Program, Texts, Toolchain};
use super::{Context, Failure};

/// What containers call it.
pub(crate) const TRIPLE: &str = "rtl";

/// The device whose latencies hardware has where none is named: small, and placed and routed by open tools.
pub(crate) const BOARD: &str = "ecp5";

/// Makes images of designs.
pub(crate) struct Designs;

impl Toolchain for Designs {
    fn compile(
        &self,
        cx: &Context<'_>,
        job: &Job<'_>,
        texts: &Texts<'_>,
        _: &Numbers,
    ) -> Result<Vec<Code>, Failure> {
        let Some(text) = texts.hardware else { return Ok(Vec::new()) };
        cx.save(&job.input.path, "rtl", text)?;
        Ok(vec![code(text.to_vec())])
    }

    fn owns(&self, code: &Code) -> bool {
        code.triple == TRIPLE
    }

    fn link(
        &self,
        _: &Context<'_>,
        parts: Vec<Part>,
        _: &Program<'_>,
    ) -> Result<Vec<Code>, Failure> {
        let mut whole = Module::default();
        for part in &parts {
            let text = String::from_utf8_lossy(&part.code.bytes);
            let wrong =
                |why: &str| Failure::told(&format!("device code of `{}`: {why}", part.name));
            let found = read(&text).map_err(|it| wrong(&it.to_string()))?;
            if !whole.board.is_empty() && whole.board != found.board {
                return Err(wrong(&format!(
                    "it was compiled for `fpga-rtl:{}`, and files before it for `fpga-rtl:{}`\n  help: compile all files \
                     for one device",
                    found.board, whole.board
                )));
            }
            (whole.board, whole.clock) = (found.board, found.clock);
            whole.kernels.extend(found.kernels);
            whole.groups.extend(found.groups);
        }
        Ok(vec![code([HARDWARE, &write(&whole)].concat().into_bytes())])
    }
}

fn code(bytes: Vec<u8>) -> Code {
    Code { kind: ImageKind::Source, triple: TRIPLE.to_owned(), arch: String::new(), bytes }
}

/// Kernels as text, and which are no hardware (errors).
pub(crate) fn text(pipelines: &emit::Pipelines, device: &Device) -> (Vec<u8>, Diagnostics) {
    let mut said = Diagnostics::new();
    let (kernels, groups) = (BTreeMap::new(), Vec::new());
    let mut module = Module { board: device.name.clone(), clock: device.clock, kernels, groups };
    let passed = |it: &emit::Pipeline| -> BTreeMap<_, _> {
        let passed = it.given.iter().map(|(var, given)| {
            let passed = match given {
                emit::Given::Value(slot) => Passed::Value(*slot),
                emit::Given::Address(slot) => Passed::Address(*slot),
                emit::Given::Own => Passed::Own,
            };
            (*var, passed)
        });
        passed.collect()
    };
    let (list, program) = (&pipelines.list, &pipelines.program);
    let all: Vec<_> = list.iter().map(passed).collect();
    for (it, passed) in list.iter().zip(&all) {
        match design(program, &it.kernel, device, Some(passed)) {
            Ok(made) => {
                module.kernels.insert(it.name.clone(), made.design);
            }
            Err(obstacle) => said.push(emit::no_hardware(&obstacle.why, obstacle.span)),
        }
    }
    let pieces = list.iter().zip(&all).map(|(it, passed)| Piece { kernel: &it.kernel, passed });
    let pieces: Vec<Piece<'_>> = pieces.collect();
    let names: Vec<&str> = list.iter().map(|it| it.name.as_str()).collect();
    let groups = channels(program, &pieces, device).groups;
    let groups = groups.iter().filter_map(|it| it.made(program, &pieces, &names));
    module.groups = groups.collect();
    ([HARDWARE, &write(&module)].concat().into_bytes(), said)
}
