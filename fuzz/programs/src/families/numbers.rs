//! Types of C and operators of reductions, with the arithmetic that expectations are computed with.

use crate::rng::Rng;

/// An arithmetic type. Values of all of them are kept as whole numbers, which floating-point types hold exactly.
#[derive(Clone, Copy)]
pub(crate) struct Type {
    /// As C spells it.
    pub name: &'static str,
    /// The smallest whole number it is given.
    pub min: i64,
    /// The largest whole number it is given.
    pub max: i64,
    /// Not an integer type.
    pub float: bool,
}

const fn integer(name: &'static str, min: i64, max: i64) -> Type {
    Type { name, min, max, float: false }
}

/// All integer types that counters and reductions have.
pub(crate) const INTEGERS: [Type; 10] = [
    integer("int", i32::MIN as i64, i32::MAX as i64),
    integer("unsigned", 0, u32::MAX as i64),
    integer("long", i64::MIN, i64::MAX),
    integer("long long", i64::MIN, i64::MAX),
    integer("unsigned long", 0, i64::MAX),
    integer("short", i16::MIN as i64, i16::MAX as i64),
    integer("unsigned short", 0, u16::MAX as i64),
    integer("signed char", i8::MIN as i64, i8::MAX as i64),
    integer("unsigned char", 0, u8::MAX as i64),
    integer("int64_t", i64::MIN, i64::MAX),
];

/// Both floating-point types, with whole numbers that stay exact in sums of a few.
pub(crate) const FLOATS: [Type; 2] = [
    Type { name: "float", min: -100_000, max: 100_000, float: true },
    Type { name: "double", min: -1_000_000_000, max: 1_000_000_000, float: true },
];

/// Any arithmetic type; `int` and `double` more often.
pub(crate) fn any(rng: &Rng) -> Type {
    match rng.below(10) {
        0..4 => INTEGERS[0],
        4 | 5 => FLOATS[1],
        6 => FLOATS[0],
        _ => rng.pick(&INTEGERS),
    }
}

/// The operators of reductions that both standards have.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Op {
    Add,
    Mul,
    Max,
    Min,
    And,
    Or,
    Xor,
    Both,
    Either,
}

impl Op {
    const ALL: [Op; 9] =
        [Op::Add, Op::Mul, Op::Max, Op::Min, Op::And, Op::Or, Op::Xor, Op::Both, Op::Either];

    /// One that values of the type can be combined with.
    pub(crate) fn of(rng: &Rng, ty: Type) -> Op {
        if ty.float { rng.pick(&[Op::Add, Op::Mul, Op::Max, Op::Min]) } else { rng.pick(&Op::ALL) }
    }

    /// As clauses spell it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Op::Add => "+",
            Op::Mul => "*",
            Op::Max => "max",
            Op::Min => "min",
            Op::And => "&",
            Op::Or => "|",
            Op::Xor => "^",
            Op::Both => "&&",
            Op::Either => "||",
        }
    }

    /// Combining a value with itself changes nothing.
    pub(crate) fn idempotent(self) -> bool {
        matches!(self, Op::Max | Op::Min | Op::And | Op::Or | Op::Both | Op::Either)
    }

    /// What private copies begin with; none where the type's is not one whole number.
    pub(crate) fn identity(self, ty: Type) -> Option<i64> {
        match self {
            Op::Add | Op::Or | Op::Xor | Op::Either => Some(0),
            Op::Mul | Op::Both => Some(1),
            Op::And => (ty.min < 0).then_some(-1),
            Op::Max if !ty.float && ty.min < 0 => Some(ty.min),
            Op::Min if !ty.float && ty.min < 0 => Some(ty.max),
            Op::Max | Op::Min => None,
        }
    }

    /// Two values combined.
    pub(crate) fn apply(self, a: i64, b: i64) -> i64 {
        match self {
            Op::Add => a + b,
            Op::Mul => a * b,
            Op::Max => a.max(b),
            Op::Min => a.min(b),
            Op::And => a & b,
            Op::Or => a | b,
            Op::Xor => a ^ b,
            Op::Both => i64::from(a != 0 && b != 0),
            Op::Either => i64::from(a != 0 || b != 0),
        }
    }

    /// A statement that combines `into` with `value`.
    pub(crate) fn statement(self, rng: &Rng, into: &str, value: &str) -> String {
        let short = rng.chance(50);
        match self {
            Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor => {
                let op = self.name();
                if short {
                    format!("{into} {op}= {value};")
                } else {
                    format!("{into} = {into} {op} {value};")
                }
            }
            Op::Max | Op::Min => {
                let op = if self == Op::Max { '>' } else { '<' };
                if short {
                    format!("if ({value} {op} {into}) {into} = {value};")
                } else {
                    format!("{into} = {into} {op} {value} ? {into} : {value};")
                }
            }
            Op::Both | Op::Either => format!("{into} = {into} {} {value};", self.name()),
        }
    }

    /// An original value and `count` values whose combination the type holds at every step, in every order.
    pub(crate) fn values(self, rng: &Rng, ty: Type, count: usize) -> (i64, Vec<i64>) {
        let room = |limit: i64| (limit / (2 * count.max(1) as i64 + 2)).min(1000);
        match self {
            Op::Add => {
                let (low, high) = (-room(-(ty.min + 1)), room(ty.max));
                let first = rng.range(low, high);
                let first = if first == 0 { high.min(1) } else { first };
                (first, (0..count).map(|_| rng.range(low, high)).collect())
            }
            Op::Mul => {
                let mut all = vec![1; count];
                for _ in 0..3 {
                    if count > 0 {
                        let at = rng.below(count);
                        all[at] = 2;
                    }
                }
                (rng.range(2, 7), all)
            }
            Op::Max | Op::Min | Op::And | Op::Or | Op::Xor => {
                let (low, high) = if ty.float { (-9999, 9999) } else { (ty.min, ty.max) };
                let value = || {
                    if rng.chance(50) {
                        rng.range(low, high)
                    } else {
                        rng.range(low.max(-90), high.min(90))
                    }
                };
                (value(), (0..count).map(|_| value()).collect())
            }
            Op::Both => (
                i64::from(rng.chance(80)),
                (0..count).map(|_| i64::from(rng.chance(95)) * 3).collect(),
            ),
            Op::Either => (
                i64::from(rng.chance(30)),
                (0..count).map(|_| i64::from(rng.chance(3)) * 2).collect(),
            ),
        }
    }
}
