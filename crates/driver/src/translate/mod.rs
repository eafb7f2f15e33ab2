//! `ferry translate`: directives of one standard become directives of the other, in the files themselves.
//!
//! Each file is read once for each way it is compiled; what is changed in it and in its headers is
//! gathered, and files are written when all is known. A file in which something was refused stays as it
//! is, unless the user takes the rest as it comes.

mod database;
mod files;
mod report;

use std::ffi::OsString;
use std::fs;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use emit::{Fate, Keep, PROFILES, Profile, Reads, Request};
use source::{Locator, render};

use opt::profile::{Kind, Profile as Device};

use crate::cc::decisions::{self, Decided};
use crate::options::{Input, KeepOld, TranslateOptions};
use crate::report::{Stream, colour_of_terminal, show};
use crate::{cc, front, profiles};
use files::Files;
use report::Report;

pub(crate) fn run(options: &TranslateOptions) -> Result<ExitCode, String> {
    let request = request(options)?;
    let device = options.optimize.as_deref().map(profiles::device).transpose()?;
    let device = device.map(|it| for_reader(it, &request));
    let before = options.mapping.as_deref().map(decisions::read).transpose();
    let before = before.map_err(cc::Failure::into_text)?;
    let mut decided: Vec<Decided> = Vec::new();
    let mut files = Files::default();
    let mut report = Report::default();
    let mut failed = false;
    for path in &options.input.files {
        for input in readings(options, path)? {
            let unit = front::check(path, &input);
            let read = |name: &str| fs::read(name).ok();
            let locator = Locator::new(&unit.map, &read);
            if unit.diagnostics.errors() > 0 {
                let colour = colour_of_terminal(std::io::stderr().is_terminal());
                show(&render::terminal(&unit.diagnostics, &locator, colour), Stream::Err)?;
                failed = true;
                continue;
            }
            let Some(program) = &unit.program else { continue };
            let optimize = device.as_ref().zip(unit.map.files().next()).map(|(profile, file)| {
                let trust = options.trust.into();
                let marks = opt::marks::Options { trust, ..opt::marks::Options::default() };
                let text = (unit.map.bytes(file), unit.map.base(file));
                emit::Optimize { profile, marks, decisions: before.as_ref(), text }
            });
            let mut translation = emit::translate(program, &locator, &request, optimize.as_ref());
            if !translation.faults.is_empty() {
                let colour = colour_of_terminal(std::io::stderr().is_terminal());
                show(&render::terminal(&translation.faults, &locator, colour), Stream::Err)?;
                failed |= translation.faults.errors() > 0;
            }
            let nests = std::mem::take(&mut translation.decisions);
            decided.push(Decided { file: path.display().to_string(), nests });
            report.add(path, &translation, &locator);
            files.add(path, &translation, &locator);
        }
    }
    for (file, line, from) in files.unread(request.to) {
        report.add_unread(&file, line, from);
    }
    let worst = report.worst();
    let is_whole = worst < Fate::Refused || options.partial;
    if is_whole && !failed {
        files.deliver(options)?;
        if let (Some(path), Some(before)) = (&options.mapping, &before) {
            decisions::write(path, before, decided).map_err(cc::Failure::into_text)?;
        }
    }
    report.show(options)?;
    Ok(match failed || worst == Fate::Refused {
        true => ExitCode::from(1),
        false => ExitCode::SUCCESS,
    })
}

/// A device as the compiler that will read the result uses it.
fn for_reader(mut device: Device, request: &Request) -> Device {
    let fills_lanes = request.profile.fills_named_lanes && device.kind == Kind::Gpu;
    device.lanes_need_word |= fills_lanes;
    device
}

/// The ways in which a file is to be read.
fn readings(options: &TranslateOptions, path: &Path) -> Result<Vec<Input>, String> {
    let Some(database) = &options.database else { return Ok(vec![options.input.clone()]) };
    let ways = database::flags(database, path)?;
    let with = |flags: Vec<OsString>| {
        let mut input = options.input.clone();
        input.flags.extend(flags);
        input
    };
    Ok(ways.into_iter().map(with).collect())
}

fn request(options: &TranslateOptions) -> Result<Request, String> {
    let to = directive::standard_called(&options.to)
        .ok_or_else(|| format!("`--to {}`: say {}", options.to, directive::STANDARD_WORDS))?;
    let reads = match to == directive::PRESCRIPTIVE {
        true => Reads::Prescriptive,
        false => Reads::Descriptive,
    };
    let of_standard: Vec<&'static Profile> =
        PROFILES.iter().filter(|it| it.reads == reads).collect();
    let found = match &options.profile {
        Some(name) => of_standard.iter().find(|it| it.name == name).copied(),
        None => of_standard.first().copied(),
    };
    let profile = found.ok_or_else(|| {
        let names: Vec<&str> = of_standard.iter().map(|it| it.name).collect();
        let name = options.profile.as_deref().unwrap_or_default();
        format!("no profile `{name}` for this standard; there are {}", names.join(", "))
    })?;
    let keep = match options.keep {
        KeepOld::None => Keep::Nothing,
        KeepOld::Comment => Keep::Comment,
        KeepOld::Guard => Keep::Guard,
    };
    let (queues, trust) = (!options.no_queues, options.trust.into());
    Ok(Request { to, profile, keep, trust, queues })
}
