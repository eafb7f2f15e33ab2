//! C++ and Fortran: LLVM's compilers make the host's object and the device code, Ferry packs, links and registers them.
//!
//! ```text
//! a.cpp ─ clang++ ─► host object ─────────────────────────────► a.o
//!   ├─ clang++, device alone ─► object for the host's processor ─┤ .ferry.device
//!   └─ the same for each GPU ─► bitcode ─────────────────────────┘
//! ```
//! A note beside the device code says which language it was and which devices it was built for; the link
//! ([`registration`]) tells the runtime of both.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use abi::entry::DEVICES;
use abi::image::ImageKind;
use abi::names::{IMAGE_COUNT, IMAGES, REGISTER, UNREGISTER};
use abi::target::Kind;
use object::{Object, ObjectSymbol, SymbolKind};
use source::Diagnostic;

use super::args::{Arguments, Step};
use super::bundle::Code;
use super::compile::{self, Done, Job};
use super::cuda;
use super::host::{Host, Voice};
use super::image::{self, Part};
use super::language::Unread;
use super::llvm::{Llvm, Native};
use super::lower::Outcome;
use super::output::Output;
use super::table::Stop;
use super::unread::{self, Found};
use super::verdict::Verdicts;
use super::{Context, Failure, preprocess, runtime};
use crate::input;

/// What stands for a kind of machine in notes.
pub(crate) const TRIPLE: &str = "llvm";
/// What stands for a GPU in device code for the host's processor that LLVM has made.
pub(crate) const ARCH: &str = "llvm";
/// The host's processor as LLVM's compilers call it for regions.
const PROCESSOR: &str =
    if cfg!(target_arch = "aarch64") { "aarch64-unknown-linux-gnu" } else { "x86_64-pc-linux-gnu" };
/// What the name of a kernel begins with.
const KERNEL: &str = "__omp_offloading_";

/// Whether it is no code, but what a file was compiled for.
pub(crate) fn is_note(code: &Code) -> bool {
    code.kind == ImageKind::Source && code.triple == TRIPLE
}

/// Whether LLVM has made it.
pub(crate) fn is_native(code: &Code) -> bool {
    code.arch == ARCH || (code.kind == ImageKind::Bitcode && code.triple == cuda::TRIPLE)
}

/// Who compiles a file of another language.
pub(crate) enum Way {
    /// LLVM, for devices too.
    Native(Native, Option<Found>),
    /// The host compiler, and what of it is not read.
    Host(Option<Found>),
}

/// Who compiles an input of another language than C. Where the command is that language's, LLVM does; where it is `cc`, only what
/// asks for a device, if LLVM is there.
pub(crate) fn way(cx: &Context<'_>, job: &Job<'_>) -> Result<Way, Failure> {
    let language = match job.input.language.unread(&job.input.path) {
        Some(Unread::Cplusplus) => Native::Cplusplus,
        Some(Unread::Fortran) => Native::Fortran,
        Some(Unread::ObjectiveC) | None => {
            return Ok(Way::Host(unread::find(cx, job.input, cx.host)));
        }
    };
    if cx.arguments.native.is_some() {
        let llvm = cx.llvm(language)?;
        return Ok(Way::Native(language, unread::find(cx, job.input, &llvm.compiler)));
    }
    let found = unread::find(cx, job.input, cx.host);
    let is_for_llvm = found.as_ref().is_some_and(|it| it.concerns_devices && it.openacc.is_none());
    if is_for_llvm && cx.llvm(language).is_ok() {
        return Ok(Way::Native(language, found));
    }
    Ok(Way::Host(found))
}

/// Compiles a file for the host and for all devices.
pub(crate) fn compile(
    cx: &Context<'_>,
    job: &Job<'_>,
    language: Native,
    found: Option<Found>,
) -> Result<Done, Failure> {
    let llvm = cx.llvm(language)?;
    if let Some(found) = found.as_ref().filter(|it| it.openacc.is_some()) {
        let message = found.refused(language);
        compile::messages(cx, &message, &found.map)?;
    }
    let is_off = cx.arguments.off.contains(&directive::OPENMP);
    // Text that Fortran includes is not looked into: device code is made of every file.
    let concerns = found.as_ref().is_some_and(|it| it.concerns_devices);
    let asks = (concerns || language == Native::Fortran) && !is_off;
    let mut words = flags(cx);
    words.extend((!is_off).then(|| "-fopenmp".into()));
    if asks {
        let for_host = [&format!("-fopenmp-targets={PROCESSOR}"), "--offload-host-only"];
        words.extend(for_host.iter().map(OsString::from));
        // Places of regions come with lines for debuggers.
        if language == Native::Cplusplus && !words.iter().any(|it| is_about_debugging(it)) {
            words.push("-gline-tables-only".into());
        }
    }
    if language == Native::Cplusplus {
        words.extend(preprocess::dependence_flags(cx.arguments, &job.input.path));
    }
    let mut codes = Vec::new();
    if asks && job.stop != Stop::Checked {
        codes = devices(cx, job, llvm)?;
    }
    let containers: Vec<u8> = codes.iter().flat_map(Code::container).collect();
    let said = object(cx, job, &llvm.compiler, words, &containers)?;
    let verdicts = found.map(|it| judged(cx, it, &codes));
    Ok(Done { said, verdicts, decided: None, is_lowered: asks })
}

fn is_about_debugging(word: &OsStr) -> bool {
    word.as_encoded_bytes().starts_with(b"-g")
}

/// The user's flags for a compiler that reads the file as written.
fn flags(cx: &Context<'_>) -> Vec<OsString> {
    let steps = [Step::Everywhere, Step::Preprocess, Step::Compile];
    cx.arguments.flags(&steps).cloned().collect()
}

/// The object or assembly of the host.
fn object(
    cx: &Context<'_>,
    job: &Job<'_>,
    compiler: &Host,
    mut words: Vec<OsString>,
    containers: &[u8],
) -> Result<Vec<u8>, Failure> {
    words.push(job.stop.flag().into());
    words.extend(cx.colour_flag());
    let output = if job.stop.has_output() { Some(Output::begin(&job.output)?) } else { None };
    if let Some(output) = &output {
        words.extend(["-o".into(), output.path().into()]);
    }
    let said = run(cx, job, compiler, words)?;
    if let Some(output) = output {
        compile::bundled(cx, job, output.path(), containers)?;
        output.finish()?;
    }
    Ok(said)
}

/// One run of a compiler on the input; returns what it said.
fn run(
    cx: &Context<'_>,
    job: &Job<'_>,
    compiler: &Host,
    mut words: Vec<OsString>,
) -> Result<Vec<u8>, Failure> {
    words.extend(preprocess::language_flag(&job.input.language));
    words.push(input::guarded(&job.input.path).into());
    let text = if job.input.is_stdin() { Some(cx.stdin()?) } else { None };
    Ok(compiler.run(&words, text, Voice::Kept)?.checked()?.said)
}

/// The device code of a file, and the note on it.
fn devices(cx: &Context<'_>, job: &Job<'_>, llvm: &Llvm) -> Result<Vec<Code>, Failure> {
    let targets = &cx.arguments.targets;
    for kind in targets.kinds() {
        match kind {
            Kind::Cpu | Kind::CpuCopy | Kind::CpuSeparate | Kind::Cuda => {}
            Kind::OpenCl
            | Kind::OpenCl12
            | Kind::Hip
            | Kind::Riscv
            | Kind::RiscvShared
            | Kind::Remote(_)
            | Kind::Fpga(_)
            | Kind::Rtl => {
                return Err(Failure::told(&format!(
                    "`{}`: C++ and Fortran are compiled for `cpu`, `cpu:separate` and `cuda`, not for `{}`\n  help: leave \
                     it out of `--device`, or write the regions in C files",
                    job.input.path.display(),
                    kind.target().name
                )));
            }
        }
    }
    let mut codes = vec![processor(cx, job, llvm)?];
    if targets.kinds().contains(&Kind::Cuda) {
        for arch in targets.gpus.architectures(cuda::OLDEST) {
            codes.push(gpu(cx, job, llvm, arch)?);
        }
    }
    let language = if llvm_is_fortran(llvm) { Native::Fortran } else { Native::Cplusplus };
    let list: String = targets.text.split_whitespace().collect();
    codes.push(Code {
        kind: ImageKind::Source,
        triple: TRIPLE.to_owned(),
        arch: String::new(),
        bytes: format!("{} {list}\n", language.word()).into_bytes(),
    });
    Ok(codes)
}

fn llvm_is_fortran(llvm: &Llvm) -> bool {
    llvm.compiler.name().contains("flang")
}

/// Device code for the host's processor. Variables may be taken from the program, where that shares its memory.
fn processor(cx: &Context<'_>, job: &Job<'_>, llvm: &Llvm) -> Result<Code, Failure> {
    let mut words = device_flags(cx);
    words.extend(
        [&format!("-fopenmp-targets={PROCESSOR}"), "-fPIC", "-c"].iter().map(OsString::from),
    );
    if !llvm_is_fortran(llvm) {
        words.push("-fvisibility=default".into());
    }
    let bytes = made(cx, job, llvm, words, "o")?;
    cx.save(&job.input.path, "device.o", &bytes)?;
    Ok(Code { arch: ARCH.to_owned(), ..Code::of(bytes) })
}

/// Device code for a GPU of NVIDIA's, as bitcode: it becomes assembly when the program is linked.
fn gpu(cx: &Context<'_>, job: &Job<'_>, llvm: &Llvm, arch: u32) -> Result<Code, Failure> {
    let mut words = device_flags(cx);
    words.push("-nogpulib".into());
    if llvm_is_fortran(llvm) {
        let own = [&format!("--offload-arch=sm_{arch}"), "-emit-llvm", "-c"];
        words.extend(own.iter().map(OsString::from));
    } else {
        let triple = cuda::TRIPLE;
        let own = [
            &format!("-fopenmp-targets={triple}"),
            &format!("-Xopenmp-target={triple}"),
            &format!("-march=sm_{arch}"),
            "-foffload-lto",
            "-c",
        ];
        words.extend(own.iter().map(OsString::from));
    }
    let bytes = made(cx, job, llvm, words, "bc")?;
    cx.save(&job.input.path, &format!("sm_{arch}.bc"), &bytes)?;
    let (kind, triple) = (ImageKind::Bitcode, cuda::TRIPLE.to_owned());
    Ok(Code { kind, triple, arch: format!("sm_{arch}"), bytes })
}

/// What every compilation for devices alone is told. What the host's compilation says is not said again.
fn device_flags(cx: &Context<'_>) -> Vec<OsString> {
    let is_of_host = |it: &OsString| {
        let word = it.to_string_lossy();
        ["-save-temps", "-fsanitize", "-fprofile", "--coverage", "-fvisibility", "-flto"]
            .iter()
            .any(|name| word.starts_with(name))
    };
    let mut words: Vec<OsString> = flags(cx).into_iter().filter(|it| !is_of_host(it)).collect();
    words.extend(["-w", "-fopenmp", "--offload-device-only"].iter().map(OsString::from));
    words
}

fn made(
    cx: &Context<'_>,
    job: &Job<'_>,
    llvm: &Llvm,
    mut words: Vec<OsString>,
    ending: &str,
) -> Result<Vec<u8>, Failure> {
    let folder = cx.folder("native")?;
    let file = folder.join(super::called(&job.input.path, ending));
    words.extend(["-o".into(), file.clone().into()]);
    run(cx, job, &llvm.compiler, words)?;
    fs::read(&file).map_err(|error| Failure::file("read", &file, &error))
}

/// What became of each directive that asks for a device: the kernels of the device code are called after their lines.
fn judged(cx: &Context<'_>, found: Found, codes: &[Code]) -> Verdicts {
    let lines: Vec<u32> =
        codes.iter().filter(|it| it.arch == ARCH).flat_map(kernel_lines).collect();
    let devices: Vec<&'static str> =
        cx.arguments.targets.kinds().iter().map(|it| it.target().name).collect();
    let (mut list, map) = (found.verdicts, found.map);
    let read = crate::input::written;
    let locator = source::Locator::new(&map, &read);
    for verdict in &mut list {
        let line = locator.locate(verdict.span).map(|it| it.line);
        let is_kernel = line.is_some_and(|it| lines.contains(&it));
        let is_data = ["data", "update"].iter().any(|it| verdict.directive.ends_with(it));
        (verdict.outcome, verdict.devices) = match (is_kernel, is_data) {
            (true, _) => (Outcome::Kernel, devices.clone()),
            (false, true) => (Outcome::Data, devices.clone()),
            (false, false) => (Outcome::NoKernel, Vec::new()),
        };
    }
    Verdicts::new(list, map)
}

/// The lines of the kernels in an object.
fn kernel_lines(code: &Code) -> Vec<u32> {
    let Ok(file) = object::File::parse(code.bytes.as_slice()) else { return Vec::new() };
    let kernels = file.symbols().filter(|it| it.is_global() && it.kind() == SymbolKind::Text);
    let names = kernels.filter_map(|it| it.name().ok().map(str::to_owned));
    names.filter(|it| it.starts_with(KERNEL)).filter_map(|it| kernel_line(&it)).collect()
}

/// `12` of `__omp_offloading_fe00_990f24_main_l12` and of `…_l12_1`.
fn kernel_line(name: &str) -> Option<u32> {
    let (_, line) = name.rsplit_once("_l")?;
    line.split('_').next()?.parse().ok()
}

/// Whether a flag is about the language alone, and would be unknown to what links Fortran.
pub(crate) fn is_of_flang(arguments: &Arguments, words: &[OsString]) -> bool {
    let Some(word) = words.first().and_then(|it| it.to_str()) else { return false };
    let is_of_link =
        ["-fPIC", "-fpic", "-fPIE", "-fpie", "-flto", "-fsanitize", "-fprofile", "-fno-pie"]
            .iter()
            .any(|it| word.starts_with(it));
    let is_of_language = word.starts_with("-f") || word.starts_with("-std=");
    arguments.native == Some(Native::Fortran) && is_of_language && !is_of_link
}

/// What the link needs to know of the files that LLVM has compiled.
#[derive(Default)]
pub(crate) struct Linked {
    /// The lists of devices that they were built for.
    devices: Vec<String>,
    has_cplusplus: bool,
    has_fortran: bool,
    /// Names that device code takes from the program where it shares its memory.
    shared: Vec<String>,
}

impl Linked {
    /// Reads the notes and the device code of a program.
    pub(crate) fn of(notes: &[Part], parts: &[Part]) -> Option<Linked> {
        let mut linked = Linked::default();
        for note in notes {
            let text = String::from_utf8_lossy(&note.code.bytes).into_owned();
            for (language, list) in text.lines().filter_map(|it| it.split_once(' ')) {
                linked.has_cplusplus |= language == Native::Cplusplus.word();
                linked.has_fortran |= language == Native::Fortran.word();
                if !linked.devices.iter().any(|it| it == list) {
                    linked.devices.push(list.to_owned());
                }
            }
        }
        for part in parts.iter().filter(|it| it.code.arch == ARCH) {
            linked.shared.extend(shared_names(&part.code.bytes));
        }
        linked.shared.sort_unstable();
        linked.shared.dedup();
        (!notes.is_empty()).then_some(linked)
    }

    /// Whether the program itself is all that its device code is linked with: then what is not in it may be in the program.
    pub(crate) fn is_in_process(&self) -> bool {
        let others = [Kind::CpuCopy, Kind::CpuSeparate].map(|it| it.target().name);
        let is_other = |it: &str| others.iter().any(|name| it.split('*').next() == Some(name));
        !self.devices.iter().any(|list| list.split(',').any(is_other))
    }

    /// What the link of the program is told besides the runtime: the threads of LLVM's programs, and what each language brings.
    pub(crate) fn words(&self, cx: &Context<'_>) -> Result<Vec<OsString>, Failure> {
        let mut words = libraries(cx, self, cx.arguments.native)?;
        let is_program = !["-shared", "-static", "-r"].iter().any(|it| cx.arguments.has(it));
        if is_program && !self.shared.is_empty() {
            let names: String = self.shared.iter().map(|it| format!("\"{it}\";\n")).collect();
            let list =
                cx.temporary(Path::new("shared"), "list", format!("{{\n{names}}};\n").as_bytes())?;
            words.extend([
                "-Xlinker".into(),
                "--dynamic-list".into(),
                "-Xlinker".into(),
                list.into(),
            ]);
        }
        Ok(words)
    }

    /// The libraries of an image for the host's processor.
    pub(crate) fn image_words(&self, cx: &Context<'_>) -> Result<Vec<OsString>, Failure> {
        if self.has_fortran && cx.arguments.static_runtime {
            return Err(Failure::told(
                "`--ferry-static-runtime`: regions in Fortran call libferry from code that is loaded, so it must be shared\n  \
                 help: leave the option out",
            ));
        }
        let mut words = Vec::new();
        // Our routines come before those of the same names in LLVM's threads; flang's kernels call more of them.
        if !cx.arguments.static_runtime {
            let library = runtime::library("libferry.so")?;
            let folder = OsString::from(library.parent().unwrap_or(Path::new(".")));
            words.extend(["-L".into(), folder.clone(), "-lferry".into()]);
            words.extend(["-Xlinker".into(), "-rpath".into(), "-Xlinker".into(), folder]);
        }
        words.extend(libraries(cx, self, None)?);
        Ok(words)
    }
}

/// LLVM's threads, and the libraries of languages but of that which the linking compiler brings.
fn libraries(
    cx: &Context<'_>,
    linked: &Linked,
    brought: Option<Native>,
) -> Result<Vec<OsString>, Failure> {
    let language = match brought {
        Some(language) => language,
        None if linked.has_cplusplus => Native::Cplusplus,
        None => Native::Fortran,
    };
    let llvm = cx.llvm(language)?;
    let mut words = Vec::new();
    if linked.has_fortran || brought == Some(Native::Fortran) {
        let runtime = ["libFortranRuntime.a", "libFortranDecimal.a"];
        words.extend(runtime.iter().filter_map(|it| llvm.library(it)).map(OsString::from));
    }
    if linked.has_cplusplus && brought != Some(Native::Cplusplus) {
        words.push("-lstdc++".into());
    }
    let folder = OsString::from(&llvm.libraries);
    words.push(llvm.libraries.join("libomp.so").into());
    words.extend(["-Xlinker".into(), "-rpath".into(), "-Xlinker".into(), folder, "-lm".into()]);
    Ok(words)
}

/// The variables that an object of device code has for all files, and all that it takes from others.
fn shared_names(bytes: &[u8]) -> Vec<String> {
    let Ok(file) = object::File::parse(bytes) else { return Vec::new() };
    let is_shared =
        |name: &str| !name.is_empty() && !name.starts_with("__") && !name.starts_with('.');
    let mut names = Vec::new();
    for symbol in file.symbols().filter(ObjectSymbol::is_global) {
        let is_variable =
            matches!(symbol.kind(), SymbolKind::Data | SymbolKind::Tls | SymbolKind::Unknown);
        if symbol.is_undefined() || is_variable {
            names.extend(symbol.name().ok().filter(|it| is_shared(it)).map(str::to_owned));
        }
    }
    names
}

/// The object file that tells the runtime which devices LLVM's files were built for, and of their regions. Returns its path.
pub(crate) fn registration(
    cx: &Context<'_>,
    linked: &Linked,
    has_images: bool,
) -> Result<PathBuf, Failure> {
    let mut rows = String::new();
    for list in &linked.devices {
        rows.push_str(&format!("  {{ 0, \"{list}\", 0, {DEVICES}, 0 }},\n"));
    }
    let hidden = "__attribute__((weak, visibility(\"hidden\")))";
    let images = if has_images {
        format!(
            "extern const char {IMAGES}[] __attribute__((visibility(\"hidden\")));\n\
             extern const int {IMAGE_COUNT} __attribute__((visibility(\"hidden\")));\n"
        )
    } else {
        format!("#define {IMAGES} 0\n#define {IMAGE_COUNT} 0\n")
    };
    let text = format!(
        "struct entry {{ void *at; const char *name; unsigned long size; int flags, data; }};\n\
         struct binary {{ int count; const void *images, *begin, *end; }};\n{images}\
         extern void {REGISTER}(struct binary *);\nextern void {UNREGISTER}(struct binary *);\n\
         extern const char __start_omp_offloading_entries[] {hidden};\n\
         extern const char __stop_omp_offloading_entries[] {hidden};\n\
         static const struct entry rows[] = {{\n{rows}}};\n\
         static struct binary about = {{ 0, 0, rows, rows + sizeof rows / sizeof *rows }}, binary;\n\
         __attribute__((destructor(101))) static void leave(void) {{ {UNREGISTER}(&binary); {UNREGISTER}(&about); }}\n\
         __attribute__((constructor(101))) static void enter(void) {{\n  {REGISTER}(&about);\n  \
         binary.count = {IMAGE_COUNT};\n  binary.images = {IMAGES};\n  \
         binary.begin = __start_omp_offloading_entries;\n  binary.end = __stop_omp_offloading_entries;\n  \
         {REGISTER}(&binary);\n}}\n"
    );
    image::compiled(cx, OsStr::new("regions"), text.as_bytes())
}

impl Found {
    /// Why directives of the other standard are not compiled.
    fn refused(&self, language: Native) -> source::Diagnostics {
        let mut diagnostics = source::Diagnostics::new();
        let Some((first, name)) = &self.openacc else { return diagnostics };
        let message = Diagnostic::error(
            "F0046",
            format!(
                "`{}` is OpenACC, which LLVM's compiler does not read in {} files",
                name,
                language.name()
            ),
        );
        diagnostics.push(
            message
                .at(*first, "")
                .note("Ferry reads OpenACC in C files, and hands C++ and Fortran to LLVM, which reads OpenMP")
                .help("say it in OpenMP, write the region in a C file, or leave it to the host: `-fno-openacc`"),
        );
        diagnostics
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_called_after_their_lines() {
        assert_eq!(kernel_line("__omp_offloading_fe00_990f24_main_l12"), Some(12));
        assert_eq!(kernel_line("__omp_offloading_fe00_990f24__Z3a_lv_l7_2"), Some(7));
        assert_eq!(kernel_line("__omp_offloading_fe00_990f24_main"), None);
    }

    #[test]
    fn notes_tell_languages_and_devices() {
        let note = |text: &str| Part {
            name: "a.o".into(),
            code: Code {
                kind: ImageKind::Source,
                triple: TRIPLE.into(),
                arch: String::new(),
                bytes: text.as_bytes().to_vec(),
            },
        };
        assert!(Linked::of(&[], &[]).is_none());
        let one = Linked::of(&[note("c++ cpu\n"), note("fortran cpu*2\n")], &[]).expect("notes");
        assert!(one.has_cplusplus && one.has_fortran && one.is_in_process());
        assert_eq!(one.devices, ["cpu", "cpu*2"]);
        assert!(Linked::of(&[note("c++ cuda,cpu\n")], &[]).is_some_and(|it| it.is_in_process()));
        let other = Linked::of(&[note("c++ cpu,cpu:separate*2\n")], &[]).expect("a note");
        assert!(!other.is_in_process() && !other.has_fortran);
    }
}
