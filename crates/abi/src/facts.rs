//! What a text for a grid of threads says of itself for whoever links it: [`Facts`].
//!
//! [`Facts::write`] and [`Facts::read`] are inverse. They are the last lines of the text, which its compiler passes over; a
//! text without any stands alone. One that needs others, or is for others, is compiled with `__FERRY_LINKED` defined where it
//! is linked.

const NEEDS_OTHERS: &str = "// ferry: needs other files";
const FOR_OTHERS: &str = "// ferry: is for other files";
const FILE: &str = "// ferry: file ";
const USES: &str = "// ferry: uses ";
const HAS: &str = "// ferry: has ";

/// What a text says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// It uses what other files define.
    pub needs_others: bool,
    /// It has what other files may use.
    pub is_for_others: bool,
    /// The number of the file, which ends the names of what every linked text has; where drivers link.
    pub file: Option<String>,
    /// Functions and variables of other files, where drivers link.
    pub uses: Vec<String>,
    /// Those for other files, each with what it calls in others.
    pub has: Vec<(String, Vec<String>)>,
}

impl Facts {
    /// The lines.
    pub fn write(&self) -> String {
        let mut text = String::new();
        let mut line = |words: &[&str]| {
            text.push_str(&words.concat());
            text.push('\n');
        };
        if self.needs_others {
            line(&[NEEDS_OTHERS]);
        }
        if self.is_for_others {
            line(&[FOR_OTHERS]);
        }
        self.file.iter().for_each(|it| line(&[FILE, it]));
        self.uses.iter().for_each(|it| line(&[USES, it]));
        for (name, calls) in &self.has {
            let words: Vec<&str> = [name].into_iter().chain(calls).map(String::as_str).collect();
            line(&[HAS, &words.join(" ")]);
        }
        text
    }

    /// What the lines of a text say; of several texts, what any of them does.
    pub fn read(text: &str) -> Facts {
        let mut facts = Facts::default();
        for line in text.lines() {
            facts.needs_others |= line == NEEDS_OTHERS;
            facts.is_for_others |= line == FOR_OTHERS;
            if let Some(file) = line.strip_prefix(FILE) {
                facts.file.get_or_insert_with(|| file.to_owned());
            } else if let Some(name) = line.strip_prefix(USES) {
                facts.uses.push(name.to_owned());
            } else if let Some(words) = line.strip_prefix(HAS) {
                let mut words = words.split(' ').map(str::to_owned);
                facts.has.extend(words.next().map(|name| (name, words.collect())));
            }
        }
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let facts = Facts {
            needs_others: true,
            is_for_others: true,
            file: Some("0123".to_owned()),
            uses: vec!["f".to_owned(), "g".to_owned()],
            has: vec![("h".to_owned(), vec!["f".to_owned()]), ("v".to_owned(), Vec::new())],
        };
        assert_eq!(Facts::read(&format!("void h(void) {{}}\n{}", facts.write())), facts);
        assert_eq!(Facts::read("void h(void) {}\n"), Facts::default());
        assert_eq!(Facts::default().write(), "");
    }

    #[test]
    fn words_inside_of_lines_say_nothing() {
        let text = "const char *s = \"// ferry: needs other files\";\n  // ferry: uses f\n";
        assert_eq!(Facts::read(text), Facts::default());
    }
}
