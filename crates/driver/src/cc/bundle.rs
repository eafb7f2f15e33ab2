//! Device code inside object files: how it gets in, and how it is found again.
//!
//! An object file carries its device objects in a section of its own, each in a container; plain `ar`
//! and `ld -r` keep them, and a link leaves them out. A linked file carries its images in another.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use abi::image::{Container, FPGA, ImageKind, OPENCL};
use abi::names::{DEVICE_SECTION, IMAGE_SECTION, REGISTER};
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection, ObjectSymbol};

use super::Failure;
use super::host::Host;
use crate::input;
use crate::report::reason;

/// Device code of one kind, as object files carry it: an object, a text, an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Code {
    pub(crate) kind: ImageKind,
    /// The kind of machine.
    pub(crate) triple: String,
    /// The processor it is for; empty where there is but one.
    pub(crate) arch: String,
    pub(crate) bytes: Vec<u8>,
}

impl Code {
    /// An object or image for the kind of machine that the driver runs on, or a text in OpenCL C.
    pub(crate) fn of(bytes: Vec<u8>) -> Code {
        let is_text = [OPENCL, FPGA].iter().any(|it| bytes.starts_with(it.as_bytes()));
        let (kind, triple) = match is_text {
            true => (ImageKind::Source, "opencl".to_owned()),
            false => (ImageKind::Object, format!("{}-unknown-linux-gnu", std::env::consts::ARCH)),
        };
        Code { kind, triple, arch: String::new(), bytes }
    }

    /// What is in a container.
    pub(crate) fn read(container: &Container<'_>) -> Code {
        let Container { kind, triple, arch, payload } = *container;
        Code { kind, triple: triple.to_owned(), arch: arch.to_owned(), bytes: payload.to_vec() }
    }

    /// In its container.
    pub(crate) fn container(&self) -> Vec<u8> {
        let Code { kind, triple, arch, bytes } = self;
        Container { kind: *kind, triple, arch, payload: bytes }.write()
    }
}

/// Puts device code, in containers, into a host object, in place.
pub(crate) fn add_to_object(host: &Host, file: &Path, containers: &[u8]) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        Failure::told(&format!("cannot put device code into the object file: {}", reason(&error)))
    };
    let mut part = tempfile::NamedTempFile::new().map_err(failed)?;
    part.write_all(containers).map_err(failed)?;
    let mut add = std::ffi::OsString::from(format!("{DEVICE_SECTION}="));
    add.push(part.path());
    let tool = host.tool("objcopy");
    let mut command = Command::new(&tool);
    command.arg("--add-section").arg(add);
    command.arg(format!("--set-section-flags={DEVICE_SECTION}=exclude,readonly"));
    command.arg(file).stdout(Stdio::null()).stderr(Stdio::piped());
    let output = input::fed(&mut command, None).map_err(|error| {
        Failure::told(&format!(
            "cannot run `{}`, which puts device code into object files: {}\n  help: install \
             binutils, or compile for `--device cpu`",
            tool.display(),
            reason(&error)
        ))
    })?;
    if output.status.success() { Ok(()) } else { Err(Failure { said: output.stderr, status: 1 }) }
}

/// Appends device code, in containers, to assembly text, as the section that assembling it makes.
pub(crate) fn append_to_assembly(file: &Path, containers: &[u8]) -> Result<(), Failure> {
    let mut text = format!("\t.section\t{DEVICE_SECTION},\"e\",@progbits\n\t.p2align\t3\n");
    for line in containers.chunks(16) {
        let bytes: Vec<String> = line.iter().map(|it| format!("0x{it:02x}")).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\t.byte\t{}", bytes.join(","));
    }
    let appended = fs::OpenOptions::new().append(true).open(file);
    appended
        .and_then(|mut it| it.write_all(text.as_bytes()))
        .map_err(|error| Failure::told(&format!("cannot append device code: {}", reason(&error))))
}

/// What a file that is linked brings along.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Device objects, with the archive member they are in if the file is an archive.
    pub(crate) objects: Vec<(Option<Vec<u8>>, Code)>,
    /// Images, if it is a linked file.
    pub(crate) images: Vec<Code>,
    /// Whether it calls a runtime: ours or the host compiler's.
    pub(crate) calls_runtime: bool,
    /// Whether it calls ours for certain.
    pub(crate) registers: bool,
}

impl Contents {
    /// Whether there is any device code in it.
    pub(crate) fn has_device_code(&self) -> bool {
        !self.objects.is_empty() || !self.images.is_empty()
    }
}

/// Looks into a file. What is no object file or archive (a linker script) has nothing; what is damaged
/// is the linker's to complain of.
pub(crate) fn look(path: &Path) -> Contents {
    let mut contents = Contents::default();
    let Ok(bytes) = fs::read(path) else { return contents };
    if let Ok(archive) = ArchiveFile::parse(bytes.as_slice()) {
        for member in archive.members().flatten() {
            let name = member.name().to_vec();
            if archive.is_thin() {
                use std::os::unix::ffi::OsStrExt;
                let beside = path.parent().unwrap_or(Path::new("")).join(OsStr::from_bytes(&name));
                let outside = fs::read(beside).unwrap_or_default();
                look_into(&outside, Some(&name), &mut contents);
            } else if let Ok(bytes) = member.data(bytes.as_slice()) {
                look_into(bytes, Some(&name), &mut contents);
            }
        }
    } else {
        look_into(&bytes, None, &mut contents);
    }
    contents
}

fn look_into(bytes: &[u8], member: Option<&[u8]>, contents: &mut Contents) {
    let Ok(file) = object::File::parse(bytes) else { return };
    let is_linked = file.kind() == object::ObjectKind::Dynamic;
    for code in codes(&file, DEVICE_SECTION) {
        contents.objects.push((member.map(<[u8]>::to_vec), code));
    }
    if is_linked {
        contents.images.extend(codes(&file, IMAGE_SECTION));
        return;
    }
    for symbol in file.symbols().filter(|it| it.is_undefined()) {
        let name = symbol.name().unwrap_or_default();
        contents.registers |= name == REGISTER;
        contents.calls_runtime |= directive::RUNTIME_SYMBOLS.iter().any(|it| name.starts_with(it));
    }
}

/// What is in all containers of a section: `ld -r` puts the sections of several files in a row.
fn codes(file: &object::File<'_>, section: &str) -> Vec<Code> {
    let mut found = Vec::new();
    for section in file.sections().filter(|it| it.name() == Ok(section)) {
        let mut rest = section.data().unwrap_or_default();
        while let (Ok(container), Ok(len)) = (Container::read(rest), Container::len_of(rest)) {
            found.push(Code::read(&container));
            rest = rest.get(len.max(1)..).unwrap_or_default();
        }
    }
    found
}
