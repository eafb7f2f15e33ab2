//! Directives in languages that Ferry does not read: found, told, and noted in the object.
//!
//! The host compiler compiles such files alone, so that what asks for a device runs on the host. That is said when
//! the file is compiled; the note makes the program refuse to start where offload is mandatory.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::PathBuf;

use abi::image::ImageKind;
use abi::names::NOTES;
use directive::Mark;
use source::{Diagnostic, Diagnostics, Locator, SourceMap, Span};

use super::args::{Input, Step};
use super::bundle::Code;
use super::host::{Host, Voice};
use super::image::{self, Part};
use super::language::Unread;
use super::lower::{Outcome, Verdict};
use super::{Context, Failure, preprocess};

/// What stands for a kind of machine in notes.
pub(crate) const TRIPLE: &str = "unread";

/// Whether it is no code, but what was left unread.
pub(crate) fn is_note(code: &Code) -> bool {
    code.kind == ImageKind::Source && code.triple == TRIPLE
}

/// What was found in a file.
pub(crate) struct Found {
    pub(crate) map: SourceMap,
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) diagnostics: Diagnostics,
    /// For the object.
    pub(crate) note: Code,
    /// It has directives of OpenMP that ask for a device, or declare what devices have too.
    pub(crate) concerns_devices: bool,
    /// Its first directive of OpenACC that asks for a device.
    pub(crate) openacc: Option<(Span, String)>,
}

/// Looks for directives that devices are concerned with; nothing if there are none, or if the file cannot be read,
/// which is its compiler's to tell.
pub(crate) fn find(cx: &Context<'_>, input: &Input, compiler: &Host) -> Option<Found> {
    let language = input.language.unread(&input.path)?;
    let (mark, text) = match language {
        Unread::Fortran if input.is_stdin() => (Mark::Comment, cx.stdin().ok()?.to_vec()),
        Unread::Fortran => (Mark::Comment, fs::read(&input.path).ok()?),
        Unread::Cplusplus | Unread::ObjectiveC => {
            (Mark::Pragma, preprocessed(cx, input, compiler)?)
        }
    };
    let mut map = SourceMap::new();
    let file = map.add_preprocessed(input.path.display().to_string(), text).ok()?;
    let mut asked: Vec<(Span, String)> = Vec::new();
    let (mut openacc, mut concerns_devices) = (None, false);
    let mut at = map.base(file);
    for line in map.bytes(file).split_inclusive(|it| *it == b'\n') {
        let begin = at;
        at = at.saturating_add(u32::try_from(line.len()).ok()?);
        let mut off = cx.arguments.off.clone();
        let asked_here = directive::asked_on(line, mark, &off);
        off.push(directive::OPENACC);
        let is_openmp = directive::concerns_devices(line, mark, &off);
        concerns_devices |= is_openmp;
        let Some(directive) = asked_here else { continue };
        let blank = line.len() - line.trim_ascii_start().len();
        let start = begin.saturating_add(u32::try_from(blank).ok()?);
        let span =
            Span { start, end: start.saturating_add(u32::try_from(line.trim_ascii().len()).ok()?) };
        if !map.in_system_header(span) {
            if !is_openmp {
                openacc.get_or_insert((span, directive.clone()));
            }
            asked.push((span, directive));
        }
    }
    let mut diagnostics = Diagnostics::new();
    if let Some((first, name)) = asked.first() {
        diagnostics.push(warning(language, *first, name, asked.len()));
    } else if !concerns_devices {
        return None;
    }
    let note = note(&asked, &map);
    let verdict = |(span, directive): (Span, String)| Verdict {
        span,
        directive,
        function: String::new(),
        outcome: Outcome::Unread,
        devices: Vec::new(),
        loops: Vec::new(),
        data: Vec::new(),
    };
    let verdicts = asked.into_iter().map(verdict).collect();
    Some(Found { verdicts, map, diagnostics, note, concerns_devices, openacc })
}

/// Says that directives are left to the host.
fn warning(language: Unread, first: Span, name: &str, count: usize) -> Diagnostic {
    let mut message = Diagnostic::warning(
        "F0045",
        format!("directives in {} are not read: this `{name}` runs on the host", language.name()),
    );
    message = message.at(first, "").note("the host compiler compiles this file alone");
    if count > 1 {
        message =
            message.note(format!("{} more directives of this file ask for a device", count - 1));
    }
    let install = match language {
        Unread::Cplusplus => "`apt install clang-19 libomp-19-dev` (OpenMP), ",
        Unread::Fortran => "`apt install flang-19 libomp-19-dev` (OpenMP), ",
        Unread::ObjectiveC => "",
    };
    message.help(format!(
        "{install}write the region in a C file, or switch its standard off for this one: {}",
        directive::SWITCHED_OFF
    ))
}

fn preprocessed(cx: &Context<'_>, input: &Input, compiler: &Host) -> Option<Vec<u8>> {
    let mut words: Vec<OsString> = vec!["-E".into()];
    words.extend(cx.arguments.flags(&[Step::Everywhere, Step::Preprocess]).cloned());
    match cx.arguments.native {
        Some(_) if !cx.arguments.off.contains(&directive::OPENMP) => words.push("-fopenmp".into()),
        Some(_) => {}
        None => words.extend(cx.arguments.switches.iter().map(OsString::from)),
    }
    words.extend(preprocess::language_flag(&input.language));
    words.push(crate::input::guarded(&input.path).into());
    let text = if input.is_stdin() { Some(cx.stdin().ok()?) } else { None };
    let ran = compiler.run(&words, text, Voice::Kept).ok()?.checked().ok()?;
    Some(ran.stdout)
}

/// `a.cpp:12: target` for each.
fn note(asked: &[(Span, String)], map: &SourceMap) -> Code {
    let read = crate::input::written;
    let locator = Locator::new(map, &read);
    let mut text = String::new();
    for (span, directive) in asked {
        if let Some(place) = locator.locate(*span) {
            text.push_str(&format!("{}:{}: {directive}\n", place.file, place.line));
        }
    }
    let (triple, arch) = (TRIPLE.to_owned(), String::new());
    Code { kind: ImageKind::Source, triple, arch, bytes: text.into_bytes() }
}

/// The object file that tells the runtime of notes, and of offload that must happen. Returns its path.
pub(crate) fn object(
    cx: &Context<'_>,
    notes: &[Part],
    is_mandatory: bool,
) -> Result<PathBuf, Failure> {
    let mut places = String::new();
    for part in notes {
        for line in String::from_utf8_lossy(&part.code.bytes).lines() {
            let quoted: String = line.chars().flat_map(char::escape_default).collect();
            places.push_str(&format!(
                "\"{}\",\n",
                quoted.replace("\\u{fffd}", "?").replace("\\'", "'")
            ));
        }
    }
    // Before constructors that start the runtime.
    let text = format!(
        "extern void {NOTES}(int, const char *const *);\n\
         static const char *const places[] = {{\n{places}(const char *)0 }};\n\
         __attribute__((constructor(101))) static void tell(void) {{ {NOTES}({}, places); }}\n",
        u8::from(is_mandatory)
    );
    image::compiled(cx, OsStr::new("notes"), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_where() {
        let mut map = SourceMap::new();
        let file = map
            .add_preprocessed("a.cpp", b"# 4 \"a.cpp\"\n#pragma omp target\n".to_vec())
            .expect("fits");
        let start = map.base(file) + 12;
        let note = note(&[(Span { start, end: start + 7 }, "target".to_owned())], &map);
        assert_eq!(String::from_utf8_lossy(&note.bytes), "a.cpp:4: target\n");
        assert!(super::super::language::Language::C.unread(std::path::Path::new("a.c")).is_none());
    }
}
