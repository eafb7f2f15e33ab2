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
    /// What it is to take all lines for that are not the user's.
    beside: Option<(String, u32)>,
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

    /// With a line marker wherever the next line belongs elsewhere than the one before.
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
        self.beside = None;
        if self.here.as_ref() == Some(&wanted) {
            return;
        }
        self.mark(&wanted, "");
        self.here = Some(wanted);
    }

    /// The same, for lines that are not the user's but stand where his are: debuggers show them
    /// there, warnings do not speak of them.
    pub fn beside(&mut self, span: Span) {
        if let Some(place) = self.place
            && let Some(wanted) = place(span)
        {
            self.mark(&wanted, " 3");
            self.here = None;
            self.beside = Some(wanted);
        }
    }

    // Not `#line`: that would keep what the line before was taken for.
    fn mark(&mut self, (file, line): &(String, u32), flag: &str) {
        let file = file.replace('\\', "\\\\").replace('"', "\\\"");
        self.text.push_str(&format!("# {line} \"{file}\"{flag}\n"));
    }

    /// The next line is not the user's: his warnings do not speak of it.
    pub fn leave(&mut self) {
        if self.place.is_some() {
            self.text.push_str("# 1 \"<ferry>\" 3\n");
            (self.here, self.beside) = (None, None);
        }
    }

    /// One line (or several, if the text has breaks) at the present depth.
    pub fn line(&mut self, text: &str) {
        // A line with code would be taken for the next one of the user's.
        if let Some(wanted) = self.beside.take() {
            if has_code(text) {
                self.mark(&wanted, " 3");
            }
            self.beside = Some(wanted);
        }
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

/// Whether debuggers may stop there.
fn has_code(line: &str) -> bool {
    let without = ["{", "}", "static ", "extern ", "#", ";"];
    !without.iter().any(|it| line.starts_with(it))
}
