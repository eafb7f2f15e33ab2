//! Directives among the statements: what becomes of them is the hook's decision.

use directive::Unwritable;
use ir::construct::{Args, Clause, ClauseKind, Construct, Convert, Dialect, Leaf, Spelled};
use ir::program::{ExprId, FunctionId, InitId, RegionId, Typed, VarId};
use ir::types::Ty;

use super::{Out, Printer};

/// Decides what a directive becomes.
pub trait Hook {
    /// A directive with its body, in a function.
    fn region(&self, printer: &Printer<'_>, region: RegionId, out: &mut Out<'_>);

    /// A directive that declares: index into the program's declarations. At file scope what it
    /// stands in front of has been declared before.
    fn declaration(&self, printer: &Printer<'_>, index: u32, out: &mut Out<'_>);

    /// A variable of the file, before all functions; answers whether it is written, so that it is
    /// neither declared nor defined.
    fn variable(&self, _: &Printer<'_>, _: VarId, _is_defined: bool, _: &mut Out<'_>) -> bool {
        false
    }

    /// A declaration of a variable in a block; answers whether it is written.
    fn local(&self, _: &Printer<'_>, _: VarId, _: &mut Out<'_>) -> bool {
        false
    }

    /// Statements that the body of a function begins with.
    fn begins(&self, _: &Printer<'_>, _: FunctionId) -> Vec<String> {
        Vec::new()
    }

    /// What follows the declarations of a unit and stands before its functions.
    fn before_functions(&self, _: &Printer<'_>, _: &mut Out<'_>) {}

    /// The number that pointers to a function are, in a language that has no such pointers.
    fn function_number(&self, _: FunctionId) -> u64 {
        0
    }

    /// Whether pointers to functions may be the host's, so that a call asks `__ferry_function` where they lead.
    fn asks_for_functions(&self) -> bool {
        false
    }

    /// The function that calls those of a type by their numbers, there.
    fn caller(&self, _: Ty) -> String {
        String::new()
    }

    /// What is done before a function ends.
    fn ends(&self, _: FunctionId) -> Vec<String> {
        Vec::new()
    }

    /// Whether other files may call a function of this one.
    fn is_offered(&self, _: FunctionId) -> bool {
        false
    }

    /// Whether a function of the C library needs no declaration.
    fn has_function(&self, _name: &str) -> bool {
        false
    }
}

/// Directives stay what they are: pragmas.
#[derive(Clone, Copy, Debug)]
pub struct Pragmas;

impl Hook for Pragmas {
    fn region(&self, printer: &Printer<'_>, region: RegionId, out: &mut Out<'_>) {
        let Some(it) = printer.program.regions.find(region) else { return };
        printer.pragma(&it.construct, out);
        if let Some(body) = it.body {
            printer.stmt(body, out);
        }
    }

    fn declaration(&self, printer: &Printer<'_>, index: u32, out: &mut Out<'_>) {
        let Some(it) = printer.program.declarations.get(index as usize) else { return };
        // One that stands around others opens what another would have to close: it is written with
        // the names of those others instead. One that stands in front of a function does so again.
        let names: Vec<String> = it
            .functions
            .iter()
            .map(|id| printer.function_name(*id).into_owned())
            .chain(it.vars.iter().map(|id| printer.var_name(*id)))
            .collect();
        let mut spelled = printer.spelled(&it.construct);
        if opens(&spelled) {
            if names.is_empty() {
                return;
            }
            spelled.leaves = vec![Leaf::DeclareTarget];
            let kind = ClauseKind::DeviceEnter { automap: false, old_word: true, items: names };
            spelled.clauses.push(Clause {
                kind,
                on: None,
                group: None,
                switch: None,
                span: spelled.span,
            });
            return printer.spelled_pragma(&spelled, out);
        }
        printer.spelled_pragma(&spelled, out);
        if it.within.is_none() && spelled.args == Args::None {
            it.functions.iter().for_each(|it| printer.prototype(*it, out));
        }
    }
}

/// Whether a declaration holds for all that follows, up to its end.
fn opens(construct: &Construct<Spelled>) -> bool {
    let has_list = construct.args != Args::None
        || construct.kinds().any(|it| {
            matches!(
                it,
                ClauseKind::DeviceEnter { .. }
                    | ClauseKind::DeviceLink(_)
                    | ClauseKind::DeviceLocal(_)
            )
        });
    match construct.leaves.first() {
        Some(Leaf::BeginDeclareTarget) => true,
        Some(Leaf::DeclareTarget) => !has_list,
        _ => false,
    }
}

impl Printer<'_> {
    /// The construct with its parts as the text of this printer.
    pub fn spelled(&self, construct: &Construct<Typed>) -> Construct<Spelled> {
        construct.convert(&mut Speller(self))
    }

    /// The text of a directive behind `#pragma `, in a dialect.
    pub fn directive(
        &self,
        construct: &Construct<Typed>,
        dialect: Dialect,
    ) -> Result<String, Unwritable> {
        directive::write(&self.spelled(construct), dialect)
    }

    /// A directive in its own dialect, on its own line.
    pub fn pragma(&self, construct: &Construct<Typed>, out: &mut Out<'_>) {
        self.spelled_pragma(&self.spelled(construct), out);
    }

    fn spelled_pragma(&self, construct: &Construct<Spelled>, out: &mut Out<'_>) {
        out.at(construct.span);
        match directive::write(construct, construct.dialect) {
            Ok(text) => out.raw(&format!("#pragma {text}")),
            // In its own dialect every construct has a text.
            Err(why) => out.raw(&format!("#error {why}")),
        }
    }
}

/// Carries the parts of a construct into text; a pragma is one line.
struct Speller<'a, 'p>(&'a Printer<'p>);

impl Convert<Typed, Spelled> for Speller<'_, '_> {
    fn expr(&mut self, expr: &ExprId) -> String {
        one_line(self.0.expr(*expr))
    }

    fn ty(&mut self, ty: &Ty) -> String {
        one_line(self.0.type_name(*ty))
    }

    fn init(&mut self, init: &InitId) -> String {
        one_line(self.0.init_alone(*init))
    }

    fn name(&mut self, name: &source::Name) -> String {
        self.0.text(*name).to_owned()
    }
}

fn one_line(text: String) -> String {
    if text.contains('\n') { text.replace('\n', " ") } else { text }
}
