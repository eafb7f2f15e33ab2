//! The text that is being written: lines, their depth, and where in the source they belong.

use source::Span;

/// Leads from a place to the written file and line.
pub type Place<'a> = dyn Fn(Span) -> Option<(String, u32)> + 'a;

/// Collects lines.
#[derive(Default)]
pub struct Out<'a> {
    text: String,
    depth: usize,
    place: Option<&'a Place<'a>>,
    /// What the compiler takes the next line for.
    here: Option<(String, u32)>,
}

impl std::fmt::Debug for Out<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Out").field("text", &self.text).finish_non_exhaustive()
    }
}

impl<'a> Out<'a> {
    /// Without line directives.
    pub fn new() -> Out<'a> {
        Out::default()
    }

    /// With `#line N "file"` wherever the next line belongs elsewhere than the one before.
    pub fn placed(place: &'a Place<'a>) -> Out<'a> {
        Out { place: Some(place), ..Out::default() }
    }

    /// What was written.
    pub fn into_text(self) -> String {
        self.text
    }

    /// The next line was written at `span`.
    pub fn at(&mut self, span: Span) {
        let Some(place) = self.place else { return };
        if span == Span::NONE {
            return;
        }
        let Some(wanted) = place(span) else { return };
        if self.here.as_ref() == Some(&wanted) {
            return;
        }
        let (file, line) = &wanted;
        let file = file.replace('\\', "\\\\").replace('"', "\\\"");
        self.text.push_str(&format!("#line {line} \"{file}\"\n"));
        self.here = Some(wanted);
    }

    /// One line (or several, if the text has breaks) at the present depth.
    pub fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.text.push_str("  ");
        }
        self.raw(text);
    }

    /// The same at the margin: preprocessor lines.
    pub fn raw(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
        if let Some((_, line)) = &mut self.here {
            let breaks = text.bytes().filter(|it| *it == b'\n').count();
            *line = line.saturating_add(u32::try_from(breaks + 1).unwrap_or(1));
        }
    }

    /// Lines one step deeper.
    pub fn indented(&mut self, body: impl FnOnce(&mut Self)) {
        self.depth += 1;
        body(self);
        self.depth -= 1;
    }
}
