//! The operators of C: what they are and how tightly they bind.

use crate::ast::{BinaryOp, UnaryOp};
use crate::token::TokenKind;

/// How tightly a binary operator binds; more is tighter. Assignment, `?:` and `,` are not here.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Level(u8);

impl Level {
    pub(super) const LOOSEST: Level = Level(1);

    pub(super) fn tighter(self) -> Level {
        Level(self.0 + 1)
    }
}

/// The binary operator a token stands for.
#[inline]
pub(super) fn binary(kind: TokenKind) -> Option<(Level, BinaryOp)> {
    Some(match kind {
        TokenKind::PipePipe => (Level(1), BinaryOp::Or),
        TokenKind::AmpAmp => (Level(2), BinaryOp::And),
        TokenKind::Pipe => (Level(3), BinaryOp::BitOr),
        TokenKind::Caret => (Level(4), BinaryOp::BitXor),
        TokenKind::Amp => (Level(5), BinaryOp::BitAnd),
        TokenKind::EqualEqual => (Level(6), BinaryOp::Eq),
        TokenKind::NotEqual => (Level(6), BinaryOp::Ne),
        TokenKind::Less => (Level(7), BinaryOp::Lt),
        TokenKind::Greater => (Level(7), BinaryOp::Gt),
        TokenKind::LessEqual => (Level(7), BinaryOp::Le),
        TokenKind::GreaterEqual => (Level(7), BinaryOp::Ge),
        TokenKind::LessLess => (Level(8), BinaryOp::Shl),
        TokenKind::GreaterGreater => (Level(8), BinaryOp::Shr),
        TokenKind::Plus => (Level(9), BinaryOp::Add),
        TokenKind::Minus => (Level(9), BinaryOp::Sub),
        TokenKind::Star => (Level(10), BinaryOp::Mul),
        TokenKind::Slash => (Level(10), BinaryOp::Div),
        TokenKind::Percent => (Level(10), BinaryOp::Rem),
        _ => return None,
    })
}

/// The assignment operator a token stands for: plain, or with the operation it does first.
#[inline]
pub(super) fn assignment(kind: TokenKind) -> Option<Option<BinaryOp>> {
    Some(match kind {
        TokenKind::Equal => None,
        TokenKind::StarEqual => Some(BinaryOp::Mul),
        TokenKind::SlashEqual => Some(BinaryOp::Div),
        TokenKind::PercentEqual => Some(BinaryOp::Rem),
        TokenKind::PlusEqual => Some(BinaryOp::Add),
        TokenKind::MinusEqual => Some(BinaryOp::Sub),
        TokenKind::LessLessEqual => Some(BinaryOp::Shl),
        TokenKind::GreaterGreaterEqual => Some(BinaryOp::Shr),
        TokenKind::AmpEqual => Some(BinaryOp::BitAnd),
        TokenKind::CaretEqual => Some(BinaryOp::BitXor),
        TokenKind::PipeEqual => Some(BinaryOp::BitOr),
        _ => return None,
    })
}

/// The prefix operator a token stands for.
#[inline]
pub(super) fn prefix(kind: TokenKind) -> Option<UnaryOp> {
    Some(match kind {
        TokenKind::Plus => UnaryOp::Plus,
        TokenKind::Minus => UnaryOp::Minus,
        TokenKind::Not => UnaryOp::Not,
        TokenKind::Tilde => UnaryOp::BitNot,
        TokenKind::Star => UnaryOp::Deref,
        TokenKind::Amp => UnaryOp::AddrOf,
        TokenKind::PlusPlus => UnaryOp::PreInc,
        TokenKind::MinusMinus => UnaryOp::PreDec,
        TokenKind::KwReal => UnaryOp::Real,
        TokenKind::KwImag => UnaryOp::Imag,
        TokenKind::KwExtension => UnaryOp::Extension,
        _ => return None,
    })
}
