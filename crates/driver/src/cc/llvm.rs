//! LLVM's compilers for C++ and Fortran: where they are, and whether they speak the interface that libferry answers.
//!
//! The tables of regions and the structures of calls are those of LLVM 19; later versions have others. So the version is
//! asked of each compiler before it is used.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::host::{self, Host};

/// The version whose interface libferry answers.
pub(crate) const VERSION: u32 = 19;

/// The variable that names a folder with LLVM's compilers, as `/usr/lib/llvm-19`.
const FOLDER: &str = "FERRY_LLVM";

/// Languages that LLVM compiles for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Native {
    Cplusplus,
    Fortran,
}

impl Native {
    /// What people call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Native::Cplusplus => "C++",
            Native::Fortran => "Fortran",
        }
    }

    /// The command of ours that compiles it.
    pub(crate) fn command(self) -> &'static str {
        match self {
            Native::Cplusplus => "c++",
            Native::Fortran => "fc",
        }
    }

    /// What a note in an object calls it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Native::Cplusplus => "c++",
            Native::Fortran => "fortran",
        }
    }

    /// The names of its compiler.
    fn compilers(self) -> &'static [&'static str] {
        match self {
            Native::Cplusplus => &["clang++"],
            Native::Fortran => &["flang-new", "flang"],
        }
    }

    fn packages(self) -> &'static str {
        match self {
            Native::Cplusplus => "clang-19 libomp-19-dev",
            Native::Fortran => "flang-19 libomp-19-dev",
        }
    }
}

/// A compiler of LLVM's.
#[derive(Debug)]
pub(crate) struct Llvm {
    /// The compiler as a command.
    pub(crate) compiler: Host,
    /// What links: that compiler, or clang for Fortran, as flang passes few options on to the linker.
    pub(crate) linker: Host,
    /// The folder with its libraries.
    pub(crate) libraries: PathBuf,
}

impl Llvm {
    /// The compiler for a language, or what to do to have one.
    pub(crate) fn find(language: Native, verbose: bool) -> Result<Llvm, String> {
        let mut others: Vec<String> = Vec::new();
        for path in candidates(language) {
            match version(&path) {
                Some(VERSION) => {
                    let compiler = Host::exactly(path.clone().into_os_string(), verbose);
                    return match libraries(&path) {
                        Some(libraries) => {
                            let linker = match language {
                                Native::Cplusplus => path,
                                Native::Fortran => clang(&libraries).unwrap_or_else(|| "cc".into()),
                            };
                            let linker = Host::exactly(linker.into_os_string(), verbose);
                            Ok(Llvm { compiler, linker, libraries })
                        }
                        None => Err(format!(
                            "`{}` was found without libomp, the threads of its programs\n  help: `apt install \
                             libomp-{VERSION}-dev`",
                            path.display()
                        )),
                    };
                }
                Some(other) => others.push(format!("`{}` is version {other}", path.display())),
                None => {}
            }
        }
        let found = match others.as_slice() {
            [] => "none was found".to_owned(),
            others => format!("{}, which hands regions over in another form", others.join(", ")),
        };
        Err(format!(
            "{} for devices is compiled by LLVM {VERSION}'s `{}`, and {found}\n  help: `apt install {}`, or set \
             {FOLDER} to the folder of an installation (`/usr/lib/llvm-{VERSION}`)",
            language.name(),
            language.compilers().first().copied().unwrap_or_default(),
            language.packages()
        ))
    }

    /// Clang's own compiler beside this one, which makes code of LLVM's form.
    pub(crate) fn clang(&self) -> PathBuf {
        clang(&self.libraries).unwrap_or_else(|| "clang-19".into())
    }

    /// A library of LLVM's, if it is there.
    pub(crate) fn library(&self, name: &str) -> Option<PathBuf> {
        Some(self.libraries.join(name)).filter(|it| it.is_file())
    }
}

/// Clang beside LLVM's libraries.
fn clang(libraries: &Path) -> Option<PathBuf> {
    let beside = libraries.parent().map(|it| it.join("bin/clang")).filter(|it| it.is_file());
    beside.or_else(|| host::on_path(OsStr::new("clang-19")))
}

/// Where a compiler may be: in the folder that is named, and then nowhere else; by its name with the version, in Debian's
/// folder, by its plain name.
fn candidates(language: Native) -> Vec<PathBuf> {
    let named = std::env::var_os(FOLDER).filter(|it| !it.is_empty());
    let mut found = Vec::new();
    for name in language.compilers() {
        if let Some(folder) = &named {
            found.push(Path::new(folder).join("bin").join(name));
            continue;
        }
        found.extend(host::on_path(&OsString::from(format!("{name}-{VERSION}"))));
        found.push(PathBuf::from(format!("/usr/lib/llvm-{VERSION}/bin/{name}")));
        found.extend(host::on_path(OsStr::new(name)));
    }
    found.retain(|it| it.is_file());
    found
}

/// The version that a compiler says it is.
fn version(path: &Path) -> Option<u32> {
    let output = Command::new(path).arg("--version").output().ok()?;
    major(&String::from_utf8_lossy(&output.stdout))
}

/// `19` in `Debian clang version 19.1.7 (…)` and `flang-new version 19.1.7`.
fn major(text: &str) -> Option<u32> {
    let (before, after) = text.split_once("version ")?;
    let is_llvm = ["clang", "flang"].iter().any(|it| before.contains(it));
    after.split('.').next()?.parse().ok().filter(|_| is_llvm)
}

/// The folder with libomp that belongs to a compiler.
fn libraries(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    let folder = path.parent()?.parent()?;
    let folders = [
        folder.join("lib"),
        folder.join(format!("lib/{}-unknown-linux-gnu", std::env::consts::ARCH)),
    ];
    folders.into_iter().find(|it| it.join("libomp.so").is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_say_their_version() {
        assert_eq!(major("Debian clang version 19.1.7 (3)\nTarget: x86_64\n"), Some(19));
        assert_eq!(major("Debian flang-new version 19.1.7 (3)\n"), Some(19));
        assert_eq!(major("clang version 21.0.0git"), Some(21));
        assert_eq!(major("gcc version 12.2.0"), None);
        assert_eq!(major(""), None);
    }
}
