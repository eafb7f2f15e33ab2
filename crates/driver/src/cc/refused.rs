//! Text of ours that the host compiler refuses: whose fault that is, and what to say of it.
//!
//! Lines of that text lead back to the user's file, so the compiler's words alone would blame the user. The file as it
//! was written is tried too: what is refused there is the user's, and anything else is ours.

use std::ffi::OsString;

use source::{Diagnostic, Diagnostics, Locator, SourceMap, render};

use super::compile::Job;
use super::host::{Ran, Voice};
use super::{Context, Failure, preprocess};
use crate::input;

/// What to say of a text made of the input of `job`, for the host or for a device.
pub(crate) fn of_host(cx: &Context<'_>, job: &Job<'_>, ran: Ran, part: &str) -> Failure {
    let status = ran.failed.unwrap_or(1);
    let Some(first) = first_error(&ran.said) else {
        // Killed, out of memory, a bug of its own: not about the text.
        return Failure { said: ran.said, status };
    };
    if written_errors(cx, job).iter().any(|it| it.message == first.message) {
        return Failure { said: ran.said, status };
    }
    let file = job.input.path.display();
    let place = first.place.map_or_else(|| format!("`{file}`"), |it| format!("`{it}`"));
    let compiler = cx.host.name();
    let message = Diagnostic::error(
        "F0709",
        format!("`{compiler}` refuses C that Ferry has made of {place}, for {part}"),
    )
    .note("it takes the file as it is written: this is a fault of Ferry, not of the program")
    .note("what it said of the text that Ferry made follows")
    .help("please report it, with the files that `--ferry-save-temps` leaves");
    let mut found = Diagnostics::new();
    found.push(message);
    let read = |_: &str| None;
    let map = SourceMap::new();
    let text = render::terminal(&found, &Locator::new(&map, &read), cx.colour);
    Failure { said: [text.as_bytes(), &ran.said].concat(), status: 4 }
}

/// An error of a compiler.
#[derive(Debug, PartialEq, Eq)]
struct Complaint {
    /// `a.c:12`
    place: Option<String>,
    message: String,
}

/// What the host compiler has against the file as it was written: C, and directives as it knows them.
fn written_errors(cx: &Context<'_>, job: &Job<'_>) -> Vec<Complaint> {
    let mut words: Vec<OsString> = preprocess::reading_flags(cx.arguments);
    // Some errors about directives are found after the syntax only.
    words.extend(["-S", "-o", "/dev/null", "-w"].map(OsString::from));
    words.extend(preprocess::language_flag(&job.input.language));
    words.push(input::guarded(&job.input.path).into());
    let text = if job.input.is_stdin() { cx.stdin().ok() } else { None };
    let ran = cx.host.run(&words, text, Voice::Kept);
    ran.map(|it| errors(&it.said)).unwrap_or_default()
}

fn first_error(said: &[u8]) -> Option<Complaint> {
    errors(said).into_iter().next()
}

/// Lines such as `a.c:12:5: error: …`, without colours.
fn errors(said: &[u8]) -> Vec<Complaint> {
    let text = plain(&String::from_utf8_lossy(said));
    let mut found = Vec::new();
    for line in text.lines() {
        let Some((before, message)) = line.split_once("error: ") else { continue };
        let mut parts = before.trim_end().trim_end_matches("fatal").trim_end().split(':');
        let place = match (parts.next(), parts.next()) {
            (Some(file), Some(line)) if line.parse::<u32>().is_ok() => {
                Some(format!("{file}:{line}"))
            }
            _ => None,
        };
        found.push(Complaint { place, message: message.trim().to_owned() });
    }
    found
}

/// Text without the sequences that colour it.
fn plain(text: &str) -> String {
    let mut left = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        left.push_str(before);
        let end = after.find(|it: char| it.is_ascii_alphabetic()).map_or(after.len(), |at| at + 1);
        rest = after.get(end..).unwrap_or_default();
    }
    left + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_read_with_their_places_and_without_colours() {
        let said = "a.c: In function 'main':\n\u{1b}[01m\u{1b}[Ka.c:4:7:\u{1b}[m\u{1b}[K \u{1b}[01;31m\u{1b}[Kerror: \
                    \u{1b}[m\u{1b}[K'x' undeclared\na.c:9:1: fatal error: gone\ncc1: error: no\na.c:3:1: warning: w\n";
        let found = errors(said.as_bytes());
        let told: Vec<_> =
            found.iter().map(|it| (it.place.as_deref(), it.message.as_str())).collect();
        let expect = [(Some("a.c:4"), "'x' undeclared"), (Some("a.c:9"), "gone"), (None, "no")];
        assert_eq!(told, expect);
        assert_eq!(first_error(b"Killed\n"), None);
    }
}
