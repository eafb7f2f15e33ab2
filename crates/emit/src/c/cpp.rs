//! What C and its extensions say in expressions and C++ does not: functions without a name, called at once, say it.

use ir::program::{ExprId, Program, StmtId, StmtKind, VarId, VarStorage};
use ir::types::{ArrayLen, Ty, TypeKind};
use ir::walk::Part;
use syntax::print::Level;

use super::{Grid, Out, Printer};

impl Printer<'_> {
    /// `({ int x = f(); x * x; })`
    pub(super) fn put_statements(&self, body: StmtId, ty: Ty, out: &mut String) {
        let mut inner = Out::new();
        let mut stmts: &[StmtId] = &[body];
        if let Some(StmtKind::Block(list)) = self.program.stmts.find(body).map(|it| &it.kind) {
            stmts = list;
        }
        let last = stmts.last().and_then(|it| self.program.stmts.find(*it)).map(|it| &it.kind);
        if !self.program.types.is_void(ty)
            && let Some(StmtKind::Expr(value)) = last
        {
            stmts.iter().take(stmts.len() - 1).for_each(|it| self.stmt(*it, &mut inner));
            let value = self.expr(self.assigned(*value, ty));
            inner.line(&format!("return {value};"));
        } else {
            stmts.iter().for_each(|it| self.stmt(*it, &mut inner));
        }
        let ty = self.type_name(ty.plain());
        out.push_str(&format!("[&]() -> {ty} {{\n{}}}()", inner.into_text()));
    }

    /// `a ?: b`
    pub(super) fn put_either(&self, first: ExprId, other: ExprId, ty: Ty, out: &mut String) {
        let name = self.type_name(ty.plain());
        let (first, other) = (
            self.operand(first, Level::Assign),
            self.operand(self.assigned(other, ty), Level::Conditional),
        );
        out.push_str(&format!(
            "[&]() -> {name} {{ const auto __ferry_v = {first}; return __ferry_v ? ({name})__ferry_v : {other}; }}()"
        ));
    }

    /// What a `switch` looks at: a value within a range of cases is the first of the range.
    pub(super) fn switched(&self, value: ExprId, body: StmtId) -> String {
        let ranges = ranges(self.program, body);
        let value = self.promoted_operand(value);
        if !self.is_cpp() || ranges.is_empty() {
            return self.expr(value);
        }
        let mut text = format!("const auto __ferry_v = +{};", self.operand(value, Level::Cast));
        let ty = "decltype(__ferry_v)";
        for (low, high) in ranges {
            let (low, high) = (self.case_value(low), self.case_value(high));
            text.push_str(&format!(
                " if (__ferry_v >= ({ty}){low} && __ferry_v <= ({ty}){high}) return ({ty}){low};"
            ));
        }
        format!("[&] {{ {text} return __ferry_v; }}()")
    }

    /// A compound literal that pointers lead to, in room that its function has for it.
    pub(super) fn kept_literal(&self, id: VarId, init: &str) -> Option<String> {
        let var = self.program.vars.find(id)?;
        let ty = matches!(var.storage, VarStorage::Local(_)).then_some(var.ty)?;
        let (room, ty) = (self.substitutes.get(&id)?, self.type_name(ty));
        let number = id.index();
        Some(match self.grid? {
            Grid::Cuda | Grid::Hip => {
                format!("__ferry_keep<{ty}>({room}, __ferry_box<{ty}>{{ {init} }})")
            }
            Grid::OpenCl => {
                format!("(*({room} = (__ferry_box{number}){{ {init} }}, &{room}.value))")
            }
            Grid::OpenCl12 | Grid::Fpga(_) => {
                let kept = format!("*(__global __ferry_box{number} *)&{room}");
                format!("(*({kept} = (__ferry_box{number}){{ {init} }}, &{room}))")
            }
        })
    }

    /// A type like that of a compound literal, which can be assigned to: `typedef struct { int value[3]; } __ferry_box7`.
    pub(crate) fn literal_box(&self, id: VarId) -> String {
        let types = &self.program.types;
        let (mut ty, mut name) = (self.program.vars[id].ty, "value".to_owned());
        while let TypeKind::Array(element, ArrayLen::Known(length)) = types.shape(ty) {
            name.push_str(&format!("[{length}]"));
            ty = *element;
        }
        let value = self.declare(types.resolve(ty).plain(), &name);
        format!("typedef struct {{ {value}; }} __ferry_box{};", id.index())
    }
}

/// Ranges of the cases of a `switch`.
fn ranges(program: &Program, body: StmtId) -> Vec<(i128, i128)> {
    let (mut found, mut open) = (Vec::new(), vec![Part::Stmt(body)]);
    while let Some(part) = open.pop() {
        if let Part::Stmt(id) = part {
            let kind = &program.stmts[id].kind;
            if let StmtKind::Switch(..) = kind {
                continue;
            } else if let StmtKind::Case(low, high, _) = kind
                && low < high
            {
                found.push((*low, *high));
            }
        }
        program.parts(part, &mut |it| open.push(it));
    }
    found
}
