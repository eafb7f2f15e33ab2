//! From the text form to a module.

use directive::Directives;
use kernel::Module;
use source::{Severity, SourceMap};

/// The module that a text means, or what is wrong with the text.
pub(crate) fn module(text: &str) -> Result<Module, String> {
    let mut map = SourceMap::new();
    let marked = format!("{}# 1 \"t.k\"\n{text}", kernel::text::PRELUDE);
    let file = map
        .add_preprocessed("t.k".to_owned(), marked.into_bytes())
        .map_err(|it| format!("{it:?}"))?;
    let mut directives = Directives::new();
    let parsed = syntax::parse(map.bytes(file), map.base(file), &mut directives);
    let checked = sema::check(parsed.tree, &directives, &ir::layout::LP64);
    let found = parsed.diagnostics.iter().chain(checked.diagnostics.iter());
    let errors: Vec<String> = found
        .filter(|it| it.severity == Severity::Error)
        .map(|it| format!("{}: {}", it.code, it.message))
        .collect();
    if !errors.is_empty() {
        return Err(errors.join("\n"));
    }
    kernel::text::read(checked.program).map_err(|it| it.text)
}
