//! Kernels in CUDA C++ to what is put into object files.
//!
//! In: a text, and which GPUs are meant ([`Gpus`]). Out: machine code for each GPU that is named and
//! assembly for the oldest that is meant, which the drivers of all later ones compile; each in a
//! container of its own.
//!
//! What is to be linked is so by the driver, when a program begins.

use std::collections::BTreeSet;
use std::path::Path;

use abi::image::{Container, ImageKind};
use cache::Key;

use super::args::Arguments;
use super::bundle::Code;
use super::compile::Job;
use super::device::Gpus;
use super::gpus::{self, LINKED, has_lines};
use super::image::Part;
use super::numbers::Numbers;
use super::nvidia::{Compiled, Compiler};
use super::toolchain::{Program, Texts, Toolchain};
use super::{Context, Failure, nvptx};

/// What images for GPUs are called in containers.
pub(crate) const TRIPLE: &str = "nvptx64-nvidia-cuda";

/// The oldest GPUs that kernels are made for: from these on threads make progress by themselves.
pub(crate) const OLDEST: u32 = 70;

/// NVIDIA's compilers of CUDA C++; the driver links.
pub(crate) struct Nvidia;

impl Toolchain for Nvidia {
    fn compile(
        &self,
        cx: &Context<'_>,
        job: &Job<'_>,
        texts: &Texts<'_>,
        numbers: &Numbers,
    ) -> Result<Vec<Code>, Failure> {
        let Some(text) = texts.grid(emit::Grid::Cuda) else { return Ok(Vec::new()) };
        cx.save(&job.input.path, "cu", text)?;
        images(cx, &job.input.path, text, &cx.arguments.targets.gpus, numbers)
    }

    fn owns(&self, code: &Code) -> bool {
        matches!(code.kind, ImageKind::Cubin | ImageKind::Ptx) || is_bitcode(code)
    }

    fn link(
        &self,
        cx: &Context<'_>,
        parts: Vec<Part>,
        program: &Program<'_>,
    ) -> Result<Vec<Code>, Failure> {
        let (bitcode, mut parts): (Vec<Part>, Vec<Part>) =
            parts.into_iter().partition(|it| is_bitcode(&it.code));
        let names: BTreeSet<String> = bitcode.iter().map(|it| it.code.arch.clone()).collect();
        for arch in names {
            let own: Vec<Part> =
                bitcode.iter().filter(|it| it.code.arch == arch).cloned().collect();
            let made = nvptx::assembly(cx, &own, &arch, &functions_of(&parts))?;
            for part in &made {
                let form = if part.code.kind == ImageKind::Cubin { "cubin" } else { "ptx" };
                let ending = format!("{}.{arch}.{form}", part.name.replace(' ', "-"));
                cx.save(program.output, &ending, &part.code.bytes)?;
            }
            parts.extend(made);
        }
        join(parts).map_err(|why| Failure::told(&why))
    }
}

/// What the names of functions begin with that files share.
pub(crate) const FUNCTION: &str = "__ferry_f_";

/// The functions that C files share with others, by the names that these know.
fn functions_of(parts: &[Part]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for part in parts.iter().filter(|it| it.code.kind == ImageKind::Ptx) {
        let text = String::from_utf8_lossy(&part.code.bytes);
        let words = text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
        names.extend(words.filter_map(|it| it.strip_prefix(FUNCTION)).map(str::to_owned));
    }
    // Parameters are called after their functions.
    let functions = names.clone();
    names.retain(|it| {
        let of = it.rsplit_once("_param_").map(|it| it.0);
        !of.is_some_and(|of| functions.contains(of))
    });
    names
}

/// Whether LLVM has made it of a C++ or Fortran file.
fn is_bitcode(code: &Code) -> bool {
    code.kind == ImageKind::Bitcode && code.triple == TRIPLE
}

/// Compiles a text for all GPUs that are meant, or takes what was compiled before.
fn images(
    cx: &Context<'_>,
    source: &Path,
    text: &[u8],
    gpus: &Gpus,
    numbers: &Numbers,
) -> Result<Vec<Code>, Failure> {
    let compiler = Compiler::find().map_err(|why| Failure::told(&why))?;
    let about = compiler.about();
    let mut codes = Vec::new();
    let known = compiler.oldest();
    let all = gpus.architectures(known);
    for (arch, is_linked) in
        gpus::ways(text).iter().flat_map(|way| all.iter().map(|it| (*it, *way)))
    {
        let options = options(cx.arguments, numbers, is_linked);
        let ending = if is_linked { LINKED } else { "" };
        let mut key = Key::new("cuda").with(about.as_bytes()).with(&arch.to_le_bytes());
        for option in &options {
            key = key.with(option.as_bytes());
        }
        let key = key.with(text);
        let both = cx.cache.get(&key, || {
            let scratch = cx.folder("cuda")?;
            let made = compiler.compile(text, &options, arch, &scratch);
            let Compiled { ptx, cubin } = made.map_err(|said| refused(source, &said))?;
            let arch = format!("sm_{arch}{ending}");
            let mut both = contained(ImageKind::Ptx, &arch, &ptx);
            both.extend(contained(ImageKind::Cubin, &arch, &cubin));
            Ok::<_, Failure>(both)
        })?;
        let [ptx, cubin] = split(&both).ok_or_else(|| Failure::told("a damaged device build"))?;
        if arch == gpus.oldest(known) {
            cx.save(source, &format!("sm_{arch}{ending}.ptx"), ptx.payload)?;
            codes.push(Code::read(&ptx));
        }
        if gpus.is_named(arch) {
            cx.save(source, &format!("sm_{arch}{ending}.cubin"), cubin.payload)?;
            codes.push(Code::read(&cubin));
        }
    }
    Ok(codes)
}

fn contained(kind: ImageKind, arch: &str, payload: &[u8]) -> Vec<u8> {
    Container { kind, triple: TRIPLE, arch, payload }.write()
}

/// The two containers of a build.
fn split(both: &[u8]) -> Option<[Container<'_>; 2]> {
    let first = Container::read(both).ok()?;
    let rest = both.get(Container::len_of(both).ok()?..)?;
    Some([first, Container::read(rest).ok()?])
}

/// The images of a program of several files: assembly first and newer GPUs later, as devices take the
/// last that they can run.
fn join(parts: Vec<Part>) -> Result<Vec<Code>, String> {
    let (alone, linked) = gpus::chosen(parts);
    if let Some((file, name)) = undefined(&linked) {
        return Err(gpus::not_defined(file, &name, "cuda"));
    }
    gpus::join([alone, linked].concat(), |code| {
        let arch = code.arch.strip_prefix("sm_").and_then(|it| it.parse().ok()).unwrap_or(0);
        (code.kind == ImageKind::Cubin, arch)
    })
}

/// A function or variable that assembly names and no assembly defines: its file, and itself.
fn undefined(parts: &[Part]) -> Option<(&str, String)> {
    let mut defined = BTreeSet::new();
    let mut used = Vec::new();
    for part in parts.iter().filter(|it| it.code.kind == ImageKind::Ptx) {
        let text = String::from_utf8_lossy(&part.code.bytes);
        for line in text.lines() {
            let words: Vec<&str> = line.split([' ', '\t', '(', ';', '[', '=']).collect();
            let is = |word: &str| words.first() == Some(&word);
            // Functions of ours begin so; others are the driver's.
            let function = words.iter().find(|it| it.starts_with(FUNCTION));
            let variable = words
                .iter()
                .rev()
                .find(|it| it.starts_with(|c: char| c.is_alphabetic() || c == '_'))
                .filter(|_| words.contains(&".global"));
            let Some(name) = function.or(variable) else { continue };
            match (is(".extern"), is(".visible") || is(".weak")) {
                (true, _) => used.push((part.name.as_str(), (*name).to_owned())),
                (false, true) => drop(defined.insert((*name).to_owned())),
                (false, false) => {}
            }
        }
    }
    let (file, name) = used.into_iter().find(|it| !defined.contains(&it.1))?;
    Some((file, name.strip_prefix(FUNCTION).unwrap_or(&name).to_owned()))
}

/// What the compiler is told, following what the host's was told.
fn options(arguments: &Arguments, numbers: &Numbers, is_linked: bool) -> Vec<String> {
    let mut options = ["--std=c++20", "-w", "--device-int128"].map(str::to_owned).to_vec();
    if is_linked {
        options.extend(["--relocatable-device-code=true", "-D__FERRY_LINKED"].map(str::to_owned));
    }
    options.push(format!("--fmad={}", numbers.contracts));
    if numbers.is_fast {
        options.extend(["--ftz=true", "--prec-div=false", "--prec-sqrt=false"].map(str::to_owned));
    }
    if has_lines(arguments) {
        options.push("--generate-line-info".to_owned());
    }
    options
}

/// A text of ours that the compiler does not take.
fn refused(source: &Path, said: &str) -> Failure {
    let source = source.display();
    if said.contains("does not know sm_") {
        return Failure::told(&format!(
            "{}\n  help: name a GPU that it knows, as in `--device cuda:sm_80`, or install another \
             version: `pip install nvidia-cuda-nvrtc-cu12`",
            said.trim_end()
        ));
    }
    if let Some(record) = said.lines().find_map(|it| it.split_once(" is laid out otherwise here")) {
        let record = record.0.rsplit_once('"').map_or(record.0, |it| it.1);
        return Failure::told(&format!(
            "`{source}`: NVIDIA's compiler lays out `{record}` otherwise than the host's\n  \
             help: change its members or their attributes, or compile for other devices: `--device cpu`"
        ));
    }
    let missing = said.split_once("Unresolved extern ").map(|it| it.1);
    if let Some(missing) = missing {
        let missing = missing.lines().next().unwrap_or_default().trim();
        return Failure::told(&format!(
            "`{source}`: device code uses {}, which is in another file, and `cuda` cannot link device \
             code of several files yet\n  help: define it in the same file, or compile for other \
             devices: `--device cpu`",
            missing.replace('\'', "`")
        ));
    }
    let words = format!(
        "{}{}\n  help: this is a bug of Ferry, please report it; `--ferry-save-temps` leaves the text \
         as a .cu file; other devices (`--device cpu`) are not concerned\n",
        super::error_line(&format!("NVIDIA's compiler refuses the device code of `{source}`")),
        said.trim_end()
    );
    Failure { said: words.into_bytes(), status: 4 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_joined_by_gpu_and_only_whole_ones_count() {
        let part = |name: &str, kind, arch: &str, byte: u8| Part {
            name: name.to_owned(),
            code: Code { kind, triple: TRIPLE.into(), arch: arch.into(), bytes: vec![byte] },
        };
        let (ptx, cubin) = (ImageKind::Ptx, ImageKind::Cubin);
        let one = join(vec![part("a.o", cubin, "sm_90", 1), part("a.o", ptx, "sm_70", 2)]);
        let bytes = |it: Vec<Code>| it.into_iter().map(|it| it.bytes).collect::<Vec<_>>();
        assert_eq!(one.map(bytes), Ok(vec![vec![2], vec![1]]), "assembly is the last resort");
        let two = vec![
            part("a.o", ptx, "sm_70", 1),
            part("b.o", ptx, "sm_70", 2),
            part("b.o", cubin, "sm_90", 3),
        ];
        let joined = join(two).expect("both have assembly");
        let [image] = joined.as_slice() else { panic!("{joined:?}") };
        let first = Container::read(&image.bytes).expect("a container");
        assert_eq!((first.kind, first.arch, first.payload), (ptx, "sm_70", &[1][..]));
        let apart = vec![part("a.o", ptx, "sm_70", 1), part("b.o", ptx, "sm_80", 2)];
        assert!(join(apart).is_err_and(|it| it.contains("a.o, b.o")));
        assert_eq!(join(Vec::new()), Ok(Vec::new()));
    }

    #[test]
    fn what_the_compiler_says_becomes_what_to_do() {
        let text = |said: &str| refused(Path::new("a.c"), said).into_text();
        assert!(text("ptxas fatal : Unresolved extern function 'f'\n").contains("function `f`"));
        assert!(text("NVRTC 13.0 does not know sm_70; it knows sm_75\n").contains("cuda:sm_80"));
        assert!(text("a.c(3): error: x\n").contains("a.c(3): error: x"));
        assert_eq!(refused(Path::new("a.c"), "a.c(3): error: x\n").status, 4);
    }
}
