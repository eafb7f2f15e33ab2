//! What is for the host compiler alone: attributes that change what it generates, and the symbols
//! and registers that `__asm__` gives. None of it has meaning here; printers hand it on.

use ir::program::HostWords;
use syntax::ast;

use crate::Cx;
use crate::scope::Entity;

/// Attributes that a program may do without are not among them: those that warn, and those that
/// promise. The others of a type, `noreturn` and `aligned` on objects are read by [`crate::attrs`].
const KEPT: &[&str] = &[
    "alias",
    "always_inline",
    "cleanup",
    "cold",
    "common",
    "const",
    "constructor",
    "destructor",
    "externally_visible",
    "flatten",
    "force_align_arg_pointer",
    "gnu_inline",
    "hot",
    "ifunc",
    "ms_abi",
    "naked",
    "no_instrument_function",
    "no_sanitize",
    "no_stack_protector",
    "nocommon",
    "noclone",
    "noinline",
    "noipa",
    "nothrow",
    "optimize",
    "pure",
    "regparm",
    "retain",
    "returns_twice",
    "section",
    "simd",
    "sysv_abi",
    "target",
    "target_clones",
    "tls_model",
    "unused",
    "used",
    "visibility",
    "weak",
    "weakref",
];

impl Cx<'_> {
    /// What a declaration tells the host compiler of one object or function.
    pub(crate) fn host_words(
        &mut self,
        specs: &ast::Specs,
        declarator: &ast::Declarator,
    ) -> HostWords {
        let tree = self.tree;
        let is_function = matches!(declarator.parts.first(), Some(ast::Derived::Function(_)));
        let mut words = HostWords::default();
        for id in specs.attrs.iter().chain(&declarator.attrs) {
            let attr = &tree.attrs[*id];
            let text = self.program.names.text(attr.ident.name);
            let word = text.strip_prefix("__").and_then(|it| it.strip_suffix("__")).unwrap_or(text);
            let is_kept = KEPT.contains(&word) || is_function && word == "aligned";
            if !is_kept {
                continue;
            }
            let text = match attr.args.as_deref() {
                None | Some([]) => word.to_owned(),
                Some(args) => {
                    let word = word.to_owned();
                    let args: Option<Vec<String>> = args.iter().map(|it| self.spelt(*it)).collect();
                    let Some(args) = args else { continue };
                    format!("{word}({})", args.join(", "))
                }
            };
            words.attributes.push(self.program.names.intern(&text));
        }
        if let Some(asm) = declarator.asm_label
            && let ast::ExprKind::Str(pieces) = &tree.exprs[tree.asms[asm].template].kind
        {
            let pieces: Vec<&str> = pieces.iter().map(|it| self.program.names.text(*it)).collect();
            words.asm_label = Some(self.program.names.intern(&pieces.join(" ")));
        }
        words
    }

    /// A string or a word as it was written, anything else by its value.
    fn spelt(&mut self, arg: ast::AttrArg) -> Option<String> {
        let ast::AttrArg::Expr(expr) = arg else { return None };
        let tree = self.tree;
        if let ast::ExprKind::Str(pieces) = &tree.exprs[expr].kind {
            let pieces: Vec<&str> = pieces.iter().map(|it| self.program.names.text(*it)).collect();
            return Some(pieces.join(" "));
        }
        if let ast::ExprKind::Name(name) = tree.exprs[expr].kind
            && !matches!(self.scopes.get(name), Some(Entity::Constant(..)))
        {
            return Some(self.program.names.text(name).to_owned());
        }
        let value = self.value(expr);
        self.constant(value).map(|it| it.to_string())
    }
}
