//! The text form of kernels: `tests/kernel/text/*.k` are written, before passes and after them.
//!
//! A line `// run: text` at the top asks for the whole text, which is read again and must be written alike;
//! `// run: after PASS` for the kernel after this pass and those before it, `// run: in LANGUAGE` for the module in one. A file holds the text form of kernels, or
//! with a first line `// from: c` C whose regions are outlined. `BLESS=1` rewrites the golden files (`.expect`).

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use directive::Directives;
use ir::construct::Leaf;
use kernel::Module;
use libtest_mimic::{Arguments, Trial};
use opt::passes::pipeline;
use opt::passes::{Free, Groups};
use source::{Severity, SourceMap};

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernel/text");
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|it| it.path()).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == "k"));
    files.sort();
    let tests = files.into_iter().map(|path| {
        let name = path.strip_prefix(&folder).unwrap().with_extension("");
        Trial::test(name.display().to_string(), move || Ok(check(&path)?))
    });
    let arguments = Arguments::from_args();
    libtest_mimic::run(&arguments, tests.collect()).exit_code()
}

fn check(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|it| it.to_string())?;
    let lines: Vec<&str> = text.lines().map_while(|it| it.strip_prefix("// ")).collect();
    let is_c = lines.contains(&"from: c");
    let mut actual = String::new();
    for line in lines.iter().filter_map(|it| it.strip_prefix("run: ")) {
        let answer = match (module(&text, is_c), line.split_once(' ')) {
            (Ok(module), Some(("after", pass))) => after(module, pass),
            (Ok(module), Some(("in", language))) => spelt(&module, language),
            (Ok(module), _) => written(&module),
            (Err(wrong), _) => wrong,
        };
        actual.push_str(&format!("// {line}\n{}\n", answer.trim_end()));
    }
    let golden = path.with_extension("expect");
    let expected = std::fs::read_to_string(&golden).unwrap_or_default();
    if actual == expected {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_some_and(|it| it == "1") {
        return std::fs::write(&golden, actual).map_err(|it| it.to_string());
    }
    let diff = similar::TextDiff::from_lines(&expected, &actual);
    Err(format!("{}\n{}", golden.display(), diff.unified_diff()))
}

/// The module that a text means, or what is wrong with the text.
fn module(text: &str, is_c: bool) -> Result<Module, String> {
    let mut map = SourceMap::new();
    let prelude = if is_c { "" } else { kernel::text::PRELUDE };
    let marked = format!("{prelude}# 1 \"t.k\"\n{text}");
    let file = map.add_preprocessed("t.k".to_owned(), marked.into_bytes()).unwrap();
    let mut directives = Directives::new();
    let parsed = syntax::parse(map.bytes(file), map.base(file), &mut directives);
    let checked = sema::check(parsed.tree, &directives, &ir::layout::LP64);
    let found = parsed.diagnostics.iter().chain(checked.diagnostics.iter());
    let errors: Vec<String> = found
        .filter(|it| it.severity == Severity::Error)
        .map(|it| format!("{}: {}", it.code, it.message))
        .collect();
    if !errors.is_empty() {
        return Err(errors.join("\n"));
    }
    let program = checked.program;
    if !is_c {
        return kernel::text::read(program).map_err(|it| it.text);
    }
    let goes = |it: &ir::region::Region| {
        it.construct.has(Leaf::Offload) || it.construct.has(Leaf::Kernels)
    };
    let computed = rustc_hash::FxHashSet::default();
    let regions: Vec<_> = program.regions.iter().filter(|it| goes(it.1)).map(|it| it.0).collect();
    let outlined = outline::outline(&program, &regions, &computed);
    match outlined.refused.first() {
        Some((_, refusal)) => Err(format!("not outlined: {}", refusal.why)),
        None => Ok(outlined.module),
    }
}

/// The text of a module; it means itself.
fn written(first: &Module) -> String {
    let text = emit::dialect::kernel::text(first);
    let again = match module(&text, false) {
        Ok(again) => emit::dialect::kernel::text(&again),
        Err(wrong) => return format!("{text}\nnot read again: {wrong}"),
    };
    // Each time another function stands around the kernel.
    let plain = |it: &str| it.replace("kernel_0_kernel_0_", "kernel_0_");
    if plain(&again) == plain(&text) { text } else { format!("{text}\nread again:\n{again}") }
}

/// A module in a language.
fn spelt(module: &Module, language: &str) -> String {
    let known = emit::dialect::LANGUAGES.iter().find(|it| it.name == language);
    known.map_or_else(|| format!("`{language}` is not known"), |it| (it.text)(module))
}

/// Kernels after a pass and those before it.
fn after(mut module: Module, pass: &str) -> String {
    let groups = Groups {
        most_threads: 4,
        lanes: 2,
        memory: 1 << 20,
        words: 32,
        questions: 8,
        posts: 1024,
        many: 100,
        at_once: 8,
        atomics: true,
    };
    let mut text = String::new();
    for at in 0..module.kernels.len() {
        let kernel = module.kernels[at].clone();
        match pipeline::run(&mut module.program, &kernel, groups, &Free::default(), Some(pass)) {
            Ok(made) => text.push_str(&emit::dialect::kernel::body(&module, &made)),
            Err(refusal) => text.push_str(&format!("refused: {}", refusal.why)),
        }
    }
    text
}
