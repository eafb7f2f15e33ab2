//! What the fuzz targets share: the front end, and the reading of device code, each as one call that must never panic,
//! hang or disagree with itself.

use std::sync::{Mutex, OnceLock, mpsc};
use std::time::{Duration, Instant};

use abi::image::{Container, Payload};
use directive::Directives;
use source::SourceMap;

/// No input that a fuzzer makes should keep us longer; time must stay linear in the text.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs everything from text to typed program, on a stack as large as the driver's.
///
/// One worker lives as long as the fuzzer: a thread of this size is dear to start.
pub fn front(text: &[u8]) {
    type Worker = Mutex<(mpsc::Sender<Vec<u8>>, mpsc::Receiver<()>)>;
    static WORKER: OnceLock<Worker> = OnceLock::new();
    let worker = WORKER.get_or_init(|| {
        let (send_text, texts) = mpsc::channel();
        let (done, wait) = mpsc::channel();
        let work = move || {
            for text in texts {
                if std::panic::catch_unwind(|| check(text)).is_err() {
                    std::process::abort();
                }
                done.send(()).expect("the fuzzer waits");
            }
        };
        std::thread::Builder::new().stack_size(512 << 20).spawn(work).expect("a thread");
        Mutex::new((send_text, wait))
    });
    let worker = worker.lock().expect("one at a time");
    worker.0.send(text.to_owned()).expect("the worker lives");
    worker.1.recv().expect("the worker lives");
}

/// Walks containers as a link does: each ends behind where it began, and is what it is when it is written again.
pub fn containers(bytes: &[u8]) {
    let mut rest = bytes;
    while let Ok(length) = Container::len_of(rest) {
        let read = Container::read(rest).expect("its length was told");
        let written = read.write();
        assert_eq!(Container::read(&written), Ok(read.clone()));
        let _ = Payload::of(read.payload);
        assert!(length > 0 && length <= rest.len());
        rest = &rest[length..];
    }
}

fn check(text: Vec<u8>) {
    let start = Instant::now();
    let length = text.len();
    let mut map = SourceMap::new();
    let file = map.add_preprocessed("fuzz.c", text).expect("a small text");
    let mut directives = Directives::new();
    let parsed = syntax::parse(map.bytes(file), map.base(file), &mut directives);
    let is_valid = parsed.diagnostics.errors() == 0;
    if is_valid {
        print_and_read_again(&parsed.tree);
    }
    let checked = sema::check(parsed.tree, &directives, &ir::layout::LP64);
    if is_valid && checked.diagnostics.errors() == 0 {
        let violations = ir::verify::verify(&checked.program);
        assert!(violations.is_empty(), "{violations:?}");
    }
    let _ = ir::print::program(&checked.program);
    let locator = source::Locator::new(&map, &source::NoFiles);
    let _ = source::render::json(&checked.diagnostics, &locator);
    let _ = source::render::terminal(
        checked.diagnostics.iter().take(20),
        &locator,
        source::render::Colour::Never,
    );
    let taken = start.elapsed();
    assert!(taken < PATIENCE, "{taken:?} for {length} bytes");
}

/// What the printer makes of a valid program is valid, and printing it again changes nothing.
fn print_and_read_again(tree: &syntax::ast::Tree) {
    let printed = syntax::print::print(tree);
    let mut directives = Directives::new();
    let again = syntax::parse(printed.as_bytes(), 1, &mut directives);
    assert!(again.diagnostics.errors() == 0, "{printed}\n{:?}", again.diagnostics);
    assert_eq!(syntax::print::print(&again.tree), printed);
}

/// Programs to begin with: all of `seeds` and `seeds/preprocessed` (see `run`), each valid.
fn seeds() -> &'static [String] {
    static SEEDS: OnceLock<Vec<String>> = OnceLock::new();
    SEEDS.get_or_init(|| {
        let folders = ["seeds", "seeds/preprocessed"].map(|it| std::fs::read_dir(it).expect(it));
        let files = folders.into_iter().flatten().map(|it| it.expect("a file").path());
        let mut files: Vec<_> = files.filter(|it| it.is_file()).collect();
        files.sort();
        let seeds: Vec<String> = files
            .iter()
            .map(|it| {
                let text = std::fs::read_to_string(it).expect("a seed");
                let errors = errors(text.as_bytes());
                assert!(errors.is_empty(), "{} is not valid: {errors:?}", it.display());
                text
            })
            .collect();
        assert!(seeds.len() > 2, "fuzz/run preprocesses the examples first");
        seeds
    })
}

/// What is wrong with a seed.
fn errors(text: &[u8]) -> Vec<String> {
    let mut directives = Directives::new();
    let parsed = syntax::parse(text, 1, &mut directives);
    let checked = sema::check(parsed.tree, &directives, &ir::layout::LP64);
    let is_error = |it: &&source::Diagnostic| it.severity == source::Severity::Error;
    let all = parsed.diagnostics.iter().chain(checked.diagnostics.iter());
    all.filter(is_error).map(|it| it.message.clone()).collect()
}

/// The user's part of a program stands at its end; edits in the headers before it teach little.
const EDITED: usize = 4000;

/// A program made from a real one: `recipe` chooses the program and a few edits of its tokens.
pub fn mutate(recipe: &[u8]) -> Vec<u8> {
    let mut bytes = recipe.iter().copied();
    let mut next =
        || usize::from(bytes.next().unwrap_or(0)) << 8 | usize::from(bytes.next().unwrap_or(0));
    let seeds = seeds();
    let mut tokens = split(&seeds[next() % seeds.len()]);
    let edits = 1 + next() % 12;
    for _ in 0..edits {
        if tokens.is_empty() {
            break;
        }
        let first = tokens.len().saturating_sub(EDITED);
        let mut place = || first + next() % (tokens.len() - first);
        let (at, other) = (place(), place());
        match next() % 6 {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[other]),
            2 => tokens.swap(at, other),
            3 => tokens[at] = tokens[other],
            4 => tokens[at] = POOL[other % POOL.len()],
            _ => tokens.insert(at, POOL[other % POOL.len()]),
        }
    }
    tokens.concat().into_bytes()
}

/// Tokens that real programs have seldom.
const POOL: &[&str] = &[
    "(", ")", "[", "]", "{", "}", ";", ",", ":", "::", "...", "->", ".", "?", "=", "==", "+", "*",
    "&", "&&", "<<", "#", "##", "'", "\"", "0", "1e9999", "0x", "08", "-1", "sizeof ", "typeof ",
    "_Generic", "__attribute__((", "struct ", "union ", "enum ", "typedef ", "static ", "void ",
    "int ", "long ", "double ", "_Complex ", "__int128 ", "_Alignas(", "case ", "default:", "goto ",
    "if(", "for(", "while(", "do ", "return ", "asm(", "({", "})", "\n#pragma omp ", "\n#pragma acc ",
    "target ", "teams ", "parallel ", "loop ", "map(", "copyin(", "private(", "reduction(+:",
    "collapse(2) ", "if(target:", "a[0:n]", "iterator(i=0:n)", "declare reduction(", "match(", "\n",
    "\\\n", "/*", "*/", "//", "\u{e9}", "\0",
];

/// Words, numbers, blanks and single characters.
fn split(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = if is_word(first) {
            rest.find(|c| !is_word(c))
        } else if first.is_whitespace() {
            rest.find(|c: char| !c.is_whitespace())
        } else {
            Some(first.len_utf8())
        };
        let (token, tail) = rest.split_at(end.unwrap_or(rest.len()));
        tokens.push(token);
        rest = tail;
    }
    tokens
}
