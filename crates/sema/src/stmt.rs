//! Statements: blocks and scopes, jumps and their goals.

use ir::program::{Asm, For, Label, LabelId, Stmt, StmtId, StmtKind};
use ir::types::Ty;
use rustc_hash::{FxHashMap, FxHashSet};
use source::{Name, Span};
use syntax::ast;
use syntax::ast::StmtKind as K;

use crate::Cx;
use crate::context::Governed;
use crate::convert::Goal;
use crate::jumps::Sized;
use crate::messages;

/// The labels of a function.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    known: FxHashMap<Name, LabelState>,
    /// What `__label__` hides, with the depth of the block that ends it.
    hidden: Vec<(u32, Name, Option<LabelState>)>,
}

#[derive(Clone, Copy, Debug)]
struct LabelState {
    id: LabelId,
    is_defined: bool,
    /// First mention.
    span: Span,
}

/// A `switch` while its body is read.
#[derive(Debug)]
pub(crate) struct Switch {
    /// The promoted type of what is tested.
    ty: Ty,
    cases: Vec<(i128, i128, Span)>,
    default: Option<Span>,
    /// The declaration of variable size in scope at its head.
    sized: Option<Sized>,
}

impl<'t> Cx<'t> {
    pub(crate) fn stmt_of(&mut self, kind: StmtKind, span: Span) -> StmtId {
        self.program.stmts.push(Stmt { kind, span })
    }

    /// The body of a function; its scope is open already.
    pub(crate) fn function_block(&mut self, id: ast::StmtId) -> StmtId {
        let tree = self.tree;
        let node = &tree.stmts[id];
        let K::Block(list) = &node.kind else { return self.stmt(id) };
        let mut out = Vec::with_capacity(list.len());
        self.stmts_into(list, &mut out);
        self.stmt_of(StmtKind::Block(out.into()), node.span)
    }

    /// The statements of a block; what stands between two marks belongs to the directive there.
    pub(crate) fn stmts_into(&mut self, list: &'t [ast::StmtId], out: &mut Vec<StmtId>) {
        let mut rest = list;
        while let [first, after @ ..] = rest {
            rest = after;
            match self.marked_choice(*first, after) {
                Some((construct, inside, end)) => {
                    rest = after.get(inside.len() + 1..).unwrap_or_default();
                    self.metadirective(construct, Governed::Until(inside, end), out);
                }
                None => self.stmt_into(*first, out),
            }
        }
    }

    pub(crate) fn block(&mut self, list: &'t [ast::StmtId], span: Span) -> StmtId {
        self.scopes.open();
        let mut out = Vec::with_capacity(list.len());
        self.stmts_into(list, &mut out);
        self.restore_labels();
        self.scopes.close();
        self.stmt_of(StmtKind::Block(out.into()), span)
    }

    /// One statement; a declaration of several variables becomes a block.
    pub(crate) fn stmt(&mut self, id: ast::StmtId) -> StmtId {
        let tree = self.tree;
        let node = &tree.stmts[id];
        if !matches!(node.kind, K::Decl(_) | K::Pragma(..)) {
            return self.plain_stmt(id);
        }
        let mut out = Vec::new();
        self.stmt_into(id, &mut out);
        match out.as_slice() {
            [] => self.stmt_of(StmtKind::Empty, node.span),
            [one] => *one,
            _ => self.stmt_of(StmtKind::Block(out.into()), node.span),
        }
    }

    pub(crate) fn stmt_into(&mut self, id: ast::StmtId, out: &mut Vec<StmtId>) {
        let tree = self.tree;
        match &tree.stmts[id].kind {
            K::Decl(decl) => self.block_decl(*decl, out),
            K::Pragma(pragma, body) => self.block_pragma(*pragma, *body, out),
            _ => {
                let stmt = self.plain_stmt(id);
                out.push(stmt);
            }
        }
    }

    /// Any statement but declarations and pragmas.
    fn plain_stmt(&mut self, id: ast::StmtId) -> StmtId {
        let tree = self.tree;
        let node = &tree.stmts[id];
        let span = node.span;
        // A tag or constant that a condition declares is gone behind the whole statement.
        let is_scope =
            matches!(node.kind, K::If(..) | K::While(..) | K::DoWhile(..) | K::Switch(..));
        if is_scope {
            self.scopes.open();
        }
        let kind = match &node.kind {
            K::Error => StmtKind::Error,
            K::Empty | K::Attributes(_) | K::Decl(_) | K::Pragma(..) => StmtKind::Empty,
            K::LocalLabels(names) => {
                self.hide_labels(names);
                StmtKind::Empty
            }
            K::Block(list) => return self.block(list, span),
            K::Expr(expr) => StmtKind::Expr(self.value(*expr)),
            K::If(cond, yes, no) => {
                let cond = self.test(*cond);
                let yes = self.governed(*yes, "if");
                let no = no.map(|it| self.governed(it, "else"));
                StmtKind::If(cond, yes, no)
            }
            K::While(cond, body) => {
                let cond = self.test(*cond);
                StmtKind::While(cond, self.loop_body(*body, "while"))
            }
            K::DoWhile(body, cond) => {
                let body = self.loop_body(*body, "do");
                StmtKind::DoWhile(body, self.test(*cond))
            }
            K::For(it) => return self.for_stmt(it, span),
            K::Switch(value, body) => self.switch(*value, *body),
            K::Case(low, high, body) => self.case(*low, *high, *body, span),
            K::Default(body) => self.default(*body, span),
            K::Label(ident, _, body) => {
                let label = self.label_defined(*ident);
                self.note_label(label);
                StmtKind::Label(label, self.stmt(*body))
            }
            K::Goto(ident) => {
                let label = self.label_used(*ident);
                self.note_goto(label, span);
                StmtKind::Goto(label)
            }
            K::GotoExpr(goal) => StmtKind::GotoExpr(self.goto_target(*goal)),
            K::Continue => {
                if self.function.as_ref().is_some_and(|it| it.loops == 0) {
                    self.report(messages::outside("continue", "a loop", span));
                    return self.stmt_of(StmtKind::Error, span);
                }
                StmtKind::Continue
            }
            K::Break => {
                if self.function.as_ref().is_some_and(|it| it.breaks == 0) {
                    self.report(messages::outside("break", "a loop or `switch`", span));
                    return self.stmt_of(StmtKind::Error, span);
                }
                StmtKind::Break
            }
            K::Return(value) => self.return_stmt(*value, span),
            K::Asm(asm) => self.asm(*asm),
        };
        if is_scope {
            self.scopes.close();
        }
        self.stmt_of(kind, span)
    }

    /// `goto *e;`
    fn goto_target(&mut self, goal: ast::ExprId) -> ir::program::ExprId {
        let goal = self.value(goal);
        let (ty, span) = (self.ty(goal), self.span(goal));
        if self.pointee(ty).is_some() || self.is_error(ty) {
            return goal;
        }
        let fault = messages::goto_not_address(&self.show(ty), span);
        self.refuse(fault, span)
    }

    fn test(&mut self, cond: ast::ExprId) -> ir::program::ExprId {
        let cond = self.value(cond);
        self.condition(cond)
    }

    /// A statement that is a scope of its own.
    pub(crate) fn inner(&mut self, id: ast::StmtId) -> StmtId {
        self.scopes.open();
        let stmt = self.stmt(id);
        self.scopes.close();
        stmt
    }

    /// The statement that a keyword governs.
    fn governed(&mut self, body: ast::StmtId, keyword: &str) -> StmtId {
        self.refuse_lone_directive(body, keyword);
        self.inner(body)
    }

    fn loop_body(&mut self, body: ast::StmtId, keyword: &str) -> StmtId {
        self.count_loops(1);
        let body = self.governed(body, keyword);
        self.count_loops(-1);
        body
    }

    fn count_loops(&mut self, by: i32) {
        if let Some(body) = &mut self.function {
            body.loops = body.loops.saturating_add_signed(by);
            body.breaks = body.breaks.saturating_add_signed(by);
        }
    }

    fn for_stmt(&mut self, it: &ast::For, span: Span) -> StmtId {
        self.scopes.open();
        let mut init = Vec::new();
        match it.init {
            ast::ForInit::Nothing => {}
            ast::ForInit::Expr(expr) => {
                let span = self.tree.exprs[expr].span;
                let expr = self.value(expr);
                let stmt = self.stmt_of(StmtKind::Expr(expr), span);
                init.push(stmt);
            }
            ast::ForInit::Decl(decl) => self.block_decl(decl, &mut init),
        }
        let cond = it.cond.map(|cond| self.test(cond));
        let step = it.step.map(|step| self.value(step));
        let body = self.loop_body(it.body, "for");
        self.scopes.close();
        let init = init.into();
        self.stmt_of(
            StmtKind::For(Box::new(For { init, cond, step, body, unroll: None, lanes: false })),
            span,
        )
    }

    // ------------------------------------------------------------ switch

    fn switch(&mut self, value: ast::ExprId, body: ast::StmtId) -> StmtKind {
        let value = self.value(value);
        let (ty, span) = (self.ty(value), self.span(value));
        let value = if self.is_integer(ty) {
            self.promoted(value)
        } else if self.is_error(ty) {
            value
        } else {
            let fault = messages::switch_not_integer(&self.show(ty), span);
            self.refuse(fault, span)
        };
        let ty = self.value_ty(value);
        if let Some(function) = &mut self.function {
            let sized = self.scopes.sized();
            function.switches.push(Switch { ty, cases: Vec::new(), default: None, sized });
            function.breaks += 1;
        }
        let body = self.governed(body, "switch");
        let switch = self.function.as_mut().and_then(|it| {
            it.breaks = it.breaks.saturating_sub(1);
            it.switches.pop()
        });
        if let Some(switch) = switch {
            self.check_cases(switch.cases);
        }
        StmtKind::Switch(value, body)
    }

    /// Two cases must not cover the same value.
    fn check_cases(&mut self, mut cases: Vec<(i128, i128, Span)>) {
        cases.sort_unstable_by_key(|it| (it.0, it.2));
        let mut reach: Option<(i128, Span)> = None;
        for (low, high, span) in cases {
            if let Some((end, first)) = reach
                && low <= end
            {
                let (first, span) = (first.min(span), first.max(span));
                self.report(messages::duplicate_case(low, span, first));
            }
            reach = reach.filter(|it| it.0 > high).or(Some((high, span)));
        }
    }

    fn case(
        &mut self,
        low_expr: ast::ExprId,
        high: Option<ast::ExprId>,
        body: ast::StmtId,
        span: Span,
    ) -> StmtKind {
        let low_value = self.case_value(low_expr);
        let high_value = match high {
            Some(high) => self.case_value(high),
            None => low_value,
        };
        let switch = self.function.as_mut().and_then(|it| it.switches.last_mut());
        match switch {
            None => self.report(messages::outside("case", "a `switch`", span)),
            Some(switch) => {
                if let (Some(low), Some(high)) = (low_value, high_value)
                    && low <= high
                {
                    switch.cases.push((low, high, self.tree.exprs[low_expr].span));
                }
            }
        }
        self.check_case_scope(span);
        let body = self.stmt(body);
        match (low_value, high_value) {
            // No value is in an empty range: nothing jumps there.
            (Some(low), Some(high)) if low <= high => StmtKind::Case(low, high, body),
            _ => self.program.stmts[body].kind.clone(),
        }
    }

    /// A constant, converted to the type that is tested.
    fn case_value(&mut self, value: ast::ExprId) -> Option<i128> {
        let value = self.value(value);
        let (ty, span) = (self.ty(value), self.span(value));
        if self.is_error(ty) {
            return None;
        }
        let constant = self.constant(value).filter(|_| self.is_integer(ty));
        let Some(constant) = constant else {
            self.report(messages::not_constant("value of `case`", span));
            return None;
        };
        let to = self.function.as_ref().and_then(|it| it.switches.last()).map(|it| it.ty);
        Some(to.map_or(constant, |to| self.wrap(constant, to)))
    }

    fn default(&mut self, body: ast::StmtId, span: Span) -> StmtKind {
        let switch = self.function.as_mut().and_then(|it| it.switches.last_mut());
        let fault = match switch {
            None => Some(messages::outside("default", "a `switch`", span)),
            Some(switch) => {
                let first = switch.default.replace(span);
                first.map(|first| messages::duplicate_default(span, first))
            }
        };
        if let Some(fault) = fault {
            self.report(fault);
        }
        self.check_case_scope(span);
        StmtKind::Default(self.stmt(body))
    }

    fn check_case_scope(&mut self, span: Span) {
        let switch = self.function.as_ref().and_then(|it| it.switches.last());
        if let Some(from) = switch.map(|it| it.sized) {
            self.check_case_jump(from, span);
        }
    }

    // ------------------------------------------------------------ labels

    fn label_state(&mut self, ident: ast::Ident) -> Option<&mut LabelState> {
        let body = self.function.as_mut()?;
        let labels = &mut self.program.labels;
        Some(body.labels.known.entry(ident.name).or_insert_with(|| {
            let id = labels.push(Label { name: ident.name, span: ident.span });
            LabelState { id, is_defined: false, span: ident.span }
        }))
    }

    pub(crate) fn label_used(&mut self, ident: ast::Ident) -> LabelId {
        match self.label_state(ident) {
            Some(state) => state.id,
            None => {
                // Only in an initialiser at file scope, where no label can be meant.
                let text = self.program.names.text(ident.name);
                let fault = messages::undefined_label(text, ident.span);
                self.report(fault);
                self.program.labels.push(Label { name: ident.name, span: ident.span })
            }
        }
    }

    fn label_defined(&mut self, ident: ast::Ident) -> LabelId {
        let Some(state) = self.label_state(ident) else { return self.label_used(ident) };
        let before = *state;
        (state.is_defined, state.span) = (true, ident.span);
        if before.is_defined {
            let text = self.program.names.text(ident.name);
            let fault = messages::duplicate_label(text, ident.span, before.span);
            self.report(fault);
        }
        self.program.labels[before.id].span = ident.span;
        before.id
    }

    /// The labels that the function has up to here.
    pub(crate) fn defined_labels(&self) -> FxHashSet<Name> {
        let known = self.function.iter().flat_map(|it| &it.labels.known);
        known.filter(|it| it.1.is_defined).map(|it| *it.0).collect()
    }

    /// Forgets the labels that were defined since: what defines them is read once more.
    pub(crate) fn set_labels_aside(&mut self, before: &FxHashSet<Name>) -> Labels {
        let Some(body) = &mut self.function else { return Labels::default() };
        let known = body.labels.known.clone();
        body.labels.known.retain(|name, it| !it.is_defined || before.contains(name));
        Labels { known, hidden: Vec::new() }
    }

    /// Undoes that; labels from `first` on are those of the second reading and get their own names.
    pub(crate) fn take_labels_back(&mut self, labels: Labels, first: usize) {
        for index in first..self.program.labels.len() {
            let id = LabelId::from_index(u32::try_from(index).unwrap_or(u32::MAX));
            let name = self.program.names.text(self.program.labels[id].name);
            let own = format!("{name}__ferry{index}");
            self.program.labels[id].name = self.program.names.intern(&own);
        }
        if let Some(body) = &mut self.function {
            body.labels.known = labels.known;
        }
    }

    /// `__label__ a, b;`
    fn hide_labels(&mut self, names: &[ast::Ident]) {
        let depth = self.scopes.depth();
        for ident in names {
            let Some(body) = &mut self.function else { return };
            let before = body.labels.known.remove(&ident.name);
            body.labels.hidden.push((depth, ident.name, before));
            self.label_state(*ident);
        }
    }

    /// At the end of a block: its own labels go, what they hid comes back.
    fn restore_labels(&mut self) {
        let depth = self.scopes.depth();
        loop {
            let Some(body) = &mut self.function else { return };
            let Some((_, name, before)) = body.labels.hidden.pop_if(|it| it.0 >= depth) else {
                return;
            };
            body.labels.known.remove(&name);
            if let Some(before) = before {
                body.labels.known.insert(name, before);
            }
        }
    }

    /// At the end of a function every label that was used must have been seen.
    pub(crate) fn finish_labels(&mut self) {
        let Some(body) = &mut self.function else { return };
        let known = std::mem::take(&mut body.labels.known);
        let mut missing: Vec<(Span, Name)> = known
            .into_iter()
            .filter(|(_, state)| !state.is_defined)
            .map(|(name, state)| (state.span, name))
            .collect();
        missing.sort_unstable();
        for (span, name) in missing {
            let fault = messages::undefined_label(self.program.names.text(name), span);
            self.report(fault);
        }
    }

    // ------------------------------------------------------------ return, asm

    fn return_stmt(&mut self, value: Option<ast::ExprId>, span: Span) -> StmtKind {
        let ret = self.function.as_ref().map_or(self.basics.error, |it| it.ret);
        let value = value.map(|it| self.value(it));
        let value = match value {
            Some(value) if self.is_void(ret) => {
                let ty = self.ty(value);
                if self.is_void(ty) || self.is_error(ty) {
                    Some(value)
                } else {
                    let span = self.span(value);
                    self.report(messages::returns_value_from_void(span));
                    Some(self.convert(value, ret))
                }
            }
            Some(value) => Some(self.assign_to(value, ret, Goal::Return)),
            None => {
                if !self.is_void(ret) && !self.is_error(ret) {
                    self.report(messages::returns_nothing(span));
                }
                None
            }
        };
        StmtKind::Return(value)
    }

    fn asm(&mut self, id: ast::AsmId) -> StmtKind {
        let tree = self.tree;
        let asm = &tree.asms[id];
        let text = |id: ast::ExprId| match &tree.exprs[id].kind {
            ast::ExprKind::Str(pieces) => pieces.clone(),
            _ => [].into(),
        };
        let mut outputs = Vec::with_capacity(asm.outputs.len());
        for operand in &asm.outputs {
            let value = self.expr(operand.value);
            if !self.is_lvalue(value) {
                let span = self.span(value);
                self.report(messages::not_lvalue("output of `asm`", span));
            }
            outputs.push((self.constraint(operand), value));
        }
        let mut inputs = Vec::with_capacity(asm.inputs.len());
        for operand in &asm.inputs {
            let constraint = text(operand.constraint).first().copied();
            // An operand in memory is the object, not its value.
            let in_memory = constraint
                .is_some_and(|it| self.program.names.text(it).trim_matches(['"', '+']) == "m");
            let value = match in_memory {
                true => self.expr(operand.value),
                false => self.value(operand.value),
            };
            inputs.push((self.constraint(operand), value));
        }
        let clobbers = asm.clobbers.iter().flat_map(|it| text(*it)).collect();
        let labels = asm.labels.iter().map(|it| self.label_used(*it)).collect();
        StmtKind::Asm(Box::new(Asm {
            is_volatile: asm.is_volatile,
            is_extended: asm.colons > 0,
            template: text(asm.template),
            outputs,
            inputs,
            clobbers,
            labels,
        }))
    }

    /// `[name] "=r"`
    fn constraint(&mut self, operand: &ast::AsmOperand) -> Name {
        let mut words: Vec<String> = Vec::new();
        if let Some(ident) = operand.name {
            words.push(format!("[{}]", self.program.names.text(ident.name)));
        }
        if let ast::ExprKind::Str(pieces) = &self.tree.exprs[operand.constraint].kind {
            words.extend(pieces.iter().map(|it| self.program.names.text(*it).to_owned()));
        }
        self.program.names.intern(&words.join(" "))
    }
}
