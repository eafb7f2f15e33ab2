//! Kernels in HIP to what is put into object files.
//!
//! In: a text, and which GPUs are meant ([`AmdGpus`]). Out: a code object for each of them, in a container of
//! its own; there is no assembly that later GPUs could use.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use abi::image::ImageKind;

use super::amd::Compiler;
use super::args::Arguments;
use super::bundle::Code;
use super::compile::Job;
use super::device::AmdGpus;
use super::gpus::{self, LINKED, has_lines};
use super::image::Part;
use super::numbers::Numbers;
use super::toolchain::{Program, Texts, Toolchain};
use super::{Context, Failure};
use cache::Key;

/// What images for GPUs are called in containers.
pub(crate) const TRIPLE: &str = "amdgcn-amd-amdhsa";

/// The GPUs that are meant where none is named: those of the machines that most programs are written for.
pub(crate) const USUAL: &str = "gfx90a";

/// The oldest generation of GPUs that AMD's runtime still serves: `gfx900` and its kin.
pub(crate) const OLDEST: u32 = 9;

/// AMD's compiler and linker of HIP.
pub(crate) struct Amd;

impl Toolchain for Amd {
    fn compile(
        &self,
        cx: &Context<'_>,
        job: &Job<'_>,
        texts: &Texts<'_>,
        numbers: &Numbers,
    ) -> Result<Vec<Code>, Failure> {
        let Some(text) = texts.grid(emit::Grid::Hip) else { return Ok(Vec::new()) };
        cx.save(&job.input.path, "hip", text)?;
        images(cx, &job.input.path, text, &cx.arguments.targets.amd, numbers)
    }

    fn owns(&self, code: &Code) -> bool {
        code.triple == TRIPLE && matches!(code.kind, ImageKind::Object | ImageKind::Bitcode)
    }

    fn link(
        &self,
        cx: &Context<'_>,
        parts: Vec<Part>,
        _: &Program<'_>,
    ) -> Result<Vec<Code>, Failure> {
        join(cx, parts)
    }
}

/// Compiles a text for all GPUs that are meant, or takes what was compiled before.
fn images(
    cx: &Context<'_>,
    source: &Path,
    text: &[u8],
    gpus: &AmdGpus,
    numbers: &Numbers,
) -> Result<Vec<Code>, Failure> {
    let compiler = Compiler::find().map_err(|why| Failure::told(&why))?;
    let about = compiler.about();
    let mut codes = Vec::new();
    let all = gpus.architectures();
    for (arch, is_linked) in gpus::ways(text).iter().flat_map(|way| all.iter().map(|it| (it, *way)))
    {
        let mut options = options(cx.arguments, numbers, is_linked);
        if is_linked {
            // Every file that is linked has a name of its own.
            let name = Key::new("file").with(text).text();
            options.push(format!("-cuid={}", name.get(..16).unwrap_or_default()));
        }
        let mut key = Key::new("hip").with(about.as_bytes()).with(arch.as_bytes());
        for option in &options {
            key = key.with(option.as_bytes());
        }
        let payload = cx.cache.get(&key.with(text), || {
            let scratch = cx.folder("hip")?;
            let made = compiler.compile(text, &options, arch, &scratch);
            let lacks_library = compiler.library_for(arch).is_none();
            made.map_err(|said| refused(source, arch, lacks_library, &said))
        })?;
        let (kind, name, ending) = match is_linked {
            true => (ImageKind::Bitcode, format!("{arch}{LINKED}"), "bc"),
            false => (ImageKind::Object, arch.clone(), "hsaco"),
        };
        cx.save(source, &format!("{name}.{ending}"), &payload)?;
        codes.push(Code { kind, triple: TRIPLE.to_owned(), arch: name, bytes: payload });
    }
    Ok(codes)
}

/// The images of a program of several files, those that need each other linked to one.
fn join(cx: &Context<'_>, parts: Vec<Part>) -> Result<Vec<Code>, Failure> {
    joined(parts, |arch, parts, files| linked(cx, arch, parts, files))
}

fn joined(
    parts: Vec<Part>,
    link: impl Fn(&str, &[&Part], &str) -> Result<Vec<u8>, Failure>,
) -> Result<Vec<Code>, Failure> {
    let (mut all, linked) = gpus::chosen(parts);
    let names: BTreeSet<&str> = linked.iter().map(|it| it.name.as_str()).collect();
    let mut of_gpus: BTreeMap<&str, Vec<&Part>> = BTreeMap::new();
    for part in &linked {
        of_gpus.entry(&part.code.arch).or_default().push(part);
    }
    let is_whole =
        |parts: &[&Part]| names.iter().all(|it| parts.iter().any(|part| part.name == *it));
    if !of_gpus.values().any(|it| is_whole(it)) {
        // Nothing, or what is told as that of files that are not linked.
        all.extend(linked);
        return gpus::join(all, |code| code.arch.clone()).map_err(|why| Failure::told(&why));
    }
    let name = names.iter().copied().collect::<Vec<_>>().join(", ");
    for (arch, parts) in of_gpus.into_iter().filter(|it| is_whole(&it.1)) {
        let bytes = link(arch, &parts, &name)?;
        let code =
            Code { kind: ImageKind::Object, triple: TRIPLE.into(), arch: arch.into(), bytes };
        all.push(Part { name: name.clone(), code });
    }
    gpus::join(all, |code| code.arch.clone()).map_err(|why| Failure::told(&why))
}

/// One code object of the code of several files for a GPU.
fn linked(cx: &Context<'_>, arch: &str, parts: &[&Part], files: &str) -> Result<Vec<u8>, Failure> {
    let compiler = Compiler::find().map_err(|why| Failure::told(&why))?;
    let key = Key::new("linked hip").with(compiler.about().as_bytes()).with(arch.as_bytes());
    let key = parts.iter().fold(key, |key, it| key.with(&it.code.bytes));
    cx.cache.get(&key, || {
        let codes: Vec<&[u8]> = parts.iter().map(|it| it.code.bytes.as_slice()).collect();
        let made = compiler.link(&codes, arch, &cx.folder("hip")?);
        let lacks_library = compiler.library_for(arch).is_none();
        made.map_err(|said| match missing(&said).iter().find(|it| !is_of_amd(it)) {
            Some(name) => Failure::told(&gpus::not_defined(files, plain(name), "hip")),
            None => refused(Path::new(files), arch, lacks_library, &said),
        })
    })
}

/// What AMD's library has.
fn is_of_amd(symbol: &str) -> bool {
    symbol.starts_with("__ocml_") || symbol.starts_with("__ockl_")
}

/// What a linker does not find, by its name.
fn missing(said: &str) -> Vec<&str> {
    let mut missing: Vec<&str> = said
        .lines()
        .filter_map(|it| it.split_once("undefined ")?.1.split_once("symbol: "))
        .map(|it| it.1.trim())
        .collect();
    missing.sort_unstable();
    missing.dedup();
    missing
}

/// What the compiler is told, following what the host's was told.
fn options(arguments: &Arguments, numbers: &Numbers, is_linked: bool) -> Vec<String> {
    // Kernels need what the first level does; above it there is one, which is for speed.
    let level = if matches!(arguments.level(), "-O0" | "-O1") { "-O1" } else { "-O3" };
    // The texts define functions that compilers know; `-fno-builtin` keeps them from being taken for those.
    let mut options = vec!["-std=c++20", "-w", level, "-fno-builtin", "-fno-math-errno"];
    if is_linked {
        options.extend(["-fgpu-rdc", "-D__FERRY_LINKED", "-c", "-emit-llvm"]);
    }
    options.push(if numbers.contracts { "-ffp-contract=fast" } else { "-ffp-contract=off" });
    options.extend(numbers.wraps.is_some().then_some("-fwrapv"));
    options.extend(numbers.aliases.is_some().then_some("-fno-strict-aliasing"));
    options.extend((!numbers.char_signed).then_some("-funsigned-char"));
    if numbers.is_fast {
        options.push("-fgpu-flush-denormals-to-zero");
        options.push("-fno-hip-fp32-correctly-rounded-divide-sqrt");
    }
    if has_lines(arguments) {
        options.push("-gline-tables-only");
    }
    options.into_iter().map(str::to_owned).collect()
}

/// A text of ours that the compiler does not take.
fn refused(source: &Path, arch: &str, lacks_library: bool, said: &str) -> Failure {
    let source = source.display();
    if said.contains("unsupported HIP gpu architecture") || said.contains("invalid target ID") {
        return Failure::told(&format!(
            "clang does not know {arch}\n  help: name a GPU that it knows, as in `--device hip:{USUAL}`, or \
             set FERRY_HIP_CLANG to a newer one"
        ));
    }
    if said.contains("No available targets are compatible") {
        return Failure::told(
            "this clang was built without AMD's GPUs\n  help: set FERRY_HIP_CLANG to one that has them",
        );
    }
    let of_amd: Vec<&str> = missing(said).into_iter().filter(|it| is_of_amd(it)).collect();
    if lacks_library && !of_amd.is_empty() {
        let mut names: Vec<String> = of_amd.into_iter().map(spelled).collect();
        names.dedup();
        return Failure::told(&format!(
            "`{source}`: device code uses {}, which AMD's device library has, and there is none for {arch} here\n  \
             help: install ROCm, or the package rocm-device-libs, or set HIP_DEVICE_LIB_PATH to the folder of a \
             library that knows this GPU (`amdgcn/bitcode`)",
            names.join(", ")
        ));
    }
    let words = format!(
        "{}{}\n  help: this is a bug of Ferry, please report it; `--ferry-save-temps` leaves the text \
         as a .hip file; other devices (`--device cpu`) are not concerned\n",
        super::error_line(&format!("clang refuses the device code of `{source}` for {arch}")),
        said.trim_end()
    );
    Failure { said: words.into_bytes(), status: 4 }
}

/// What the user calls a function of AMD's library: `sin` for `__ocml_sin_f64`.
fn spelled(symbol: &str) -> String {
    let name = match symbol {
        it if it.starts_with("__ockl_printf") => "printf",
        "__ockl_dm_alloc" => "malloc",
        "__ockl_dm_dealloc" => "free",
        it => {
            let it = it.trim_start_matches("__ocml_").trim_start_matches("__ockl_");
            it.trim_end_matches("_f64").trim_end_matches("_f32")
        }
    };
    format!("`{name}`")
}

/// What the user calls a function of another file: `twice` for `__ferry_f_twice(int)`.
fn plain(symbol: &str) -> &str {
    let name = symbol.split('(').next().unwrap_or(symbol);
    name.strip_prefix("__ferry_f_").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use abi::image::Container;

    use super::*;
    use std::ffi::OsString;

    #[test]
    fn the_compiler_is_told_what_the_hosts_is_told() {
        let told = |line: &str| {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            let arguments = Arguments::read(&words).expect("a good command line");
            let numbers = Numbers::of(line.split_whitespace());
            options(&arguments, &numbers, false).join(" ")
        };
        assert!(told("-O2 a.c").contains("-ffp-contract=fast"));
        assert!(told("a.c").contains("-O3") && told("-O1 -O2 a.c").contains("-O3"));
        assert!(told("-O2 -O1 a.c").contains("-O1") && told("-O0 a.c").contains("-O1"));
        assert!(told("-std=c11 a.c").contains("-ffp-contract=off"));
        assert!(told("-Ofast a.c").contains("-fgpu-flush-denormals-to-zero"));
        assert!(!told("-O3 a.c").contains("denormals") && !told("-O3 a.c").contains("-gline"));
        assert!(told("-g a.c").contains("-gline-tables-only"));
        assert!(told("-fwrapv a.c").contains("-fwrapv") && !told("-O2 a.c").contains("-fwrapv"));
        assert!(told("-funsigned-char a.c").contains("-funsigned-char"));
    }

    #[test]
    fn images_are_joined_by_gpu() {
        let part = |name: &str, arch: &str, byte: u8| Part {
            name: name.to_owned(),
            code: Code {
                kind: ImageKind::Object,
                triple: TRIPLE.into(),
                arch: arch.into(),
                bytes: vec![byte],
            },
        };
        let both =
            vec![part("a.o", "gfx90a", 1), part("a.o", "gfx942", 2), part("b.o", "gfx942", 3)];
        let link = |_: &str, parts: &[&Part], _: &str| {
            Ok(parts.iter().flat_map(|it| it.code.bytes.clone()).collect())
        };
        let join = |parts: Vec<Part>| joined(parts, link).map_err(Failure::into_text);
        let joined = join(both).expect("both have code for gfx942");
        let [image] = joined.as_slice() else { panic!("{joined:?}") };
        assert_eq!((image.triple.as_str(), image.arch.as_str()), (TRIPLE, "gfx942"));
        let first = Container::read(&image.bytes).expect("a container");
        assert_eq!((first.triple, first.arch, first.payload), (TRIPLE, "gfx942", &[2][..]));
        let apart = vec![part("a.o", "gfx90a", 1), part("b.o", "gfx942", 2)];
        assert!(join(apart).is_err_and(|it| it.contains("a.o, b.o")));
        let needing = ["gfx90a+linked", "gfx942+linked"].map(|it| part("a.o", it, 1));
        let asked = ["gfx90a", "gfx90a+linked"].map(|it| part("b.o", it, 2));
        let both: Vec<Part> = needing.into_iter().chain(asked.clone()).collect();
        let linked = join(both).expect("both have code for gfx90a");
        let [image] = linked.as_slice() else { panic!("{linked:?}") };
        assert_eq!((image.arch.as_str(), image.bytes.as_slice()), ("gfx90a", &[1, 2][..]));
        let alone = join(asked.to_vec()).expect("nobody needs it");
        let [image] = alone.as_slice() else { panic!("{alone:?}") };
        assert_eq!((image.arch.as_str(), image.bytes.as_slice()), ("gfx90a", &[2][..]));
    }

    #[test]
    fn what_the_compiler_says_becomes_what_to_do() {
        let text =
            |lacks: bool, said: &str| refused(Path::new("a.c"), "gfx942", lacks, said).into_text();
        let sine = "lld: error: undefined hidden symbol: __ocml_sin_f64\nlld: error: undefined symbol: \
                    __ockl_printf_begin\n";
        let said = text(true, sine);
        assert!(said.contains("`printf`, `sin`") && said.contains("rocm-device-libs"), "{said}");
        let other = "lld: error: undefined hidden symbol: __ferry_f_twice\n";
        assert_eq!(missing(other).into_iter().map(plain).collect::<Vec<_>>(), ["twice"]);
        let unknown = "clang: error: unsupported HIP gpu architecture: gfx942\n";
        assert!(text(false, unknown).contains("--device hip:gfx90a"));
        let bug = refused(Path::new("a.c"), "gfx90a", false, "a.c:3: error: x\n");
        assert_eq!(bug.status, 4);
        assert!(bug.into_text().contains("a.c:3: error: x"));
    }
}
