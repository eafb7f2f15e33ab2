//! From a file name on the command line to preprocessed text.
//!
//! In: a path and the options for the preprocessor. Out: the text, or a message that names the file
//! and says what to do. Nothing is read that is not asked for, and nothing is written.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;

use source::{Diagnostic, looks_binary};

use crate::language::Unread;
use crate::options::Input;
use crate::report::reason;

/// Texts beyond this have no place in the address space of spans.
const LARGEST: u64 = u32::MAX as u64;

/// A text as the compiler proper would see it.
#[derive(Debug)]
pub(crate) struct Text {
    /// The file as the user named it.
    pub(crate) name: String,
    /// What the preprocessor gave.
    pub(crate) bytes: Vec<u8>,
    /// What it had to say of it.
    pub(crate) warning: Option<Diagnostic>,
}

/// What standard input is called in messages.
pub(crate) const STDIN: &str = "<stdin>";

/// All of standard input, which is there once: who asks again gets the same.
pub(crate) fn stdin() -> Result<&'static [u8], Diagnostic> {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    if let Some(bytes) = BYTES.get() {
        return Ok(bytes);
    }
    let bytes = read_all(io::stdin().lock(), "standard input")?;
    Ok(BYTES.get_or_init(|| bytes))
}

/// Reads `path` and preprocesses it, unless it already is.
pub(crate) fn read(path: &Path, input: &Input) -> Result<Text, Diagnostic> {
    if path == Path::new("-") {
        return preprocess(STDIN.to_owned(), Source::Stdin(stdin()?), input);
    }
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| cannot_read(&name, &error))?;
    let metadata = file.metadata().map_err(|error| cannot_read(&name, &error))?;
    if metadata.is_dir() {
        return Err(is_a_folder(&name));
    }
    if metadata.len() >= LARGEST {
        return Err(too_large(&name, metadata.len()));
    }
    if let Some(language) = Unread::of_file(path) {
        return Err(another_language(&name, language));
    }
    if is_preprocessed(path) {
        let bytes = read_all(file, &name)?;
        Ok(Text { name, bytes, warning: None })
    } else if metadata.is_file() {
        refuse_binary(&name, &head(file, &name)?)?;
        preprocess(name, Source::File(path), input)
    } else {
        // What a pipe has given once it does not give again, so the preprocessor cannot open it.
        let bytes = read_all(file, &name)?;
        preprocess(name, Source::Stdin(&bytes), input)
    }
}

/// A file that line markers of a text name, to be shown: only plain files are opened, whatever the text says.
pub(crate) fn written(name: &str) -> Option<Vec<u8>> {
    let kind = fs::metadata(name).ok()?;
    if kind.is_file() && kind.len() < LARGEST { fs::read(name).ok() } else { None }
}

/// Everything that `from` gives, unless its beginning is binary or it has no end.
pub(crate) fn read_all(mut from: impl Read, name: &str) -> Result<Vec<u8>, Diagnostic> {
    let mut bytes = head(&mut from, name)?;
    refuse_binary(name, &bytes)?;
    let room = LARGEST.saturating_sub(bytes.len() as u64);
    from.take(room).read_to_end(&mut bytes).map_err(|error| cannot_read(name, &error))?;
    if bytes.len() as u64 >= LARGEST {
        return Err(too_large(name, bytes.len() as u64));
    }
    refuse_binary(name, &bytes)?;
    Ok(bytes)
}

/// The first bytes, which tell text from other things.
fn head(from: impl Read, name: &str) -> Result<Vec<u8>, Diagnostic> {
    let mut head = Vec::new();
    from.take(1 << 16).read_to_end(&mut head).map_err(|error| cannot_read(name, &error))?;
    Ok(head)
}

fn is_preprocessed(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("i"))
}

enum Source<'a> {
    File(&'a Path),
    Stdin(&'a [u8]),
}

/// Runs the user's own preprocessor.
fn preprocess(name: String, source: Source<'_>, input: &Input) -> Result<Text, Diagnostic> {
    let words = compiler(input)?;
    let Some((program, own)) = words.split_first() else {
        return Err(bad_compiler_command(""));
    };
    let mut command = Command::new(program);
    // Macros in directives are expanded by compilers that know the directives. `-dD` keeps the
    // definitions, so that we can do the same for directives which this compiler does not know.
    command.args(own).args(["-E", "-dD"]).args(directive::PREPROCESSOR_FLAGS);
    for folder in &input.include {
        command.arg("-I").arg(folder);
    }
    // Definitions and their removal work in the order written, undefining last, as people mean it.
    for definition in &input.define {
        command.arg("-D").arg(definition);
    }
    for name in &input.undefine {
        command.arg("-U").arg(name);
    }
    if let Some(name) = &input.std {
        command.arg(format!("-std={name}"));
    }
    command.args(&input.flags);
    // Behind the user's own folders, and before all that compilers, their wrappers and the environment bring.
    if let Some(folder) = own_headers() {
        command.arg("-I").arg(folder);
    }
    command.args(["-x", "c"]);
    let text = match source {
        Source::File(path) => {
            command.arg(guarded(path));
            None
        }
        Source::Stdin(text) => {
            command.arg("-");
            Some(text.to_owned())
        }
    };
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let output =
        fed(&mut command, text.as_deref()).map_err(|error| no_compiler(program, &error))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(preprocessor_failed(program, output.status, &said));
    }
    if output.stdout.len() as u64 >= LARGEST {
        return Err(too_large("the preprocessed text", output.stdout.len() as u64));
    }
    let warning = (!said.trim().is_empty()).then(|| preprocessor_warned(program, &said));
    let bytes = syntax::expand_pragmas(output.stdout, directive::is_directive_word);
    Ok(Text { name, bytes, warning })
}

/// Runs a command to its end, with `text` on its standard input if there is any.
pub(crate) fn fed(command: &mut Command, text: Option<&[u8]>) -> io::Result<Output> {
    command.stdin(if text.is_some() { Stdio::piped() } else { Stdio::null() });
    let mut child = command.spawn()?;
    // Fed by a thread of its own: the child may fill our end of its output before it has read all.
    let feeder = child.stdin.take().zip(text.map(<[u8]>::to_vec)).map(|(mut pipe, text)| {
        std::thread::spawn(move || {
            // A preprocessor that has seen enough closes the pipe; what it says of it is told.
            let _ = pipe.write_all(&text);
        })
    });
    let output = child.wait_with_output();
    if let Some(feeder) = feeder {
        let _ = feeder.join();
    }
    output
}

/// A path that no compiler takes for an option.
pub(crate) fn guarded(path: &Path) -> PathBuf {
    let name = path.as_os_str().as_encoded_bytes();
    // A dash alone is standard input.
    let starts_with_dash = name.starts_with(b"-") && name != b"-";
    if starts_with_dash { Path::new(".").join(path) } else { path.to_owned() }
}

/// The compiler's command, in words.
fn compiler(input: &Input) -> Result<Vec<OsString>, Diagnostic> {
    let text = match &input.cc {
        Some(text) => text.clone(),
        None => match std::env::var_os("CC") {
            Some(text) if !text.to_string_lossy().trim().is_empty() => {
                text.to_string_lossy().into_owned()
            }
            _ => "cc".to_owned(),
        },
    };
    match shlex::split(&text) {
        Some(words) if !words.is_empty() => Ok(words.into_iter().map(OsString::from).collect()),
        _ => Err(bad_compiler_command(&text)),
    }
}

/// Ferry's headers: beside the installed program, or in the tree it was built in.
pub(crate) fn own_headers() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?;
    ["..", "../..", "../../.."]
        .iter()
        .map(|up| folder.join(up).join("include/ferry"))
        .find(|it| directive::HEADERS.iter().all(|name| it.join(name).is_file()))
        .and_then(|it| it.canonicalize().ok())
}

// ---------------------------------------------------------------- messages

fn cannot_read(name: &str, error: &io::Error) -> Diagnostic {
    Diagnostic::error("F0001", format!("cannot read `{name}`: {}", reason(error)))
}

fn is_a_folder(name: &str) -> Diagnostic {
    Diagnostic::error("F0002", format!("`{name}` is a folder, not a C file"))
        .help(format!("name the files: `{}/*.c`", name.trim_end_matches('/')))
}

fn another_language(name: &str, language: Unread) -> Diagnostic {
    let command = if language == Unread::Fortran { "fc" } else { "c++" };
    let language = language.name().trim_end_matches(" files");
    Diagnostic::error("F0009", format!("`{name}` is {language} by its name, and only C is read"))
        .note("analyses of the source are for C; C++ and Fortran are compiled by LLVM 19")
        .help(format!("what becomes of its regions: `ferry {command} --ferry-report -c {name}`"))
        .help("C under another name: preprocess it to a `.i` file, or give it on standard input (`-`)")
}

fn refuse_binary(name: &str, bytes: &[u8]) -> Result<(), Diagnostic> {
    if !looks_binary(bytes) {
        return Ok(());
    }
    Err(Diagnostic::error("F0003", format!("`{name}` is a binary file, not C text")))
}

pub(crate) fn too_large(name: &str, size: u64) -> Diagnostic {
    let gib = size as f64 / f64::from(1 << 30);
    Diagnostic::error("F0004", format!("`{name}` is too large: {gib:.1} GiB"))
        .note("a translation unit can have at most 4 GiB of preprocessed text")
}

fn no_compiler(program: &OsStr, error: &io::Error) -> Diagnostic {
    let program = program.display();
    Diagnostic::error("F0005", format!("cannot run the compiler `{program}`: {}", reason(error)))
        .note("the host's C compiler preprocesses the program")
        .help("install one (Debian: `apt install gcc`), or name it with `--cc` or `CC`")
}

fn bad_compiler_command(text: &str) -> Diagnostic {
    Diagnostic::error("F0006", format!("`{text}` is not a command"))
        .help("give `--cc` or `CC` a program and its options, quoted as in a shell")
}

/// Shows what the compiler itself said, as far as people read on.
fn preprocessor_failed(program: &OsStr, status: ExitStatus, said: &str) -> Diagnostic {
    let program = program.display();
    let message = Diagnostic::error("F0007", format!("the preprocessor, `{program} -E`, failed"));
    if said.is_empty() {
        return message.note(format!("it said nothing ({status})"));
    }
    quoting(message, said)
}

fn preprocessor_warned(program: &OsStr, said: &str) -> Diagnostic {
    let program = program.display();
    let message = format!("the preprocessor, `{program} -E`, has something to say");
    quoting(Diagnostic::warning("F0008", message), said)
}

/// The message with the words of another program.
fn quoting(mut message: Diagnostic, said: &str) -> Diagnostic {
    const SHOWN: usize = 20;
    for line in said.lines().take(SHOWN) {
        message = message.note(line.to_owned());
    }
    match said.lines().count().saturating_sub(SHOWN) {
        0 => message,
        more => message.note(format!("and {more} lines more")),
    }
}
