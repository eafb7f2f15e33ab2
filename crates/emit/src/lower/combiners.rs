//! Reductions that a file declares with objects without names: functions of their own make those.
//!
//! gcc takes such an object for one of the file, and crashes where what it begins with is not the same each time. In: a
//! declaration. Out: functions that combine and begin values, and the declaration with calls of them.

use ir::construct::{Args, ClauseKind, Leaf, ReductionInit};
use ir::program::{Declaration, ExprKind};
use ir::types::Ty;
use ir::walk::Part;
use source::Span;

use super::Lowering;
use crate::c::{Printer, Setting};

impl Lowering<'_> {
    /// What stands in the place of a declaration at file scope that needs such functions, in lines of its own.
    pub(super) fn combined_apart(
        &self,
        printer: &Printer<'_>,
        declaration: &Declaration,
    ) -> Option<String> {
        let construct = &declaration.construct;
        let is_meant = declaration.within.is_none() && construct.has(Leaf::DeclareReduction);
        if !is_meant || !self.makes_objects(construct.span) {
            return None;
        }
        let Args::Reduction(declared) = &construct.args else { return None };
        let [ty] = declared.types.as_slice() else { return None };
        let [to, from, fresh, old, ..] = directive::REDUCTION_VARIABLES;
        let mut spelled = printer.spelled(construct);
        let mut text = String::new();
        if let Some(combiner) = declared.combiner {
            let names = [(to, "(*__ferry_a)"), (from, "(*__ferry_b)")];
            let code = self.named_alone(Part::Expr(combiner), names).expr(combiner);
            let call = self.function_apart(printer, *ty, &code, (to, from), &mut text);
            if let Args::Reduction(it) = &mut spelled.args {
                it.combiner = Some(call);
            }
        }
        let kinds = spelled.clauses.iter_mut().map(|it| &mut it.kind);
        for (written, kind) in construct.clauses.iter().zip(kinds) {
            let names = [(fresh, "(*__ferry_a)"), (old, "(*__ferry_b)")];
            match (&written.kind, kind) {
                (ClauseKind::Combiner(it), ClauseKind::Combiner(call)) => {
                    let names = [(to, "(*__ferry_a)"), (from, "(*__ferry_b)")];
                    let code = self.named_alone(Part::Expr(*it), names).expr(*it);
                    *call = self.function_apart(printer, *ty, &code, (to, from), &mut text);
                }
                (
                    ClauseKind::Initializer(ReductionInit::Assign(init)),
                    ClauseKind::Initializer(call),
                ) => {
                    let value = self.named_alone(Part::Init(*init), names).init(*init, *ty);
                    let first = printer.declare(*ty, "__ferry_first");
                    let code = format!("{first} = {value}; *__ferry_a = __ferry_first");
                    let made = self.function_apart(printer, *ty, &code, (fresh, old), &mut text);
                    *call = ReductionInit::Call(made);
                }
                (
                    ClauseKind::Initializer(ReductionInit::Call(it)),
                    ClauseKind::Initializer(call),
                ) => {
                    let code = self.named_alone(Part::Expr(*it), names).expr(*it);
                    let made = self.function_apart(printer, *ty, &code, (fresh, old), &mut text);
                    *call = ReductionInit::Call(made);
                }
                _ => {}
            }
        }
        text.push_str(&self.pragma(&spelled)?);
        text.push('\n');
        Some(text)
    }

    /// The same for all types of the directive, each of which has a declaration.
    pub(super) fn all_combined_apart(
        &self,
        printer: &Printer<'_>,
        declaration: &Declaration,
    ) -> Option<String> {
        let span = declaration.construct.span;
        let all = self.program.declarations.iter().filter(|it| it.construct.span == span);
        all.map(|it| self.combined_apart(printer, it)).collect()
    }

    /// A function of two values, behind the text; answers a call of it.
    fn function_apart(
        &self,
        printer: &Printer<'_>,
        ty: Ty,
        code: &str,
        (a, b): (&str, &str),
        text: &mut String,
    ) -> String {
        let name = format!("__ferry_apart{}", self.fresh());
        let (first, second) =
            (printer.declare(ty, "*__ferry_a"), printer.declare(ty, "*__ferry_b"));
        let head = "static inline __attribute__((unused)) void";
        text.push_str(&format!("{head} {name}({first}, {second}) {{ {code}; }}\n"));
        format!("{name}(&{a}, &{b})")
    }

    /// Whether there is an object without a name whose value is not the same each time.
    fn makes_objects(&self, whole: Span) -> bool {
        let program = self.program;
        let is_inside = |span: Span| span.start >= whole.start && span.end <= whole.end;
        let mut inside = program.exprs.iter().filter(|it| is_inside(it.1.span));
        inside.any(|(_, expr)| {
            let ExprKind::CompoundLiteral(var) = expr.kind else { return false };
            let mut open: Vec<Part> =
                program.vars[var].init.iter().map(|it| Part::Init(*it)).collect();
            while let Some(part) = open.pop() {
                if let Part::Expr(it) = part
                    && matches!(program.exprs[it].kind, ExprKind::Var(_))
                {
                    return true;
                }
                program.parts(part, &mut |it| open.push(it));
            }
            false
        })
    }

    /// A printer of a part of a declaration, whose variables have other names; it names nothing else of the program.
    pub(in crate::lower) fn named_alone(
        &self,
        part: Part,
        names: [(&str, &str); 2],
    ) -> Printer<'_> {
        let mut printer = self.printer(Setting::Alone);
        let mut open = vec![part];
        while let Some(part) = open.pop() {
            if let Part::Expr(id) = part
                && let ExprKind::Var(var) = self.program.exprs[id].kind
            {
                let name = self.program.vars[var].name.map_or("", |it| self.program.names.text(it));
                if let Some((_, text)) = names.iter().find(|it| it.0 == name) {
                    printer.substitute(var, (*text).to_owned());
                }
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
        printer
    }
}
