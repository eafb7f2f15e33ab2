//! Kernels in HIP to what is put into object files.
//!
//! In: a text, and which GPUs are meant ([`AmdGpus`]). Out: a code object for each of them, in a container of
//! its own; there is no assembly that later GPUs could use.

use std::path::Path;

use abi::image::{Container, ImageKind};

use super::amd::Compiler;
use super::args::Arguments;
use super::bundle::Code;
use super::device::AmdGpus;
use super::gpus::{self, Floats, has_lines};
use super::image::Part;
use super::{Context, Failure};
use cache::Key;

/// What images for GPUs are called in containers.
pub(crate) const TRIPLE: &str = "amdgcn-amd-amdhsa";

/// The GPUs that are meant where none is named: those of the machines that most programs are written for.
pub(crate) const USUAL: &str = "gfx90a";

/// The oldest generation of GPUs that AMD's runtime still serves: `gfx900` and its kin.
pub(crate) const OLDEST: u32 = 9;

/// Compiles a text for all GPUs that are meant, or takes what was compiled before.
pub(crate) fn images(
    cx: &Context<'_>,
    source: &Path,
    text: &[u8],
    gpus: &AmdGpus,
) -> Result<Vec<u8>, Failure> {
    let compiler = Compiler::find().map_err(|why| Failure::told(&why))?;
    let about = compiler.about();
    let options = options(cx.arguments);
    let mut containers = Vec::new();
    for arch in gpus.architectures() {
        let mut key = Key::new("hip").with(about.as_bytes()).with(arch.as_bytes());
        for option in &options {
            key = key.with(option.as_bytes());
        }
        let payload = cx.cache.get(&key.with(text), || {
            let scratch = cx.folder("hip")?;
            let made = compiler.compile(text, &options, &arch, &scratch);
            let lacks_library = compiler.library_for(&arch).is_none();
            made.map_err(|said| refused(source, &arch, lacks_library, &said))
        })?;
        cx.save(source, &format!("{arch}.hsaco"), &payload)?;
        let kind = ImageKind::Object;
        containers
            .extend(Container { kind, triple: TRIPLE, arch: &arch, payload: &payload }.write());
    }
    Ok(containers)
}

/// The images of a program of several files.
pub(crate) fn join(parts: Vec<Part>) -> Result<Vec<Code>, String> {
    gpus::join(parts, |code| code.arch.clone())
}

/// What the compiler is told, following what the host's was told.
fn options(arguments: &Arguments) -> Vec<String> {
    // The texts define functions that compilers know; `-fno-builtin` keeps them from being taken for those.
    let mut options = vec!["-std=c++20", "-w", "-O3", "-fno-builtin", "-fno-math-errno"];
    let floats = Floats::of(arguments);
    options.push(if floats.contracts { "-ffp-contract=fast" } else { "-ffp-contract=off" });
    if floats.is_fast {
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
    let mut missing: Vec<&str> = said
        .lines()
        .filter_map(|it| it.split_once("undefined ")?.1.split_once("symbol: "))
        .map(|it| it.1.trim())
        .collect();
    missing.sort_unstable();
    missing.dedup();
    let (of_amd, of_user): (Vec<&str>, Vec<&str>) =
        missing.into_iter().partition(|it| it.starts_with("__ocml_") || it.starts_with("__ockl_"));
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
    if !of_user.is_empty() {
        let names: Vec<String> = of_user.iter().map(|it| format!("`{}`", plain(it))).collect();
        return Failure::told(&format!(
            "`{source}`: device code uses {}, which is in another file, and `hip` cannot link device code of \
             several files yet\n  help: define it in the same file, or compile for other devices: `--device \
             cpu`",
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
    use super::*;
    use std::ffi::OsString;

    #[test]
    fn the_compiler_is_told_what_the_hosts_is_told() {
        let told = |line: &str| {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            options(&Arguments::read(&words).expect("a good command line")).join(" ")
        };
        assert!(told("-O2 a.c").contains("-ffp-contract=fast"));
        assert!(told("-std=c11 a.c").contains("-ffp-contract=off"));
        assert!(told("-Ofast a.c").contains("-fgpu-flush-denormals-to-zero"));
        assert!(!told("-O3 a.c").contains("denormals") && !told("-O3 a.c").contains("-gline"));
        assert!(told("-g a.c").contains("-gline-tables-only"));
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
        let joined = join(both).expect("both have code for gfx942");
        let [image] = joined.as_slice() else { panic!("{joined:?}") };
        assert_eq!((image.triple.as_str(), image.arch.as_str()), (TRIPLE, "gfx942"));
        let first = Container::read(&image.bytes).expect("a container");
        assert_eq!((first.triple, first.arch, first.payload), (TRIPLE, "gfx942", &[2][..]));
        let apart = vec![part("a.o", "gfx90a", 1), part("b.o", "gfx942", 2)];
        assert!(join(apart).is_err_and(|it| it.contains("a.o, b.o")));
    }

    #[test]
    fn what_the_compiler_says_becomes_what_to_do() {
        let text =
            |lacks: bool, said: &str| refused(Path::new("a.c"), "gfx942", lacks, said).into_text();
        let sine = "lld: error: undefined hidden symbol: __ocml_sin_f64\nlld: error: undefined symbol: \
                    __ockl_printf_begin\n";
        let said = text(true, sine);
        assert!(said.contains("`printf`, `sin`") && said.contains("rocm-device-libs"), "{said}");
        let other = "lld: error: undefined hidden symbol: __ferry_f_twice(int)\n";
        assert!(text(false, other).contains("`twice`, which is in another file"));
        let unknown = "clang: error: unsupported HIP gpu architecture: gfx942\n";
        assert!(text(false, unknown).contains("--device hip:gfx90a"));
        let bug = refused(Path::new("a.c"), "gfx90a", false, "a.c:3: error: x\n");
        assert_eq!(bug.status, 4);
        assert!(bug.into_text().contains("a.c:3: error: x"));
    }
}
