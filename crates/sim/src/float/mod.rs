//! Floating-point arithmetic as RISC-V has it: every rounding mode, every flag, one NaN.
//!
//! [`soft`] works with whole numbers and is exact by construction; it serves both precisions. [`fast`] lets the
//! host's arithmetic do the ordinary cases of the usual rounding mode, where it can tell the flags without asking
//! the host's control registers. [`run`] is the instruction: which of them, on which registers.

pub(crate) mod fast;
pub(crate) mod run;
pub(crate) mod soft;

/// Invalid operation.
pub(crate) const INVALID: u32 = 16;
/// A division of a finite number by zero.
pub(crate) const DIVIDE_BY_ZERO: u32 = 8;
/// Too large.
pub(crate) const OVERFLOW: u32 = 4;
/// Too small to be exact.
pub(crate) const UNDERFLOW: u32 = 2;
/// Not exact.
pub(crate) const INEXACT: u32 = 1;

/// How what does not fit is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    NearestEven,
    TowardZero,
    Down,
    Up,
    NearestAway,
}

impl Rounding {
    /// The mode of an instruction; 7 stands for the one in `fcsr`. `None` for modes that do not exist.
    pub(crate) fn of(written: u8, current: u8) -> Option<Rounding> {
        match if written == 7 { current } else { written } {
            0 => Some(Rounding::NearestEven),
            1 => Some(Rounding::TowardZero),
            2 => Some(Rounding::Down),
            3 => Some(Rounding::Up),
            4 => Some(Rounding::NearestAway),
            _ => None,
        }
    }
}
