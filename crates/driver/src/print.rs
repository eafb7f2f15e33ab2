//! `ferry print`: a program as it was understood, as C or in typed form, or its kernels after a pass.

use std::path::Path;
use std::process::ExitCode;

use emit::dialect::{KERNEL, Language};
use ir::program::Program;
use source::{Diagnostic, Diagnostics, Locator, SourceMap, render};

use crate::front;
use crate::options::{Input, PrintOptions};
use crate::report::{self, Stream};

pub(crate) fn run(options: &PrintOptions) -> Result<ExitCode, String> {
    options.input.refuse_overwriting(options.output.as_deref())?;
    let mut text = String::new();
    let (mut failed, mut broken) = (false, false);
    for path in &options.input.files {
        if let Some(after) = &options.after {
            let last = (after != "outline").then_some(after.as_str());
            let grid = options.device.into();
            match kernels(path, &options.input, &KERNEL, (grid, last))? {
                Ok(made) => text.push_str(&made),
                Err(status) => return Ok(status),
            }
        } else if options.typed {
            let unit = front::check(path, &options.input);
            failed |= complain(&unit.diagnostics, &unit.map)?;
            if let Some(program) = &unit.program {
                if unit.diagnostics.errors() == 0 {
                    broken |= complain(&broken_laws(program), &unit.map)?;
                }
                text.push_str(&ir::print::program(program));
            }
        } else {
            match front::parse(path, &options.input) {
                Ok(parsed) => {
                    failed |= complain(&parsed.diagnostics, &parsed.map)?;
                    text.push_str(&syntax::print::print(&parsed.tree));
                }
                Err(message) => {
                    let mut diagnostics = Diagnostics::new();
                    diagnostics.push(message);
                    failed |= complain(&diagnostics, &SourceMap::new())?;
                }
            }
        }
    }
    if broken {
        return Ok(ExitCode::from(4));
    }
    // A program with errors has lost parts: printing the rest as C would pass for the whole.
    if failed {
        return Ok(ExitCode::from(1));
    }
    report::deliver(&text, options.output.as_deref(), Stream::Out)?;
    Ok(ExitCode::SUCCESS)
}

/// The kernels of a file in a language, after a pass or as outlined; else the status, after what is wrong was said.
pub(crate) fn kernels(
    path: &Path,
    input: &Input,
    language: &Language,
    until: (emit::Grid, Option<&str>),
) -> Result<Result<String, ExitCode>, String> {
    let unit = front::check(path, input);
    let is_wrong = complain(&unit.diagnostics, &unit.map)?;
    let Some(program) = unit.program.as_ref().filter(|_| !is_wrong) else {
        return Ok(Err(ExitCode::from(1)));
    };
    let Some(file) = unit.map.files().next() else { return Ok(Err(ExitCode::from(1))) };
    let read = crate::input::written;
    let locator = Locator::new(&unit.map, &read);
    let made = emit::dialect::outlined(program, &unit.map, file, &locator, until);
    let is_broken = made.diagnostics.errors() > 0;
    show(&made.diagnostics, &unit.map)?;
    Ok(if is_broken { Err(ExitCode::from(4)) } else { Ok((language.text)(&made.module)) })
}

/// The typed form of a program without errors obeys its laws; where it does not, that is our bug.
fn broken_laws(program: &Program) -> Diagnostics {
    let mut found = Diagnostics::new();
    for violation in ir::verify::verify(program) {
        let message = format!("bug of ferry: the typed form breaks the law `{:?}`", violation.law);
        found.push(Diagnostic::error("F0999", message).at(violation.span, violation.detail));
    }
    found
}

/// Shows the errors; tells whether there were any.
fn complain(diagnostics: &Diagnostics, map: &SourceMap) -> Result<bool, String> {
    if diagnostics.errors() == 0 {
        return Ok(false);
    }
    show(diagnostics, map)?;
    Ok(true)
}

fn show(diagnostics: &Diagnostics, map: &SourceMap) -> Result<(), String> {
    let read = crate::input::written;
    let locator = Locator::new(map, &read);
    let found = front::presentable(diagnostics, map);
    report::show(&render::terminal(&found, &locator, render::Colour::Never), Stream::Err)
}
