//! What `ferry cc` makes of the regions of a text for devices: `ferry explain` asks, and nothing is compiled.
//!
//! In: a program, and the words of a command line. Out: [`Foretold`]: verdicts, or why there are none. What compilers of a
//! device refuse later, in code that is all right for us, is not known here.

use std::ffi::OsString;

use ir::program::Program;
use source::{Diagnostics, Severity, SourceMap};

use super::args::{Arguments, Step};
use super::lower::{self, Lowered, Verdict};
use super::numbers::Numbers;
use super::{compile, hardware, riscv};
use crate::options::Believed;

/// What would become of one text on one device.
pub(crate) struct Foretold {
    pub(crate) device: String,
    /// One for each region, if the text is compiled.
    pub(crate) verdicts: Vec<Verdict>,
    /// Why it is not.
    pub(crate) faults: Diagnostics,
    /// The same, where it is about flags or the whole text.
    pub(crate) why: Option<String>,
}

/// Asks for one device, with the flags of a command line.
pub(crate) fn on(
    device: &str,
    flags: &[OsString],
    trust: Believed,
    program: &Program,
    map: &SourceMap,
) -> Result<Foretold, String> {
    let words: Vec<OsString> =
        ["--device", device].iter().map(OsString::from).chain(flags.iter().cloned()).collect();
    let arguments = Arguments { trust, ..Arguments::read(&words)? };
    let text = map.files().next().map(|it| map.bytes(it)).unwrap_or_default();
    let words = arguments.flags(&[Step::Everywhere, Step::Compile]);
    let numbers = Numbers::of(words.filter_map(|it| it.to_str())).in_text(text);
    let planned = compile::planned(&arguments, program, map, &numbers);
    let planned = planned.map_err(super::Failure::into_text)?;
    let Lowered { verdicts, device: code, cluster, pipelines, mut diagnostics, host, .. } =
        lower::lower(
            program,
            map,
            planned.options,
            emit::Chosen { decisions: None, profile: None },
            &arguments.targets.image_names(),
        );
    diagnostics.append(planned.advice);
    let designs = planned.board.zip(pipelines).map(|(board, it)| hardware::text(&it, &board));
    designs.into_iter().for_each(|it| diagnostics.append(it.1));
    let mut faults = Diagnostics::new();
    diagnostics.iter().filter(|it| it.severity == Severity::Error).for_each(|it| {
        faults.push(it.clone());
    });
    let doubts = || {
        let text = cluster.or(code).filter(|_| arguments.targets.has_cluster())?;
        riscv::doubts(&text).map(|it| format!("device code has {it}"))
    };
    let refused = || host.is_some().then(|| numbers.refused(arguments.targets.kinds())).flatten();
    let why = if faults.is_empty() { refused().or_else(doubts) } else { None };
    Ok(Foretold { device: device.to_owned(), verdicts, faults, why })
}
