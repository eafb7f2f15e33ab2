//! Parses preprocessed files and prints what is wrong with them, and how long it took.
#![allow(clippy::print_stdout, reason = "it is a command")]

use std::time::Instant;

use syntax::pragma::NoDirectives;

fn main() {
    let (mut clean, mut faulty) = (0, 0);
    for path in std::env::args().skip(1) {
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(fault) => {
                println!("{path}: {fault}");
                continue;
            }
        };
        let start = Instant::now();
        let parsed = syntax::parse(&text, 0, &mut NoDirectives);
        let took = start.elapsed();
        for fault in &parsed.diagnostics {
            let at = fault.primary.as_ref().map_or(0, |label| label.span.start as usize);
            let before = text.get(..at).unwrap_or_default();
            let line = before.iter().filter(|&&it| it == b'\n').count() + 1;
            println!("{path}:{line}: {:?} {}: {}", fault.severity, fault.code, fault.message);
        }
        if parsed.diagnostics.errors() == 0 {
            clean += 1;
        } else {
            faulty += 1;
        }
        if took.as_millis() > 50 {
            println!("{path}: {} bytes in {took:?}", text.len());
        }
    }
    println!("{clean} clean, {faulty} with errors");
}
