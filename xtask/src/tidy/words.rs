//! Words that belong to one crate, or to none.
//!
//! The names of the standards occur only where spellings are read and written; the host's idea of
//! a size is no answer about a target; only commands print. Comments may say what they like, and
//! so may tests. An exception is a line in a table, with its reason, and goes when its file goes.

use super::Finding;
use super::code::{self, Strings};
use super::files::TextFile;

/// A file that may break a rule, and why.
type Exception = (&'static str, &'static str);

/// Folders whose business it is to name a standard.
const SPELLS_A_STANDARD: &[&str] = &[
    "crates/directive/",
    "crates/runtime/src/ffi/omp/",
    "crates/runtime/src/ffi/acc/",
    "crates/runtime/src/profile/",
];

/// Files outside of them that may.
const NAMES_A_STANDARD: &[Exception] = &[
    ("crates/abi/src/names.rs", "names that LLVM's interface fixes"),
    ("crates/interpose/src/lib.rs", "functions of the host's threading runtime"),
    ("crates/memory/src/fault.rs", "names of allocators and routines, as users know them"),
    ("crates/memory/src/traits.rs", "names of allocators, as users type them"),
    ("crates/runtime/src/ffi/mod.rs", "names the folder of the routines"),
    ("crates/runtime/src/host.rs", "functions of the host's threading runtime"),
    ("crates/runtime/src/host_task.rs", "functions of the host's threading runtime"),
    ("crates/runtime/src/team.rs", "functions of the host's threading runtime"),
    ("crates/runtime/src/ffi/flang.rs", "functions of the host's threading runtime"),
    ("crates/runtime/src/llvm.rs", "texts that LLVM's tests look for"),
    ("crates/runtime/src/llvm_info.rs", "texts that LLVM's tests look for"),
    ("crates/runtime/src/tool/start.rs", "names that the tools interface fixes"),
    ("crates/runtime/src/settings.rs", "variables of the environment"),
    ("crates/emit/src/dialect/kernel.rs", "kernels stand in a directive that the front end reads"),
    ("crates/translate/src/profile.rs", "names of compilers and standards, as users type them"),
    ("crates/driver/src/options.rs", "tells users of the command line what it reads"),
    ("crates/driver/src/cc/native.rs", "flags, names and limits of LLVM's compilers"),
    ("crates/driver/src/cc/nvptx.rs", "functions of LLVM's device library"),
    ("crates/driver/src/cc/preprocess.rs", "the flag by which LLVM's compilers read directives"),
    ("crates/driver/src/cc/unread.rs", "which directives LLVM's compilers read, and which not"),
    ("crates/device/src/gpu/llvm.rs", "names that LLVM's interface fixes"),
    ("crates/device/src/separate/process.rs", "variables of the environment"),
];

/// Files that may ask the host for a size.
const ASKS_THE_HOST: &[Exception] = &[
    ("crates/memory/src/kept.rs", "blocks of this process, for this process"),
    ("crates/memory/src/slabs.rs", "blocks of this process, for this process"),
    ("crates/runtime/src/ffi/omp/explicit.rs", "blocks of this process, for this process"),
    ("crates/runtime/src/host_task.rs", "blocks of this process, for this process"),
    ("crates/runtime/src/team.rs", "blocks of this process, for this process"),
    ("crates/runtime/src/arrays.rs", "blocks of this process, for this process"),
    ("crates/runtime/src/profile/layout.rs", "checks its own layout"),
    ("crates/abi/src/call.rs", "checks its own layout"),
    ("crates/abi/src/entry.rs", "checks its own layout"),
    ("crates/memory/src/instance.rs", "variables of this process"),
    ("crates/device/src/cpu.rs", "the host is the device"),
    ("crates/tasks/src/hardware.rs", "memory of this process, for its copies"),
    ("crates/tasks/src/loops.rs", "blocks of this process, for this process"),
    ("crates/tasks/src/view.rs", "pages of this process"),
    ("crates/device/src/separate/protocol.rs", "messages of the host's own system"),
];

/// `omp`, `acc`, `openmp`, `openacc` as words or parts of names: one construct model, one lowering.
pub(super) fn standards(file: &TextFile) -> Vec<Finding> {
    let is_concerned =
        file.is_crate_code() && !SPELLS_A_STANDARD.iter().any(|it| file.path.starts_with(it));
    if !is_concerned || is_excepted(file, NAMES_A_STANDARD) {
        return Vec::new();
    }
    let code = code::code(&file.text, Strings::Keep);
    let mut findings = Vec::new();
    for (number, line) in code::before_tests(&code) {
        for word in line.split(|it: char| it != '_' && !it.is_alphanumeric()) {
            if names_a_standard(word) {
                let message = format!(
                    "`{word}` names a standard: only `crates/directive` may; ask the construct, or \
                     list the file with a reason in xtask/src/tidy/words.rs"
                );
                findings.push(Finding::error(&file.path, number, message));
            }
        }
    }
    findings
}

/// `size_of::<T>()` and its like: a size is a question to a data model.
pub(super) fn host_sizes(file: &TextFile) -> Vec<Finding> {
    const WORDS: &[&str] = &[
        "size_of::<",
        "size_of_val(",
        "mem::size_of",
        "align_of::<",
        "mem::align_of",
        "offset_of!(",
    ];
    if !file.is_crate_code() || is_excepted(file, ASKS_THE_HOST) {
        return Vec::new();
    }
    let message = "a size of the host: ask the data model, or list the file with a reason in \
                   xtask/src/tidy/words.rs";
    occurrences(file, WORDS, message)
}

/// `println!` and its like: libraries hand their text out.
pub(super) fn printing(file: &TextFile) -> Vec<Finding> {
    const WORDS: &[&str] = &["println!(", "eprintln!(", "print!(", "eprint!("];
    if !file.is_crate_code() || file.path.starts_with("crates/driver/") {
        return Vec::new();
    }
    occurrences(file, WORDS, "only `driver` prints: hand the text out as a value")
}

/// Exceptions whose file is gone.
pub(super) fn stale_exceptions(paths: &[&str]) -> Vec<Finding> {
    let exceptions = NAMES_A_STANDARD.iter().chain(ASKS_THE_HOST);
    let stale = exceptions.filter(|(path, _)| !paths.contains(path));
    stale.map(|(path, _)| Finding::error(path, 0, "an exception for a file that is gone")).collect()
}

fn is_excepted(file: &TextFile, exceptions: &[Exception]) -> bool {
    exceptions.iter().any(|(path, _)| *path == file.path)
}

/// Places where one of `words` begins a word of the code (`my_println!(` is another word).
fn occurrences(file: &TextFile, words: &[&str], message: &str) -> Vec<Finding> {
    let code = code::code(&file.text, Strings::Blank);
    let has_word = |line: &str| {
        words.iter().any(|word| {
            line.match_indices(word).any(|(at, _)| {
                let before = line.get(..at).and_then(|it| it.chars().next_back());
                before.is_none_or(|it| it != '_' && !it.is_alphanumeric())
            })
        })
    };
    code::before_tests(&code)
        .filter(|(_, line)| has_word(line))
        .map(|(number, _)| Finding::error(&file.path, number, message))
        .collect()
}

/// `acc_loop`, `OmpClause`, `OpenMp`, `OPENACC`; but not `access`, `component` or `open_map`.
fn names_a_standard(word: &str) -> bool {
    let parts = parts_of_name(word);
    // The compiler flags `-fopenmp` and `-fopenacc` are one word.
    let is_name = |it: &String| {
        matches!(it.strip_prefix('f').unwrap_or(it), "omp" | "acc" | "openmp" | "openacc")
    };
    let is_split_name = |pair: &[String]| matches!(pair, [open, name] if open == "open" && matches!(name.as_str(), "mp" | "acc"));
    parts.iter().any(is_name) || parts.windows(2).any(is_split_name)
}

/// The words a name is made of, in lower case: `OpenMP_5Loop` is open, mp, loop.
fn parts_of_name(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = vec![String::new()];
    let mut chars = name.chars().peekable();
    let mut last = '_';
    while let Some(it) = chars.next() {
        // `aB` begins a part at `B`; `ABc` begins one there too, `AB` alone does not.
        let next_is_lower = chars.peek().is_some_and(|next| next.is_lowercase());
        let begins = it.is_uppercase() && (!last.is_uppercase() || next_is_lower);
        if begins || !it.is_alphabetic() {
            parts.push(String::new());
        }
        if it.is_alphabetic()
            && let Some(part) = parts.last_mut()
        {
            part.extend(it.to_lowercase());
        }
        last = it;
    }
    parts.retain(|it| !it.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_into_words() {
        assert_eq!(parts_of_name("OpenMP_5Loop"), ["open", "mp", "loop"]);
        assert_eq!(parts_of_name("ACCLoop"), ["acc", "loop"]);
        assert_eq!(parts_of_name("_OPENMP"), ["openmp"]);
    }

    #[test]
    fn standards_are_found_inside_names() {
        for word in ["omp", "OmpClause", "acc_bar", "isAcc", "OpenMp", "_OPENACC", "fopenmp"] {
            assert!(names_a_standard(word), "{word}");
        }
        for word in ["access", "accumulate", "component", "open_map", "compare", "Macc", "accept"] {
            assert!(!names_a_standard(word), "{word}");
        }
    }

    #[track_caller]
    fn check(rule: fn(&TextFile) -> Vec<Finding>, path: &str, text: &str, expect: &[usize]) {
        let lines: Vec<usize> = rule(&TextFile::new(path, text)).iter().map(|it| it.line).collect();
        assert_eq!(lines, expect, "{path}");
    }

    #[test]
    fn a_standard_has_its_place() {
        let text = "// omp is fine here\nlet a = \"omp parallel\";\n#[cfg(test)]\nmod tests {\nlet acc = 1;\n";
        check(standards, "crates/ir/src/a.rs", text, &[2]);
        check(standards, "crates/directive/src/a.rs", text, &[]);
        check(standards, "crates/ir/tests/a.rs", text, &[]);
        check(standards, "xtask/src/a.rs", text, &[]);
    }

    #[test]
    fn a_size_of_the_host_is_found_and_a_method_is_not() {
        let text = "layout.size_of(ty);\nsize_of::<u32>();\nstd::mem::size_of_val(&x);\n";
        check(host_sizes, "crates/ir/src/a.rs", text, &[2, 3]);
    }

    #[test]
    fn only_the_driver_prints() {
        let text = "println!();\nmy_println!();\nlet a = \"println!(\";\nstd::eprint!(\"x\")\n";
        check(printing, "crates/ir/src/a.rs", text, &[1, 4]);
        check(printing, "crates/driver/src/a.rs", text, &[]);
        check(printing, "crates/ir/examples/a.rs", text, &[]);
    }

    #[test]
    fn exceptions_leave_with_their_files() {
        let count = NAMES_A_STANDARD.len() + ASKS_THE_HOST.len();
        assert_eq!(stale_exceptions(&[]).len(), count);
    }
}
