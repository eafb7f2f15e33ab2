//! The first run of the host compiler: from a C input to preprocessed text, and the dependences.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::args::{Arguments, Input, Step};
use super::host::Voice;
use super::language::Language;
use super::table::Stop;
use super::{Context, Failure};
use crate::input;
use crate::report::reason;

/// A text and what the preprocessor said of it.
pub(crate) struct Preprocessed {
    pub(crate) bytes: Vec<u8>,
    pub(crate) said: Vec<u8>,
}

/// Preprocesses an input, unless it already is.
pub(crate) fn run(cx: &Context<'_>, input: &Input) -> Result<Preprocessed, Failure> {
    if input.language == Language::PreprocessedC {
        let bytes = if input.is_stdin() { cx.stdin()?.to_vec() } else { read(&input.path)? };
        return Ok(Preprocessed { bytes, said: Vec::new() });
    }
    let mut words: Vec<OsString> = vec!["-E".into(), "-dD".into()];
    words.extend(reading_flags(cx.arguments));
    words.extend(dependence_flags(cx.arguments, &input.path));
    words.extend(cx.colour_flag());
    words.extend(["-x".into(), "c".into(), input::guarded(&input.path).into()]);
    let text = if input.is_stdin() { Some(cx.stdin()?) } else { None };
    let ran = cx.host.run(&words, text, Voice::Kept)?.checked()?;
    let bytes = syntax::expand_pragmas(ran.stdout, directive::is_directive_word);
    Ok(Preprocessed { bytes, said: ran.said })
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| {
        Failure::told(&format!("cannot read `{}`: {}", path.display(), reason(&error)))
    })
}

/// What makes the host compiler read a C text as we do: the user's flags, our macros and headers.
pub(crate) fn reading_flags(arguments: &Arguments) -> Vec<OsString> {
    let mut words: Vec<OsString> =
        directive::preprocessor_flags(&arguments.off).iter().map(OsString::from).collect();
    words.extend(arguments.flags(&[Step::Everywhere, Step::Preprocess]).cloned());
    // Behind the user's own folders, and before all that compilers, their wrappers and the environment bring.
    if let Some(folder) = input::own_headers().filter(|_| !arguments.has("-nostdinc")) {
        words.extend(["-I".into(), folder.into()]);
    }
    words
}

/// The flags that write the dependences of `source` as gcc would, whatever its output is called.
pub(crate) fn dependence_flags(arguments: &Arguments, source: &Path) -> Vec<OsString> {
    let dependences = &arguments.dependences;
    let Some(flag) = dependences.flag else {
        return Vec::new();
    };
    let mut words: Vec<OsString> = vec![flag.into(), "-MF".into()];
    words.push(dependences.file.clone().unwrap_or_else(|| default_file(arguments, source).into()));
    words.extend(dependences.flags.iter().cloned());
    if let Some(output) = arguments.output.as_ref().filter(|_| !dependences.has_target) {
        words.extend(["-MQ".into(), output.into()]);
    }
    words
}

/// `-o dir/b.o`: `dir/b.d`; else the name of the source, as files beside an object are called.
fn default_file(arguments: &Arguments, source: &Path) -> PathBuf {
    if let Some(output) = &arguments.output {
        return output.with_extension("d");
    }
    let is_only = arguments.inputs.iter().filter(|it| it.language != Language::Linked).count() == 1;
    let mut name = match arguments.stop {
        None => super::beside_link(Path::new("a.out"), source, is_only),
        Some(_) => OsString::new(),
    };
    name.push(source.file_stem().unwrap_or_default());
    name.push(".d");
    name.into()
}

/// Whether a text has a directive that is ours to read. One without is the host compiler's alone.
pub(crate) fn has_directive(text: &[u8]) -> bool {
    text.split(|it| *it == b'\n').any(|line| {
        let word = line
            .trim_ascii_start()
            .strip_prefix(b"#")
            .and_then(|it| it.trim_ascii_start().strip_prefix(b"pragma"))
            .filter(|it| it.first().is_some_and(u8::is_ascii_whitespace))
            .map(|it| it.trim_ascii_start())
            .and_then(|it| it.split(|it| !it.is_ascii_alphanumeric() && *it != b'_').next());
        word.and_then(|it| std::str::from_utf8(it).ok()).is_some_and(directive::is_directive_word)
    })
}

/// Whether the compilation ends before any text is compiled.
pub(crate) fn is_printed_only(arguments: &Arguments) -> bool {
    match arguments.stop {
        Some(Stop::Preprocessed | Stop::Dependences) => true,
        Some(Stop::Checked | Stop::Assembly | Stop::Object) | None => false,
    }
}

/// `-E`, `-M`, `-MM`: the host compiler's own work, with our macros and headers for C.
pub(crate) fn print(cx: &Context<'_>) -> Result<(), Failure> {
    let arguments = cx.arguments;
    for input in &arguments.inputs {
        let mut words: Vec<OsString> = Vec::new();
        if arguments.stop == Some(Stop::Preprocessed) {
            words.push("-E".into());
        }
        match &input.language {
            Language::C => words.extend(reading_flags(arguments)),
            Language::PreprocessedC | Language::Foreign(_) | Language::Linked => {
                if arguments.native.is_none() {
                    words.extend(arguments.switches.iter().map(OsString::from));
                } else if !arguments.off.contains(&directive::OPENMP) {
                    words.push("-fopenmp".into());
                }
                words.extend(arguments.flags(&[Step::Everywhere, Step::Preprocess]).cloned());
            }
        }
        words.extend(arguments.flags(&[Step::Printed, Step::Compile]).cloned());
        let dependences = &arguments.dependences;
        words.extend(dependences.flag.map(OsString::from));
        if let Some(file) = &dependences.file {
            words.extend(["-MF".into(), file.clone()]);
        }
        words.extend(dependences.flags.iter().cloned());
        if let Some(output) = &arguments.output {
            words.extend(["-o".into(), output.into()]);
        }
        words.extend(language_flag(&input.language));
        words.push(input::guarded(&input.path).into());
        let compiler = match input.language {
            Language::Foreign(_) => match arguments.native {
                Some(language) => &cx.llvm(language)?.compiler,
                None => cx.host,
            },
            Language::C | Language::PreprocessedC | Language::Linked => cx.host,
        };
        compiler.run(&words, None, Voice::Live)?.checked()?;
    }
    Ok(())
}

/// `-x` with the name of a language; nothing where the file's own name decides.
pub(crate) fn language_flag(language: &Language) -> Vec<OsString> {
    let name: OsString = match language {
        Language::C => "c".into(),
        Language::PreprocessedC => "cpp-output".into(),
        Language::Foreign(Some(name)) => name.clone(),
        Language::Foreign(None) | Language::Linked => return Vec::new(),
    };
    vec!["-x".into(), name]
}

#[cfg(test)]
mod tests {
    use super::has_directive;

    #[test]
    fn directives_are_found_at_the_beginning_of_lines_only() {
        assert!(has_directive(b"int x;\n#pragma omp parallel\n"));
        assert!(has_directive(b"  # pragma\tacc loop"));
        for text in ["#pragma once\n", "char *s = \"#pragma omp\";\n", "#pragma ompt\n", "omp", ""]
        {
            assert!(!has_directive(text.as_bytes()), "{text}");
        }
    }
}
