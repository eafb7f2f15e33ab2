//! How many accesses there are, of which kind, and why those are generic that are.

use std::collections::BTreeMap;

use serde::Serialize;

/// What is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Access {
    Load,
    Store,
    Atomic,
    Copy,
}

/// Through what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Where {
    Device,
    Generic,
}

/// An access that was not narrowed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
struct Left {
    access: Access,
    function: String,
    file: Option<String>,
    line: Option<u32>,
    reason: String,
}

/// Static counts: accesses as they stand in the program after the first clean-up.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Stats {
    /// Through pointers of 32 bits.
    device: u32,
    /// Through all others.
    generic: u32,
    /// Loops that count in 32 bits instead of 64.
    shortened: u32,
    left: Vec<Left>,
}

impl Stats {
    pub(crate) fn count(
        &mut self,
        access: Access,
        kind: Where,
        function: &str,
        place: Option<(String, u32)>,
        reason: Option<String>,
    ) {
        match kind {
            Where::Device => self.device += 1,
            Where::Generic => {
                self.generic += 1;
                let (file, line) = place.unzip();
                let reason = reason.unwrap_or_default();
                self.left.push(Left { access, function: function.to_owned(), file, line, reason });
            }
        }
    }

    /// A function is not part of the program after all.
    pub(crate) fn forget(&mut self, function: &str) {
        let before = self.left.len();
        self.left.retain(|it| it.function != function);
        self.generic -= (before - self.left.len()) as u32;
    }

    pub(crate) fn set_shortened(&mut self, count: u32) {
        self.shortened = count;
    }

    /// Loops that count in 32 bits instead of 64.
    pub fn shortened(&self) -> u32 {
        self.shortened
    }

    /// Accesses through pointers of 32 bits.
    pub fn device(&self) -> u32 {
        self.device
    }

    /// Accesses through all others.
    pub fn generic(&self) -> u32 {
        self.generic
    }

    /// For people.
    pub fn text(&self) -> String {
        let Stats { device, generic, shortened, left } = self;
        let mut text =
            format!("accesses: {device} device, {generic} generic; loops shortened: {shortened}\n");
        let mut lines: BTreeMap<String, u32> = BTreeMap::new();
        for it in left {
            let place = match (&it.file, it.line) {
                (Some(file), Some(line)) => format!("{file}:{line}: "),
                _ => String::new(),
            };
            let access = match it.access {
                Access::Load => "load",
                Access::Store => "store",
                Access::Atomic => "atomic access",
                Access::Copy => "copy",
            };
            let line = format!("{place}{}: {access} is generic: {}", it.function, it.reason);
            *lines.entry(line).or_default() += 1;
        }
        for (line, count) in lines {
            let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
            text.push_str(&format!("{line}{times}\n"));
        }
        text
    }
}
