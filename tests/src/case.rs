//! What a case asks for: the `// run:` lines at its top.
//!
//! `// run: explain --json` runs `ferry explain --json FILE` in the folder of the file. The file is
//! named before a `--`, so that `// run: check -- -DN=4` passes a flag to the host compiler; a `%`
//! among the words says where else the file belongs.

use std::path::{Path, PathBuf};

/// A C file and what to run on it.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) runs: Vec<Run>,
}

/// One run line.
#[derive(Debug)]
pub(crate) struct Run {
    /// The line as written, for people.
    pub(crate) line: String,
    /// The folder of the case: runs see relative names only, so goldens hold on every machine.
    pub(crate) folder: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) golden: PathBuf,
    /// From 1; `None` if the case has one run line.
    number: Option<usize>,
}

impl Run {
    /// `sema/reduction`, `sema/reduction 2`
    pub(crate) fn title(&self, name: &str) -> String {
        match self.number {
            None => name.to_owned(),
            Some(number) => format!("{name} {number}"),
        }
    }
}

impl Case {
    pub(crate) fn read(path: &Path) -> Result<Case, String> {
        let shown = path.display();
        let bytes = std::fs::read(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
        // A case may hold any bytes below its first lines.
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().map_while(|it| it.strip_prefix("// run:")).collect();
        if lines.is_empty() {
            return Err(format!("{shown}: a case begins with `// run: COMMAND OPTIONS`"));
        }

        let (Some(folder), Some(file)) = (path.parent(), path.file_name()) else {
            return Err(format!("{shown} is not a file in a folder"));
        };
        let file = file.to_string_lossy();
        let is_single = lines.len() == 1;
        let mut runs = Vec::new();
        for (number, line) in (1..).zip(lines) {
            let number = (!is_single).then_some(number);
            let words = shlex::split(line).filter(|it| !it.is_empty());
            let words = words.ok_or_else(|| format!("{shown}: cannot read `// run:{line}`"))?;
            runs.push(Run {
                line: line.trim().to_owned(),
                folder: folder.to_path_buf(),
                arguments: with_file(words, &file),
                golden: match number {
                    None => path.with_extension("expect"),
                    Some(number) => path.with_extension(format!("{number}.expect")),
                },
                number,
            });
        }
        Ok(Case { runs })
    }
}

/// Puts the file where `%` stands, else before `--`, else at the end.
fn with_file(mut words: Vec<String>, file: &str) -> Vec<String> {
    if words.iter().any(|it| it == "%") {
        return words.into_iter().map(|it| if it == "%" { file.to_owned() } else { it }).collect();
    }
    let at = words.iter().position(|it| it == "--").unwrap_or(words.len());
    words.insert(at, file.to_owned());
    words
}
