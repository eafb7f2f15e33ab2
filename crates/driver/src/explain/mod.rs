//! `ferry explain`: what each directive does, and why.
//!
//! The typed program is turned into plain records ([`records`]), and these into text, JSON,
//! SARIF or a page. What is to be said about the program comes first, on standard error; a program with errors
//! is explained as far as it was understood.

mod collect;
mod drawing;
mod findings;
mod fpga;
mod frontier;
mod html;
mod moves;
mod records;
mod sarif;
mod text;

use std::process::ExitCode;

use ir::program::Program;
use opt::profile::Profile;
use source::{Locator, SourceMap, render};

use self::collect::Tried;
use self::html::Page;
use crate::cc::foretold::{self, Foretold};
use crate::front;
use crate::options::ExplainOptions;
use crate::profiles;
use crate::progress::Progress;
use crate::report::{self, Format, Stream};

pub(crate) fn run(options: &ExplainOptions) -> Result<ExitCode, String> {
    let output = &options.output;
    options.input.refuse_overwriting(output.output.as_deref())?;
    if let Some(page) = &options.html {
        options.input.refuse_overwriting(Some(page))?;
        if output.output.as_deref() == Some(page) {
            return Err(format!("`{}` cannot be both page and report", page.display()));
        }
    }
    if let Some(word) = &options.fpga {
        return fpga::run(word, options);
    }
    let profiles: Vec<Profile> =
        options.profile.iter().map(|it| profiles::device(it)).collect::<Result<_, _>>()?;
    let marks = opt::marks::Options { trust: options.trust.into(), ..Default::default() };
    let format = output.format();
    let mut page = Page::new();
    let mut report = String::new();
    let mut log = render::SarifLog::new(env!("CARGO_PKG_VERSION"));
    let mut failed = false;
    let mut progress = Progress::new("explaining", options.input.files.len());
    for path in &options.input.files {
        progress.step(path);
        let unit = front::check(path, &options.input);
        let read = crate::input::written;
        let locator = Locator::new(&unit.map, &read);
        failed |= unit.diagnostics.errors() > 0;
        if !unit.diagnostics.is_empty() {
            progress.clear();
            let colour = report::colour(output, Stream::Err);
            report::show(&render::terminal(&unit.diagnostics, &locator, colour), Stream::Err)?;
        }
        let Some(program) = &unit.program else { continue };
        let mut notes = match options.scratchpad {
            true => scratchpad(program, &unit.map, &locator, &marks),
            false => Vec::new(),
        };
        if profiles.iter().any(|it| it.name == findings::CORES) {
            notes.extend(blocks(program, &unit.map, &locator, &marks));
        }
        let lowered = Tried { notes, devices: devices(program, &unit.map, options)? };
        let file = collect::file(path, program, &unit.map, &read, &profiles, &marks, &lowered);
        if options.html.is_some() {
            page.add(&file, &locator);
        }
        match format {
            Format::Text => {
                let colour = report::colour(output, Stream::Out);
                report.push_str(&text::render(&file, &locator, colour));
            }
            Format::Json => report.push_str(&file.to_json()),
            Format::Sarif => log.add(&sarif::results(program, &file), &locator),
        }
    }
    progress.clear();
    if format == Format::Sarif {
        report = log.finish();
    }
    if let Some(file) = &options.html {
        report::deliver(&page.finish(), Some(file), Stream::Out)?;
        // Who asks for a page alone does not want the text beside it.
        if format == Format::Text && output.output.is_none() {
            return Ok(if failed { ExitCode::from(1) } else { ExitCode::SUCCESS });
        }
    }
    report::deliver(&report, output.output.as_deref(), Stream::Out)?;
    Ok(if failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// What `ferry cc` makes of the text for each device that was asked about.
fn devices(
    program: &Program,
    map: &SourceMap,
    options: &ExplainOptions,
) -> Result<Vec<Foretold>, String> {
    let flags = &options.input.flags;
    options.device.iter().map(|it| foretold::on(it, flags, options.trust, program, map)).collect()
}

/// What would be said of blocks of iterations if the text were compiled for cores, with optimization.
fn blocks(
    program: &Program,
    map: &SourceMap,
    locator: &Locator<'_>,
    marks: &opt::marks::Options,
) -> Vec<emit::Note> {
    let Some(file) = map.files().next() else { return Vec::new() };
    if !emit::is_optimized(map.bytes(file)) {
        return Vec::new();
    }
    let options = emit::Options { trust: marks.trust, ..emit::Options::default() };
    let mut notes = emit::lower(program, map, file, locator, options).notes;
    notes.retain(|it| it.about == emit::About::Blocks);
    notes
}

/// What would be said of arrays in the scratchpad if the text were compiled for a cluster.
fn scratchpad(
    program: &Program,
    map: &SourceMap,
    locator: &Locator<'_>,
    marks: &opt::marks::Options,
) -> Vec<emit::Note> {
    let Some(file) = map.files().next() else { return Vec::new() };
    let options = emit::Options {
        wants_device: true,
        wants_cluster: true,
        trust: marks.trust,
        ..emit::Options::default()
    };
    let mut notes = emit::lower(program, map, file, locator, options).notes;
    notes.retain(|it| it.about == emit::About::Scratchpad);
    notes
}
