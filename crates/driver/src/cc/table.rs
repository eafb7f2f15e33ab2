//! The options of gcc that matter to a driver, as one table.
//!
//! An option is listed when it takes a word of its own (so that the word is not taken for an input),
//! or when not every step of a compilation may see it. All others are flags for the host compiler,
//! at every step. The order of rows does not matter: the longest name that fits decides.

/// How an option takes its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// None: `-c`
    Alone,
    /// In the same word: `-std=c11`; the name alone is not this option.
    Joined,
    /// In the next word: `-Xlinker a`
    Separate,
    /// Either: `-Idir`, `-I dir`
    Either,
    /// In the same word, or none: `-Wl,a`, `-d`
    Open,
}

/// Who is told of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Every step.
    Everywhere,
    /// What reads text as written; preprocessed text has this behind it.
    Preprocess,
    /// Changes what `-E` prints, and nothing else.
    Printed,
    /// The step that makes assembly or object code of the text.
    Compile,
    /// The link, at its place among the inputs.
    Link,
    /// A library, likewise.
    Library,
    /// How far to go.
    Stop(Stop),
    /// `-o`
    Output,
    /// `-x`
    Language,
    /// A file of dependences.
    Depend(Depend),
    /// Warnings are not shown.
    Silent,
    /// Warnings are errors, or not.
    WarningsAreErrors(bool),
    /// `-v`
    Verbose,
    /// Answered by the host compiler alone; nothing is compiled.
    Question,
    /// Ours.
    Own(Own),
    /// Known to another compiler, without meaning here.
    Foreign,
}

/// How far a compilation goes, where not to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// `-E`
    Preprocessed,
    /// `-M`, `-MM`
    Dependences,
    /// `-fsyntax-only`
    Checked,
    /// `-S`
    Assembly,
    /// `-c`
    Object,
}

impl Stop {
    /// What the host's compiler is told; it reads text that is preprocessed.
    pub(crate) fn flag(self) -> &'static str {
        match self {
            Stop::Checked | Stop::Preprocessed | Stop::Dependences => "-fsyntax-only",
            Stop::Assembly => "-S",
            Stop::Object => "-c",
        }
    }

    /// Whether it makes a file then.
    pub(crate) fn has_output(self) -> bool {
        match self {
            Stop::Checked | Stop::Preprocessed | Stop::Dependences => false,
            Stop::Assembly | Stop::Object => true,
        }
    }
}

/// What is said about dependences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depend {
    /// `-MD`
    All,
    /// `-MMD`
    User,
    /// `-MF`
    File,
    /// `-MT`, `-MQ`, `-MP`, `-MG`
    Passed,
}

/// What only Ferry knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Own {
    Help,
    Version,
    Device,
    SaveTemps,
    NoTiles,
    Search,
    Report,
    Mapping,
    Profile,
    Trust,
    Host,
    Origin,
    StaticRuntime,
    NoCache,
}

/// One option.
pub(crate) struct Row {
    /// With its dashes.
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) role: Role,
}

const fn row(name: &'static str, shape: Shape, role: Role) -> Row {
    Row { name, shape, role }
}

use self::Depend as D;
use self::Role::{
    Compile, Everywhere, Foreign, Language, Library, Link, Output, Preprocess, Printed, Question,
    Silent, Verbose, WarningsAreErrors,
};
use self::Shape::{Alone, Either, Joined, Open, Separate};

const TABLE: &[Row] = &[
    // ---- how far
    row("-E", Alone, Role::Stop(Stop::Preprocessed)),
    row("-M", Alone, Role::Stop(Stop::Dependences)),
    row("-MM", Alone, Role::Stop(Stop::Dependences)),
    row("-fsyntax-only", Alone, Role::Stop(Stop::Checked)),
    row("-S", Alone, Role::Stop(Stop::Assembly)),
    row("-c", Alone, Role::Stop(Stop::Object)),
    row("-o", Either, Output),
    row("-x", Either, Language),
    // ---- dependences
    row("-MD", Alone, Role::Depend(D::All)),
    row("-MMD", Alone, Role::Depend(D::User)),
    row("-MF", Either, Role::Depend(D::File)),
    row("-MT", Either, Role::Depend(D::Passed)),
    row("-MQ", Either, Role::Depend(D::Passed)),
    row("-MP", Alone, Role::Depend(D::Passed)),
    row("-MG", Alone, Role::Depend(D::Passed)),
    // ---- the preprocessor
    row("-I", Either, Preprocess),
    row("-D", Either, Preprocess),
    row("-U", Either, Preprocess),
    row("-A", Either, Preprocess),
    row("-include", Either, Preprocess),
    row("-imacros", Either, Preprocess),
    row("-isystem", Either, Preprocess),
    row("-iquote", Either, Preprocess),
    row("-idirafter", Either, Preprocess),
    row("-iprefix", Either, Preprocess),
    row("-iwithprefix", Either, Preprocess),
    row("-iwithprefixbefore", Either, Preprocess),
    row("-imultilib", Either, Preprocess),
    row("-imultiarch", Either, Preprocess),
    row("-nostdinc", Alone, Preprocess),
    row("-undef", Alone, Preprocess),
    row("-trigraphs", Alone, Preprocess),
    row("-remap", Alone, Preprocess),
    row("-H", Alone, Preprocess),
    row("-Wp,", Open, Preprocess),
    row("-Xpreprocessor", Separate, Preprocess),
    row("-fdirectives-only", Alone, Preprocess),
    row("-P", Alone, Printed),
    row("-C", Alone, Printed),
    row("-CC", Alone, Printed),
    row("-dD", Alone, Printed),
    row("-dI", Alone, Printed),
    row("-dM", Alone, Printed),
    row("-dN", Alone, Printed),
    row("-dU", Alone, Printed),
    // ---- the compiler and the assembler
    row("-Wa,", Open, Compile),
    row("-Xassembler", Separate, Compile),
    row("-aux-info", Either, Compile),
    row("-J", Either, Compile),
    row("-cpp", Alone, Compile),
    row("-nocpp", Alone, Compile),
    row("-module-dir", Separate, Compile),
    row("--param", Either, Everywhere),
    row("-isysroot", Either, Everywhere),
    row("--sysroot", Separate, Everywhere),
    row("--sysroot=", Joined, Everywhere),
    row("-B", Either, Everywhere),
    row("-specs", Separate, Everywhere),
    row("-specs=", Joined, Everywhere),
    row("-wrapper", Separate, Everywhere),
    row("-dumpbase", Separate, Everywhere),
    row("-dumpbase-ext", Separate, Everywhere),
    row("-dumpdir", Separate, Everywhere),
    row("-arch", Separate, Everywhere),
    row("-target", Separate, Everywhere),
    row("-Xclang", Separate, Everywhere),
    row("-mllvm", Separate, Everywhere),
    row("-w", Alone, Silent),
    row("-Werror", Alone, WarningsAreErrors(true)),
    row("-Wno-error", Alone, WarningsAreErrors(false)),
    row("-v", Alone, Verbose),
    // ---- the linker
    row("-l", Either, Library),
    row("-L", Either, Link),
    row("-Wl,", Open, Link),
    row("-Xlinker", Separate, Link),
    row("-T", Either, Link),
    row("-Tbss", Separate, Link),
    row("-Tdata", Separate, Link),
    row("-Ttext", Separate, Link),
    row("-u", Either, Link),
    row("-z", Either, Link),
    row("-e", Either, Link),
    row("--entry", Separate, Link),
    row("-R", Either, Link),
    row("-h", Either, Link),
    row("-soname", Separate, Link),
    row("-framework", Separate, Link),
    row("-shared", Alone, Link),
    row("-static", Alone, Link),
    row("-static-pie", Alone, Link),
    row("-static-libgcc", Alone, Link),
    row("-shared-libgcc", Alone, Link),
    row("-static-libasan", Alone, Link),
    row("-pie", Alone, Link),
    row("-no-pie", Alone, Link),
    row("-rdynamic", Alone, Link),
    row("-r", Alone, Link),
    row("-s", Alone, Link),
    row("-N", Alone, Link),
    row("-n", Alone, Link),
    row("-nostdlib", Alone, Link),
    row("-nodefaultlibs", Alone, Link),
    row("-nolibc", Alone, Link),
    row("-nostartfiles", Alone, Link),
    row("-fuse-ld=", Joined, Link),
    // ---- questions
    row("-###", Alone, Question),
    row("-dumpversion", Alone, Question),
    row("-dumpfullversion", Alone, Question),
    row("-dumpmachine", Alone, Question),
    row("-dumpspecs", Alone, Question),
    row("-print-", Joined, Question),
    row("--print-", Joined, Question),
    row("--target-help", Alone, Question),
    row("--help=", Joined, Question),
    // ---- ours
    row("--help", Alone, Role::Own(Own::Help)),
    row("--version", Alone, Role::Own(Own::Version)),
    row("--device", Separate, Role::Own(Own::Device)),
    row("--device=", Joined, Role::Own(Own::Device)),
    row("--ferry-save-temps", Alone, Role::Own(Own::SaveTemps)),
    row("--ferry-save-temps=", Joined, Role::Own(Own::SaveTemps)),
    row("--ferry-report", Alone, Role::Own(Own::Report)),
    row("--ferry-report=", Joined, Role::Own(Own::Report)),
    row("--mapping", Separate, Role::Own(Own::Mapping)),
    row("--mapping=", Joined, Role::Own(Own::Mapping)),
    row("--ferry-profile", Separate, Role::Own(Own::Profile)),
    row("--ferry-profile=", Joined, Role::Own(Own::Profile)),
    row("--trust", Separate, Role::Own(Own::Trust)),
    row("--trust=", Joined, Role::Own(Own::Trust)),
    row("--ferry-cc", Separate, Role::Own(Own::Host)),
    row("--ferry-cc=", Joined, Role::Own(Own::Host)),
    row("--host", Separate, Role::Own(Own::Origin)),
    row("--host=", Joined, Role::Own(Own::Origin)),
    row("--ferry-static-runtime", Alone, Role::Own(Own::StaticRuntime)),
    row("--ferry-no-tiles", Alone, Role::Own(Own::NoTiles)),
    row("--ferry-search", Alone, Role::Own(Own::Search)),
    row("--ferry-search=", Joined, Role::Own(Own::Search)),
    row("--ferry-no-cache", Alone, Role::Own(Own::NoCache)),
    // ---- other compilers'
    row("-MJ", Either, Foreign),
];

/// GNU's long names and what they stand for; a value follows in the next word or after `=`.
const LONG: &[(&str, &str)] = &[
    ("--all-warnings", "-Wall"),
    ("--assemble", "-S"),
    ("--compile", "-c"),
    ("--debug", "-g"),
    ("--define-macro", "-D"),
    ("--dependencies", "-M"),
    ("--for-assembler", "-Xassembler"),
    ("--for-linker", "-Xlinker"),
    ("--include", "-include"),
    ("--include-directory", "-I"),
    ("--include-directory-after", "-idirafter"),
    ("--language", "-x"),
    ("--library-directory", "-L"),
    ("--no-standard-includes", "-nostdinc"),
    ("--no-standard-libraries", "-nostdlib"),
    ("--no-warnings", "-w"),
    ("--optimize", "-O"),
    ("--output", "-o"),
    ("--pass-exit-codes", "-pass-exit-codes"),
    ("--pedantic", "-pedantic"),
    ("--pie", "-pie"),
    ("--pipe", "-pipe"),
    ("--preprocess", "-E"),
    ("--save-temps", "-save-temps"),
    ("--shared", "-shared"),
    ("--static", "-static"),
    ("--undefine-macro", "-U"),
    ("--user-dependencies", "-MM"),
    ("--verbose", "-v"),
    ("--write-dependencies", "-MD"),
    ("--write-user-dependencies", "-MMD"),
];

/// The row for a word, if there is one.
pub(crate) fn find(word: &str) -> Option<&'static Row> {
    let fits = |row: &&Row| match row.shape {
        Shape::Alone | Shape::Separate => word == row.name,
        Shape::Joined => word.len() > row.name.len() && word.starts_with(row.name),
        Shape::Either | Shape::Open => word.starts_with(row.name),
    };
    TABLE.iter().filter(fits).max_by_key(|row| row.name.len())
}

/// The short name for a long one, and the value that is part of the word.
pub(crate) fn short_name(word: &str) -> Option<(&'static str, Option<&str>)> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    };
    LONG.iter().find(|(long, _)| *long == name).map(|(_, short)| (*short, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_option_is_listed_twice() {
        for (at, row) in TABLE.iter().enumerate() {
            let again = TABLE.iter().skip(at + 1).any(|it| it.name == row.name);
            assert!(!again, "{}", row.name);
        }
    }

    #[test]
    fn the_longest_name_decides() {
        #[track_caller]
        fn check(word: &str, name: Option<&str>) {
            assert_eq!(find(word).map(|it| it.name), name, "{word}");
        }
        check("-MMD", Some("-MMD"));
        check("-MF", Some("-MF"));
        check("-MFfile.d", Some("-MF"));
        check("-include", Some("-include"));
        check("-isystem/usr", Some("-isystem"));
        check("-iquote", Some("-iquote"));
        check("-static-libgcc", Some("-static-libgcc"));
        check("-stats", None);
        check("-cc", None);
        check("-dumpbase", Some("-dumpbase"));
        check("-dM", Some("-dM"));
        check("-da", None);
        check("-print-prog-name=ld", Some("-print-"));
        check("-Wall", None);
        check("-Wl,-x", Some("-Wl,"));
        check("-O2", None);
        check("-std=c11", None);
    }

    #[test]
    fn long_names_have_short_ones() {
        assert_eq!(short_name("--output"), Some(("-o", None)));
        assert_eq!(short_name("--include-directory=a b"), Some(("-I", Some("a b"))));
        assert_eq!(short_name("--sysroot=/x"), None);
    }
}
