//! A line that tells how far long work has come: on a terminal only, and only after a second.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// Work that takes less is not worth a word.
const PATIENCE: Duration = Duration::from_secs(1);
/// The line is not rewritten more often than this.
const PACE: Duration = Duration::from_millis(100);

pub(crate) struct Progress {
    verb: &'static str,
    total: usize,
    done: usize,
    start: Instant,
    last: Option<Instant>,
    is_shown: bool,
}

impl Progress {
    pub(crate) fn new(verb: &'static str, total: usize) -> Progress {
        let is_shown = total > 1 && io::stderr().is_terminal();
        Progress { verb, total, done: 0, start: Instant::now(), last: None, is_shown }
    }

    /// The work goes on to `path`.
    pub(crate) fn step(&mut self, path: &Path) {
        self.done += 1;
        self.at(path);
    }

    /// It does this of the same step.
    pub(crate) fn at(&mut self, path: &Path) {
        let waited = self.start.elapsed() >= PATIENCE;
        let due = self.last.is_none_or(|it| it.elapsed() >= PACE);
        if self.is_shown && waited && due {
            self.last = Some(Instant::now());
            let (verb, done, total) = (self.verb, self.done, self.total);
            // A lost progress line is no loss.
            let _ = write!(io::stderr(), "\r\x1b[K{verb} {done}/{total} {}", path.display());
        }
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        if self.last.take().is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
