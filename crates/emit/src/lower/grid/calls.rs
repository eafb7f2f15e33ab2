//! Calls through pointers, where the language has no pointers to functions.
//!
//! A function whose address is taken has a number, which is what its pointers are. A call through a pointer is a call of
//! a function that looks which of the functions of that type has the number, or which number the table of the host's
//! addresses has for it ([`crate::lower::indirect`]). A number that none has is a fault of the kernel, which the runtime finds
//! when the kernel is done.

use ir::program::{ExprKind, FunctionId};
use ir::types::{FunctionType, Ty};
use ir::walk::Part;
use rustc_hash::FxHashSet;

use crate::c::library::known;
use crate::c::{Out, Printer, Setting, THREAD, named_callee};
use crate::lower::indirect::TABLE;
use crate::lower::{Lowering, fingerprint};

impl Lowering<'_> {
    /// Finds the functions whose address is taken, and the types that are called.
    pub(super) fn find_calls(&self, parts: &[Part]) {
        let program = self.program;
        let (mut called, mut seen) = (FxHashSet::default(), FxHashSet::default());
        let (mut types, mut functions): (Vec<Ty>, Vec<FunctionId>) = (Vec::new(), Vec::new());
        let mut open = parts.to_vec();
        while let Some(part) = open.pop() {
            if !seen.insert(part) {
                continue;
            }
            if let Part::Expr(id) = part {
                match program.exprs[id].kind {
                    ExprKind::Call(callee, _) => match named_callee(program, callee) {
                        Some((name, _)) => {
                            called.insert(name);
                        }
                        None => types.extend(self.called_type(program.exprs[callee].ty)),
                    },
                    ExprKind::Function(function) if !called.contains(&id) => {
                        functions.push(function);
                    }
                    _ => {}
                }
            }
            program.parts(part, &mut |it| open.push(it));
        }
        let mut state = self.state.borrow_mut();
        for ty in types {
            if !state.called_types.iter().any(|it| program.types.compatible(*it, ty)) {
                state.called_types.push(ty);
            }
        }
        functions.extend(self.indirect_ids());
        functions.sort_by_key(|it| it.index());
        functions.dedup();
        let is_there = |it: &FunctionId| {
            let function = &program.functions[*it];
            let name = program.names.text(function.name);
            function.body.is_some() || known(name) || !self.is_of_system(function.span)
        };
        functions.retain(is_there);
        state.pointed = functions;
    }

    /// The type of the function that is called.
    fn called_type(&self, ty: Ty) -> Option<Ty> {
        let types = &self.program.types;
        let ty = types.pointee(ty).unwrap_or(ty);
        types.is_function(ty).then(|| types.resolve(ty).plain())
    }

    /// Functions that a call of this type may reach.
    pub(super) fn reached_by(&self, ty: Ty) -> Vec<FunctionId> {
        let program = self.program;
        let is_one = |it: &FunctionId| {
            program.types.compatible(program.types.resolve(program.functions[*it].ty).plain(), ty)
        };
        self.state.borrow().pointed.iter().copied().filter(is_one).collect()
    }

    /// Functions that a call of an expression of this type may reach.
    pub(super) fn reached_through(&self, ty: Ty) -> Vec<FunctionId> {
        self.called_type(ty).map(|it| self.reached_by(it)).unwrap_or_default()
    }

    /// The number that pointers to a function are; the same in all files for one that all of them see.
    pub(in crate::lower) fn number_of(&self, id: FunctionId) -> u64 {
        let function = &self.program.functions[id];
        let name = self.program.names.text(function.name);
        let unit = if function.is_static { self.unit } else { 0 };
        fingerprint(format!("{unit:x} {name}").as_bytes()).max(1)
    }

    /// What calls a function of a type by its number, up to the arguments that follow.
    pub(in crate::lower) fn caller_of(&self, ty: Ty) -> String {
        let ty = self.program.types.resolve(ty).plain();
        let types = &self.state.borrow().called_types;
        let at = types.iter().position(|it| self.program.types.compatible(*it, ty));
        at.map_or_else(String::new, caller)
    }

    /// Declarations of those callers.
    pub(in crate::lower) fn put_callers(&self, printer: &Printer<'_>, out: &mut Out<'_>) {
        let types = self.state.borrow().called_types.clone();
        for (at, ty) in types.into_iter().enumerate() {
            if let Some(callee) = self.program.types.callee(ty) {
                out.line(&format!("{};", self.caller_header(printer, at, callee)));
            }
        }
    }

    /// `static int __ferry_call0(unsigned long to, int a0)`
    fn caller_header(&self, printer: &Printer<'_>, at: usize, callee: &FunctionType) -> String {
        let mut params = vec!["unsigned long __ferry_to".to_owned()];
        if !self.memory().is_empty() {
            params.insert(0, format!("struct __ferry_thread *{THREAD}"));
        }
        let of_callee = callee.params.iter().enumerate();
        params.extend(of_callee.map(|(at, ty)| printer.declare(ty.plain(), &format!("a{at}"))));
        let name = format!("{}({})", caller(at), params.join(", "));
        format!("static {}", printer.declare(callee.ret.plain(), &name))
    }

    /// Their definitions.
    pub(super) fn callers(&self) -> String {
        let (types, program) = (self.state.borrow().called_types.clone(), self.program);
        let printer = self.printer(Setting::Alone);
        let mut out = Out::new();
        if !types.is_empty() {
            self.put_function_table(&mut out);
        }
        for (at, ty) in types.into_iter().enumerate() {
            let Some(callee) = program.types.callee(ty) else { continue };
            let is_void = program.types.is_void(callee.ret);
            out.line(&self.caller_header(&printer, at, callee));
            out.line("{");
            out.line("for (int __ferry_turn = 0; __ferry_turn < 2; __ferry_turn++) {");
            out.line("switch (__ferry_to) {");
            for id in self.reached_by(ty) {
                let is_told = !self.memory().is_empty() && program.functions[id].body.is_some();
                let thread = is_told.then(|| THREAD.to_owned());
                let args = (0..callee.params.len()).map(|it| format!("a{it}"));
                let args: Vec<String> = thread.into_iter().chain(args).collect();
                let call = format!("{}({})", printer.function_name(id), args.join(", "));
                let number = self.number_of(id);
                out.line(&match is_void {
                    true => format!("case {number}ul: {call}; return;"),
                    false => format!("case {number}ul: return {call};"),
                });
            }
            out.line("}");
            out.line(&format!(
                "for (unsigned long __ferry_i = 1; __ferry_i <= 2 * {TABLE}[0]; __ferry_i += 2)"
            ));
            out.line(&format!("if ({TABLE}[__ferry_i] == __ferry_to) {{"));
            out.line(&format!("__ferry_to = {TABLE}[__ferry_i + 1];"));
            out.line("break;");
            out.line("}");
            out.line("}");
            out.line(&format!("__ferry_fail({}ul);", abi::names::FAULT_FUNCTION));
            if !is_void {
                let ty = printer.declare(callee.ret.plain(), "nothing");
                out.line(&format!("const {ty} = {{ 0 }};"));
                out.line("return nothing;");
            }
            out.line("}");
        }
        out.into_text()
    }

    /// Whether the unit has a word for faults.
    pub(super) fn can_fail(&self, functions: &[FunctionId]) -> bool {
        let state = self.state.borrow();
        let fails = |it: &FunctionId| {
            self.program.names.text(self.program.functions[*it].name) == kernel::intrinsic::FAIL
        };
        !state.called_types.is_empty() || state.has_arrays || functions.iter().any(fails)
    }
}

fn caller(at: usize) -> String {
    format!("__ferry_call{at}")
}
