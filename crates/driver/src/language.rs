//! What an input is written in, by its name or by `-x`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The language of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// C: ours.
    C,
    /// C behind the preprocessor: ours too.
    PreprocessedC,
    /// Something that the host compiler translates: C++, assembly, a header to precompile. The
    /// name for `-x`, where the file's own name does not tell.
    Foreign(Option<OsString>),
    /// Nothing to translate: objects, archives, libraries, linker scripts.
    Linked,
}

/// Languages of other standards' directives, which the host compiler compiles alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    Cplusplus,
    ObjectiveC,
    Fortran,
}

impl Unread {
    /// What people call files of it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Unread::Cplusplus => "C++ files",
            Unread::ObjectiveC => "Objective-C files",
            Unread::Fortran => "Fortran files",
        }
    }

    /// By the ending of a file's name, as gcc has it; none for headers and for other languages.
    pub(crate) fn of_file(path: &Path) -> Option<Unread> {
        match path.extension()?.to_str()? {
            "ii" | "cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" | "cu" | "hip" => {
                Some(Unread::Cplusplus)
            }
            "m" | "mi" | "mm" | "M" | "mii" => Some(Unread::ObjectiveC),
            "f" | "for" | "ftn" | "F" | "FOR" | "fpp" | "FPP" | "FTN" | "f90" | "f95" | "f03"
            | "f08" | "F90" | "F95" | "F03" | "F08" => Some(Unread::Fortran),
            _ => None,
        }
    }

    /// By the word after `-x`.
    fn named(name: &str) -> Option<Unread> {
        match name {
            "c++" | "c++-cpp-output" => Some(Unread::Cplusplus),
            "f77" | "f77-cpp-input" | "f95" | "f95-cpp-input" => Some(Unread::Fortran),
            _ if name.ends_with("-header") => None,
            _ => name.starts_with("objective-c").then_some(Unread::ObjectiveC),
        }
    }
}

impl Language {
    /// What it is, if directives can stand in it that we do not read.
    pub(crate) fn unread(&self, path: &Path) -> Option<Unread> {
        match self {
            Language::Foreign(None) => Unread::of_file(path),
            Language::Foreign(Some(name)) => Unread::named(name.to_str()?),
            Language::C | Language::PreprocessedC | Language::Linked => None,
        }
    }

    /// By the ending of a file's name, as gcc has it.
    pub(crate) fn of_file(path: &Path) -> Language {
        let Some(ending) = path.extension().and_then(OsStr::to_str) else {
            return Language::Linked;
        };
        match ending {
            "c" => Language::C,
            "i" => Language::PreprocessedC,
            "h" | "s" | "S" | "sx" | "ii" | "cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C"
            | "hh" | "H" | "hp" | "hxx" | "hpp" | "HPP" | "h++" | "tcc" | "m" | "mi" | "mm"
            | "M" | "mii" | "f" | "for" | "ftn" | "F" | "FOR" | "fpp" | "FPP" | "FTN" | "f90"
            | "f95" | "f03" | "f08" | "F90" | "F95" | "F03" | "F08" | "go" | "d" | "di" | "adb"
            | "ads" => Language::Foreign(None),
            _ => Language::Linked,
        }
    }

    /// By the word after `-x`; `none` goes back to the names of files.
    pub(crate) fn named(name: &OsStr) -> Result<Option<Language>, String> {
        Ok(Some(match name.to_str() {
            Some("none") => return Ok(None),
            Some("c") => Language::C,
            Some("cpp-output") => Language::PreprocessedC,
            Some(
                "c-header"
                | "c++"
                | "c++-header"
                | "c++-cpp-output"
                | "assembler"
                | "assembler-with-cpp"
                | "objective-c"
                | "objective-c-header"
                | "objective-c-cpp-output"
                | "objective-c++"
                | "objective-c++-header"
                | "objective-c++-cpp-output"
                | "f77"
                | "f77-cpp-input"
                | "f95"
                | "f95-cpp-input"
                | "ada"
                | "d"
                | "go"
                | "lto"
                | "ir",
            ) => Language::Foreign(Some(name.to_owned())),
            _ => return Err(format!("language `{}` is not known to `-x`", name.display())),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_that_are_not_read_are_told_by_name_or_option() {
        let of = |name: &str| Language::of_file(Path::new(name)).unread(Path::new(name));
        for name in ["a.cpp", "a.cc", "a.C", "a.cxx"] {
            assert_eq!(of(name), Some(Unread::Cplusplus), "{name}");
        }
        assert_eq!(of("a.f90"), Some(Unread::Fortran));
        for name in ["a.c", "a.h", "a.hpp", "a.s", "a.o", "a.go"] {
            assert_eq!(of(name), None, "{name}");
        }
        let named = |name: &str| Language::named(OsStr::new(name)).ok()??.unread(Path::new("a"));
        assert_eq!(named("c++"), Some(Unread::Cplusplus));
        assert_eq!(named("c++-header"), None);
        assert_eq!(named("objective-c"), Some(Unread::ObjectiveC));
        assert_eq!(named("assembler"), None);
    }

    #[test]
    fn names_tell_languages() {
        let of = |name: &str| Language::of_file(Path::new(name));
        assert_eq!(of("dir.d/a.c"), Language::C);
        assert_eq!(of("a.i"), Language::PreprocessedC);
        for name in ["a.C", "a.cpp", "a.S", "a.s", "a.h"] {
            assert_eq!(of(name), Language::Foreign(None), "{name}");
        }
        for name in ["a.o", "lib.a", "lib.so", "lib.so.1", "script", ".c", "-"] {
            assert_eq!(of(name), Language::Linked, "{name}");
        }
    }
}
