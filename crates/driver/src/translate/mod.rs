//! `ferry translate`: directives of one standard become directives of the other, in the files themselves.
//!
//! Each file is read once for each way it is compiled, and again for branches of `#if` that no reading has met; what
//! is changed in it and in its headers is gathered, and files are written when all is known. A file in which something was refused stays as it
//! is, unless the user takes the rest as it comes.

mod conditions;
mod database;
mod files;
mod report;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use source::{Locator, Severity, render};
use translate::{Fate, Keep, PROFILES, Profile, Reads, Request};

use opt::decisions::{Decision, Decisions};
use opt::profile::{Kind, Profile as Device};

use crate::cc::decisions::{self, Decided};
use crate::options::{Input, KeepOld, TranslateOptions};
use crate::report::{Stream, colour_of_terminal, show};
use crate::{cc, front, input, profiles};
use conditions::Settings;
use files::Files;
use report::Report;

/// So many readings are tried for one file beyond those that were asked for.
const MOST_READINGS: usize = 16;
/// What the macros of the standards are taken for: newer than all that anybody asks for.
const LATE: i64 = 300_000;

pub(crate) fn run(options: &TranslateOptions) -> Result<ExitCode, String> {
    let request = request(options)?;
    let device = options.optimize.as_deref().map(profiles::device).transpose()?;
    let device = device.map(|it| for_reader(it, &request));
    let before = options.mapping.as_deref().map(decisions::read).transpose();
    let before = before.map_err(cc::Failure::into_text)?;
    let trust = options.trust.into();
    let marks = opt::marks::Options { trust, ..opt::marks::Options::default() };
    let mut work = Work {
        request: &request,
        device: device.as_ref().map(|it| (it, marks)),
        before: before.as_ref(),
        decided: Vec::new(),
        files: Files::default(),
        report: Report::default(),
        why: Vec::new(),
    };
    let mut failed = false;
    for path in &options.input.files {
        if path.extension().is_some_and(|it| it == "i") {
            let name = path.display();
            return Err(format!("{name} is preprocessed: name the file that it was made from"));
        }
        let ways = readings(options, path)?;
        for input in &ways {
            if let Err(errors) = work.read(path, input, false)? {
                show(&errors, Stream::Err)?;
                failed = true;
            }
        }
        if !options.no_branches && !failed {
            work.read_branches(path, &ways)?;
        }
    }
    let Work { files, mut report, why, decided, .. } = work;
    let mut is_spoiled = false;
    for unread in files.unread(request.to, &fixed_settings()) {
        // A definition cannot change for some of its uses alone.
        is_spoiled |= unread.name.is_some() && !unread.is_unused && !unread.is_never;
        let why = why.iter().find(|it| (&it.0, it.1) == (&unread.file, unread.at));
        report.add_unread(&unread, why.map(|it| it.2.as_str()));
    }
    let worst = report.worst();
    let is_whole = worst < Fate::Refused || options.partial && !is_spoiled;
    if is_whole && !failed {
        files.deliver(options)?;
        if let (Some(path), Some(before)) = (&options.mapping, &before) {
            decisions::write(path, before, decided).map_err(cc::Failure::into_text)?;
        }
    }
    report.show(options)?;
    if options.partial && is_spoiled && !failed {
        let text = "nothing is written: a definition cannot change for some of its uses alone\n";
        show(text, Stream::Err)?;
    }
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

/// What has been found so far.
struct Work<'a> {
    request: &'a Request,
    /// The device to map loops for, and how far directives are believed.
    device: Option<(&'a Device, opt::marks::Options)>,
    /// Mappings that were kept before, and those that are found.
    before: Option<&'a Decisions>,
    decided: Vec<Decided>,
    files: Files,
    report: Report,
    /// Why readings for directives were dropped: file, byte, reason.
    why: Vec<(Arc<str>, usize, String)>,
}

impl Work<'_> {
    /// Reads a file in one way; answers what is wrong with the program, for people. A reading that was only tried must
    /// agree with those before it.
    fn read(
        &mut self,
        path: &Path,
        input: &Input,
        is_tried: bool,
    ) -> Result<Result<(), String>, String> {
        let unit = front::check(path, input);
        let read = |name: &str| match name == input::STDIN {
            true => input::stdin().ok().map(<[u8]>::to_vec),
            false => crate::input::written(name),
        };
        let locator = Locator::new(&unit.map, &read);
        if unit.diagnostics.errors() > 0 {
            if is_tried {
                let first = unit.diagnostics.iter().find(|it| it.severity == Severity::Error);
                return Ok(Err(first.map_or_else(String::new, |it| it.message.clone())));
            }
            let colour = colour_of_terminal(std::io::stderr().is_terminal());
            return Ok(Err(render::terminal(&unit.diagnostics, &locator, colour)));
        }
        let Some(program) = &unit.program else { return Ok(Ok(())) };
        let device = self.device.as_ref().zip(unit.map.files().next());
        let optimize = device.map(|((profile, marks), file)| {
            let text = (unit.map.bytes(file), unit.map.base(file));
            translate::Optimize { profile, marks: marks.clone(), decisions: self.before, text }
        });
        let mut translation =
            translate::translate(program, &locator, self.request, optimize.as_ref());
        if !translation.faults.is_empty() && !is_tried {
            let colour = colour_of_terminal(std::io::stderr().is_terminal());
            let told = render::terminal(&translation.faults, &locator, colour);
            if translation.faults.errors() > 0 {
                return Ok(Err(told));
            }
            show(&told, Stream::Err)?;
        }
        if is_tried && let Some(at) = self.report.worsened(path, &translation, &locator) {
            return Ok(Err(format!("{at} would be refused")));
        }
        if let Err(why) = self.files.add(path, &translation, &locator) {
            let name = path.display();
            return match is_tried {
                true => Ok(Err(why)),
                false => Err(format!(
                    "{why}: as {name} reads it this line becomes something else than before, or stays; \
                     translate {name} by itself, or make what both read the same"
                )),
            };
        }
        for it in unit.diagnostics.iter().filter(|it| it.code == sema::OUTSIDE_FUNCTIONS) {
            let place = it.primary.as_ref().and_then(|it| locator.locate(it.span));
            place.into_iter().for_each(|it| self.files.add_outside(it.file, it.line));
        }
        self.report.add(path, &translation, &locator);
        self.decide(path, std::mem::take(&mut translation.decisions));
        Ok(Ok(()))
    }

    /// Keeps mappings of nests; of one that several readings have met, the first.
    fn decide(&mut self, path: &Path, nests: Vec<(String, Decision)>) {
        let file = path.display().to_string();
        match self.decided.iter_mut().find(|it| it.file == file) {
            Some(known) => {
                let new =
                    nests.into_iter().filter(|it| !known.nests.iter().any(|old| old.0 == it.0));
                let new: Vec<_> = new.collect();
                known.nests.extend(new);
            }
            None => self.decided.push(Decided { file, nests }),
        }
    }

    /// Reads a file again, with names set so that directives are met which no reading has met.
    fn read_branches(&mut self, path: &Path, ways: &[Input]) -> Result<(), String> {
        let Some(base) = ways.first() else { return Ok(()) };
        let fixed = fixed_settings();
        let name =
            |it: &OsString| it.to_string_lossy().split('=').next().unwrap_or_default().to_owned();
        let given: Vec<String> = base.define.iter().map(name).collect();
        let mut tried: Vec<Settings> = Vec::new();
        let mut tries = 0;
        while tries < MOST_READINGS {
            let unread = self.files.unread(self.request.to, &fixed);
            let unread = unread.into_iter().filter(|it| !it.is_unused && !it.is_never);
            let next = unread.into_iter().find_map(|it| {
                let conditions = conditions::around(self.files.text(&it.file), it.at);
                let settings = conditions::satisfied(&conditions, &fixed, &given)?;
                (!settings.is_empty() && !tried.contains(&settings)).then_some((it, settings))
            });
            let Some((unread, settings)) = next else { break };
            tries += 1;
            let mut input = base.clone();
            input.flags.extend(conditions::flags(&settings));
            let told = conditions::told(&settings);
            match self.read(path, &input, true)? {
                Ok(()) => self.report.add_reading(path, &told),
                Err(why) => {
                    let text = format!("with `{told}`: {why}");
                    self.why.push((unread.file, unread.at, text));
                }
            }
            tried.push(settings);
        }
        Ok(())
    }
}

/// What is not for the user to choose.
fn fixed_settings() -> Settings {
    Settings::from([
        (directive::MACRO_OF_LEVELS.to_owned(), Some(LATE)),
        (directive::MACRO_OF_TEAMS.to_owned(), Some(LATE)),
        ("__cplusplus".to_owned(), None),
    ])
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
