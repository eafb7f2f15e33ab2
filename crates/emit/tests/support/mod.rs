//! From C text to the text that the host's compiler gets.

use directive::Directives;
use source::{Locator, NoFiles, Severity, SourceMap};

/// What a program without errors becomes.
fn made(text: &str, options: emit::Options) -> emit::Lowered {
    let mut map = SourceMap::new();
    let marked = format!("# 1 \"t.c\"\n{text}");
    let file = map.add_preprocessed("t.c".to_owned(), marked.into_bytes()).unwrap();
    let mut directives = Directives::new();
    let parsed = syntax::parse(map.bytes(file), map.base(file), &mut directives);
    let checked = sema::check(parsed.tree, &directives, &ir::layout::LP64);
    let found = parsed.diagnostics.iter().chain(checked.diagnostics.iter());
    let errors: Vec<_> = found.filter(|it| it.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let locator = Locator::new(&map, &NoFiles);
    emit::lower(&checked.program, &map, file, &locator, options)
}

/// The lowered text of a program, without the frame, with names that do not depend on the text.
#[allow(dead_code, reason = "each test has its own copy of this module")]
pub(crate) fn lowered(text: &str) -> String {
    let made = made(text, emit::Options::default());
    let errors = made.diagnostics.iter().filter(|it| it.severity == Severity::Error);
    assert_eq!(errors.count(), 0, "{:?}", made.diagnostics);
    let text = String::from_utf8(made.host.unwrap()).unwrap();
    let start = text.find("# 1 \"t.c\"\n").unwrap();
    let end = text.find("static const struct __ferry_entry __ferry_entries").unwrap_or(text.len());
    without_fingerprint(&text[start..end])
}

/// What is said of a program when it is lowered.
#[allow(dead_code, reason = "each test has its own copy of this module")]
pub(crate) fn faults(text: &str) -> Vec<String> {
    let made = made(text, emit::Options::default());
    made.diagnostics.iter().map(|it| format!("{}: {}", it.code, it.message)).collect()
}

/// The text for grids of threads, likewise, without what all such texts begin with; or why there is none.
#[allow(dead_code, reason = "each test has its own copy of this module")]
pub(crate) fn on_grid(grid: emit::Grid, text: &str) -> String {
    let options =
        emit::Options { grids: vec![grid], needs_opencl_12: true, ..emit::Options::default() };
    let made = made(text, options);
    let errors: Vec<String> = made
        .diagnostics
        .iter()
        .filter(|it| it.severity == Severity::Error)
        .map(|it| format!("{}: {}\n", it.code, it.message))
        .collect();
    if !errors.is_empty() {
        return errors.concat();
    }
    // What is said of other devices is not looked at here.
    let of_grid = made.notes.iter().filter(|it| it.text.starts_with("on `"));
    let mut told: String = of_grid.map(|it| format!("note: {}\n", it.text)).collect();
    let (_, text) = made.grids.into_iter().next().unwrap();
    let start = text.find(last_line(grid)).unwrap();
    let start = start + text[start..].find('\n').unwrap() + 1;
    told.push_str(&without_fingerprint(&text[start..]));
    told
}

/// A text for grids with all that it begins with.
#[allow(dead_code, reason = "each test has its own copy of this module")]
pub(crate) fn whole_text(grid: emit::Grid, text: &str) -> String {
    let options = emit::Options { grids: vec![grid], ..emit::Options::default() };
    made(text, options).grids.into_iter().next().unwrap().1
}

/// The host's text of a program that is built for a grid too.
#[allow(dead_code, reason = "each test has its own copy of this module")]
pub(crate) fn host_of_grid(grid: emit::Grid, text: &str) -> String {
    let options = emit::Options { grids: vec![grid], ..emit::Options::default() };
    String::from_utf8(made(text, options).host.unwrap()).unwrap()
}

/// The last line that is the same in all texts.
fn last_line(grid: emit::Grid) -> &'static str {
    match grid {
        emit::Grid::OpenCl | emit::Grid::OpenCl12 | emit::Grid::Fpga(_) => {
            "static unsigned long __ferry_wider("
        }
        emit::Grid::Cuda | emit::Grid::Hip => "static __device__ unsigned long __ferry_wider(",
    }
}

/// `__ferry_k_0123456789abcdef_f_l3` → `__ferry_k_UNIT_f_l3`
fn without_fingerprint(text: &str) -> String {
    let mut out = String::new();
    for (at, piece) in text.split(abi::names::KERNEL_PREFIX).enumerate() {
        if at == 0 {
            out.push_str(piece);
        } else {
            out.push_str(abi::names::KERNEL_PREFIX);
            out.push_str("UNIT");
            out.push_str(&piece[16..]);
        }
    }
    out
}
