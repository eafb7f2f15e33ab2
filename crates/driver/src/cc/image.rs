//! Device images: from device text to an object, and from all objects of a program to one image of a kind.
//!
//! The image is a shared object that refers to nothing but the libraries it was linked with. It is
//! put into the program by one more object file, which defines where it is and how many there are.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use abi::cluster;
use abi::image::ImageKind;
use abi::names::{
    ENTRIES_START, ENTRIES_STOP, IMAGE_COUNT, IMAGE_SECTION, IMAGES, REGISTER, UNREGISTER,
};
use cache::Key;

use super::args::Step;
use super::bundle::Code;
use super::compile::Job;
use super::host::Voice;
use super::numbers::Numbers;
use super::toolchain::{Program, Texts, Toolchain};
use super::{Context, Failure, cuda, hip, refused, remote};

/// A device object of a program, and the name its user knows it by: `a.o`, `libm.a(b.o)`.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) code: Code,
}

/// The host's own compiler and linker: for devices that are processors like the host's.
pub(crate) struct HostCompiler;

impl Toolchain for HostCompiler {
    fn compile(
        &self,
        cx: &Context<'_>,
        job: &Job<'_>,
        texts: &Texts<'_>,
        numbers: &Numbers,
    ) -> Result<Vec<Code>, Failure> {
        let text = texts.device.filter(|_| cx.arguments.targets.need_image());
        let Some(text) = text else { return Ok(Vec::new()) };
        let object = object(cx, job, text, numbers)?;
        cx.save(&job.input.path, "device.o", &object)?;
        Ok(vec![Code::of(object)])
    }

    fn owns(&self, code: &Code) -> bool {
        let is_others = [hip::TRIPLE, cluster::TRIPLE, remote::TRIPLE, cuda::TRIPLE]
            .contains(&code.triple.as_str());
        match code.kind {
            ImageKind::Object | ImageKind::Bitcode | ImageKind::Fatbinary => !is_others,
            ImageKind::Cubin | ImageKind::Ptx | ImageKind::Source => false,
        }
    }

    fn link(
        &self,
        cx: &Context<'_>,
        parts: Vec<Part>,
        program: &Program<'_>,
    ) -> Result<Vec<Code>, Failure> {
        // Those of libraries that drivers read are loaded with the library.
        let images = program.images.iter().filter(|it| self.owns(it));
        let images: Vec<Vec<u8>> = images.map(|it| it.bytes.clone()).collect();
        let image = link(cx, &parts, &images, program)?;
        cx.save(program.output, "device.so", &image)?;
        Ok(vec![Code::of(image)])
    }
}

/// Compiles a device text to an object that can be part of an image.
fn object(
    cx: &Context<'_>,
    job: &Job<'_>,
    text: &[u8],
    numbers: &Numbers,
) -> Result<Vec<u8>, Failure> {
    let mut words: Vec<OsString> = cx
        .arguments
        .flags(&[Step::Everywhere, Step::Compile])
        .filter(|it| !it.to_string_lossy().starts_with("-save-temps"))
        .cloned()
        .collect();
    words.extend(directive::generated_flags(&cx.arguments.off).iter().map(OsString::from));
    words.extend((!numbers.contracts).then(|| "-ffp-contract=off".into()));
    // Warnings were given for the host's text. Tools that watch the host's memory cannot watch this.
    let fixed = ["-c", "-w", "-fPIC", "-fno-lto", "-fno-profile-arcs", "-fno-test-coverage"];
    words.extend(fixed.iter().chain(&["-fno-sanitize=all"]).map(OsString::from));
    let key = with_words(Key::new("device object").with(cx.host.version()), &words).with(text);
    cx.cache.get(&key, || {
        let source = cx.temporary(Path::new("device"), "i", text)?;
        let object = source.with_extension("o");
        let mut words = words;
        words.extend(["-x".into(), "cpp-output".into(), source.clone().into()]);
        words.extend(["-o".into(), object.clone().into()]);
        let ran = cx.host.run(&words, None, Voice::Kept)?;
        if ran.failed.is_some() {
            return Err(refused::of_host(cx, job, ran, "devices with memory of their own"));
        }
        read(&object)
    })
}

/// Links the device objects of a program, and the images of its shared libraries, to its image.
fn link(
    cx: &Context<'_>,
    parts: &[Part],
    images: &[Vec<u8>],
    program: &Program<'_>,
) -> Result<Vec<u8>, Failure> {
    let flags = program.flags;
    let mut key = with_words(Key::new("image").with(cx.host.version()), flags);
    for part in parts.iter().map(|it| &it.code.bytes).chain(images) {
        key = key.with(part);
    }
    // Images of other files find this one by its name, which says what is in it.
    let name = format!("ferry-image-{}.so", key.text().get(..16).unwrap_or_default());
    cx.cache.get(&key, || {
        let folder = cx.folder("image")?;
        let mut words: Vec<OsString> = ["-shared", "-fPIC"].iter().map(OsString::from).collect();
        // Of LLVM's device code variables are the program's own where memory is shared.
        let is_whole = program.native.is_none_or(|it| !it.is_in_process());
        words.extend(program.native.is_none().then(|| "-Wl,-Bsymbolic".into()));
        words.extend(is_whole.then(|| "-Wl,--no-undefined".into()));
        words.push(format!("-Wl,-soname,{name}").into());
        let mut names = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            let file = folder.join(format!("{number}.o"));
            write(&file, &part.code.bytes)?;
            names.push((file.display().to_string(), part.name.clone()));
            words.push(file.into());
        }
        for (number, image) in images.iter().enumerate() {
            let file = folder.join(format!("{number}.so"));
            write(&file, image)?;
            names.push((file.display().to_string(), "the image of a shared library".to_owned()));
            words.push(file.into());
        }
        words.extend(flags.iter().cloned());
        match program.native {
            Some(native) => words.extend(native.image_words(cx)?),
            None => words
                .extend(directive::host_linker_flags(&cx.arguments.off).iter().map(OsString::from)),
        }
        let image = folder.join(&name);
        words.extend(["-o".into(), image.clone().into()]);
        let ran = cx.host.run(&words, None, Voice::Kept)?;
        if let Some(status) = ran.failed {
            return Err(Failure { said: explained(&ran.said, &names), status });
        }
        read(&image)
    })
}

/// The linker's words with the user's names, and what to do about functions that are missing.
pub(crate) fn explained(said: &[u8], names: &[(String, String)]) -> Vec<u8> {
    let mut text = String::from_utf8_lossy(said).into_owned();
    for (path, name) in names {
        text = text.replace(path, &format!("device code of {name}"));
    }
    let mut missing: Vec<&str> = text
        .lines()
        .filter_map(|it| it.split_once("undefined reference to `"))
        .filter_map(|(_, it)| it.strip_suffix('\''))
        .collect();
    missing.sort_unstable();
    missing.dedup();
    let mut helps = String::new();
    for name in missing {
        helps.push_str(&format!(
            "  help: device code uses `{name}`, of which there is no device version: declare it for \
             devices where it is defined, and compile that file with `ferry cc` for the same \
             `--device`\n"
        ));
    }
    format!("{}{text}{helps}", super::error_line("linking the device code failed")).into_bytes()
}

/// The object file that puts images into a program. Returns its path.
pub(crate) fn wrap(cx: &Context<'_>, images: &[Code]) -> Result<PathBuf, Failure> {
    let folder = cx.folder("wrap")?;
    let (source, object) = (folder.join("image.s"), folder.join("image.o"));
    let mut files = Vec::new();
    for (number, image) in images.iter().enumerate() {
        let file = folder.join(format!("{number}.bin"));
        write(&file, &image.container())?;
        files.push(file);
    }
    write(&source, assembly(&files).as_bytes())?;
    let mut words: Vec<OsString> = machine_flags(cx);
    words.extend(["-c", "-x", "assembler"].iter().map(OsString::from));
    words.extend([source.into(), "-o".into(), object.clone().into()]);
    cx.host.run(&words, None, Voice::Kept)?.checked()?;
    Ok(object)
}

/// The object file that registers images of a program none of whose files does. Returns its path.
pub(crate) fn registration(cx: &Context<'_>) -> Result<PathBuf, Failure> {
    // As generated files have it; there are no entries.
    let text = format!(
        "struct binary {{ int count; const void *images, *begin, *end; }};\n\
         extern const char {IMAGES}[] __attribute__((visibility(\"hidden\")));\n\
         extern const int {IMAGE_COUNT} __attribute__((visibility(\"hidden\")));\n\
         extern void {REGISTER}(struct binary *);\nextern void {UNREGISTER}(struct binary *);\n\
         static struct binary binary;\n\
         __attribute__((destructor(101))) static void leave(void) {{ {UNREGISTER}(&binary); }}\n\
         __attribute__((constructor(101))) static void enter(void) {{\n  binary.count = {IMAGE_COUNT};\n  \
         binary.images = {IMAGES};\n  {REGISTER}(&binary);\n}}\n"
    );
    compiled(cx, OsStr::new("registration"), text.as_bytes())
}

/// The object file that a C text of ours becomes. Returns its path.
pub(crate) fn compiled(cx: &Context<'_>, name: &OsStr, text: &[u8]) -> Result<PathBuf, Failure> {
    let source = cx.temporary(Path::new(name), "c", text)?;
    let object = source.with_extension("o");
    let mut words: Vec<OsString> = machine_flags(cx);
    words.extend(["-c", "-w", "-fPIC", "-x", "c"].iter().map(OsString::from));
    words.extend([source.into(), "-o".into(), object.clone().into()]);
    cx.host.run(&words, None, Voice::Kept)?.checked()?;
    Ok(object)
}

/// Rows of LLVM's table of images, the images themselves, and the number of rows.
fn assembly(images: &[PathBuf]) -> String {
    let mut bytes = String::new();
    let mut rows = String::new();
    for (number, image) in images.iter().enumerate() {
        let path = image.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
        bytes.push_str(&format!(
            "\t.p2align\t4\n.Limage{number}:\n\t.incbin\t\"{path}\"\n.Limage_end{number}:\n"
        ));
        rows.push_str(&format!(
            "\t.quad\t.Limage{number}, .Limage_end{number}, {ENTRIES_START}, {ENTRIES_STOP}\n"
        ));
    }
    let (count, size) = (images.len(), images.len() * 32);
    format!(
        "\
\t.section\t{IMAGE_SECTION},\"a\",@progbits
{bytes}\t.section\t.data.rel.ro,\"aw\",@progbits
\t.p2align\t3
\t.globl\t{IMAGES}
\t.hidden\t{IMAGES}
\t.type\t{IMAGES}, @object
\t.size\t{IMAGES}, {size}
{IMAGES}:
{rows}\t.weak\t{ENTRIES_START}, {ENTRIES_STOP}
\t.hidden\t{ENTRIES_START}
\t.hidden\t{ENTRIES_STOP}
\t.section\t.rodata,\"a\",@progbits
\t.p2align\t3
\t.globl\t{IMAGE_COUNT}
\t.hidden\t{IMAGE_COUNT}
\t.type\t{IMAGE_COUNT}, @object
\t.size\t{IMAGE_COUNT}, 8
{IMAGE_COUNT}:
\t.quad\t{count}
\t.section\t.note.GNU-stack,\"\",@progbits
"
    )
}

/// The flags that say which machine is meant.
fn machine_flags(cx: &Context<'_>) -> Vec<OsString> {
    let is_about_machine = |it: &&OsString| it.as_encoded_bytes().starts_with(b"-m");
    cx.arguments.flags(&[Step::Everywhere]).filter(is_about_machine).cloned().collect()
}

fn with_words(key: Key, words: &[OsString]) -> Key {
    words.iter().fold(key, |key, word| key.with(word.as_encoded_bytes()))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::file("read", path, &error))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|error| Failure::file("write", path, &error))
}
