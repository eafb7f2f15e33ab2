//! Where directives have chosen other directives or functions: the host's text follows the program.
//!
//! In: the program's rewrites, and edits of the text that replaced whole constructs already. Out: an
//! edit for each rewrite that does not lie in one of those: there the text is the program's anyway.

use std::collections::BTreeSet;

use directive::{DEFAULT_DEVICE, IS_ON_HOST, SET_DEFAULT_DEVICE};
use ir::construct::{Args, Leaf};
use ir::program::{ExprId, ExprKind, RegionId, Rewritten};
use ir::walk::Part;
use source::Edits;

use super::{Lowering, lines, offset};
use crate::c::{Out, Printer};

impl Lowering<'_> {
    /// Makes the text say what the program says.
    pub(super) fn rewrites(
        &self,
        printer: &Printer<'_>,
        text: &[u8],
        base: u32,
        edits: &mut Edits,
    ) {
        for rewrite in &self.program.rewrites {
            let span = rewrite.span;
            let word = offset(base, span.start)..offset(base, span.end);
            let whole = lines(text, base, span);
            let pragma = |id: RegionId| {
                let construct = &self.program.regions[id].construct;
                self.pragma(&printer.spelled(construct)).unwrap_or_default()
            };
            if let Rewritten::Directive(id) | Rewritten::Opening(id) = rewrite.by
                && !self.is_left_alone(id)
            {
                continue;
            }
            let (range, by) = match rewrite.by {
                Rewritten::Nothing => (whole, String::new()),
                Rewritten::Closing => (whole, "}".to_owned()),
                Rewritten::Directive(id) => (whole, pragma(id)),
                // The brace has a line of its own, which is not the user's.
                Rewritten::Opening(id) => {
                    let marker = self.marker(base, whole.end);
                    (whole, format!("{}\n{{\n{}", pragma(id), marker.trim_end()))
                }
                Rewritten::Expr(expr) => {
                    if !self.standalone || self.asks(expr) {
                        self.declare_questions();
                    }
                    (word, format!("({})", printer.expr(expr)))
                }
                Rewritten::Name(name) => (word, self.program.names.text(name).to_owned()),
            };
            // Inside of what was replaced as a whole there is nothing left to change.
            let _ = edits.replace(range, by);
        }
        self.keep_replaced();
    }

    /// A function of this file that lost all its calls to a better one is not unused for that.
    fn keep_replaced(&self) {
        let variants = self.program.declarations.iter().filter(|it| {
            it.construct.has(Leaf::DeclareVariant) || it.construct.has(Leaf::BeginDeclareVariant)
        });
        let mut names = BTreeSet::new();
        for declaration in variants {
            let named = match &declaration.construct.args {
                Args::Variant(it) => it.base.iter().chain([&it.variant]).copied().collect(),
                _ => Vec::new(),
            };
            let around = declaration.functions.iter().map(|it| self.program.functions[*it].name);
            names.extend(around.chain(named).map(|it| self.program.names.text(it)));
        }
        if names.is_empty() {
            return;
        }
        let mut state = self.state.borrow_mut();
        for (_, function) in self.program.functions.iter() {
            let name = self.program.names.text(function.name);
            if function.is_static && function.body.is_some() && names.contains(name) {
                state
                    .functions
                    .push(format!("static __typeof__({name}) {name} __attribute__((unused));\n"));
            }
        }
    }

    /// A choice that is made while the program runs: its body tests and has all constructs.
    pub(super) fn choice(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        self.declare_questions();
        if let Some(body) = self.program.regions[id].body {
            printer.stmt(body, out);
        }
    }

    /// Whether an expression asks the runtime something.
    fn asks(&self, expr: ExprId) -> bool {
        let mut open = vec![Part::Expr(expr)];
        while let Some(part) = open.pop() {
            if let Part::Expr(id) = part
                && let ExprKind::Function(function) = self.program.exprs[id].kind
            {
                let name = self.program.names.text(self.program.functions[function].name);
                let (is, pointer) = (abi::names::DEVICE_IS, abi::names::DEVICE_POINTER);
                if [IS_ON_HOST, is, pointer].contains(&name) {
                    return true;
                }
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
        false
    }

    /// Declares what generated tests and calls ask the runtime.
    pub(super) fn declare_questions(&self) {
        if self.standalone {
            let span = self.program.rewrites.first().map_or(source::Span::NONE, |it| it.span);
            return self.not_standalone(span, "a choice that is made while the program runs");
        }
        let (is, pointer) = (abi::names::DEVICE_IS, abi::names::DEVICE_POINTER);
        let text = format!(
            "extern int {IS_ON_HOST}(void);\nextern int {DEFAULT_DEVICE}(void);\n\
             extern void {SET_DEFAULT_DEVICE}(int);\n\
             extern int {is}(long long, int, const char *);\n\
             extern void *{pointer}(const void *);\n"
        );
        let mut state = self.state.borrow_mut();
        if !state.declarations.contains(&text) {
            state.declarations.push(text);
        }
    }
}
