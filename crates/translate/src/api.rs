//! Calls that have a counterpart for the arguments they are given are rewritten in place; arguments that stay
//! keep their bytes. A call whose text a macro makes is left to the header.

use std::ops::Range;

use directive::{Argument, Rewritten};
use ir::program::{ExprId, ExprKind, Program, StmtKind};
use rustc_hash::{FxHashMap, FxHashSet};

use super::place::Pen;
use super::{Fate, Remark, Target, codes};

/// The arguments of calls, by the expression that names the function.
pub(super) struct Calls<'a> {
    program: &'a Program,
    arguments: FxHashMap<ExprId, &'a [ExprId]>,
    /// Of these nobody looks at what they answer.
    unused: FxHashSet<ExprId>,
}

impl<'a> Calls<'a> {
    pub(super) fn of(program: &'a Program) -> Calls<'a> {
        let mut arguments = FxHashMap::default();
        for (_, expr) in program.exprs.iter() {
            if let ExprKind::Call(callee, given) = &expr.kind {
                arguments.insert(bare(program, *callee), given.as_ref());
            }
        }
        let mut unused = FxHashSet::default();
        for (_, stmt) in program.stmts.iter() {
            if let StmtKind::Expr(whole) = stmt.kind
                && let ExprKind::Call(callee, _) = &program.exprs[bare(program, whole)].kind
            {
                unused.insert(bare(program, *callee));
            }
        }
        Calls { program, arguments, unused }
    }

    /// Whether somebody looks at what a call answers.
    pub(super) fn is_used(&self, callee: ExprId) -> bool {
        !self.unused.contains(&callee)
    }

    /// Writes what a call becomes, if it has a counterpart and a place of its own in a file.
    pub(super) fn rewrite(
        &self,
        callee: ExprId,
        name: &str,
        made: impl Fn(&[Argument<'_>]) -> Option<Rewritten>,
        pen: &mut Pen<'_>,
    ) -> bool {
        // Where both readers, or one without either standard, have the old name, it stays.
        if pen.keeps_calls() || pen.defines(name) {
            return false;
        }
        let Some(given) = self.arguments.get(&callee) else { return false };
        let known: Vec<Argument<'_>> = given.iter().map(|it| argument(self.program, *it)).collect();
        let Some(made) = made(&known) else { return false };
        let span = self.program.exprs[callee].span;
        let Some(to) = pen.rewrite_call(span, name, given.len(), &made) else { return false };
        let remark = match made {
            Rewritten::Call { .. } => {
                let text = "the other runtime has the same call".to_owned();
                Remark { fate: Fate::Translated, clause: None, code: None, text }
            }
            Rewritten::Nothing => {
                let text = "devices are ready when they are used".to_owned();
                let code = Some(codes::DEVICES_READY);
                Remark { fate: Fate::Approximated, clause: None, code, text }
            }
        };
        pen.record(Target::Directive(span), format!("{name}()"), vec![to], vec![remark]);
        true
    }

    /// Says what a variable of the environment is called there, and writes it if its values are the same.
    pub(super) fn environment(&self, callee: ExprId, to_levels: bool, pen: &mut Pen<'_>) {
        let first = self.arguments.get(&callee).and_then(|it| it.first());
        let Some(literal) = first.map(|it| bare(self.program, *it)) else { return };
        let ExprKind::Str(pieces) = &self.program.exprs[literal].kind else { return };
        let [piece] = pieces.as_ref() else { return };
        let piece = self.program.names.text(*piece).trim_matches('"');
        let (old, _) = piece.split_once('=').unwrap_or((piece, ""));
        let Some((new, text)) = directive::environment(old, to_levels) else { return };
        let span = self.program.exprs[literal].span;
        let is_done = new.is_some_and(|new| pen.rename(span, old, new));
        let (fate, to) = match new.filter(|_| is_done) {
            Some(new) => (Fate::Translated, vec![new.to_owned()]),
            None => (Fate::Approximated, Vec::new()),
        };
        let text = match new {
            Some(new) => format!("{new}: {text}"),
            None => text.to_owned(),
        };
        let clause = Some(old.to_owned());
        let remarks = vec![Remark { fate, clause, code: Some(codes::ENVIRONMENT), text }];
        pen.record(Target::Directive(span), old.to_owned(), to, remarks);
    }
}

/// Without conversions.
fn bare(program: &Program, mut id: ExprId) -> ExprId {
    while let ExprKind::Cast(_, inner) = program.exprs[id].kind {
        id = inner;
    }
    id
}

/// What is known of an argument.
fn argument(program: &Program, id: ExprId) -> Argument<'_> {
    match &program.exprs[bare(program, id)].kind {
        ExprKind::EnumConst(list, at) => {
            let constants = program.types.enums[*list].constants.as_deref().unwrap_or_default();
            let found = constants.get(*at as usize);
            found.map_or(Argument::Other { is_pure: true }, |it| {
                Argument::Constant(program.names.text(it.0))
            })
        }
        ExprKind::Int(value) => Argument::Integer(*value),
        ExprKind::Call(callee, arguments) if arguments.is_empty() => {
            match program.exprs[bare(program, *callee)].kind {
                ExprKind::Function(it) => {
                    Argument::Call(program.names.text(program.functions[it].name))
                }
                _ => Argument::Other { is_pure: false },
            }
        }
        ExprKind::AddrOf(of) if program.types.is_scalar(program.exprs[*of].ty) => {
            match program.exprs[*of].kind {
                ExprKind::Var(_) => Argument::Scalar,
                _ => Argument::Other { is_pure: false },
            }
        }
        ExprKind::Var(_) | ExprKind::Sizeof(_) => Argument::Other { is_pure: true },
        _ => Argument::Other { is_pure: false },
    }
}

/// The parts of a call's text: from behind the name, the arguments and the end.
pub(super) struct Parts {
    pub(super) arguments: Vec<Range<usize>>,
    pub(super) end: usize,
}

/// Finds them in a file as written, from the end of the name on.
pub(super) fn parts(text: &[u8], from: usize) -> Option<Parts> {
    let gap = text.get(from..)?.iter().position(|it| !it.is_ascii_whitespace())?;
    let open = from + gap;
    (text.get(open) == Some(&b'(')).then_some(())?;
    let (mut depth, mut at, mut start) = (0usize, open, open + 1);
    let mut arguments = Vec::new();
    loop {
        match text.get(at)? {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    break;
                }
            }
            b',' if depth == 1 => {
                arguments.push(start..at);
                start = at + 1;
            }
            quote @ (b'"' | b'\'') => {
                at += 1;
                while text.get(at)? != quote {
                    at += if text.get(at) == Some(&b'\\') { 2 } else { 1 };
                }
            }
            // Who writes comments or directives there keeps the call.
            b'/' if matches!(text.get(at + 1), Some(b'*' | b'/')) => return None,
            b'#' => return None,
            _ => {}
        }
        at += 1;
    }
    if !text.get(start..at)?.trim_ascii().is_empty() || !arguments.is_empty() {
        arguments.push(start..at);
    }
    Some(Parts { arguments, end: at + 1 })
}
