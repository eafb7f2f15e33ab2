//! Toolchains of other machines: what a file says of one, and whether it is here.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::cc::host::on_path;
use crate::input;
use crate::report::reason;

/// Those that come with Ferry: names and texts.
pub(crate) const READY: [(&str, &str); 5] = [
    ("aarch64", include_str!("toolchains/aarch64.toml")),
    ("ppc64le", include_str!("toolchains/ppc64le.toml")),
    ("riscv64", include_str!("toolchains/riscv64.toml")),
    ("ve", include_str!("toolchains/ve.toml")),
    ("x86_64", include_str!("toolchains/x86_64.toml")),
];

/// What a file says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Description {
    /// The machine, in words.
    pub(crate) about: String,
    /// What to install for it.
    pub(crate) packages: String,
    /// Somebody has run programs there.
    pub(crate) is_tested: bool,
    /// The compiler's command.
    pub(crate) compiler: Vec<String>,
    /// Where the headers and libraries of the machine are, if the compiler does not know.
    pub(crate) sysroot: Option<String>,
    /// The flags of the user's command line mean the same to it, but for those about the host's processor.
    pub(crate) knows_gcc_flags: bool,
    /// Flags for each file.
    pub(crate) flags: Vec<String>,
    /// Flags for the link, behind all objects.
    pub(crate) link: Vec<String>,
    /// What starts a program there; see [`abi::remote::PROGRAM`].
    pub(crate) runner: Vec<String>,
    /// Programs there can map files of the host.
    pub(crate) shares_files: bool,
    /// What Rust calls the machine, where libferry can be built for it.
    pub(crate) rust: Option<String>,
}

/// Whether a word of a command is a program that speaks to other machines and hides nothing.
fn is_plain_network(word: &str) -> bool {
    const PLAIN: &[&str] = &["nc", "ncat", "netcat", "socat", "telnet", "rsh", "rlogin", "rexec"];
    let words = word.split(|it: char| it.is_whitespace() || ";|&()".contains(it));
    words.into_iter().any(|it| {
        Path::new(it).file_name().and_then(|it| it.to_str()).is_some_and(|it| PLAIN.contains(&it))
    })
}

/// A toolchain.
#[derive(Clone, Debug)]
pub(crate) struct Toolchain {
    /// `aarch64`, or the path of a file.
    pub(crate) name: String,
    pub(crate) says: Description,
}

impl Toolchain {
    /// The one of that name, or in that file.
    pub(crate) fn read(name: &str) -> Result<Toolchain, String> {
        let ready = READY.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
        let text = match ready {
            Some(text) => text,
            None => fs::read_to_string(name).map_err(|error| {
                let names = READY.map(|it| it.0).join("`, `");
                format!(
                    "`remote:{name}`: cannot read the description of the toolchain: {}\n  help: name a TOML file, or \
                     one of `{names}`",
                    reason(&error)
                )
            })?,
        };
        let mut says: Description = toml::from_str(&text).map_err(|error| {
            format!(
                "`remote:{name}`: {}\n  help: docs/remote.md says what belongs into such a file",
                error.to_string().trim_end()
            )
        })?;
        if says.compiler.is_empty() {
            return Err(format!("`remote:{name}`: `compiler` has no words"));
        }
        says.compiler.extend(says.sysroot.iter().map(|it| format!("--sysroot={it}")));
        if let Some(word) = says.runner.iter().find(|it| is_plain_network(it)) {
            return Err(format!(
                "`remote:{name}`: `{word}` in `runner` sends code and data over a network as they are, for all to read and \
                 change\n  help: use `ssh`, which does not"
            ));
        }
        Ok(Toolchain { name: name.to_owned(), says })
    }

    /// The device, as users and programs know it.
    pub(crate) fn device(&self) -> String {
        let ready = READY.iter().any(|it| it.0 == self.name);
        if ready { format!("remote:{}", self.name) } else { "remote".to_owned() }
    }

    /// What the compiler says of its version; otherwise what is missing, and what to do about it.
    pub(crate) fn compiler(&self) -> Result<String, String> {
        let program = self.says.compiler.first().cloned().unwrap_or_default();
        if on_path(&OsString::from(&program)).is_none() {
            return Err(format!(
                "compiling for `remote:{}` needs `{program}`, which was not found\n  help: install {}",
                self.name, self.says.packages
            ));
        }
        let mut command = Command::new(&program);
        command.args(self.says.compiler.get(1..).unwrap_or_default()).arg("--version");
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let told = input::fed(&mut command, None);
        let told = told.map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
        let line = told.unwrap_or_default().lines().next().unwrap_or_default().to_owned();
        Ok(format!("{program} ({line})"))
    }

    /// What starts programs, if it is here; otherwise what is missing.
    pub(crate) fn runner(&self) -> Result<String, String> {
        let Some(program) = self.says.runner.first() else { return Ok("itself".to_owned()) };
        match on_path(&OsString::from(program)) {
            Some(path) => Ok(path.display().to_string()),
            None => Err(format!(
                "running programs for `remote:{}` needs `{program}`, which was not found\n  help: install {}",
                self.name, self.says.packages
            )),
        }
    }

    /// Both.
    pub(crate) fn find(&self) -> Result<String, String> {
        let tried = if self.says.is_tested { "" } else { ", never tried" };
        Ok(format!("{}, {}{tried}", self.compiler()?, self.runner()?))
    }
}

#[cfg(test)]
mod tests {
    use abi::target::TARGETS;

    use super::*;

    #[test]
    fn every_ready_toolchain_is_read_and_is_a_device() {
        for (name, _) in READY {
            let toolchain = Toolchain::read(name).unwrap();
            let target = TARGETS.iter().find(|it| it.name == toolchain.device()).unwrap();
            assert_eq!(target.toolchain(), Some(name));
            assert!(target.about.starts_with(&toolchain.says.about), "{name}");
        }
        let ready = TARGETS.iter().filter_map(|it| it.toolchain());
        assert!(ready.eq(READY.map(|it| it.0)));
    }

    #[test]
    fn a_sysroot_is_part_of_the_compilers_command() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        fs::write(&path, format!("{}sysroot = \"/opt/board\"\n", READY[0].1)).unwrap();
        let toolchain = Toolchain::read(path.to_str().unwrap()).unwrap();
        assert_eq!(toolchain.says.compiler, ["aarch64-linux-gnu-gcc", "--sysroot=/opt/board"]);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        let check = |text: &str, part: &str| {
            fs::write(&path, text).unwrap();
            let said = Toolchain::read(path.to_str().unwrap()).unwrap_err();
            assert!(said.contains(part), "{said}");
        };
        check("about = 3", "expected a string");
        check("color = \"red\"", "unknown field");
        check("about = \"x\"", "missing field");
        check(&READY[0].1.replace("[\"aarch64-linux-gnu-gcc\"]", "[]"), "no words");
        let runner = |words: &str| READY[0].1.replace("[\"qemu-aarch64\"]", words);
        check(&runner("[\"/usr/bin/nc\", \"board\", \"7000\"]"), "use `ssh`");
        check(&runner("[\"sh\", \"-c\", \"cat {program}|socat - TCP:board:1\"]"), "use `ssh`");
        let said = Toolchain::read("nowhere.toml").unwrap_err();
        assert!(said.contains("`aarch64`"), "{said}");
    }
}
