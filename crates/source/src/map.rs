//! The texts of one run, and which text a span lies in.
//!
//! In: named byte strings, either as written ([`SourceMap::add`]) or as `cc -E` printed them
//! ([`SourceMap::add_preprocessed`]). Out: a [`FileId`] and a base address for each; all texts share
//! one address space of 32 bits that begins at 1, so [`Span::NONE`] is nobody's, and one address is
//! left between texts, so the empty span at the end of a text is that text's alone.
//!
//! Texts are bytes because C files may hold comments in any encoding; they become characters only
//! for people's eyes, invalid bytes as `U+FFFD`. Lines and columns are [`crate::Locator`]'s business.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::Span;
use crate::lines::Lines;
use crate::marker::{Markers, Origin, is_marker};

/// One text of a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(u32);

/// The texts of one run.
#[derive(Debug, Default)]
pub struct SourceMap {
    /// In order of their bases.
    files: Vec<File>,
}

#[derive(Debug)]
struct File {
    name: Arc<str>,
    bytes: Vec<u8>,
    base: u32,
    lines: OnceLock<Lines>,
    markers: Option<Markers>,
}

/// The texts of one run together do not fit into 32 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooBig {
    /// The text that did not fit.
    pub name: String,
    /// Its length in bytes.
    pub len: usize,
}

impl fmt::Display for TooBig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TooBig { name, len } = self;
        write!(
            f,
            "`{name}` ({len} bytes) does not fit: the texts of one run may have 4 GiB together"
        )
    }
}

impl std::error::Error for TooBig {}

impl SourceMap {
    /// No texts yet.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Adds a text as somebody wrote it.
    pub fn add(&mut self, name: impl Into<String>, text: Vec<u8>) -> Result<FileId, TooBig> {
        self.insert(name.into(), text, false)
    }

    /// Adds a text that a preprocessor printed; its line markers are read here, once.
    pub fn add_preprocessed(
        &mut self,
        name: impl Into<String>,
        text: Vec<u8>,
    ) -> Result<FileId, TooBig> {
        self.insert(name.into(), text, true)
    }

    fn insert(&mut self, name: String, bytes: Vec<u8>, marked: bool) -> Result<FileId, TooBig> {
        // The end of a text is an address too, so it must fit as well.
        let base = self.files.last().map_or(Some(1), |it| it.end().checked_add(1));
        let fits = |base: &u32| {
            u32::try_from(bytes.len()).ok().and_then(|len| base.checked_add(len)).is_some()
        };
        let Some(base) = base.filter(fits) else {
            return Err(TooBig { name, len: bytes.len() });
        };
        let name: Arc<str> = name.into();
        let lines = OnceLock::new();
        let markers =
            marked.then(|| Markers::of(&name, &bytes, lines.get_or_init(|| Lines::of(&bytes))));
        let id = FileId(crate::lines::offset(self.files.len()));
        self.files.push(File { name, bytes, base, lines, markers });
        Ok(id)
    }

    /// All texts, in the order they were added.
    pub fn files(&self) -> impl Iterator<Item = FileId> {
        (0..crate::lines::offset(self.files.len())).map(FileId)
    }

    /// The bytes of a text.
    pub fn bytes(&self, file: FileId) -> &[u8] {
        self.get(file).map_or(&[], |it| &it.bytes)
    }

    /// The address of a text's first byte: a span is this plus an offset in the text.
    pub fn base(&self, file: FileId) -> u32 {
        self.get(file).map_or(0, |it| it.base)
    }

    /// The name a text was added under.
    pub fn name(&self, file: FileId) -> &str {
        self.get(file).map_or("", |it| &it.name)
    }

    /// The span of a whole text.
    pub fn span(&self, file: FileId) -> Span {
        self.get(file).map_or(Span::NONE, |it| Span::new(it.base, it.end()))
    }

    /// The text that holds all of `span`; none for [`Span::NONE`].
    pub fn file_of(&self, span: Span) -> Option<FileId> {
        let index = self.files.partition_point(|it| it.base <= span.start).checked_sub(1)?;
        let file = self.files.get(index)?;
        let inside = span.start <= span.end && span.end <= file.end();
        inside.then_some(FileId(crate::lines::offset(index)))
    }

    /// The bytes under `span`; empty where it lies in no text.
    pub fn slice_bytes(&self, span: Span) -> &[u8] {
        self.place(span).and_then(|(file, range)| self.bytes(file).get(range)).unwrap_or_default()
    }

    /// The text under `span` for people to read; empty where it lies in no text.
    pub fn slice(&self, span: Span) -> Cow<'_, str> {
        String::from_utf8_lossy(self.slice_bytes(span))
    }

    /// Whether `span` was read from a system header, by the line markers of its text.
    pub fn in_system_header(&self, span: Span) -> bool {
        self.place(span)
            .and_then(|(file, range)| self.origin(file, self.lines(file)?.line_of(at(&range))))
            .is_some_and(|it| it.system)
    }

    /// The lines of a preprocessed text: which of its bytes, and the written file and line (from 1) that each
    /// stands for. Lines that are markers stand for none.
    pub fn written_lines(
        &self,
        file: FileId,
    ) -> impl Iterator<Item = (Range<usize>, Option<(Arc<str>, u32)>)> {
        let count = self.lines(file).map_or(0, Lines::count);
        (0..count).map(move |line| {
            let full = self.lines(file).map_or(0..0, |it| it.full(line));
            let bytes = self.bytes(file).get(full.clone()).unwrap_or_default();
            let origin = match is_marker(bytes) {
                true => None,
                false => self.origin(file, line).map(|it| (it.name, it.line)),
            };
            (full, origin)
        })
    }

    /// The file that holds `span`, and which of its bytes.
    pub(crate) fn place(&self, span: Span) -> Option<(FileId, Range<usize>)> {
        let file = self.file_of(span)?;
        let base = self.base(file);
        Some((file, (span.start - base) as usize..(span.end - base) as usize))
    }

    /// The lines of a text.
    pub(crate) fn lines(&self, file: FileId) -> Option<&Lines> {
        self.get(file).map(|it| it.lines.get_or_init(|| Lines::of(&it.bytes)))
    }

    /// The written line behind a line (from 0) of a preprocessed text; none for a written text.
    pub(crate) fn origin(&self, file: FileId, line: u32) -> Option<Origin> {
        self.get(file)?.markers.as_ref()?.origin(line)
    }

    /// A text added as written under this name.
    pub(crate) fn written(&self, name: &str) -> Option<FileId> {
        self.files()
            .find(|it| self.get(*it).is_some_and(|it| it.markers.is_none() && *it.name == *name))
    }

    pub(crate) fn shared_name(&self, file: FileId) -> Option<Arc<str>> {
        self.get(file).map(|it| Arc::clone(&it.name))
    }

    fn get(&self, file: FileId) -> Option<&File> {
        self.files.get(file.0 as usize)
    }
}

impl File {
    /// The address just past the last byte; it still belongs to this text.
    fn end(&self) -> u32 {
        self.base.saturating_add(crate::lines::offset(self.bytes.len()))
    }
}

fn at(range: &Range<usize>) -> u32 {
    crate::lines::offset(range.start)
}

/// Whether a file is no text at all: it holds a NUL byte, or more than a tenth of its beginning is
/// control characters. Latin-1 and other encodings that extend ASCII pass; UTF-16 does not.
pub fn looks_binary(bytes: &[u8]) -> bool {
    const SAMPLE: usize = 8192;
    let is_control =
        |it: &&u8| it.is_ascii_control() && !matches!(**it, b'\t' | b'\n' | b'\r' | 0x0b | 0x0c);
    let sample = bytes.len().min(SAMPLE);
    let controls = bytes.iter().take(SAMPLE).filter(is_control).count();
    controls * 10 > sample || memchr::memchr(0, bytes).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_files() -> (SourceMap, FileId, FileId) {
        let mut map = SourceMap::new();
        let first = map.add("a.c", b"int a;".to_vec()).expect("fits");
        let second = map.add("b.c", b"int b;\xe4".to_vec()).expect("fits");
        (map, first, second)
    }

    #[test]
    fn no_text_owns_the_empty_span_of_nobody() {
        let (map, first, _) = two_files();
        assert_eq!(map.base(first), 1);
        assert_eq!(map.file_of(Span::NONE), None);
        assert_eq!(map.slice(Span::NONE), "");
    }

    #[test]
    fn every_span_belongs_to_one_text() {
        let (map, first, second) = two_files();
        for (file, other) in [(first, second), (second, first)] {
            let span = map.span(file);
            assert_eq!(map.file_of(span), Some(file));
            assert_eq!(map.file_of(span.after()), Some(file));
            assert_eq!(map.file_of(span.to(map.span(other))), None, "a span across two texts");
        }
    }

    #[test]
    fn slices_show_invalid_bytes_as_one_replacement() {
        let (map, _, second) = two_files();
        assert_eq!(map.slice(map.span(second)), "int b;\u{fffd}");
        assert_eq!(map.slice_bytes(map.span(second)), b"int b;\xe4");
    }

    #[test]
    fn spans_far_outside_find_nothing() {
        let (map, ..) = two_files();
        assert_eq!(map.file_of(Span { start: 3, end: u32::MAX }), None);
        assert_eq!(map.file_of(Span { start: u32::MAX, end: u32::MAX }), None);
        assert_eq!(map.file_of(Span { start: 5, end: 2 }), None);
    }

    #[test]
    fn system_headers_are_told_by_their_marker() {
        let mut map = SourceMap::new();
        let text = b"# 1 \"/usr/include/x.h\" 1 3\nint x;\n# 2 \"a.c\" 2\nint y;\n";
        let file = map.add_preprocessed("a.i", text.to_vec()).expect("fits");
        let span_of = |it: &str| {
            let at = memchr::memmem::find(map.bytes(file), it.as_bytes()).expect("is there");
            let start = map.base(file) + u32::try_from(at).expect("small");
            Span::new(start, start + 1)
        };
        assert!(map.in_system_header(span_of("int x")));
        assert!(!map.in_system_header(span_of("int y")));
        assert!(!map.in_system_header(Span::NONE));
    }

    #[track_caller]
    fn check_binary(bytes: &[u8], expect: bool) {
        assert_eq!(looks_binary(bytes), expect, "{bytes:?}");
    }

    #[test]
    fn text_in_any_extension_of_ascii_is_text() {
        check_binary(b"", false);
        check_binary(b"int a;\r\n\t/* \xfcber */\x0c\n", false);
        check_binary("int ä;".as_bytes(), false);
        check_binary(b"\x7fELF\x02\x01\x01\x00", true);
        check_binary(b"i\0n\0t\0", true);
        check_binary(b"\x01\x02\x03abc", true);
    }
}
