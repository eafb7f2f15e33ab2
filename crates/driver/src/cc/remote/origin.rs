//! Programs that start on another machine (`--host`): its compiler is then the host's, with a library of its own.
//!
//! What its compiler takes for granted and others do not is said by flags, before the user's: results are the same on
//! both machines.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Machine;
use crate::cc::args::{Arguments, Item, Step};
use crate::cc::runtime;
use crate::input;
use crate::report::reason;

/// Makes the compiler of the machine, if one is named, the host's.
pub(crate) fn settle(arguments: &mut Arguments) -> Result<(), String> {
    let Some(machine) = arguments.origin.clone() else { return Ok(()) };
    let (name, says) = (&machine.name, &machine.says);
    if !says.knows_gcc_flags {
        return Err(format!(
            "`--host {name}`: `{}` does not know the flags of GCC, in which the host's code is compiled\n  help: let the \
             program start here, with `--device remote:{name}`",
            says.compiler.join(" ")
        ));
    }
    machine.compiler()?;
    let words = shlex::try_join(says.compiler.iter().map(String::as_str));
    let words =
        words.map_err(|_| format!("`--host {name}`: a word of `compiler` cannot be passed on"))?;
    arguments.host.get_or_insert(words.into());
    let known = macros(&machine)?;
    let has = |line: &str| known.lines().any(|it| it.trim_end() == line);
    let is_fit = ["__LP64__ 1", "__BYTE_ORDER__ __ORDER_LITTLE_ENDIAN__"];
    if !is_fit.iter().all(|it| has(&format!("#define {it}"))) {
        return Err(format!(
            "`--host {name}` ({}): programs start on machines with 64-bit addresses and little-endian numbers",
            says.about
        ));
    }
    arguments.starts_on_arm = has("#define __aarch64__ 1");
    let wide = if arguments.starts_on_arm { "unsigned int" } else { "int" };
    if !has(&format!("#define __WCHAR_TYPE__ {wide}")) {
        return Err(format!(
            "`--host {name}` ({}): `wchar_t` is not `{wide}` there, as it is on other machines of its kind",
            says.about
        ));
    }
    let mut flags: Vec<OsString> = says.flags.iter().map(OsString::from).collect();
    // Machines whose processors have one rounding for a product and a sum use it unasked.
    flags.push("-ffp-contract=off".into());
    flags.extend(has("#define __CHAR_UNSIGNED__ 1").then(|| "-funsigned-char".into()));
    let items = flags.into_iter().map(|it| Item { step: Step::Everywhere, words: vec![it] });
    arguments.items.splice(0..0, items);
    Ok(())
}

/// What the compiler of a machine defines by itself.
fn macros(machine: &Machine) -> Result<String, String> {
    let says = &machine.says;
    let mut command = Command::new(says.compiler.first().map_or("", String::as_str));
    command.args(says.compiler.get(1..).unwrap_or_default()).args(&says.flags);
    command.args(["-dM", "-E", "-x", "c", "/dev/null"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let line = says.compiler.join(" ");
    let ran = input::fed(&mut command, None)
        .map_err(|error| format!("cannot run `{line}`: {}", reason(&error)))?;
    match ran.status.success() {
        true => Ok(String::from_utf8_lossy(&ran.stdout).into_owned()),
        false => Err(format!(
            "`{line}` refuses `-dM -E`: {}",
            String::from_utf8_lossy(&ran.stderr).trim()
        )),
    }
}

/// The library for programs that start there: in the installation, or in the tree it was built in.
pub(crate) fn library(machine: &Machine, file: &str) -> Result<PathBuf, String> {
    let name = Path::new(&machine.name).file_stem().unwrap_or_default().to_string_lossy();
    let mut places = vec![format!("../lib/ferry/{name}")];
    if let Some(rust) = &machine.says.rust {
        places.extend(["debug", "release"].map(|it| format!("../{rust}/{it}")));
    }
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    runtime::find_in(&places, file).ok_or_else(|| {
        let how = match &machine.says.rust {
            Some(_) => format!("`make install HOSTS={name}` builds it, where `rustup target add` has that machine"),
            None => format!("build `{file}` for it, and put it into `lib/ferry/{name}` of the installation"),
        };
        format!("programs that start on `{name}` need `{file}` for it, which was not found\n  help: {how}")
    })
}
