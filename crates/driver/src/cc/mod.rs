//! `ferry cc`: a C compiler with gcc's command line, which carries directives to devices.
//!
//! ```text
//! words ─ args ─► a.c ─ preprocess ─► front half ─► lower ─► compile ─► a.o ─ link ─► program
//!                                                     └─ image::object ─► .ferry.device ─┘ image
//! ```
//! The host compiler does all that is plain C. Device code travels inside object files ([`bundle`])
//! and is linked to one image per program ([`image`]). Files appear when whole ([`output`]).

pub(crate) mod amd;
mod args;
mod bundle;
mod compile;
mod cuda;
pub(crate) mod decisions;
pub(crate) mod device;
mod foreign;
pub(crate) mod foretold;
mod gpus;
pub(crate) mod hardware;
mod hip;
pub(crate) mod host;
mod image;
mod link;
mod llvm;
pub(crate) mod lower;
mod markers;
mod native;
pub(crate) mod numbers;
pub(crate) mod nvidia;
mod nvptx;
mod opencl;
mod output;
mod preprocess;
mod refused;
pub(crate) mod remote;
mod response;
pub(crate) mod riscv;
mod run;
pub(crate) mod runtime;
mod table;
mod toolchain;
mod unread;
pub(crate) mod verdict;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use cache::Cache;
use source::render;
use tempfile::TempDir;

use self::args::{Arguments, Question, Report, Step};
use self::compile::{Done, Job};
use self::host::{Host, Voice};
use self::llvm::Llvm;
use self::remote::origin;
use self::table::Stop;
use opt::decisions::Decisions;
use opt::profile::{Kind, Profile};

use crate::language::{self, Language};
use crate::report::{self, Stream, reason};
use crate::{leftovers, profiles};

pub(crate) use self::llvm::Native;
pub(crate) use self::run::run as run_program;

/// Why a compilation ended: what to show, and the status to exit with.
#[derive(Debug)]
pub(crate) struct Failure {
    said: Vec<u8>,
    status: u8,
}

impl Failure {
    /// An error in our own words.
    fn told(message: &str) -> Failure {
        Failure { said: error_line(message).into_bytes(), status: 1 }
    }

    /// What was said, for another command.
    pub(crate) fn into_text(self) -> String {
        let text = String::from_utf8_lossy(&self.said).trim_end().to_owned();
        text.strip_prefix(OWN_ERROR).map_or(text.clone(), str::to_owned)
    }

    fn file(verb: &str, path: &Path, error: &io::Error) -> Failure {
        Failure::told(&format!("cannot {verb} `{}`: {}", path.display(), reason(error)))
    }
}

/// How errors in our own words begin.
const OWN_ERROR: &str = "ferry cc: error: ";

/// `ferry cc: error: …`
fn error_line(message: &str) -> String {
    format!("{OWN_ERROR}{message}\n")
}

/// Messages of other programs and our own, as they are; a reader that has gone away is no error.
fn say(bytes: &[u8]) {
    let _ = io::stderr().lock().write_all(bytes);
}

/// A device of cores by its name.
fn cores(word: &str) -> Result<Profile, Failure> {
    let profile = profiles::device(word).map_err(|why| Failure::told(&why))?;
    match profile.kind {
        Kind::Cores => Ok(profile),
        Kind::Gpu => Err(Failure::told(&format!(
            "`--ferry-profile {word}`: the devices of this command are made of cores, and this is none"
        ))),
    }
}

/// What goes to standard output.
fn product(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

/// What all steps of one command share.
pub(crate) struct Context<'a> {
    arguments: &'a Arguments,
    host: &'a Host,
    cache: Cache,
    colour: render::Colour,
    scratch: TempDir,
    /// Numbers scratch files, so that inputs of the same name do not meet.
    count: AtomicUsize,
    stdin: OnceLock<Vec<u8>>,
    /// LLVM's compilers for C++ and for Fortran, looked for once.
    llvm: [OnceLock<Result<Llvm, String>>; 2],
    /// What was decided on mappings before, if that is kept.
    decisions: Option<Decisions>,
    /// The device whose numbers decide on mappings, if another than the one that is known.
    profile: Option<Profile>,
}

impl<'a> Context<'a> {
    fn new(arguments: &'a Arguments, host: &'a Host) -> Result<Context<'a>, Failure> {
        let scratch = tempfile::Builder::new().prefix("ferry-").tempdir().map_err(|error| {
            Failure::told(&format!("cannot make a temporary folder: {}", reason(&error)))
        })?;
        let has_fpga = arguments.targets.hardware().is_some()
            || arguments.targets.grids().iter().any(|it| it.vendor().is_some());
        if arguments.search.is_some() && !has_fpga && arguments.names_devices {
            let why = "`--ferry-search` is about FPGAs: name one with `--device`, as in `--device fpga-rtl`";
            return Err(Failure::told(why));
        }
        leftovers::watch();
        leftovers::list(scratch.path());
        Ok(Context {
            arguments,
            host,
            cache: Cache::of_user(!arguments.no_cache),
            colour: colour(arguments),
            scratch,
            count: AtomicUsize::new(0),
            stdin: OnceLock::new(),
            llvm: [OnceLock::new(), OnceLock::new()],
            decisions: arguments.mapping.as_deref().map(decisions::read).transpose()?,
            profile: arguments.profile.as_deref().map(cores).transpose()?,
        })
    }

    /// A scratch file with a text, called after `source`.
    fn temporary(&self, source: &Path, ending: &str, text: &[u8]) -> Result<PathBuf, Failure> {
        let path = self.folder("text")?.join(called(source, ending));
        fs::write(&path, text).map_err(|error| Failure::file("write", &path, &error))?;
        Ok(path)
    }

    /// A fresh scratch folder.
    fn folder(&self, name: &str) -> Result<PathBuf, Failure> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let path = self.scratch.path().join(format!("{name}-{number}"));
        fs::create_dir(&path).map_err(|error| Failure::file("make", &path, &error))?;
        Ok(path)
    }

    /// Leaves a file of the way there for the user, if asked to.
    fn save(&self, source: &Path, ending: &str, bytes: &[u8]) -> Result<(), Failure> {
        let Some(folder) = &self.arguments.save_temps else { return Ok(()) };
        if !folder.as_os_str().is_empty() {
            fs::create_dir_all(folder).map_err(|error| Failure::file("make", folder, &error))?;
        }
        output::write(&folder.join(called(source, ending)), bytes)
    }

    /// Standard input, read once.
    fn stdin(&self) -> Result<&[u8], Failure> {
        if let Some(bytes) = self.stdin.get() {
            return Ok(bytes);
        }
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut io::stdin().lock(), &mut bytes).map_err(|error| {
            Failure::told(&format!("cannot read standard input: {}", reason(&error)))
        })?;
        Ok(self.stdin.get_or_init(|| bytes))
    }

    /// LLVM's compiler for a language, or the failure that says what to install.
    fn llvm(&self, language: Native) -> Result<&Llvm, Failure> {
        let [cplusplus, fortran] = &self.llvm;
        let place = match language {
            Native::Cplusplus => cplusplus,
            Native::Fortran => fortran,
        };
        let found = place.get_or_init(|| Llvm::find(language, self.arguments.verbose));
        found.as_ref().map_err(|why| Failure::told(why))
    }

    /// The compiler that links: that of the command's language.
    fn linker(&self) -> Result<&Host, Failure> {
        match self.arguments.native {
            Some(language) => self.llvm(language).map(|it| &it.linker),
            None => Ok(self.host),
        }
    }

    /// The host compiler's messages are kept to be shown in order, so it sees no terminal.
    fn colour_flag(&self) -> Option<OsString> {
        let is_said = |it: &OsString| it.to_string_lossy().contains("diagnostics-color");
        let is_said = self.arguments.flags(&[Step::Everywhere]).any(is_said);
        let wanted = self.colour == render::Colour::Always && !is_said;
        wanted.then(|| "-fdiagnostics-color=always".into())
    }
}

/// `a.c` and `host.i` make `a.host.i`.
fn called(source: &Path, ending: &str) -> OsString {
    let stem = if source == Path::new("-") {
        OsStr::new("stdin")
    } else {
        source.file_stem().unwrap_or_default()
    };
    let mut name = stem.to_owned();
    name.push(".");
    name.push(ending);
    name
}

fn colour(arguments: &Arguments) -> render::Colour {
    if arguments.has("-fdiagnostics-color=always") || arguments.has("-fdiagnostics-color") {
        render::Colour::Always
    } else if arguments.has("-fdiagnostics-color=never") || arguments.has("-fno-diagnostics-color")
    {
        render::Colour::Never
    } else {
        report::colour_of_terminal(io::stderr().is_terminal())
    }
}

/// Runs `ferry cc` on the words after it, or the command of a language that LLVM compiles.
pub(crate) fn run(words: &[OsString], native: Option<Native>) -> Result<ExitCode, String> {
    let outcome = Arguments::read(words).map_err(|error| Failure::told(&error)).and_then(|it| {
        let mut it = Arguments { native, ..it };
        origin::settle(&mut it).map_err(|error| Failure::told(&error))?;
        let host = Host::find(it.host.as_deref(), it.verbose).map_err(|it| Failure::told(&it))?;
        command(&it, &host)
    });
    match outcome {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(failure) => {
            say(&failure.said);
            Ok(ExitCode::from(failure.status))
        }
    }
}

fn command(arguments: &Arguments, host: &Host) -> Result<(), Failure> {
    let name = arguments.native.map_or("cc", Native::command);
    if arguments.question == Some(Question::Help) {
        return report::show(&crate::options::help_of(name), Stream::Out)
            .map_err(|it| Failure::told(&it));
    }
    let llvm = arguments.native.map(|it| Llvm::find(it, arguments.verbose)).transpose();
    let llvm = llvm.map_err(|why| Failure::told(&why))?;
    let host_of_language = llvm.as_ref().map_or(host, |it| &it.compiler);
    match arguments.question {
        Some(Question::Help) => Ok(()),
        Some(Question::Version) => {
            // First what build systems look for, then what it is.
            product(host_of_language.version());
            product(format!("ferry {name} {}\n", env!("CARGO_PKG_VERSION")).as_bytes());
            Ok(())
        }
        Some(Question::Host) => ask_host(arguments, host_of_language),
        None if arguments.inputs.is_empty() && arguments.verbose => {
            host_of_language.run(&["-v".into()], None, Voice::Live)?.checked()?;
            Ok(())
        }
        None => compilation(arguments, host),
    }
}

/// Questions such as `-print-file-name=`, and `-###`, which shows what would be done.
fn ask_host(arguments: &Arguments, host: &Host) -> Result<(), Failure> {
    let mut words = match arguments.native {
        None => preprocess::reading_flags(arguments),
        Some(_) => arguments.flags(&[Step::Everywhere, Step::Preprocess]).cloned().collect(),
    };
    words.extend(match arguments.stop {
        None => None,
        Some(Stop::Object) => Some("-c".into()),
        Some(Stop::Assembly) => Some("-S".into()),
        Some(Stop::Preprocessed) => Some("-E".into()),
        Some(Stop::Checked) => Some("-fsyntax-only".into()),
        Some(Stop::Dependences) => None,
    });
    for item in &arguments.items {
        match item.step {
            // These were given with the first flags.
            Step::Everywhere | Step::Preprocess => {}
            Step::Printed | Step::Compile | Step::Link => words.extend(item.words.iter().cloned()),
            Step::Input(index) => {
                if let Some(input) = arguments.inputs.get(index) {
                    words.extend(preprocess::language_flag(&input.language));
                    words.push(input.path.clone().into());
                    words.extend(["-x".into(), "none".into()]);
                }
            }
        }
    }
    if let Some(output) = &arguments.output {
        words.extend(["-o".into(), output.into()]);
    }
    host.run(&words, None, Voice::Live)?.checked()?;
    Ok(())
}

fn compilation(arguments: &Arguments, host: &Host) -> Result<(), Failure> {
    if arguments.inputs.is_empty() {
        return Err(Failure::told("no input files"));
    }
    let mut arguments = with_known_stdin(arguments)?;
    say(&foreign::settle(&mut arguments));
    let arguments = &arguments;
    let is_several =
        arguments.inputs.iter().filter(|it| it.language != Language::Linked).count() > 1;
    if arguments.stop.is_some() && arguments.output.is_some() && is_several {
        let message = "cannot specify `-o` with `-c`, `-S` or `-E` with multiple files";
        return Err(Failure::told(message));
    }
    refuse_overwriting(arguments)?;
    let cx = Context::new(arguments, host)?;
    if preprocess::is_printed_only(arguments) {
        return preprocess::print(&cx);
    }
    build(&cx)
}

/// Translates all inputs and links them, as far as asked.
fn build(cx: &Context<'_>) -> Result<(), Failure> {
    let arguments = cx.arguments;
    let jobs = jobs(cx)?;
    let mut verdicts = Vec::new();
    let mut decided = Vec::new();
    let mut is_lowered = false;
    let mut failure: Option<Failure> = None;
    for outcome in in_parallel(cx, &jobs) {
        match outcome {
            Ok(done) => {
                say(&done.said);
                verdicts.extend(done.verdicts);
                decided.extend(done.decided);
                is_lowered |= done.is_lowered;
            }
            Err(failed) => {
                say(&failed.said);
                failure.get_or_insert(Failure { said: Vec::new(), status: failed.status });
            }
        }
    }
    if let Some(why) = cx.cache.refusal() {
        say(format!("ferry: warning: the cache is not used: {why}\n").as_bytes());
    }
    if let Some(form) = arguments.report {
        let text = verdict::report(&verdicts, form);
        match form {
            Report::Text => say(text.as_bytes()),
            Report::Json | Report::Sarif => product(text.as_bytes()),
        }
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    if let (Some(path), Some(before)) = (&arguments.mapping, &cx.decisions) {
        decisions::write(path, before, decided)?;
    }
    if arguments.inputs.iter().all(args::Input::is_header) {
        return Ok(());
    }
    if arguments.stop.is_some() {
        for input in arguments.inputs.iter().filter(|it| it.language == Language::Linked) {
            let path = input.path.display();
            let words = format!(
                "ferry cc: warning: {path}: linker input file unused because linking not done\n"
            );
            say(words.as_bytes());
        }
        return Ok(());
    }
    let translated =
        |index: usize| jobs.iter().find(|(it, _)| *it == index).map(|it| it.1.output.clone());
    let objects: Vec<PathBuf> = arguments
        .inputs
        .iter()
        .enumerate()
        .map(|(index, input)| translated(index).unwrap_or_else(|| input.path.clone()))
        .collect();
    let output = arguments.output.clone().unwrap_or_else(|| "a.out".into());
    say(&link::run(cx, &objects, &output, is_lowered)?);
    Ok(())
}

/// What is to be translated, by the index of its input.
fn jobs<'a>(cx: &Context<'a>) -> Result<Vec<(usize, Job<'a>)>, Failure> {
    let arguments = cx.arguments;
    let is_only = arguments.inputs.iter().filter(|it| it.language != Language::Linked).count() == 1;
    let mut jobs = Vec::new();
    for (index, input) in arguments.inputs.iter().enumerate() {
        if input.language == Language::Linked {
            continue;
        }
        let ending = if arguments.stop == Some(Stop::Assembly) { "s" } else { "o" };
        let (output, beside) = match (arguments.stop, &arguments.output) {
            (_, None) if input.is_header() => {
                let mut name = input.path.clone().into_os_string();
                name.push(".gch");
                (name.into(), None)
            }
            (None, Some(output)) if input.is_header() => (output.clone(), None),
            (None, program) => {
                let object = cx.folder("object")?.join(called(&input.path, "o"));
                let program = program.clone().unwrap_or_else(|| "a.out".into());
                (object, Some(beside_link(&program, &input.path, is_only)))
            }
            (Some(_), Some(output)) => (output.clone(), None),
            (Some(_), None) => (called(&input.path, ending).into(), None),
        };
        let stop = arguments.stop.unwrap_or(Stop::Object);
        jobs.push((index, Job { input, stop, output, beside }));
    }
    Ok(jobs)
}

/// What gcc puts before the names of files that it writes beside an object of a link: the folder, and
/// the program's name where the input has another or is not alone.
pub(crate) fn beside_link(program: &Path, input: &Path, is_only: bool) -> OsString {
    let mut prefix = OsString::new();
    if let Some(folder) = program.parent().filter(|it| !it.as_os_str().is_empty()) {
        prefix.push(folder);
        prefix.push("/");
    }
    let has_known_ending =
        program == Path::new("a.out") || program.extension().is_some_and(|it| it == "exe");
    let name = if has_known_ending { program.file_stem() } else { program.file_name() };
    if !is_only || name != input.file_stem() {
        prefix.push(name.unwrap_or_default());
        prefix.push("-");
    }
    prefix
}

/// Does all jobs, as many at a time as there are cores; the outcomes are in the order of the jobs.
fn in_parallel(cx: &Context<'_>, jobs: &[(usize, Job<'_>)]) -> Vec<Result<Done, Failure>> {
    // A file of Fortran may use modules that one before it makes.
    let is_in_order = jobs
        .iter()
        .any(|(_, it)| it.input.language.unread(&it.input.path) == Some(language::Unread::Fortran));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = if is_in_order { 1 } else { cores };
    let next = AtomicUsize::new(0);
    let outcomes: Vec<OnceLock<Result<Done, Failure>>> =
        jobs.iter().map(|_| OnceLock::new()).collect();
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let (Some((_, job)), Some(place)) = (jobs.get(index), outcomes.get(index)) else {
                return;
            };
            let _ = place.set(compile::run(cx, job));
        }
    };
    std::thread::scope(|scope| {
        let helpers = cores.min(jobs.len()).saturating_sub(1);
        for _ in 0..helpers {
            // Without helpers the work below does all.
            let _ = std::thread::Builder::new().stack_size(crate::STACK).spawn_scoped(scope, work);
        }
        work();
    });
    let lost = || Err(Failure::told("a job was lost"));
    outcomes.into_iter().map(|it| it.into_inner().unwrap_or_else(lost)).collect()
}

/// `-` is C where nothing is compiled; elsewhere `-x` must say what it is.
fn with_known_stdin(arguments: &Arguments) -> Result<Arguments, Failure> {
    let mut arguments = arguments.clone();
    let is_printed_only = preprocess::is_printed_only(&arguments);
    for input in &mut arguments.inputs {
        if input.is_stdin() && input.language == Language::Linked {
            if !is_printed_only {
                let message = "`-E` or `-x` required when input is from standard input";
                return Err(Failure::told(message));
            }
            input.language = Language::C;
        }
    }
    Ok(arguments)
}

/// The product must not take the place of what it is made of.
fn refuse_overwriting(arguments: &Arguments) -> Result<(), Failure> {
    let Some(output) = &arguments.output else { return Ok(()) };
    let Ok(output) = output.canonicalize() else { return Ok(()) };
    let is_output = |it: &&args::Input| {
        it.path.is_file() && it.path.canonicalize().is_ok_and(|it| it == output)
    };
    match arguments.inputs.iter().find(is_output) {
        Some(input) => {
            let message =
                format!("input file `{}` is the same as output file", input.path.display());
            Err(Failure::told(&message))
        }
        None => Ok(()),
    }
}
