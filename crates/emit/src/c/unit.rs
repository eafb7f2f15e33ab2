//! Definitions, and whole units: types in the order they need, declarations, then definitions.

use ir::program::{Function, FunctionId, HostWords, Item, Program, VarId, VarStorage};
use ir::types::{ArrayLen, FunctionType, RecordId, TypeKind};
use ir::walk::Part;
use rustc_hash::FxHashSet;
use source::Span;

use super::types::attributes as attribute_list;
use super::used::{Definition, Used};
use super::{Grid, Out, Printer, Printing, Setting, THREAD};

/// What a unit defines. All else that it uses is declared only.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Functions with their bodies.
    pub functions: Vec<FunctionId>,
    /// Variables of the file, with their initialisers.
    pub vars: Vec<VarId>,
    /// Directives at file scope: indices into the program's declarations.
    pub declarations: Vec<u32>,
}

impl Selection {
    /// All that the program defines.
    pub fn all(program: &Program) -> Selection {
        let mut all = Selection::default();
        for item in &program.items {
            match item {
                Item::Function(id) if defines(program, *id) => all.functions.push(*id),
                Item::Var(id) if program.vars[*id].storage != VarStorage::Extern => {
                    all.vars.push(*id);
                }
                Item::Function(_) | Item::Var(_) => {}
                Item::Declaration(index) => all.declarations.push(*index),
            }
        }
        all
    }
}

/// Whether a function has a body, or is another name for one that has.
fn defines(program: &Program, id: FunctionId) -> bool {
    let function = &program.functions[id];
    let mut words = function.host.attributes.iter().map(|it| program.names.text(*it));
    let is_alias = words.any(|it| it.starts_with("alias(") || it.starts_with("ifunc("));
    function.body.is_some() || is_alias
}

impl Printer<'_> {
    /// A unit that defines what is selected.
    pub fn unit(&self, selection: &Selection, out: &mut Out<'_>) {
        self.unit_with(selection, Used::default(), out);
    }

    /// The same, with declarations of all that text behind it uses.
    pub fn unit_with(&self, selection: &Selection, mut used: Used, out: &mut Out<'_>) {
        let program = self.program;
        for id in &selection.functions {
            used.function(program, *id);
            let Some(function) = program.functions.find(*id) else { continue };
            function.params.iter().for_each(|it| used.part(program, Part::Local(*it)));
            function.body.into_iter().for_each(|it| used.part(program, Part::Stmt(it)));
        }
        selection.vars.iter().for_each(|it| used.part(program, Part::Local(*it)));
        for index in &selection.declarations {
            let declaration = program.declarations.get(*index as usize);
            declaration.into_iter().for_each(|it| used.construct(program, &it.construct));
        }
        self.definitions(&used.definitions, &mut FxHashSet::default(), out);
        let functions: FxHashSet<FunctionId> = used.functions.iter().copied().collect();
        let vars: FxHashSet<VarId> = used.globals(program).collect();
        let defined: FxHashSet<VarId> = selection.vars.iter().copied().collect();
        for item in &program.items {
            match item {
                Item::Function(id) if functions.contains(id) => self.prototype(*id, out),
                Item::Var(id) if vars.contains(id) => {
                    if !self.hook.variable(self, *id, defined.contains(id), out) {
                        self.declare_var(*id, defined.contains(id), out);
                    }
                }
                Item::Function(_) | Item::Var(_) | Item::Declaration(_) => {}
            }
        }
        // Directives name what is declared before or behind them.
        selection.declarations.iter().for_each(|it| self.hook.declaration(self, *it, out));
        if self.grid.is_none() {
            selection.vars.iter().for_each(|it| self.define_var(*it, out));
        }
        self.hook.before_functions(self, out);
        // One without a body is another name: its declaration has said all.
        let with_body =
            |id: &&FunctionId| program.functions.find(**id).is_some_and(|it| it.body.is_some());
        selection.functions.iter().filter(with_body).for_each(|it| self.function(*it, out));
    }

    /// Definitions of the types inside functions that these statements and variables need, to stand
    /// at file scope before text that is appended; those in `done` were printed before.
    pub fn local_types(&self, parts: &[Part], done: &mut FxHashSet<RecordId>, out: &mut Out<'_>) {
        let mut used = Used::default();
        parts.iter().for_each(|it| used.part(self.program, *it));
        self.definitions(&used.definitions, done, out);
    }

    fn definitions(&self, list: &[Definition], done: &mut FxHashSet<RecordId>, out: &mut Out<'_>) {
        let types = &self.program.types;
        let mut records = Vec::new();
        for definition in list {
            if let Definition::Record(id) = definition
                && !self.is_seen(types.records[*id].span)
                && done.insert(*id)
            {
                records.push(*id);
            }
        }
        records.iter().for_each(|id| out.line(&self.record_declaration(*id)));
        for definition in list {
            match definition {
                Definition::Record(id) if records.contains(id) => self.record_definition(*id, out),
                Definition::Alias(id) if !self.is_seen(types.aliases[*id].span) => {
                    self.alias_definition(*id, out);
                }
                Definition::Record(_) | Definition::Alias(_) => {}
            }
        }
    }

    /// Whether the text around declares what was declared there.
    pub(super) fn is_seen(&self, span: Span) -> bool {
        match self.setting {
            Setting::Alone => false,
            Setting::Appended => !self.names.is_local(span),
            Setting::InPlace => true,
        }
    }

    /// `static int f(int a, char *b)`
    pub fn header(&self, id: FunctionId) -> String {
        let Some(function) = self.program.functions.find(id) else { return String::new() };
        let name = self.function_name(id);
        let TypeKind::Function(ty) = self.program.types.shape(function.ty) else {
            return String::new();
        };
        let mut text = self.function_words(id, function, function.body.is_some());
        if function.body.is_none() {
            text.push_str(&self.declare(function.ty, &name));
            return text;
        }
        let params = self.param_list(ty, &function.params);
        text.push_str(&self.declare(ty.ret, &format!("{name}({params})")));
        if !ty.prototyped && self.grid.is_none() {
            for param in &function.params {
                let Some(var) = self.program.vars.find(*param) else { continue };
                text.push_str(&format!(" {};", self.declare(var.ty, &self.declared_name(*param))));
            }
        }
        text
    }

    /// `int a, char *b`
    fn param_list(&self, ty: &FunctionType, params: &[VarId]) -> String {
        let mut params: Vec<String> = params
            .iter()
            .map(|it| match (ty.prototyped || self.grid.is_some(), self.program.vars.find(*it)) {
                (true, Some(var)) => self.declare(var.ty, &self.declared_name(*it)),
                _ => self.declared_name(*it),
            })
            .collect();
        if self.names_memory() {
            params.insert(0, format!("struct __ferry_thread *{THREAD}"));
        }
        if ty.variadic {
            params.push("...".to_owned());
        } else if params.is_empty() && ty.prototyped {
            params.push("void".to_owned());
        }
        params.join(", ")
    }

    /// A function with its body.
    pub fn function(&self, id: FunctionId, out: &mut Out<'_>) {
        let Some(function) = self.program.functions.find(id) else { return };
        let Some(body) = function.body else { return self.prototype(id, out) };
        let result = self.program.types.callee(function.ty).map(|it| it.ret);
        out.at(function.span);
        out.line(&self.header(id));
        let (begins, ends) = (self.hook.begins(self, id), self.hook.ends(id));
        if begins.is_empty() && ends.is_empty() {
            return self.put_stmt(body, result, out);
        }
        let inside = Printer { at_return: ends, ..self.clone() };
        out.line("{");
        out.indented(|out| {
            begins.iter().for_each(|it| out.line(it));
            inside.put_stmt(body, result, out);
            inside.at_return.iter().for_each(|it| out.line(it));
        });
        out.line("}");
    }

    /// `int f(int, char *);`
    pub fn prototype(&self, id: FunctionId, out: &mut Out<'_>) {
        let Some(function) = self.program.functions.find(id) else { return };
        let is_known = function.body.is_none() && self.hook.has_function(self.text(function.name));
        let is_printing = self.grid.is_some() && Printing::of(self.program, id).is_some();
        if function.is_builtin || is_known || is_printing {
            return;
        }
        // There an empty list says that there are no parameters, or there is one more of them.
        let callee = self.program.types.callee(function.ty);
        let has_list = callee.is_none_or(|it| it.prototyped);
        let is_odd = self.is_cpp() || self.names_memory() || (self.grid.is_some() && !has_list);
        if is_odd && function.body.is_some() {
            return out.line(&format!("{};", self.header(id)));
        }
        let mut text = self.function_words(id, function, false);
        text.push_str(&self.declare(function.ty, &self.function_name(id)));
        text.push_str(&self.asm_label(&function.host));
        out.line(&format!("{text};"));
    }

    /// `int f(int a, char *b);`, behind a directive that calls the parameters by their names; nothing where a list of them
    /// would declare another function.
    pub fn named_prototype(&self, id: FunctionId, params: &[VarId]) -> Option<String> {
        let function = self.program.functions.find(id)?;
        let ty = self.program.types.callee(function.ty)?;
        if !ty.prototyped || ty.params.len() != params.len() {
            return None;
        }
        let head = format!("{}({})", self.function_name(id), self.param_list(ty, params));
        let words = self.function_words(id, function, false);
        Some(format!("{words}{}{};", self.declare(ty.ret, &head), self.asm_label(&function.host)))
    }

    /// The words before a function: `static inline __attribute__((noinline)) `.
    fn function_words(&self, id: FunctionId, function: &Function, is_definition: bool) -> String {
        match self.grid {
            Some(Grid::Cuda | Grid::Hip) => {
                let word = match function.body.is_none() {
                    true => "extern \"C\"",
                    false if self.hook.is_offered(id) => "__ferry_shared",
                    false => "static",
                };
                return format!("{word} __device__ ");
            }
            Some(Grid::OpenCl | Grid::OpenCl12 | Grid::Fpga(_)) => {
                let word = match function.body.is_none() {
                    true => "",
                    false if self.hook.is_offered(id) => "__ferry_shared ",
                    false => "static ",
                };
                return word.to_owned();
            }
            None => {}
        }
        let mut attributes: Vec<String> = self.words(&function.host);
        // GNU's old inline functions are no definitions for other files: their declarations say
        // nothing of it.
        let is_old = attributes.iter().any(|it| it == "gnu_inline");
        let is_inline = function.is_inline && (is_definition || !is_old);
        if is_old && !is_definition {
            attributes.retain(|it| it != "gnu_inline" && it != "always_inline");
        }
        if function.noreturn {
            attributes.push("noreturn".to_owned());
        }
        let mut text = String::new();
        if function.is_static {
            text.push_str("static ");
        } else if function.is_external && is_inline {
            text.push_str("extern ");
        }
        if is_inline {
            text.push_str("inline ");
        }
        text.push_str(attribute_list(&attributes).trim_start());
        if !attributes.is_empty() {
            text.push(' ');
        }
        text
    }

    fn words(&self, host: &HostWords) -> Vec<String> {
        host.attributes.iter().map(|it| self.text(*it).to_owned()).collect()
    }

    /// ` __asm__("symbol")`
    fn asm_label(&self, host: &HostWords) -> String {
        let label = host
            .asm_label
            .filter(|_| self.grid.is_none())
            .map(|it| format!(" __asm__({})", self.text(it)));
        label.unwrap_or_default()
    }

    /// Declares a variable of the file, before all definitions.
    fn declare_var(&self, id: VarId, is_defined: bool, out: &mut Out<'_>) {
        let Some(var) = self.program.vars.find(id) else { return };
        // A second declaration of a static variable is a definition without value.
        let word = match (var.storage == VarStorage::Static && is_defined, var.thread_local) {
            (true, false) => "static ",
            (true, true) => "static __thread ",
            (false, false) => "extern ",
            (false, true) => "extern __thread ",
        };
        let mut text = self.declare(var.ty, &self.declared_name(id));
        text.push_str(&self.asm_label(&var.host));
        text.push_str(&self.var_attributes(id));
        out.line(&format!("{word}{text};"));
    }

    /// Defines a variable of the file.
    pub fn define_var(&self, id: VarId, out: &mut Out<'_>) {
        let Some(var) = self.program.vars.find(id) else { return };
        let text = self.declare(var.ty, &self.declared_name(id));
        out.at(var.span);
        out.line(&format!("{}{text}{};", self.before_declarator(id), self.after_declarator(id)));
    }

    /// The words before a declaration: `static __thread `.
    pub(super) fn before_declarator(&self, id: VarId) -> String {
        let Some(var) = self.program.vars.find(id) else { return String::new() };
        let word = match var.storage {
            VarStorage::Extern => "extern ",
            // What never changes may come to life anew.
            VarStorage::LocalStatic(_) if self.names_memory() => "",
            VarStorage::Static | VarStorage::LocalStatic(_) => "static ",
            // A local variable with an `__asm__` lives in that register.
            VarStorage::Local(_) if var.host.asm_label.is_some() => "register ",
            VarStorage::Global | VarStorage::Param(_) | VarStorage::Local(_) => "",
        };
        format!("{word}{}", if var.thread_local { "__thread " } else { "" })
    }

    /// Register, attributes and initialiser.
    pub(super) fn after_declarator(&self, id: VarId) -> String {
        let Some(var) = self.program.vars.find(id) else { return String::new() };
        let mut text = self.asm_label(&var.host);
        text.push_str(&self.var_attributes(id));
        if let Some(words) = self.vendor().filter(|_| self.registers.contains(&id))
            && let TypeKind::Array(_, ArrayLen::Known(elements)) = self.program.types.shape(var.ty)
        {
            text.push_str(&(words.registers)(*elements));
        }
        if let Some(init) = var.init {
            text.push_str(&format!(" = {}", self.init(init, var.ty)));
        }
        text
    }

    /// A declaration of a variable like another: with its type, and aligned as it is.
    pub(crate) fn declare_like(&self, id: VarId, name: &str) -> String {
        let Some(var) = self.program.vars.find(id) else { return String::new() };
        let align: Vec<String> = var.align.iter().map(|it| format!("aligned({it})")).collect();
        format!("{}{}", self.declare(var.ty.plain(), name), attribute_list(&align))
    }

    fn var_attributes(&self, id: VarId) -> String {
        let Some(var) = self.program.vars.find(id) else { return String::new() };
        let mut list = self.words(&var.host);
        list.extend(var.align.map(|it| format!("aligned({it})")));
        attribute_list(&list)
    }
}
