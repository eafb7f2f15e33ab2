//! The text of a program, for tests and for people who debug the compiler.
//!
//! In: a [`Program`], whole or with faults. Out: text that depends on nothing else. File-scope
//! names begin with `@`; a second local variable of one name is `x.1`. Conversions that C implies
//! are written `<T>e`, those that the user wrote `(T)e`. Directives are told by the parts of
//! [`crate::construct`], not as anybody spells them. Declarations that nothing uses are left out.

mod expr;
mod neutral;
mod region;
mod stmt;

use std::fmt::Write as _;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::{ExprKind, Function, FunctionId, Item, Program, Var, VarId, VarStorage};

/// The text of a whole program.
pub fn program(program: &Program) -> String {
    let mut printer = Printer::new(program);
    for item in &program.items {
        printer.item(*item);
    }
    printer.out
}

struct Printer<'a> {
    program: &'a Program,
    vars: Vec<String>,
    used_vars: FxHashSet<VarId>,
    used_functions: FxHashSet<FunctionId>,
    depth: usize,
    out: String,
}

impl<'a> Printer<'a> {
    fn new(program: &'a Program) -> Printer<'a> {
        let mut used_vars = FxHashSet::default();
        let mut used_functions = FxHashSet::default();
        for (_, expr) in program.exprs.iter() {
            if let ExprKind::Var(var) = expr.kind {
                used_vars.insert(var);
            } else if let ExprKind::Function(function) = expr.kind {
                used_functions.insert(function);
            }
        }
        let vars = variable_names(program);
        Printer { program, vars, used_vars, used_functions, depth: 0, out: String::new() }
    }

    /// One line at the present depth.
    fn line(&mut self, text: &str) {
        let indent = self.depth * 2;
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{:indent$}{text}", "");
    }

    fn indented(&mut self, body: impl FnOnce(&mut Self)) {
        self.depth += 1;
        body(self);
        self.depth -= 1;
    }

    fn ty(&self, ty: crate::types::Ty) -> String {
        self.program.types.spell(&self.program.names, ty)
    }

    fn text(&self, name: source::Name) -> &'a str {
        self.program.names.text(name)
    }

    fn var(&self, var: VarId) -> &str {
        self.vars.get(var.index()).map_or("<no variable>", String::as_str)
    }

    fn function(&self, id: FunctionId) -> String {
        let found = self.program.functions.find(id);
        format!("@{}", found.map_or("<no function>", |it| self.text(it.name)))
    }

    fn item(&mut self, item: Item) {
        match item {
            Item::Var(id) => {
                let Some(var) = self.program.vars.find(id) else { return };
                if var.storage != VarStorage::Extern || self.used_vars.contains(&id) {
                    let text = self.declared(id, var);
                    self.line(&text);
                }
            }
            Item::Function(id) => {
                let Some(function) = self.program.functions.find(id) else { return };
                if function.body.is_some() || self.used_functions.contains(&id) {
                    self.whole_function(id, function);
                }
            }
            Item::Declaration(index) => self.declaration(index),
        }
    }

    /// `x: int static align 16 = 3`
    fn declared(&self, id: VarId, var: &Var) -> String {
        let mut text = format!("{}: {}", self.var(id), self.ty(var.ty));
        text.push_str(match var.storage {
            VarStorage::Global | VarStorage::Local(_) | VarStorage::Param(_) => "",
            VarStorage::Extern => " extern",
            VarStorage::Static | VarStorage::LocalStatic(_) => " static",
        });
        if var.thread_local {
            text.push_str(" thread-local");
        }
        if let Some(align) = var.align {
            let _ = write!(text, " align {align}");
        }
        if let Some(device) = var.device {
            let _ = write!(text, " device {}", neutral::of(&device));
        }
        if let Some(init) = var.init {
            let _ = write!(text, " = {}", self.init(init));
        }
        text
    }

    /// `@f(a: int, …) -> int static device level=team` and the body.
    fn whole_function(&mut self, id: FunctionId, function: &Function) {
        let mut text = format!("{}(", self.function(id));
        let types = &self.program.types;
        let known = types.callee(function.ty);
        let mut params: Vec<String> = match (function.body, known) {
            (None, Some(known)) => known.params.iter().map(|&ty| self.ty(ty)).collect(),
            _ => {
                let shown = |id: &VarId| match self.program.vars.find(*id) {
                    Some(var) => self.declared(*id, var),
                    None => self.var(*id).to_owned(),
                };
                function.params.iter().map(shown).collect()
            }
        };
        if known.is_some_and(|it| it.variadic) {
            params.push("...".to_owned());
        }
        let ret = known.map_or_else(|| "<error>".to_owned(), |it| self.ty(it.ret));
        let _ = write!(text, "{}) -> {ret}", params.join(", "));
        let words = [
            (function.is_static, " static"),
            (function.is_inline, " inline"),
            (function.noreturn, " noreturn"),
            (function.is_builtin, " builtin"),
        ];
        text.extend(words.into_iter().filter(|it| it.0).map(|it| it.1));
        if function.device != crate::program::DeviceFunction::default() {
            let _ = write!(text, " {}", neutral::of(&function.device));
        }
        self.line(&text);
        let Some(body) = function.body else { return };
        self.indented(|it| {
            let calls: Vec<String> = function.calls.iter().map(|id| it.function(*id)).collect();
            if !calls.is_empty() {
                it.line(&format!("calls {}", calls.join(", ")));
            }
            if !function.indirect_calls.is_empty() {
                it.line(&format!("calls {} through pointers", function.indirect_calls.len()));
            }
            it.stmt(body);
        });
    }
}

/// A name for each variable, told apart where several have one.
fn variable_names(program: &Program) -> Vec<String> {
    let mut seen = FxHashMap::default();
    let name_of = |var: &Var| {
        let (function, mark) = match var.storage {
            VarStorage::Global | VarStorage::Extern | VarStorage::Static => (None, "@"),
            VarStorage::LocalStatic(it) | VarStorage::Param(it) | VarStorage::Local(it) => {
                (Some(it), "")
            }
        };
        let before = seen.entry((var.name, function)).or_insert(0u32);
        let text = var.name.map_or("_", |name| program.names.text(name));
        let name = match *before {
            0 => format!("{mark}{text}"),
            count => format!("{mark}{text}.{count}"),
        };
        *before += 1;
        name
    };
    program.vars.iter().map(|it| it.1).map(name_of).collect()
}
