//! One input to one object file, assembly file or verdict.
//!
//! A C text is preprocessed, checked and lowered; what lowering changed is compiled, and a text that it
//! left alone is compiled from the written file, so that the host compiler's messages and debug
//! information are what they would be without us. Languages that are not ours go to it untouched.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use source::{Diagnostic, Diagnostics, Locator, Severity, SourceMap, render};

use super::args::{Arguments, Input, Step};
use super::bundle::Code;
use super::decisions::Decided;
use super::host::Voice;
use super::language::Language;
use super::lower::{self, Lowered};
use super::native::Way;
use super::numbers::Numbers;
use super::output::Output;
use super::preprocess::{self, Preprocessed};
use super::table::Stop;
use super::toolchain::{TOOLCHAINS, Texts};
use super::verdict::Verdicts;
use super::{Context, Failure, bundle, hardware, native, refused};
use crate::designs;
use crate::front;
use crate::input::{self, Text};
use crate::options::Believed;
use crate::races;

/// One translation.
pub(crate) struct Job<'a> {
    pub(crate) input: &'a Input,
    /// How far: [`Stop::Checked`], [`Stop::Assembly`] or [`Stop::Object`].
    pub(crate) stop: Stop,
    pub(crate) output: PathBuf,
    /// What files that are made beside the object are called after, where not after `output`.
    pub(crate) beside: Option<OsString>,
}

/// What a translation gave beside its file.
pub(crate) struct Done {
    /// Messages, to be shown in the order of the inputs.
    pub(crate) said: Vec<u8>,
    pub(crate) verdicts: Option<Verdicts>,
    /// Who runs which loop of it, if that is asked for.
    pub(crate) decided: Option<Decided>,
    /// Whether the object holds device code or calls the runtime.
    pub(crate) is_lowered: bool,
}

impl Done {
    fn plain(said: Vec<u8>) -> Done {
        Done { said, verdicts: None, decided: None, is_lowered: false }
    }
}

/// Translates one input.
pub(crate) fn run(cx: &Context<'_>, job: &Job<'_>) -> Result<Done, Failure> {
    match &job.input.language {
        Language::Foreign(_) => foreign(cx, job),
        Language::C | Language::PreprocessedC => ours(cx, job),
        Language::Linked => Ok(Done::plain(Vec::new())),
    }
}

fn ours(cx: &Context<'_>, job: &Job<'_>) -> Result<Done, Failure> {
    let text = preprocess::run(cx, job.input)?;
    cx.save(&job.input.path, "i", &text.bytes)?;
    if !preprocess::has_directive(&text.bytes) {
        return written(cx, job).map(Done::plain);
    }
    let Preprocessed { bytes, said: preprocessor_said } = text;
    let bytes = directive::without_directives(&bytes, &cx.arguments.off).unwrap_or(bytes);
    let name =
        if job.input.is_stdin() { "<stdin>".into() } else { job.input.path.display().to_string() };
    let file = name.clone();
    let text = Text { name, bytes, warning: None };
    let directives = directive::Directives::without(&cx.arguments.off);
    let words = cx.arguments.flags(&[Step::Everywhere, Step::Compile]);
    let numbers = Numbers::of(words.filter_map(|it| it.to_str())).in_text(&text.bytes);
    let numbers = numbers.starting(cx.arguments.starts_on_arm);
    let unit = front::check_text(text, directives, numbers.model());
    let mut said = messages(cx, &unit.diagnostics, &unit.map)?;
    let Some(program) = &unit.program else {
        return Err(Failure { said, status: 1 });
    };
    if cx.arguments.trust != Believed::Trust {
        let races = front::presentable(
            &races::warnings(program, Some(cx.arguments.trust.into())),
            &unit.map,
        );
        said.extend(messages(cx, &races, &unit.map)?);
    }
    let Planned { options, board, advice } = planned(cx.arguments, program, &unit.map, &numbers)?;
    let chosen = emit::Chosen { decisions: cx.decisions.as_ref(), profile: cx.profile.as_ref() };
    let Lowered { host, device, cluster, grids, pipelines, verdicts, decisions, diagnostics } =
        lower::lower(program, &unit.map, options, chosen, &cx.arguments.targets.image_names());
    let decided = cx.decisions.as_ref().map(|_| Decided { file, nests: decisions });
    let designs = board.zip(pipelines).map(|(board, it)| hardware::text(&it, &board));
    let mut diagnostics = diagnostics;
    diagnostics.append(advice);
    let designs = designs.map(|(text, said)| {
        diagnostics.append(said);
        text
    });
    said.extend(messages(cx, &diagnostics, &unit.map)?);
    let verdicts = Some(Verdicts::new(verdicts, unit.map));
    let Some(host) = host else {
        let mut done = Done::plain(said);
        done.said.extend(written(cx, job)?);
        return Ok(Done { verdicts, decided, ..done });
    };
    said.extend(preprocessor_said);
    cx.save(&job.input.path, "host.c", &host)?;
    if let Some(why) = numbers.refused(cx.arguments.targets.kinds()) {
        return Err(Failure::told(&format!("`{}`: {why}", job.input.path.display())));
    }
    let (device, cluster) = (device.as_deref(), cluster.as_deref());
    let texts = Texts { device, cluster, grids: &grids, hardware: designs.as_deref() };
    said.extend(generated(cx, job, &host, &texts, &numbers)?);
    Ok(Done { said, verdicts, decided, is_lowered: true })
}

/// How a text is lowered.
pub(crate) struct Planned {
    pub(crate) options: emit::Options,
    /// The FPGA that hardware is made for.
    pub(crate) board: Option<fpga::device::Device>,
    /// What is said of advice that cannot be taken.
    pub(crate) advice: Diagnostics,
}

/// How a command line has a text lowered.
pub(crate) fn planned(
    arguments: &Arguments,
    program: &ir::program::Program,
    map: &SourceMap,
    numbers: &Numbers,
) -> Result<Planned, Failure> {
    let board = arguments.targets.hardware().map(crate::profiles::fpga).transpose();
    let board = board.map_err(|why| Failure::told(&why))?;
    let search = arguments.search.as_ref();
    let hardware = board.as_ref();
    let hardware = hardware.map(|it| designs::fabrics(program, map, it, search, true));
    let (fabrics, mut advice) = fabrics(arguments, program, map)?;
    // Both would say the same.
    if let Some((_, said)) = hardware.as_ref().filter(|_| advice.is_empty()) {
        advice.append(said.clone());
    }
    let options = emit::Options {
        wants_device: arguments.targets.need_device_text(),
        wants_cluster: arguments.targets.has_cluster() && !arguments.no_tiles,
        is_for_cluster: arguments.targets.has_cluster(),
        is_for_others: !arguments.targets.remotes.is_empty(),
        grids: arguments.targets.grids(),
        needs_opencl_12: arguments.targets.need_opencl_12(),
        standalone: false,
        fabrics,
        hardware: hardware.map(|it| it.0),
        rounds_each: !numbers.contracts,
        reassociates: arguments.reassociates(),
        trust: arguments.trust.into(),
    };
    Ok(Planned { options, board, advice })
}

/// The FPGAs among the devices, by their languages.
fn fabrics(
    arguments: &Arguments,
    program: &ir::program::Program,
    map: &SourceMap,
) -> Result<(Vec<(emit::Grid, opt::passes::Fabrics)>, Diagnostics), Failure> {
    let search = arguments.search.as_ref();
    let (mut found, mut said) = (Vec::new(), Diagnostics::new());
    for grid in arguments.targets.grids() {
        let Some(vendor) = grid.vendor() else { continue };
        let board = crate::profiles::fpga(vendor.board()).map_err(|why| Failure::told(&why))?;
        let (made, advice) = designs::fabrics(program, map, &board, search, false);
        found.push((grid, made));
        said = advice;
    }
    Ok((found, said))
}

/// What we have to say; an error among it is a failure.
pub(crate) fn messages(
    cx: &Context<'_>,
    found: &Diagnostics,
    map: &SourceMap,
) -> Result<Vec<u8>, Failure> {
    let mut wanted = Diagnostics::new();
    for diagnostic in found {
        let mut diagnostic: Diagnostic = diagnostic.clone();
        match diagnostic.severity {
            Severity::Error => {}
            Severity::Info => continue,
            // The host compiler reads the same C and warns of it in the words that its users know.
            Severity::Warning if cx.arguments.no_warnings || is_about_c(&diagnostic) => continue,
            Severity::Warning if cx.arguments.werror => diagnostic.severity = Severity::Error,
            Severity::Warning => {}
        }
        wanted.push(diagnostic);
    }
    let read = crate::input::written;
    let text = render::terminal(&wanted, &Locator::new(map, &read), cx.colour);
    let said = text.into_bytes();
    if wanted.errors() > 0 { Err(Failure { said, status: 1 }) } else { Ok(said) }
}

/// Codes of tokens, syntax and the meaning of C.
fn is_about_c(diagnostic: &Diagnostic) -> bool {
    ["F01", "F02", "F04"].iter().any(|it| diagnostic.code.starts_with(it))
}

/// Compiles the file as it was written.
fn written(cx: &Context<'_>, job: &Job<'_>) -> Result<Vec<u8>, Failure> {
    let mut words = match job.input.language {
        Language::C => preprocess::reading_flags(cx.arguments),
        Language::PreprocessedC | Language::Foreign(_) | Language::Linked => {
            cx.arguments.flags(&[Step::Everywhere]).cloned().collect()
        }
    };
    words.extend(cx.arguments.flags(&[Step::Compile]).cloned());
    words.extend(directive::host_compiler_flags(&cx.arguments.off).iter().map(OsString::from));
    compile(cx, job, words, Source::Written, |_| Ok(()))
}

/// Hands a language that is not ours to the host compiler, with the user's flags and no others.
fn foreign(cx: &Context<'_>, job: &Job<'_>) -> Result<Done, Failure> {
    let found = match native::way(cx, job)? {
        Way::Native(language, found) => return native::compile(cx, job, language, found),
        Way::Host(found) => found.filter(|it| !it.verdicts.is_empty()),
    };
    let mut said = match &found {
        Some(found) => messages(cx, &found.diagnostics, &found.map)?,
        None => Vec::new(),
    };
    let steps = [Step::Everywhere, Step::Preprocess, Step::Compile];
    let mut words: Vec<OsString> = cx.arguments.flags(&steps).cloned().collect();
    words.extend(cx.arguments.switches.iter().map(OsString::from));
    words.extend(preprocess::dependence_flags(cx.arguments, &job.input.path));
    let containers = found.as_ref().map(|it| it.note.container()).unwrap_or_default();
    said.extend(compile(cx, job, words, Source::Written, |it| bundled(cx, job, it, &containers))?);
    let verdicts = found.map(|it| Verdicts::new(it.verdicts, it.map));
    Ok(Done { verdicts, ..Done::plain(said) })
}

/// Puts device code into what the host compiler wrote.
pub(crate) fn bundled(
    cx: &Context<'_>,
    job: &Job<'_>,
    output: &Path,
    containers: &[u8],
) -> Result<(), Failure> {
    if containers.is_empty() {
        Ok(())
    } else if job.stop == Stop::Assembly {
        bundle::append_to_assembly(output, containers)
    } else {
        bundle::add_to_object(cx.host, output, containers)
    }
}

/// Compiles the text that lowering gave, and its texts for devices.
fn generated(
    cx: &Context<'_>,
    job: &Job<'_>,
    host: &[u8],
    texts: &Texts<'_>,
    numbers: &Numbers,
) -> Result<Vec<u8>, Failure> {
    if let Some(text) = texts.device {
        cx.save(&job.input.path, "device.c", text)?;
    }
    let mut containers = Vec::new();
    for toolchain in TOOLCHAINS {
        let codes = toolchain.compile(cx, job, texts, numbers)?;
        containers.extend(codes.iter().flat_map(Code::container));
    }
    let host = [host, built_for(host, &cx.arguments.targets.text).as_bytes()].concat();
    let file = cx.temporary(&job.input.path, "host.i", &host)?;
    let mut words: Vec<OsString> =
        cx.arguments.flags(&[Step::Everywhere, Step::Compile]).cloned().collect();
    words.extend((!numbers.contracts).then(|| "-ffp-contract=off".into()));
    words.extend(directive::generated_flags(&cx.arguments.off).iter().map(OsString::from));
    // Our text has lines of the user's file, in GNU's words.
    let is_pedantic =
        ["-pedantic", "-Wpedantic", "-Weverything"].iter().any(|it| cx.arguments.has(it));
    if is_pedantic && cx.host.is_clang() {
        words.push("-Wno-gnu-line-marker".into());
    }
    compile(cx, job, words, Source::Generated(&file), |it| bundled(cx, job, it, &containers))
}

/// The row that tells the runtime which devices a text with regions or variables for them was built for.
fn built_for(text: &[u8], devices: &str) -> String {
    let register = abi::names::REGISTER.as_bytes();
    if !text.windows(register.len()).any(|it| it == register) {
        return String::new();
    }
    let devices: String = devices.split_whitespace().collect();
    format!(
        "static const struct __ferry_entry __ferry_built_for __attribute__((section(\"{}\"), used, \
         aligned(8))) = {{ 0, \"{devices}\", 0, {}, 0 }};\n",
        abi::names::ENTRY_SECTION,
        abi::entry::DEVICES,
    )
}

enum Source<'a> {
    Written,
    Generated(&'a Path),
}

/// One run of the host compiler; `finish` is done to its output before that gets its name.
fn compile(
    cx: &Context<'_>,
    job: &Job<'_>,
    mut words: Vec<OsString>,
    source: Source<'_>,
    finish: impl FnOnce(&Path) -> Result<(), Failure>,
) -> Result<Vec<u8>, Failure> {
    words.push(job.stop.flag().into());
    words.extend(cx.colour_flag());
    words.extend(beside_flags(&words, job));
    let output = if job.stop.has_output() { Some(Output::begin(&job.output)?) } else { None };
    if let Some(output) = &output {
        words.extend(["-o".into(), output.path().into()]);
    }
    let mut text = None;
    match &source {
        Source::Written => {
            words.extend(preprocess::language_flag(&job.input.language));
            words.push(input::guarded(&job.input.path).into());
            if job.input.is_stdin() {
                text = Some(cx.stdin()?);
            }
        }
        Source::Generated(file) => {
            words.extend(["-x".into(), "cpp-output".into(), file.as_os_str().to_owned()]);
        }
    }
    let is_written = matches!(source, Source::Written);
    let ran = cx.host.run(&words, text, Voice::Kept)?;
    if ran.failed.is_some() && !is_written {
        return Err(refused::of_host(cx, job, ran, "the host"));
    }
    let said = ran.checked()?.said;
    if let Some(output) = output {
        finish(output.path())?;
        output.finish()?;
    }
    Ok(said)
}

/// Some flags make the compiler write more files, called after its output; that has another name
/// while it is made, so the right one is told. The flags for it are gcc's.
fn beside_flags(words: &[OsString], job: &Job<'_>) -> Vec<OsString> {
    const WRITERS: &[&str] = &[
        "--coverage",
        "-coverage",
        "-ftest-coverage",
        "-fprofile",
        "-fstack-usage",
        "-fcallgraph-info",
        "-fdump-",
        "-gsplit-dwarf",
        "-save-temps",
        "-da",
    ];
    let writes = |it: &OsString| WRITERS.iter().any(|name| it.to_string_lossy().starts_with(name));
    let is_told = words.iter().any(|it| it == "-dumpbase" || it == "-dumpdir");
    if is_told || !words.iter().any(writes) {
        return Vec::new();
    }
    let mut folder = OsString::new();
    let mut base = job.input.path.file_name().unwrap_or_default().to_owned();
    match &job.beside {
        Some(prefix) => folder.push(prefix),
        None => {
            if let Some(parent) = job.output.parent().filter(|it| !it.as_os_str().is_empty()) {
                folder.push(parent);
                folder.push("/");
            }
            let ending = job.input.path.extension().unwrap_or_default();
            base =
                Path::new(job.output.file_name().unwrap_or_default()).with_extension(ending).into();
        }
    }
    let mut ending = OsString::from(".");
    ending.push(job.input.path.extension().unwrap_or_default());
    vec!["-dumpdir".into(), folder, "-dumpbase".into(), base, "-dumpbase-ext".into(), ending]
}
