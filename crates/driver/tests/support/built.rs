//! C files that many tests build alike.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::support::told;

/// What the host's compiler makes of the first file with these words, once as long as none of the files changes.
pub(crate) fn built_once(files: &[PathBuf], words: &[&str]) -> PathBuf {
    let mut hash = DefaultHasher::new();
    words.hash(&mut hash);
    for file in files {
        fs::read(file).expect("a source").hash(&mut hash);
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let name = if words.contains(&"-c") { "o" } else { "so" };
    let file = folder.join(format!("built-{:x}.{name}", hash.finish()));
    if !file.exists() {
        // Others see all of it or nothing.
        let made = tempfile::NamedTempFile::new_in(folder).expect("a temporary file");
        let mut compiler = Command::new("cc");
        compiler.args(files.first()).args(words).arg("-o").arg(made.path());
        let built = compiler.output().expect("cc runs");
        assert!(built.status.success(), "{}", told(&built));
        made.persist(&file).expect("a file");
    }
    file
}

/// The library of a file of `tests` that stands for a vendor's.
pub(crate) fn library(source: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(source);
    let words = ["-D_GNU_SOURCE", "-w", "-shared", "-fPIC", "-O1", "-lpthread"];
    built_once(&[source], &words)
}
