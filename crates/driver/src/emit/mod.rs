//! `ferry emit`: a program as the text of a vendor's language, which needs nothing of ours.
//!
//! In: C files with directives. Out, in a folder: each file as it was written, with its regions
//! replaced by calls ([`written`]); its kernels beside it; and two files with the functions that are
//! called. What cannot be done without our runtime is refused by name, and nothing is written then.

mod verilog;
mod written;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use abi::target::Vendor;
use emit::dialect::Language;
use source::{Diagnostic, Diagnostics, Locator, SourceMap, Span, render};

use crate::cc::numbers::Numbers;
use crate::designs;
use crate::front;
use crate::options::{Dialect, EmitOptions};
use crate::report::{self, Stream, reason};
use written::{Unwritable, written};

/// A file of the program that is written.
struct Made {
    path: PathBuf,
    text: Vec<u8>,
}

pub(crate) fn run(options: &EmitOptions) -> Result<ExitCode, String> {
    let grid = match options.dialect {
        Dialect::Grid(grid) => grid,
        Dialect::Verilog => return verilog::run(options),
        Dialect::Module(language) => return kernels(options, &language),
    };
    if options.search && options.fpga.is_none() && grid.vendor().is_none() {
        return Err("`--search` is about FPGAs: name one with `--fpga`".to_owned());
    }
    let folder = options.out_dir.clone().unwrap_or_else(|| PathBuf::from(grid.device()));
    let mut made: Vec<Made> = Vec::new();
    let mut failed = false;
    for path in &options.input.files {
        let mut file = folder.join(path.file_name().unwrap_or(path.as_os_str()));
        file.set_extension("c");
        refuse_same(path, &file)?;
        if made.iter().any(|it| it.path == file) {
            return Err(format!("two files would be written to `{}`", file.display()));
        }
        match one(path, &file, options, grid)? {
            Some(files) => made.extend(files),
            None => failed = true,
        }
    }
    if failed {
        return Ok(ExitCode::from(1));
    }
    let beside =
        [("ferry_host.h", emit::host_header(grid)), ("ferry_host.c", emit::host_file(grid))];
    made.extend(
        beside.map(|(name, text)| Made { path: folder.join(name), text: text.into_bytes() }),
    );
    write_all(&folder, &made)?;
    report::show(&told(&made, options, grid), Stream::Out)?;
    Ok(ExitCode::SUCCESS)
}

/// Kernels as outlined: on standard output, or in a folder.
fn kernels(options: &EmitOptions, language: &Language) -> Result<ExitCode, String> {
    let mut made: Vec<Made> = Vec::new();
    for path in &options.input.files {
        let until = (emit::Grid::Cuda, None);
        let text = match crate::print::kernels(path, &options.input, language, until)? {
            Ok(text) => text.into_bytes(),
            Err(status) => return Ok(status),
        };
        let folder = options.out_dir.clone().unwrap_or_default();
        let mut file = folder.join(path.file_name().unwrap_or(path.as_os_str()));
        file.set_extension(language.ending);
        if made.iter().any(|it| it.path == file) {
            return Err(format!("two files would be written to `{}`", file.display()));
        }
        made.push(Made { path: file, text });
    }
    let Some(folder) = &options.out_dir else {
        let texts: Vec<_> = made.iter().map(|it| String::from_utf8_lossy(&it.text)).collect();
        report::show(&texts.concat(), Stream::Out)?;
        return Ok(ExitCode::SUCCESS);
    };
    write_all(folder, &made)?;
    for Made { path, .. } in &made {
        report::show(&format!("{}\n", path.display()), Stream::Out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes files in a folder, which is made if it is not there.
fn write_all(folder: &Path, made: &[Made]) -> Result<(), String> {
    let failed = |path: &Path, error: std::io::Error| {
        format!("cannot write `{}`: {}", path.display(), reason(&error))
    };
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    for Made { path, text } in made {
        fs::write(path, text).map_err(|error| failed(path, error))?;
    }
    Ok(())
}

/// The files that one file becomes; none if something is wrong with it, which was said.
fn one(
    path: &Path,
    file: &Path,
    options: &EmitOptions,
    grid: emit::Grid,
) -> Result<Option<Vec<Made>>, String> {
    let unit = front::check(path, &options.input);
    if complain(&unit.diagnostics, &unit.map)? {
        return Ok(None);
    }
    let (Some(program), Some(id)) = (&unit.program, unit.map.files().next()) else {
        return Ok(None);
    };
    let read = crate::input::written;
    let locator = Locator::new(&unit.map, &read);
    let input = &options.input;
    let standard = input.std.iter().map(|it| format!("-std={it}"));
    let flags = input.flags.iter().map(|it| it.to_string_lossy().into_owned());
    let words: Vec<String> = standard.chain(flags).collect();
    let words = words.iter().map(String::as_str);
    let numbers = Numbers::of(words).in_text(unit.map.bytes(id));
    if let Some(why) = numbers.refused_by(grid.device(), false) {
        return Err(format!("`{}`: {why}", path.display()));
    }
    let board = options.fpga.as_deref().or_else(|| grid.vendor().map(Vendor::board));
    let fpga = board.map(crate::profiles::fpga).transpose()?;
    let search = options.searched();
    let mut advice = Diagnostics::new();
    let fabrics = fpga.map(|it| {
        let (made, said) = designs::fabrics(program, &unit.map, &it, search.as_ref(), false);
        advice.append(said);
        (grid, made)
    });
    let asked = emit::Options {
        fabrics: fabrics.into_iter().collect(),
        rounds_each: !numbers.contracts,
        grids: vec![grid],
        needs_opencl_12: true,
        standalone: true,
        trust: options.trust.into(),
        ..emit::Options::default()
    };
    let lowered = emit::lower(program, &unit.map, id, &locator, asked);
    complain(&advice, &unit.map)?;
    if complain(&lowered.diagnostics, &unit.map)? {
        return Ok(None);
    }
    let source = fs::read(path)
        .map_err(|error| format!("cannot read `{}`: {}", path.display(), reason(&error)))?;
    let mut pieces = lowered.standalone.unwrap_or_default();
    pieces.head = head(path) + &pieces.head;
    let host = match written(&source, path, &unit.map, id, &pieces) {
        Ok(host) => host,
        Err(Unwritable { at, why }) => {
            let mut faults = Diagnostics::new();
            faults.push(not_written(unit.map.base(id), at, why));
            complain(&faults, &unit.map)?;
            return Ok(None);
        }
    };
    let mut made = vec![Made { path: file.to_owned(), text: host }];
    for (grid, text) in lowered.grids {
        let mut path = file.as_os_str().to_owned();
        path.push(emit::kernel_ending(grid));
        made.push(Made { path: path.into(), text: text.into_bytes() });
    }
    Ok(Some(made))
}

/// What the written file begins with: where it comes from, and the macros that it was read with, which other compilers
/// define otherwise or not at all.
fn head(path: &Path) -> String {
    let mut text = format!("/* Written by `ferry emit` from {}. */\n", path.display());
    let definitions = directive::PREPROCESSOR_FLAGS.iter().filter_map(|it| it.strip_prefix("-D"));
    for (name, value) in definitions.filter_map(|it| it.split_once('=')) {
        text.push_str(&format!("#undef {name}\n#define {name} {value}\n"));
    }
    text
}

/// A change that has no place in the written file.
fn not_written(base: u32, at: usize, why: &str) -> Diagnostic {
    let at = base.saturating_add(u32::try_from(at).unwrap_or(0));
    Diagnostic::error("F0721", format!("the changed text cannot be put into the file: {why}"))
        .at(Span::new(at, at.saturating_add(1)), "changed here")
        .help("write the directive and its statement in the file itself")
}

/// What was written would take the place of what was read.
fn refuse_same(path: &Path, file: &Path) -> Result<(), String> {
    let is_same =
        file.canonicalize().is_ok_and(|it| path.canonicalize().is_ok_and(|that| it == that));
    match is_same {
        true => Err(format!("`{}` is read: choose another folder with `-o`", path.display())),
        false => Ok(()),
    }
}

/// Shows errors and warnings; tells whether there were errors.
fn complain(diagnostics: &Diagnostics, map: &SourceMap) -> Result<bool, String> {
    let read = crate::input::written;
    let found = front::presentable(diagnostics, map);
    let text = render::terminal(&found, &Locator::new(map, &read), render::Colour::Never);
    report::show(&text, Stream::Err)?;
    Ok(diagnostics.errors() > 0)
}

/// What was written, and how it is built.
fn told(made: &[Made], options: &EmitOptions, grid: emit::Grid) -> String {
    let mut text = String::new();
    for Made { path, .. } in made {
        text.push_str(&format!("{}\n", path.display()));
    }
    let sources: Vec<String> = made
        .iter()
        .filter(|it| it.path.extension().is_some_and(|it| it == "c"))
        .map(|it| it.path.display().to_string())
        .collect();
    let input = &options.input;
    let flags = [("-I", &input.include), ("-D", &input.define), ("-U", &input.undefine)];
    // What is left to the host's compiler.
    let host = directive::host_linker_flags(&[]).join(" ");
    let mut words = vec![format!("cc -O2 {host}")];
    for (flag, values) in flags {
        words.extend(values.iter().map(|it| format!("{flag}{}", it.display())));
    }
    words.extend(sources);
    words.push(match grid {
        emit::Grid::OpenCl | emit::Grid::OpenCl12 | emit::Grid::Fpga(_) => {
            "-lOpenCL -lm".to_owned()
        }
        emit::Grid::Cuda => "-lcuda -lnvrtc -lm".to_owned(),
        emit::Grid::Hip => "-D__HIP_PLATFORM_AMD__ -lamdhip64 -lhiprtc -lm".to_owned(),
    });
    text.push_str(&format!("build: {}\n", words.join(" ")));
    text
}
