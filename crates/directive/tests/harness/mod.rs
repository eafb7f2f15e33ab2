//! Reads one directive in a small program and gives back what was understood or reported.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::indexing_slicing, clippy::panic, reason = "a test that cannot go on fails")]

use directive::{Directives, Phrase, spell, vocabulary};
use ir::construct::{Construct, Dialect, Spelled};
use source::Diagnostic;
use syntax::parse;
use syntax::pragma::Shape;

/// A directive as it was understood.
pub(crate) struct Understood {
    pub(crate) construct: Construct<Spelled>,
    pub(crate) shape: Shape,
}

/// What came of a line.
pub(crate) struct Outcome {
    text: String,
    pub(crate) directive: Option<Understood>,
    pub(crate) faults: Vec<Diagnostic>,
}

impl Outcome {
    /// The code of each fault and the text that it points at.
    pub(crate) fn fault_list(&self) -> Vec<(&'static str, &str)> {
        let place = |it: &Diagnostic| it.primary.as_ref().map(|label| label.span);
        self.faults
            .iter()
            .map(|it| {
                let span = place(it).unwrap_or_default();
                (it.code, &self.text[span.start as usize..span.end as usize])
            })
            .collect()
    }
}

/// Reads `#pragma line` before a loop.
pub(crate) fn read(line: &str) -> Outcome {
    let text = format!(
        "typedef int T; struct S {{ int m; int *v; }};\n\
         int a[8], b[8], c, i, n, x, y; float *p, *q; struct S s; int f(int);\n\
         void g(void) {{\n#pragma {line}\nfor (i = 0; i < n; i++) c = 0;\n}}\n"
    );
    let mut directives = Directives::new();
    let parsed = parse(text.as_bytes(), 0, &mut directives);
    let directive = directives.iter().next().map(|(id, construct)| Understood {
        construct: spell(construct, &parsed.tree),
        shape: parsed.tree.pragmas[id].shape,
    });
    Outcome { text, directive, faults: parsed.diagnostics.iter().cloned().collect() }
}

/// Reads a line that is right.
#[track_caller]
pub(crate) fn understood(line: &str) -> Understood {
    let outcome = read(line);
    assert!(outcome.faults.is_empty(), "#pragma {line}\n{:#?}", outcome.faults);
    outcome.directive.unwrap_or_else(|| panic!("not understood: #pragma {line}"))
}

/// For each directive of a dialect and each text of each clause that it takes, a line with that
/// clause and those that the directive cannot do without.
pub(crate) fn lines_with_each_clause(dialect: Dialect, sentinel: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for phrase in vocabulary(dialect) {
        let head = &phrase.directive;
        let arg = phrase.args.first().copied().unwrap_or_default();
        lines.push(format!("{sentinel} {head}{arg}{}", needed(&phrase, "")));
        for term in &phrase.clauses {
            let needed = needed(&phrase, term.word);
            for sample in &term.samples {
                let clause = clause(term.word, sample);
                lines.push(format!("{sentinel} {head}{arg}{needed}{clause}"));
            }
        }
    }
    lines
}

/// The clauses that `phrase` cannot do without, if `word` is given.
fn needed(phrase: &Phrase, word: &str) -> String {
    let term = |at: &usize| phrase.clauses.get(*at);
    let is_missing = |list: &&Vec<usize>| !list.iter().filter_map(term).any(|it| it.word == word);
    let missing = phrase.required.iter().filter(is_missing);
    let first = missing.filter_map(|list| list.first().and_then(term));
    first.map(|it| clause(it.word, it.samples.first().copied().unwrap_or_default())).collect()
}

fn clause(word: &str, sample: &str) -> String {
    let args = sample.replace("$e", "n + 1").replace("$l", "a[0:n], x").replace("$v", "x");
    if args.is_empty() { format!(" {word}") } else { format!(" {word}({args})") }
}
