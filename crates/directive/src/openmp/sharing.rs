//! Clauses about copies of variables: private ones, reductions, inductions, linear values.

use ir::construct::{
    ClauseKind, Induction, Linear, LinearKind, OriginalSharing, Reduction, ReductionInit,
    ReductionModifier, ReductionOp, Spelled,
};
use syntax::TokenKind;

use super::words::{list, prefixed};
use crate::Written;
use crate::cursor::{Read, Reader};
use crate::table::Choices;

type Kind = ClauseKind<Written>;

const MODIFIERS: Choices<ReductionModifier> = Choices {
    what: "a reduction modifier",
    words: &[
        ("default", ReductionModifier::Default),
        ("inscan", ReductionModifier::Inscan),
        ("task", ReductionModifier::Task),
    ],
};

const ORIGINALS: Choices<OriginalSharing> = Choices {
    what: "an original sharing",
    words: &[
        ("default", OriginalSharing::Default),
        ("private", OriginalSharing::Private),
        ("shared", OriginalSharing::Shared),
    ],
};

const LINEAR_KINDS: Choices<LinearKind> = Choices {
    what: "a linear kind",
    words: &[("val", LinearKind::Val), ("ref", LinearKind::Ref), ("uval", LinearKind::Uval)],
};

/// `firstprivate(saved: items)`
pub(super) fn read_firstprivate(r: &mut Reader<'_, '_>) -> Read<Kind> {
    Ok(ClauseKind::FirstPrivate { saved: r.eat_word_colon("saved"), items: r.items()? })
}

pub(super) fn write_firstprivate(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::FirstPrivate { saved, items } = kind else { return None };
    Some(if *saved { prefixed(&["saved".to_owned()], items) } else { list(items) })
}

/// `lastprivate(conditional: items)`
pub(super) fn read_lastprivate(r: &mut Reader<'_, '_>) -> Read<Kind> {
    Ok(ClauseKind::LastPrivate { conditional: r.eat_word_colon("conditional"), items: r.items()? })
}

pub(super) fn write_lastprivate(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::LastPrivate { conditional, items } = kind else { return None };
    Some(if *conditional { prefixed(&["conditional".to_owned()], items) } else { list(items) })
}

/// `+`, `max`, or a user's name.
pub(super) fn read_op(r: &mut Reader<'_, '_>) -> Read<ReductionOp<Written>> {
    let op = match r.p.peek() {
        TokenKind::Plus => ReductionOp::Add,
        TokenKind::Minus => ReductionOp::Sub,
        TokenKind::Star => ReductionOp::Mul,
        TokenKind::Amp => ReductionOp::BitAnd,
        TokenKind::Pipe => ReductionOp::BitOr,
        TokenKind::Caret => ReductionOp::BitXor,
        TokenKind::AmpAmp => ReductionOp::And,
        TokenKind::PipePipe => ReductionOp::Or,
        _ => match r.word() {
            "min" => ReductionOp::Min,
            "max" => ReductionOp::Max,
            _ => return Ok(ReductionOp::User(r.ident("a reduction operator or its name")?.name)),
        },
    };
    r.p.bump();
    Ok(op)
}

pub(super) fn write_op(op: &ReductionOp<Spelled>) -> &str {
    match op {
        ReductionOp::Add => "+",
        ReductionOp::Sub => "-",
        ReductionOp::Mul => "*",
        ReductionOp::BitAnd => "&",
        ReductionOp::BitOr => "|",
        ReductionOp::BitXor => "^",
        ReductionOp::And => "&&",
        ReductionOp::Or => "||",
        ReductionOp::Min => "min",
        ReductionOp::Max => "max",
        ReductionOp::User(name) => name,
    }
}

/// `reduction(inscan, original(shared), +: items)`
pub(super) fn read_reduction(r: &mut Reader<'_, '_>) -> Read<Reduction<Written>> {
    let (mut modifier, mut original) = (None, None);
    loop {
        if r.word() == "original" && r.p.peek_at(1) == TokenKind::LParen {
            r.p.bump();
            original = Some(r.parens(|r| r.choice(&ORIGINALS))?);
        } else if r.p.word().is_some() && r.p.peek_at(1) == TokenKind::Comma {
            modifier = Some(r.choice(&MODIFIERS)?);
        } else {
            break;
        }
        r.expect(TokenKind::Comma)?;
    }
    let op = read_op(r)?;
    r.expect(TokenKind::Colon)?;
    Ok(Reduction { modifier, original, op, items: r.items()? })
}

pub(super) fn write_reduction(it: &Reduction<Spelled>) -> String {
    let mut words: Vec<String> = Vec::new();
    words.extend(it.modifier.and_then(|it| MODIFIERS.word(&it)).map(str::to_owned));
    words.extend(it.original.and_then(|it| Some(format!("original({})", ORIGINALS.word(&it)?))));
    words.push(write_op(&it.op).to_owned());
    prefixed(&words, &it.items)
}

/// `induction(strict, step(s), +: items)`
pub(super) fn read_induction(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let (mut strict, mut step) = (None, None);
    loop {
        if r.word() == "step" && r.p.peek_at(1) == TokenKind::LParen {
            r.p.bump();
            step = Some(r.parens(Reader::expr)?);
        } else if matches!(r.word(), "strict" | "relaxed") && r.p.peek_at(1) == TokenKind::Comma {
            strict = Some(r.word() == "strict");
            r.p.bump();
        } else {
            break;
        }
        r.expect(TokenKind::Comma)?;
    }
    let op = read_op(r)?;
    r.expect(TokenKind::Colon)?;
    Ok(ClauseKind::Induction(Induction { op, strict, step, items: r.items()? }))
}

pub(super) fn write_induction(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Induction(it) = kind else { return None };
    let mut words: Vec<String> = Vec::new();
    words.extend(it.strict.map(|is| if is { "strict" } else { "relaxed" }.to_owned()));
    words.extend(it.step.as_ref().map(|it| format!("step({it})")));
    words.push(write_op(&it.op).to_owned());
    Some(prefixed(&words, &it.items))
}

/// `linear(x: step(2), val)`, `linear(x: 2)`, and the old `linear(val(x): 2)`
pub(super) fn read_linear(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let old_form = r.at_choice(&LINEAR_KINDS) && r.p.peek_at(1) == TokenKind::LParen;
    let mut kind = if old_form { Some(r.choice(&LINEAR_KINDS)?) } else { None };
    let items = if old_form { r.parens(Reader::items)? } else { r.items()? };
    let (mut step, mut has_step_word) = (None, false);
    if r.p.eat(TokenKind::Colon) {
        loop {
            let is_last = |it| matches!(it, TokenKind::Comma | TokenKind::RParen);
            if r.at_choice(&LINEAR_KINDS) && is_last(r.p.peek_at(1)) {
                kind = Some(r.choice(&LINEAR_KINDS)?);
            } else if r.word() == "step" && r.p.peek_at(1) == TokenKind::LParen {
                r.p.bump();
                step = Some(r.parens(Reader::expr)?);
                has_step_word = true;
            } else {
                step = Some(r.expr()?);
            }
            if !r.p.eat(TokenKind::Comma) {
                break;
            }
        }
    }
    Ok(ClauseKind::Linear(Linear { kind, old_form, items, step, has_step_word }))
}

pub(super) fn write_linear(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Linear(it) = kind else { return None };
    let word = it.kind.and_then(|it| LINEAR_KINDS.word(&it)).map(str::to_owned);
    let items = it.items.join(", ");
    let step = it.step.as_ref();
    let step = step.map(|e| if it.has_step_word { format!("step({e})") } else { e.clone() });
    let (head, tail): (String, Vec<String>) = match word {
        Some(word) if it.old_form => (format!("{word}({items})"), step.into_iter().collect()),
        word => (items, word.into_iter().chain(step).collect()),
    };
    let colon = if tail.is_empty() { "" } else { ": " };
    Some(format!("({head}{colon}{})", tail.join(", ")))
}

/// `aligned(items: 64)`
pub(super) fn read_aligned(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let items = r.items()?;
    let by = if r.p.eat(TokenKind::Colon) { Some(r.expr()?) } else { None };
    Ok(ClauseKind::Aligned(items, by))
}

pub(super) fn write_aligned(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Aligned(items, by) = kind else { return None };
    let by = by.as_ref().map(|it| format!(": {it}")).unwrap_or_default();
    Some(format!("({}{by})", items.join(", ")))
}

/// `initializer(omp_priv = {0})`, `initializer(init(&omp_priv))`
pub(super) fn read_initializer(r: &mut Reader<'_, '_>) -> Read<Kind> {
    let is_assignment = r.word() == "omp_priv" && r.p.peek_at(1) == TokenKind::Equal;
    if is_assignment {
        r.p.bump();
        r.p.bump();
        let init = r.clean(|p| p.initializer())?;
        return Ok(ClauseKind::Initializer(ReductionInit::Assign(init)));
    }
    Ok(ClauseKind::Initializer(ReductionInit::Call(r.expr()?)))
}

pub(super) fn write_initializer(kind: &ClauseKind<Spelled>) -> Option<String> {
    let ClauseKind::Initializer(init) = kind else { return None };
    Some(match init {
        ReductionInit::Assign(init) => format!("(omp_priv = {init})"),
        ReductionInit::Call(call) => format!("({call})"),
    })
}
