//! The link: objects, the user's flags in their order, the image of the device code, our runtime.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::args::{Item, Step};
use super::bundle::{self, Code, Contents};
use super::host::Voice;
use super::image::{self, Part};
use super::native::Linked;
use super::output::Output;
use super::runtime::{self, Need, Runtime};
use super::toolchain::{Program, TOOLCHAINS};
use super::{Context, Failure, native, unread};
use crate::input;

/// Links to `output`. `objects` stands for the inputs: what each was translated to, or itself.
/// Returns what was said.
pub(crate) fn run(
    cx: &Context<'_>,
    objects: &[PathBuf],
    output: &Path,
    is_lowered: bool,
) -> Result<Vec<u8>, Failure> {
    let seen = look(cx, objects);
    let any = |has: fn(&Contents) -> bool| seen.iter().any(|it| has(&it.contents));
    let need = if is_lowered || any(|it| it.registers || it.has_device_code()) {
        Need::Ours
    } else if !cx.arguments.switches.is_empty() || any(|it| it.calls_runtime) {
        Need::Either
    } else {
        Need::Unknown
    };
    let notes_of_llvm = notes_in(&seen);
    let native = Linked::of(&notes_of_llvm.0, &notes_of_llvm.1);
    let runtime = runtime::flags(cx, need, native.as_ref())?;
    let target = Output::begin(output)?;
    let mut said = Vec::new();
    let mut own: Vec<PathBuf> = Vec::new();
    let mut notes = Vec::new();
    // A program without regions has devices too, for memory by hand.
    let is_asked = TOOLCHAINS.iter().any(|it| it.is_always_asked(cx));
    let is_asked = is_asked && runtime.is_ours && need != Need::Unknown;
    if (any(Contents::has_device_code) || is_asked) && !is_relocatable(cx) {
        let trace = members_linked(cx, objects, &seen, &runtime)?;
        let (parts, images) = collect(&seen, trace.as_ref());
        let (told, parts): (Vec<Part>, Vec<Part>) =
            parts.into_iter().partition(|it| unread::is_note(&it.code));
        notes = told;
        let (of_llvm, parts): (Vec<Part>, Vec<Part>) =
            parts.into_iter().partition(|it| native::is_note(&it.code));
        let native = Linked::of(&of_llvm, &parts);
        let made = images_of(cx, &seen, parts, images, (output, native.as_ref()))?;
        if !made.is_empty() {
            own.push(image::wrap(cx, &made)?);
        }
        if let Some(native) = &native {
            own.push(native::registration(cx, native, !made.is_empty())?);
        } else if is_asked && !any(|it| it.registers) {
            own.push(image::registration(cx)?);
        }
    }
    let is_mandatory = cx.arguments.foreign.is_mandatory && need == Need::Ours;
    if runtime.is_ours && (is_mandatory || !notes.is_empty()) {
        own.push(unread::object(cx, &notes, is_mandatory)?);
    }
    let words = line(cx, objects, &own, &runtime, target.path());
    said.extend(cx.linker()?.run(&words, None, Voice::Kept)?.checked()?.said);
    target.finish()?;
    Ok(said)
}

/// The images of a program.
fn images_of(
    cx: &Context<'_>,
    seen: &[Seen],
    parts: Vec<Part>,
    images: Vec<Code>,
    (output, native): (&Path, Option<&Linked>),
) -> Result<Vec<Code>, Failure> {
    let flags = device_flags(cx, seen);
    let program = Program { images: &images, flags: &flags, output, native };
    let mut made = Vec::new();
    for toolchain in TOOLCHAINS {
        let own: Vec<Part> = parts.iter().filter(|it| toolchain.owns(&it.code)).cloned().collect();
        if !own.is_empty() || toolchain.is_always_asked(cx) {
            made.extend(toolchain.link(cx, own, &program)?);
        }
    }
    Ok(made)
}

/// The notes on files that LLVM has compiled, and their device code, in all files that are looked at.
fn notes_in(seen: &[Seen]) -> (Vec<Part>, Vec<Part>) {
    let codes = seen.iter().flat_map(|it| it.contents.objects.iter().map(move |code| (it, code)));
    let parts = codes.map(|(it, (_, code))| Part { name: it.name.clone(), code: code.clone() });
    let parts = parts.filter(|it| native::is_note(&it.code) || native::is_native(&it.code));
    parts.partition(|it| native::is_note(&it.code))
}

/// A file that the link reads, as far as it can be told from the command line.
struct Seen {
    path: PathBuf,
    /// The name that its user knows.
    name: String,
    /// The `-l` flag it was found by.
    library: Option<OsString>,
    contents: Contents,
}

/// Looks into the inputs, and into the libraries in the user's folders.
fn look(cx: &Context<'_>, objects: &[PathBuf]) -> Vec<Seen> {
    let link: Vec<&Item> = cx.arguments.items.iter().collect();
    let folders: Vec<PathBuf> =
        link.iter().filter_map(|it| value(it, "-L")).map(PathBuf::from).collect();
    let mut seen = Vec::new();
    for item in link {
        let (path, library) = if let Step::Input(index) = item.step {
            (objects.get(index).cloned(), None)
        } else if let Some(name) = value(item, "-l") {
            (find_library(&name, &folders, cx.arguments.has("-static")), Some(name))
        } else {
            continue;
        };
        let Some(path) = path else { continue };
        let name = match (item.step, &library) {
            (Step::Input(index), _) => cx.arguments.inputs.get(index).map(|it| &it.path),
            _ => None,
        };
        let name = name.unwrap_or(&path).display().to_string();
        seen.push(Seen { contents: bundle::look(&path), name, library, path });
    }
    seen
}

/// The value of `-L dir` or `-Ldir`.
fn value(item: &Item, option: &str) -> Option<OsString> {
    if item.step != Step::Link {
        return None;
    }
    match item.words.as_slice() {
        [word] => {
            let value = word.as_bytes().strip_prefix(option.as_bytes())?;
            Some(OsString::from_vec(value.to_vec()))
        }
        [word, value] if word == option => Some(value.clone()),
        _ => None,
    }
}

/// As the linker looks for it, in the folders of the command line: others' libraries are not ours.
fn find_library(name: &OsStr, folders: &[PathBuf], is_static: bool) -> Option<PathBuf> {
    let spelt = |ending: &str| {
        let mut file = OsString::from("lib");
        file.push(name);
        file.push(ending);
        file
    };
    let files = match name.as_bytes().strip_prefix(b":") {
        Some(exact) => vec![OsStr::from_bytes(exact).to_owned()],
        None if is_static => vec![spelt(".a")],
        None => vec![spelt(".so"), spelt(".a")],
    };
    let paths = folders.iter().flat_map(|folder| files.iter().map(|file| folder.join(file)));
    paths.into_iter().find(|it| it.is_file())
}

/// The lines of a linker's trace.
struct Trace(BTreeSet<Vec<u8>>);

impl Trace {
    fn read(text: &[u8]) -> Trace {
        Trace(text.split(|it| *it == b'\n').map(<[u8]>::to_vec).collect())
    }

    /// GNU's linker writes `(libf.a)a.o`, others `libf.a(a.o)`.
    fn has(&self, archive: &Path, member: &[u8]) -> bool {
        let archive = archive.as_os_str().as_bytes();
        self.0.contains(&[b"(", archive, b")", member].concat())
            || self.0.contains(&[archive, b"(", member, b")"].concat())
    }
}

/// Which members of archives are part of the program, where archives have device code: only the
/// linker knows, so it is asked, by a link whose output is thrown away.
fn members_linked(
    cx: &Context<'_>,
    objects: &[PathBuf],
    seen: &[Seen],
    runtime: &Runtime,
) -> Result<Option<Trace>, Failure> {
    let has_members = |it: &Seen| it.contents.objects.iter().any(|(member, _)| member.is_some());
    if !seen.iter().any(has_members) {
        return Ok(None);
    }
    let trial = cx.folder("trial")?.join("program");
    let mut words = line(cx, objects, &[], runtime, &trial);
    words.extend(["-Wl,--trace".into(), "-Wl,--trace".into()]);
    let ran = cx.linker()?.run(&words, None, Voice::Kept)?.checked()?;
    Ok(Some(Trace::read(&ran.stdout)))
}

/// The device objects and images that belong to the program.
fn collect(seen: &[Seen], trace: Option<&Trace>) -> (Vec<Part>, Vec<Code>) {
    let mut parts = Vec::new();
    let mut images: Vec<Code> = Vec::new();
    let mut done: Vec<&Path> = Vec::new();
    for it in seen {
        // An archive may be named twice, to satisfy references both ways; it is linked once.
        let is_archive = it.contents.objects.iter().any(|(member, _)| member.is_some());
        if is_archive && done.contains(&it.path.as_path()) {
            continue;
        }
        done.push(&it.path);
        for (member, code) in &it.contents.objects {
            let name = match member {
                None => it.name.clone(),
                Some(member) => {
                    if !trace.is_some_and(|trace| trace.has(&it.path, member)) {
                        continue;
                    }
                    format!("{}({})", it.name, String::from_utf8_lossy(member))
                }
            };
            parts.push(Part { name, code: code.clone() });
        }
        images.extend(it.contents.images.iter().cloned());
    }
    (parts, images)
}

/// The user's folders and libraries, which device code may use too, but for those that have device
/// code of their own: of these the host's part would be linked.
fn device_flags(cx: &Context<'_>, seen: &[Seen]) -> Vec<OsString> {
    let is_ours = |name: &OsString| {
        let named = |it: &&Seen| it.library.as_ref() == Some(name);
        seen.iter().find(named).is_some_and(|it| it.contents.has_device_code())
    };
    let mut flags = Vec::new();
    for item in &cx.arguments.items {
        let is_folder = value(item, "-L").is_some();
        let is_library = value(item, "-l").is_some_and(|name| !is_ours(&name));
        if is_folder || is_library {
            flags.extend(item.words.iter().cloned());
        }
    }
    flags
}

fn is_relocatable(cx: &Context<'_>) -> bool {
    cx.arguments.has("-r")
}

/// The whole line of the link.
fn line(
    cx: &Context<'_>,
    objects: &[PathBuf],
    own: &[PathBuf],
    runtime: &Runtime,
    output: &Path,
) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    for item in &cx.arguments.items {
        match item.step {
            Step::Everywhere if native::is_of_flang(cx.arguments, &item.words) => {}
            Step::Everywhere | Step::Link => words.extend(item.words.iter().cloned()),
            Step::Input(index) => {
                words.extend(objects.get(index).map(|it| input::guarded(it).into_os_string()));
            }
            Step::Preprocess | Step::Printed | Step::Compile => {}
        }
    }
    words.extend(own.iter().map(OsString::from));
    words.extend(runtime.words.iter().cloned());
    words.extend(["-o".into(), output.into()]);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_read_from_a_trace() {
        let text = b"/usr/lib/crt1.o\na.o\n./libf.a\n(./libf.a)x (1).o\nlibg.a(y.o)\n";
        let trace = Trace::read(text);
        assert!(trace.has(Path::new("./libf.a"), b"x (1).o"));
        assert!(trace.has(Path::new("libg.a"), b"y.o"));
        assert!(!trace.has(Path::new("libg.a"), b"x (1).o"));
        assert!(!trace.has(Path::new("libf.a"), b"z.o"));
    }

    #[test]
    fn values_of_link_flags_are_read_in_both_forms() {
        let item = |words: &[&str]| Item {
            step: Step::Link,
            words: words.iter().map(OsString::from).collect(),
        };
        assert_eq!(value(&item(&["-Ldir"]), "-L"), Some("dir".into()));
        assert_eq!(value(&item(&["-L", "dir"]), "-L"), Some("dir".into()));
        assert_eq!(value(&item(&["-lm"]), "-L"), None);
    }
}
