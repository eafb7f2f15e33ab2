//! Device code for other machines: their compilers make a program of the device text and of `server.c`.
//!
//! The text is the one that devices with memory of their own get. What the machine is a file says ([`describe`]); where
//! numbers or types mean something else there, a flag makes them the host's, or the program is refused. The program and
//! what starts it travel in the image ([`abi::remote`]).

pub(crate) mod describe;
pub(crate) mod origin;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use abi::image::ImageKind;
use abi::remote::{FRAMES, Image, MIXED, VERSION};
use cache::Key;
use object::{Object, ObjectSymbol, SymbolKind};

pub(crate) use self::describe::Toolchain as Machine;
use super::args::Step;
use super::bundle::Code;
use super::compile::Job;
use super::image::Part;
use super::numbers::Numbers;
use super::toolchain::{Program, Texts, Toolchain};
use super::{Context, Failure};
use crate::input;
use crate::report::reason;

/// The kind of machine, as containers name it.
pub(crate) const TRIPLE: &str = "ferry-remote";

const SERVER: &str = include_str!("server.c");
/// What takes rights from the server's process.
const CONFINE: &str = include_str!("confine.c");

/// What the server calls functions that device code asks and that it answers itself, before any library of the machine.
const ANSWERED: &str = "__wrap_";

/// Whether a word behind `remote:` is a file that describes a machine.
pub(crate) fn is_file(name: &str) -> bool {
    name.ends_with(".toml")
}

/// The compilers of other machines.
pub(crate) struct Others;

impl Toolchain for Others {
    fn compile(
        &self,
        cx: &Context<'_>,
        job: &Job<'_>,
        texts: &Texts<'_>,
        numbers: &Numbers,
    ) -> Result<Vec<Code>, Failure> {
        let Some(text) = texts.device else { return Ok(Vec::new()) };
        let mut made = Vec::new();
        for name in &cx.arguments.targets.remotes {
            let machine = Machine::read(name).map_err(|why| Failure::told(&why))?;
            let bytes = compiled(cx, &machine, &job.input.path, text, numbers)?;
            cx.save(&job.input.path, &format!("{}.o", short(&machine)), &bytes)?;
            made.push(Code {
                kind: ImageKind::Object,
                triple: TRIPLE.to_owned(),
                arch: name.clone(),
                bytes,
            });
        }
        Ok(made)
    }

    fn owns(&self, code: &Code) -> bool {
        code.triple == TRIPLE
    }

    fn is_always_asked(&self, cx: &Context<'_>) -> bool {
        !cx.arguments.targets.remotes.is_empty() && !cx.arguments.has("-shared")
    }

    fn link(
        &self,
        cx: &Context<'_>,
        parts: Vec<Part>,
        program: &Program<'_>,
    ) -> Result<Vec<Code>, Failure> {
        let asked = cx.arguments.targets.remotes.iter().filter(|_| self.is_always_asked(cx));
        let mut machines: BTreeMap<String, Vec<Part>> =
            asked.map(|it| (it.clone(), Vec::new())).collect();
        for part in parts {
            machines.entry(part.code.arch.clone()).or_default().push(part);
        }
        let is_library = cx.arguments.has("-shared");
        let has_libraries = program.images.iter().any(|it| it.triple == TRIPLE);
        let mut made = Vec::new();
        for (name, parts) in machines {
            if is_library || has_libraries {
                return Err(Failure::told(&format!(
                    "device code for `remote:{name}` cannot be part of a shared library: a program of another machine is \
                     linked as a whole\n  help: make a static library (`ar`) of these files"
                )));
            }
            let machine = Machine::read(&name).map_err(|why| Failure::told(&why))?;
            let bytes = linked(cx, &machine, &parts)?;
            cx.save(program.output, &format!("{}.elf", short(&machine)), &bytes)?;
            let Machine { says, .. } = &machine;
            let image = Image {
                device: machine.device(),
                runner: says.runner.clone(),
                shares_files: says.shares_files,
                program: &bytes,
            };
            let (kind, triple) = (ImageKind::Object, TRIPLE.to_owned());
            made.push(Code { kind, triple, arch: name, bytes: image.write() });
        }
        Ok(made)
    }
}

/// A name for files.
fn short(machine: &Machine) -> String {
    let stem = Path::new(&machine.name).file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// Compiles a device text.
fn compiled(
    cx: &Context<'_>,
    machine: &Machine,
    source: &Path,
    text: &[u8],
    numbers: &Numbers,
) -> Result<Vec<u8>, Failure> {
    // It says what is wrong with the machine, in words about the machine.
    server(cx, machine)?;
    let says = &machine.says;
    let mut words: Vec<OsString> = says.flags.iter().map(OsString::from).collect();
    if says.knows_gcc_flags {
        // What is said of the host's processor and its files is not meant.
        const OF_HOST: &[&str] =
            &["-m", "-save-temps", "--sysroot", "-isysroot", "-B", "-fPIC", "-fpic"];
        let is_meant = |it: &&OsString| {
            let text = it.to_string_lossy();
            !OF_HOST.iter().any(|word| text.starts_with(word))
        };
        let given = cx.arguments.flags(&[Step::Everywhere, Step::Compile]);
        words.extend(given.filter(is_meant).cloned());
        let fixed =
            ["-w", "-fno-lto", "-fno-profile-arcs", "-fno-test-coverage", "-fno-sanitize=all"];
        words.extend(fixed.iter().map(OsString::from));
        let own = directive::generated_flags(&cx.arguments.off);
        words.extend(own.iter().map(OsString::from));
        words.extend(numbers.wraps.is_some().then(|| "-fwrapv".into()));
        words.extend(numbers.aliases.is_some().then(|| "-fno-strict-aliasing".into()));
    } else {
        words.extend(directive::host_linker_flags(&cx.arguments.off).iter().map(OsString::from));
    }
    // Results are those of the host, which rounds after each operation unless it is told otherwise.
    let contraction = if numbers.is_contraction_asked { "fast" } else { "off" };
    words.push(format!("-ffp-contract={contraction}").into());
    let char = if numbers.char_signed { "-fsigned-char" } else { "-funsigned-char" };
    words.extend([char.into(), "-c".into()]);
    let made = object(cx, machine, "remote object", &words, (&["-x", "cpp-output"], "i", text));
    made.map_err(|it| it.told(|said| refused(machine, source, said)))
}

/// A text of ours that the compiler does not take.
fn refused(machine: &Machine, source: &Path, said: &str) -> Failure {
    let line = super::error_line(&format!(
        "`{}` refuses the device code of `{}` for `remote:{}`",
        machine.says.compiler.join(" "),
        source.display(),
        machine.name
    ));
    let help = "`--ferry-save-temps` leaves the text as a .device.c file; other devices (`--device cpu`) are not concerned";
    Failure { said: format!("{line}{}\n  help: {help}\n", said.trim_end()).into_bytes(), status: 1 }
}

/// The server with the numbers of its frames.
fn server_text(wide: &str) -> String {
    let mut text = format!(
        "#define FERRY_VERSION {VERSION}u\n#define MIXED UINT64_C({MIXED})\n#define FERRY_WIDE {wide}\n"
    );
    for (name, number) in FRAMES {
        let _ = writeln!(text, "#define {name} {number}u");
    }
    text + "#line 1 \"server.c\"\n" + SERVER + "#line 1 \"confine.c\"\n" + CONFINE
}

/// Compiles the server; what it says of a machine that is too different is the user's to read.
fn server(cx: &Context<'_>, machine: &Machine) -> Result<Vec<u8>, Failure> {
    let mut words: Vec<OsString> = machine.says.flags.iter().map(OsString::from).collect();
    words.extend(machine.says.knows_gcc_flags.then(|| "-O2".into()));
    words.push("-c".into());
    let text = server_text(if cx.arguments.starts_on_arm { "uint32_t" } else { "int32_t" });
    let made = object(cx, machine, "remote server", &words, (&["-x", "c"], "c", text.as_bytes()));
    made.map_err(|it| {
        it.told(|said| {
            let known = said.lines().find_map(|it| it.split_once("#error ferry: "));
            let why = match known {
                Some((_, why)) => why.trim(),
                None if said.contains("long_has_8_bytes") => "its `long` or its pointers do not have 8 bytes",
                None => return refused(machine, Path::new("server.c"), said),
            };
            Failure::told(&format!(
                "`remote:{}` ({}) cannot share data with this machine: {why}\n  help: choose a machine with 64-bit \
                 addresses and little-endian numbers",
                machine.name, machine.says.about
            ))
        })
    })
}

/// Why there is no object.
enum Unmade {
    /// What the compiler said.
    Refused(String),
    Failed(Failure),
}

impl Unmade {
    fn told(self, refused: impl FnOnce(&str) -> Failure) -> Failure {
        match self {
            Unmade::Refused(said) => refused(&said),
            Unmade::Failed(failure) => failure,
        }
    }
}

impl From<Failure> for Unmade {
    fn from(failure: Failure) -> Unmade {
        Unmade::Failed(failure)
    }
}

/// Compiles a text, which is in this language and whose file ends so, or takes what was made of it before.
fn object(
    cx: &Context<'_>,
    machine: &Machine,
    what: &str,
    words: &[OsString],
    (language, ending, text): (&[&str], &str, &[u8]),
) -> Result<Vec<u8>, Unmade> {
    let about = machine.compiler().map_err(|why| Failure::told(&why))?;
    let key = keyed(Key::new(what).with(about.as_bytes()), machine, words).with(text);
    cx.cache.get(&key, || {
        let source = cx.temporary(Path::new(what), ending, text)?;
        let made = source.with_extension("o");
        let mut words = words.to_vec();
        words.extend(language.iter().map(OsString::from));
        words.extend([source.into(), "-o".into(), made.clone().into()]);
        run(machine, &words)?;
        Ok(fs::read(&made).map_err(|error| Failure::file("read", &made, &error))?)
    })
}

fn keyed(key: Key, machine: &Machine, words: &[OsString]) -> Key {
    let key = machine.says.compiler.iter().fold(key, |key, it| key.with(it.as_bytes()));
    words.iter().fold(key, |key, word| key.with(word.as_encoded_bytes()))
}

/// Runs the compiler.
fn run(machine: &Machine, words: &[OsString]) -> Result<(), Unmade> {
    let says = &machine.says;
    let mut command = Command::new(says.compiler.first().map_or("", String::as_str));
    command.args(says.compiler.get(1..).unwrap_or_default()).args(words);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let ran = input::fed(&mut command, None).map_err(|error| {
        Failure::told(&format!("cannot run `{}`: {}", says.compiler.join(" "), reason(&error)))
    })?;
    if ran.status.success() {
        return Ok(());
    }
    Err(Unmade::Refused(String::from_utf8_lossy(&ran.stderr).into_owned()))
}

/// The program: the server, all device code, and a table of its names.
fn linked(cx: &Context<'_>, machine: &Machine, parts: &[Part]) -> Result<Vec<u8>, Failure> {
    let about = machine.compiler().map_err(|why| Failure::told(&why))?;
    let names = symbols(parts)?;
    let text = table(&names);
    let mut words: Vec<OsString> = machine.says.flags.iter().map(OsString::from).collect();
    words.push("-c".into());
    let made = object(cx, machine, "remote table", &words, (&["-x", "c"], "c", text.as_bytes()));
    let table = made.map_err(|it| it.told(|said| refused(machine, Path::new("table.c"), said)))?;
    let server = server(cx, machine)?;
    let mut link: Vec<OsString> = machine.says.link.iter().map(OsString::from).collect();
    link.push(answered().into());
    let mut key = keyed(Key::new("remote image").with(about.as_bytes()), machine, &link);
    for bytes in [&server, &table].into_iter().chain(parts.iter().map(|it| &it.code.bytes)) {
        key = key.with(bytes);
    }
    cx.cache.get(&key, || {
        let folder = cx.folder("remote")?;
        let mut words: Vec<OsString> = Vec::new();
        let mut called = Vec::new();
        let own = [("ferry", &server), ("ferry", &table)];
        let all = own.into_iter().chain(parts.iter().map(|it| (it.name.as_str(), &it.code.bytes)));
        for (number, (name, bytes)) in all.enumerate() {
            let file = folder.join(format!("{number}.o"));
            fs::write(&file, bytes).map_err(|error| Failure::file("write", &file, &error))?;
            called.push((file.display().to_string(), name.to_owned()));
            words.push(file.into());
        }
        words.extend(link.iter().cloned());
        let image = folder.join("program");
        words.extend(["-o".into(), image.clone().into()]);
        let ran = run(machine, &words);
        ran.map_err(|it| {
            it.told(|said| Failure {
                said: super::image::explained(said.as_bytes(), &called),
                status: 1,
            })
        })?;
        fs::read(&image).map_err(|error| Failure::file("read", &image, &error))
    })
}

/// Tells the linker of the functions that the server answers.
fn answered() -> String {
    let mut flag = "-Wl".to_owned();
    for (at, word) in SERVER.match_indices(ANSWERED) {
        let rest = SERVER.get(at + word.len()..).unwrap_or_default();
        let name = rest.split('(').next().unwrap_or_default();
        let option = format!(",--wrap={name}");
        if !flag.contains(&option) {
            flag.push_str(&option);
        }
    }
    flag
}

/// Functions and variables of device code that other files see, with their sizes.
fn symbols(parts: &[Part]) -> Result<BTreeMap<String, u64>, Failure> {
    let mut names = BTreeMap::new();
    for part in parts {
        let file = object::File::parse(part.code.bytes.as_slice()).map_err(|error| {
            Failure::told(&format!("cannot read the device code of `{}`: {error}", part.name))
        })?;
        for symbol in file.symbols().filter(|it| it.is_global() && it.is_definition()) {
            let is_meant = matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Data);
            // Variables that are common to several files have no section.
            if let Ok(name) = symbol.name()
                && (is_meant || symbol.is_common())
            {
                names.insert(name.to_owned(), symbol.size());
            }
        }
    }
    Ok(names)
}

/// A table of symbols in C; what each is called there is not its name.
fn table(names: &BTreeMap<String, u64>) -> String {
    let mut text = String::new();
    let mut rows = String::new();
    for (number, (name, size)) in names.iter().enumerate() {
        let _ = writeln!(text, "extern char symbol_{number}[] __asm__(\"{name}\");");
        let _ = writeln!(rows, "  {{\"{name}\", symbol_{number}, {size}ul}},");
    }
    let count = names.len();
    text.push_str(
        "struct ferry_symbol { const char *name; void *address; unsigned long size; };\n",
    );
    let _ = writeln!(
        text,
        "const struct ferry_symbol __ferry_symbols[] = {{\n{rows}  {{0, 0, 0}}\n}};"
    );
    let _ = writeln!(text, "const unsigned long __ferry_symbol_count = {count}ul;");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linker_is_told_what_the_server_answers() {
        let flag = answered();
        assert!(flag.starts_with("-Wl,--wrap=exit,"), "{flag}");
        assert_eq!(flag.matches("--wrap=").count(), 9, "{flag}");
    }
}
