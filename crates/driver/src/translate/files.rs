//! The files that a translation changes, and where they go.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use emit::{Change, Translation};
use ir::construct::Dialect;
use source::{Edits, Locator, unified_diff};

use crate::options::TranslateOptions;
use crate::report::{Stream, deliver, show};

/// Files as they are and what changes in them.
#[derive(Default)]
pub(super) struct Files {
    list: BTreeMap<Arc<str>, One>,
    /// Those that were asked for, changed or not.
    asked: Vec<Arc<str>>,
    needs_header: bool,
}

struct One {
    old: Vec<u8>,
    changes: Vec<Change>,
    /// Where directives begin that were read.
    seen: Vec<usize>,
}

impl Files {
    /// Adds what one reading of a file changes; what another reading has changed so already stays.
    pub(super) fn add(&mut self, path: &Path, translation: &Translation, locator: &Locator<'_>) {
        let name: Arc<str> = path.display().to_string().into();
        if !self.asked.contains(&name) {
            self.asked.push(Arc::clone(&name));
        }
        let names = translation.changes.keys().cloned().chain([name]);
        for file in names.collect::<Vec<_>>() {
            let Some(text) = locator.written(&file) else { continue };
            let one = self.list.entry(Arc::clone(&file)).or_insert_with(|| One {
                old: text.to_vec(),
                changes: Vec::new(),
                seen: Vec::new(),
            });
            let new = translation.changes.get(&file).map(Vec::as_slice).unwrap_or_default();
            let known = one.changes.clone();
            one.changes.extend(new.iter().filter(|it| !known.contains(it)).cloned());
            one.seen.extend(translation.seen.get(&file).into_iter().flatten());
        }
        self.needs_header |= translation.needs_header;
    }

    /// Directives of the standard that is left which no reading has met: file, line and text.
    pub(super) fn unread(&self, to: Dialect) -> Vec<(String, u32, String)> {
        let from = match to == directive::PRESCRIPTIVE {
            true => directive::DESCRIPTIVE,
            false => directive::PRESCRIPTIVE,
        };
        // What of the other standard is for the host alone stays, read or not.
        if from == directive::PRESCRIPTIVE {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (name, one) in &self.list {
            for at in directive::directives_in(&one.old, from) {
                if one.seen.contains(&at) {
                    continue;
                }
                let before = one.old.get(..at).unwrap_or_default();
                let line = 1 + before.iter().filter(|it| **it == b'\n').count();
                let rest = one.old.get(at..).unwrap_or_default();
                let text = rest.split(|it| *it == b'\n').next().unwrap_or_default();
                let text = String::from_utf8_lossy(text).trim().to_owned();
                found.push((name.to_string(), u32::try_from(line).unwrap_or(0), text));
            }
        }
        found
    }

    /// Writes, or shows, the files.
    pub(super) fn deliver(&self, options: &TranslateOptions) -> Result<(), String> {
        let mut made: Vec<(&Arc<str>, &[u8], Vec<u8>)> = Vec::new();
        for (name, one) in &self.list {
            made.push((name, &one.old, one.new_text(name)?));
        }
        if options.diff {
            let mut text = String::new();
            for (name, old, new) in &made {
                text.push_str(&unified_diff(name, old, new));
            }
            return show(&text, Stream::Out);
        }
        if let Some(folder) = &options.out_dir {
            for (name, _, new) in &made {
                write(&folder.join(inside(name)), new)?;
            }
            return self.header(folder, options);
        }
        if options.in_place {
            for (name, old, new) in &made {
                if *old != new.as_slice() {
                    write(Path::new(&***name), new)?;
                }
            }
            let folder = self.asked.first().and_then(|it| Path::new(&**it).parent());
            return self.header(folder.unwrap_or(Path::new(".")), options);
        }
        let others: Vec<&str> = made
            .iter()
            .filter(|it| !self.asked.contains(it.0) && it.1 != it.2.as_slice())
            .map(|it| &**it.0)
            .collect();
        if !others.is_empty() {
            let names = others.join(", ");
            return Err(format!("{names} would change too: give --in-place, --out-dir or --diff"));
        }
        let asked: Vec<_> = made.iter().filter(|it| self.asked.contains(it.0)).collect();
        match (asked.as_slice(), &options.output) {
            ([(.., new)], output) => {
                let text = String::from_utf8(new.clone());
                let Ok(text) = text else {
                    return Err("the text is not UTF-8: give --in-place or --out-dir".to_owned());
                };
                deliver(&text, output.as_deref(), Stream::Out)?;
                match output.as_deref().and_then(Path::parent) {
                    Some(folder) => self.header(folder, options),
                    None => Ok(()),
                }
            }
            _ => Err("several files: give --in-place, --out-dir or --diff".to_owned()),
        }
    }

    /// Puts our header beside the program, if it is included.
    fn header(&self, folder: &Path, options: &TranslateOptions) -> Result<(), String> {
        if !self.needs_header {
            return Ok(());
        }
        let (name, text) =
            match directive::standard_called(&options.to) == Some(directive::DESCRIPTIVE) {
                true => (directive::BACK_HEADER, directive::BACK_HEADER_TEXT),
                false => (directive::TRANSLATION_HEADER, directive::TRANSLATION_HEADER_TEXT),
            };
        write(&folder.join(name), text.as_bytes())
    }
}

impl One {
    fn new_text(&self, name: &str) -> Result<Vec<u8>, String> {
        let mut edits = Edits::new();
        for change in &self.changes {
            edits
                .replace(change.range.clone(), change.text.clone())
                .map_err(|error| format!("{name}: two readings of the file differ: {error}"))?;
        }
        edits.apply(&self.old).map_err(|error| format!("{name}: {error}"))
    }
}

/// The path below a folder: without its root and without leading out of it.
fn inside(name: &str) -> PathBuf {
    use std::path::Component;
    Path::new(name).components().filter(|it| matches!(it, Component::Normal(_))).collect()
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    crate::report::write_file(path, bytes)
}
