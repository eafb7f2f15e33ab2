//! The front half of the compiler as one call: text → tree → typed program.
//!
//! Every phase gives a value and diagnostics; so does this. A program with syntax errors is still
//! checked as far as it was understood.

use std::path::Path;

use directive::Directives;
use ir::layout::{self, DataModel};
use ir::program::Program;
use source::{Diagnostic, Diagnostics, Severity, SourceMap};
use syntax::ast::Tree;

use crate::input::{self, Text};
use crate::options::{Input, Model};

/// What became of one file.
pub(crate) struct Unit {
    /// The text and where it came from.
    pub(crate) map: SourceMap,
    /// The typed program; none if the file could not even be read.
    pub(crate) program: Option<Program>,
    /// What was found.
    pub(crate) diagnostics: Diagnostics,
}

/// A file as written, with the directives that were read in it.
pub(crate) struct Parsed {
    /// The text and where it came from.
    pub(crate) map: SourceMap,
    /// The tree.
    pub(crate) tree: Tree,
    /// Its directives.
    pub(crate) directives: Directives,
    /// What was found.
    pub(crate) diagnostics: Diagnostics,
}

/// Reads and parses one file.
pub(crate) fn parse(path: &Path, input: &Input) -> Result<Parsed, Diagnostic> {
    parse_text(input::read(path, input)?, Directives::new())
}

/// Parses a text that the preprocessor gave, with a fresh reader of directives.
pub(crate) fn parse_text(text: Text, mut directives: Directives) -> Result<Parsed, Diagnostic> {
    let mut map = SourceMap::new();
    let file = map
        .add_preprocessed(text.name, text.bytes)
        .map_err(|error| input::too_large(&error.name, error.len as u64))?;
    let parsed = syntax::parse(map.bytes(file), map.base(file), &mut directives);
    let mut diagnostics: Diagnostics = Diagnostics::new();
    text.warning.into_iter().for_each(|it| diagnostics.push(it));
    diagnostics.append(parsed.diagnostics);
    Ok(Parsed { tree: parsed.tree, diagnostics, directives, map })
}

/// Reads and checks one file.
pub(crate) fn check(path: &Path, input: &Input) -> Unit {
    checked(parse(path, input), model(input.model))
}

/// Checks a text that the preprocessor gave.
pub(crate) fn check_text(text: Text, directives: Directives, model: &'static DataModel) -> Unit {
    checked(parse_text(text, directives), model)
}

fn checked(parsed: Result<Parsed, Diagnostic>, model: &'static DataModel) -> Unit {
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(message) => {
            let mut diagnostics = Diagnostics::new();
            diagnostics.push(message);
            return Unit { map: SourceMap::new(), program: None, diagnostics };
        }
    };
    let checked = sema::check(parsed.tree, &parsed.directives, model);
    let mut diagnostics = parsed.diagnostics;
    diagnostics.append(checked.diagnostics);
    let diagnostics = presentable(&diagnostics, &parsed.map);
    Unit { map: parsed.map, program: Some(checked.program), diagnostics }
}

/// Diagnostics as people want them: in the order of the text, without warnings about headers that
/// are not theirs.
pub(crate) fn presentable(diagnostics: &Diagnostics, map: &SourceMap) -> Diagnostics {
    let place = |it: &Diagnostic| it.primary.as_ref().map(|it| it.span);
    let mut list: Vec<&Diagnostic> = diagnostics
        .iter()
        .filter(|it| {
            it.severity == Severity::Error || !place(it).is_some_and(|it| map.in_system_header(it))
        })
        .collect();
    // Stable: of several at one place the first found stays first.
    list.sort_by_key(|it| place(it).map(|it| it.start));
    let mut sorted = Diagnostics::new();
    for diagnostic in list {
        sorted.push(diagnostic.clone());
    }
    sorted
}

fn model(model: Model) -> &'static DataModel {
    match model {
        Model::Lp64 => &layout::LP64,
        Model::Ilp32 => &layout::ILP32,
        Model::Llp64 => &layout::LLP64,
    }
}
