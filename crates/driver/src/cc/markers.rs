//! Where a text of ours comes from, as its line markers say.

/// A place in the user's file.
#[derive(Default)]
pub(crate) struct Place {
    file: String,
    line: u32,
}

impl Place {
    /// Goes on to this line of the text.
    pub(crate) fn go_on(&mut self, text: &str) {
        let marker = text.strip_prefix("# ").and_then(|it| it.split_once(' '));
        match marker.and_then(|(line, file)| Some((line.parse::<u32>().ok()?, file))) {
            Some((line, file)) => {
                // The marker speaks of the line behind it.
                self.line = line.saturating_sub(1);
                self.file = file.split('"').nth(1).unwrap_or_default().to_owned();
            }
            None => self.line = self.line.saturating_add(1),
        }
    }
}

/// ` (a.c:8)`, or nothing where the text is not the user's.
impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.file.as_str() {
            "" | "<ferry>" => Ok(()),
            file => write!(f, " ({file}:{})", self.line),
        }
    }
}

/// Whether a text has a word.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    text.split(|it: char| !(it.is_alphanumeric() || it == '_')).any(|it| it == word)
}
