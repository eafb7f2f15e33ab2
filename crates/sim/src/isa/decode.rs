//! From bits to [`Op`]s: RV32IMAFD, Zicsr, Zifencei and the wide loads and stores.
//!
//! In: a word and where it stands. Out: always an `Op`; what is no instruction of this cluster becomes
//! [`Kind::Illegal`]. Instructions of 16 bits come here as the longer ones they stand for ([`super::compressed`]).

use super::op::{AtomicOp, CsrOp, FLOAT, FloatOp, Kind, Op, SINK, Width};
use super::{Isa, compressed};

/// Decodes what begins with `low`; `high` is the half word behind it, absent at the end of memory.
pub(crate) fn decode(low: u16, high: Option<u16>, pc: u32, isa: Isa) -> Op {
    if low & 3 != 3 {
        let bits = u32::from(low);
        let long = isa.c.then(|| compressed::expand(low, isa)).flatten();
        let Some(op) = long.and_then(|it| decode_word(it, pc, isa)) else {
            return illegal(bits, 2);
        };
        // The address behind a jump depends on the length.
        return Op { len: 2, ..op };
    }
    let Some(high) = high else { return illegal(u32::from(low), 2) };
    let word = u32::from(high) << 16 | u32::from(low);
    decode_word(word, pc, isa).unwrap_or(illegal(word, 4))
}

fn illegal(bits: u32, len: u8) -> Op {
    Op { kind: Kind::Illegal, rd: SINK, imm: bits, len, ..Op::default() }
}

fn decode_word(word: u32, pc: u32, isa: Isa) -> Option<Op> {
    let fields = Fields(word);
    let mut op = match word & 0x7f {
        0x37 => constant(fields, fields.upper()),
        0x17 => constant(fields, pc.wrapping_add(fields.upper())),
        0x6f => Op {
            kind: Kind::Jal,
            rd: fields.rd(),
            imm: pc.wrapping_add(fields.jump()),
            ..Op::default()
        },
        0x67 if fields.funct3() == 0 => with_immediate(fields, Kind::Jalr),
        0x63 => branch(fields, pc)?,
        0x03 => with_immediate(
            fields,
            match fields.funct3() {
                0 => Kind::Lb,
                1 => Kind::Lh,
                2 => Kind::Lw,
                4 => Kind::Lbu,
                5 => Kind::Lhu,
                _ => return None,
            },
        ),
        0x23 => {
            let kind = match fields.funct3() {
                0 => Kind::Sb,
                1 => Kind::Sh,
                2 => Kind::Sw,
                _ => return None,
            };
            store(fields, kind, fields.rs2())
        }
        0x07 => {
            let kind = float_access(fields, isa, Kind::Flw, Kind::Fld)?;
            Op { rd: fields.float_rd(), ..with_immediate(fields, kind) }
        }
        0x27 => {
            let kind = float_access(fields, isa, Kind::Fsw, Kind::Fsd)?;
            store(fields, kind, fields.float_rs2())
        }
        0x13 => immediate_arithmetic(fields)?,
        0x33 => arithmetic(fields, isa)?,
        0x0f => match fields.funct3() {
            0 => Op { kind: Kind::Fence, rd: SINK, ..Op::default() },
            1 => Op { kind: Kind::FenceI, rd: SINK, ..Op::default() },
            _ => return None,
        },
        0x73 => system(fields)?,
        0x2f if isa.a => atomic(fields)?,
        0x43 => fused(fields, isa, FloatOp::Madd)?,
        0x47 => fused(fields, isa, FloatOp::Msub)?,
        0x4b => fused(fields, isa, FloatOp::Nmsub)?,
        0x4f => fused(fields, isa, FloatOp::Nmadd)?,
        0x53 => float(fields, isa)?,
        0x0b if isa.wide => wide_load(fields)?,
        0x2b if isa.wide => wide_store(fields)?,
        _ => return None,
    };
    op.len = 4;
    Some(op.with_reads())
}

/// The fields of an instruction.
#[derive(Clone, Copy)]
struct Fields(u32);

impl Fields {
    fn five(self, at: u32) -> u8 {
        (self.0 >> at & 31) as u8
    }

    fn rd(self) -> u8 {
        match self.five(7) {
            0 => SINK,
            rd => rd,
        }
    }

    fn rs1(self) -> u8 {
        self.five(15)
    }

    fn rs2(self) -> u8 {
        self.five(20)
    }

    fn rs3(self) -> u8 {
        self.five(27)
    }

    fn float_rd(self) -> u8 {
        FLOAT + self.five(7)
    }

    fn float_rs1(self) -> u8 {
        FLOAT + self.five(15)
    }

    fn float_rs2(self) -> u8 {
        FLOAT + self.five(20)
    }

    fn funct3(self) -> u32 {
        self.0 >> 12 & 7
    }

    fn funct7(self) -> u32 {
        self.0 >> 25
    }

    fn signed(self) -> i32 {
        self.0.cast_signed()
    }

    fn immediate(self) -> u32 {
        (self.signed() >> 20).cast_unsigned()
    }

    fn store(self) -> u32 {
        (self.signed() >> 25 << 5).cast_unsigned() | self.0 >> 7 & 31
    }

    fn branch(self) -> u32 {
        let sign = (self.signed() >> 31 << 12).cast_unsigned();
        sign | (self.0 >> 7 & 1) << 11 | (self.0 >> 25 & 0x3f) << 5 | (self.0 >> 8 & 15) << 1
    }

    fn upper(self) -> u32 {
        self.0 & 0xffff_f000
    }

    fn jump(self) -> u32 {
        let sign = (self.signed() >> 31 << 20).cast_unsigned();
        sign | self.0 & 0xf_f000 | (self.0 >> 20 & 1) << 11 | (self.0 >> 21 & 0x3ff) << 1
    }
}

fn constant(fields: Fields, value: u32) -> Op {
    Op { kind: Kind::Constant, rd: fields.rd(), imm: value, ..Op::default() }
}

fn with_immediate(fields: Fields, kind: Kind) -> Op {
    Op { kind, rd: fields.rd(), rs1: fields.rs1(), imm: fields.immediate(), ..Op::default() }
}

fn store(fields: Fields, kind: Kind, value: u8) -> Op {
    Op { kind, rd: SINK, rs1: fields.rs1(), rs2: value, imm: fields.store(), ..Op::default() }
}

fn branch(fields: Fields, pc: u32) -> Option<Op> {
    let kind = match fields.funct3() {
        0 => Kind::Beq,
        1 => Kind::Bne,
        4 => Kind::Blt,
        5 => Kind::Bge,
        6 => Kind::Bltu,
        7 => Kind::Bgeu,
        _ => return None,
    };
    let imm = pc.wrapping_add(fields.branch());
    Some(Op { kind, rd: SINK, rs1: fields.rs1(), rs2: fields.rs2(), imm, ..Op::default() })
}

fn immediate_arithmetic(fields: Fields) -> Option<Op> {
    let kind = match (fields.funct3(), fields.funct7()) {
        (0, _) => Kind::Addi,
        (2, _) => Kind::Slti,
        (3, _) => Kind::Sltiu,
        (4, _) => Kind::Xori,
        (6, _) => Kind::Ori,
        (7, _) => Kind::Andi,
        (1, 0) => Kind::Slli,
        (5, 0) => Kind::Srli,
        (5, 0x20) => Kind::Srai,
        _ => return None,
    };
    let op = with_immediate(fields, kind);
    let is_shift = matches!(fields.funct3(), 1 | 5);
    Some(if is_shift { Op { imm: op.imm & 31, ..op } } else { op })
}

fn arithmetic(fields: Fields, isa: Isa) -> Option<Op> {
    let kind = match (fields.funct7(), fields.funct3()) {
        (0, 0) => Kind::Add,
        (0x20, 0) => Kind::Sub,
        (0, 1) => Kind::Sll,
        (0, 2) => Kind::Slt,
        (0, 3) => Kind::Sltu,
        (0, 4) => Kind::Xor,
        (0, 5) => Kind::Srl,
        (0x20, 5) => Kind::Sra,
        (0, 6) => Kind::Or,
        (0, 7) => Kind::And,
        (1, 0) if isa.m => Kind::Mul,
        (1, 1) if isa.m => Kind::Mulh,
        (1, 2) if isa.m => Kind::Mulhsu,
        (1, 3) if isa.m => Kind::Mulhu,
        (1, 4) if isa.m => Kind::Div,
        (1, 5) if isa.m => Kind::Divu,
        (1, 6) if isa.m => Kind::Rem,
        (1, 7) if isa.m => Kind::Remu,
        _ => return None,
    };
    Some(Op { kind, rd: fields.rd(), rs1: fields.rs1(), rs2: fields.rs2(), ..Op::default() })
}

fn system(fields: Fields) -> Option<Op> {
    if fields.funct3() == 0 {
        let kind = match fields.0 {
            0x0000_0073 => Kind::Ecall,
            0x0010_0073 => Kind::Ebreak,
            0x1050_0073 => Kind::Wfi,
            0x3020_0073 => Kind::Mret,
            _ => return None,
        };
        return Some(Op { kind, rd: SINK, ..Op::default() });
    }
    let csr = match fields.funct3() & 3 {
        1 => CsrOp::Write,
        2 => CsrOp::Set,
        3 => CsrOp::Clear,
        _ => return None,
    };
    let op = Op { kind: Kind::Csr, csr, rd: fields.rd(), imm: fields.0 >> 20, ..Op::default() };
    // A constant stands where a register would: it must not be taken for one that is waited for.
    Some(match fields.funct3() & 4 {
        0 => Op { rs1: fields.rs1(), ..op },
        _ => Op { kind: Kind::CsrConstant, rounding: fields.rs1(), ..op },
    })
}

fn atomic(fields: Fields) -> Option<Op> {
    if fields.funct3() != 2 {
        return None;
    }
    let op = |kind, atomic| Op {
        kind,
        atomic,
        rd: fields.rd(),
        rs1: fields.rs1(),
        rs2: fields.rs2(),
        ..Op::default()
    };
    // The bits `aq` and `rl` ask for an order that accesses have anyway.
    let amo = match fields.funct7() >> 2 {
        0x02 if fields.rs2() == 0 => return Some(op(Kind::LrW, AtomicOp::Swap)),
        0x03 => return Some(op(Kind::ScW, AtomicOp::Swap)),
        0x01 => AtomicOp::Swap,
        0x00 => AtomicOp::Add,
        0x04 => AtomicOp::Xor,
        0x0c => AtomicOp::And,
        0x08 => AtomicOp::Or,
        0x10 => AtomicOp::Min,
        0x14 => AtomicOp::Max,
        0x18 => AtomicOp::Minu,
        0x1c => AtomicOp::Maxu,
        _ => return None,
    };
    Some(op(Kind::Amo, amo))
}

fn float_access(fields: Fields, isa: Isa, single: Kind, double: Kind) -> Option<Kind> {
    match fields.funct3() {
        2 if isa.f => Some(single),
        3 if isa.d => Some(double),
        _ => None,
    }
}

/// Single or double precision, by the two bits that say so.
fn precision(format: u32, isa: Isa) -> Option<Kind> {
    match format & 3 {
        0 if isa.f => Some(Kind::Single),
        1 if isa.d => Some(Kind::Double),
        _ => None,
    }
}

/// Rounding modes 5 and 6 do not exist.
fn rounding(fields: Fields) -> Option<u8> {
    let mode = fields.funct3() as u8;
    (!matches!(mode, 5 | 6)).then_some(mode)
}

fn fused(fields: Fields, isa: Isa, float: FloatOp) -> Option<Op> {
    Some(Op {
        kind: precision(fields.funct7(), isa)?,
        float,
        rd: fields.float_rd(),
        rs1: fields.float_rs1(),
        rs2: fields.float_rs2(),
        rs3: FLOAT + fields.rs3(),
        rounding: rounding(fields)?,
        ..Op::default()
    })
}

fn float(fields: Fields, isa: Isa) -> Option<Op> {
    let kind = precision(fields.funct7(), isa)?;
    let is_double = kind == Kind::Double;
    let (group, funct3, rs2) = (fields.funct7() >> 2, fields.funct3(), fields.rs2());
    let rounded = |float| {
        let rounding = rounding(fields)?;
        Some(Op { float, rounding, ..Op::default() })
    };
    let exact = |float| Some(Op { float, ..Op::default() });
    // What it does, and whether it takes and gives floating-point registers.
    let (op, takes_float, gives_float, takes_two) = match (group, funct3, rs2) {
        (0x00, _, _) => (rounded(FloatOp::Add)?, true, true, true),
        (0x01, _, _) => (rounded(FloatOp::Sub)?, true, true, true),
        (0x02, _, _) => (rounded(FloatOp::Mul)?, true, true, true),
        (0x03, _, _) => (rounded(FloatOp::Div)?, true, true, true),
        (0x0b, _, 0) => (rounded(FloatOp::Sqrt)?, true, true, false),
        (0x04, 0, _) => (exact(FloatOp::Sgnj)?, true, true, true),
        (0x04, 1, _) => (exact(FloatOp::Sgnjn)?, true, true, true),
        (0x04, 2, _) => (exact(FloatOp::Sgnjx)?, true, true, true),
        (0x05, 0, _) => (exact(FloatOp::Min)?, true, true, true),
        (0x05, 1, _) => (exact(FloatOp::Max)?, true, true, true),
        (0x14, 0, _) => (exact(FloatOp::Le)?, true, false, true),
        (0x14, 1, _) => (exact(FloatOp::Lt)?, true, false, true),
        (0x14, 2, _) => (exact(FloatOp::Eq)?, true, false, true),
        (0x18, _, 0) => (rounded(FloatOp::ToInt)?, true, false, false),
        (0x18, _, 1) => (rounded(FloatOp::ToUint)?, true, false, false),
        (0x1a, _, 0) => (rounded(FloatOp::FromInt)?, false, true, false),
        (0x1a, _, 1) => (rounded(FloatOp::FromUint)?, false, true, false),
        (0x1c, 0, 0) if !is_double => (exact(FloatOp::MoveToInt)?, true, false, false),
        (0x1c, 1, 0) => (exact(FloatOp::Class)?, true, false, false),
        (0x1e, 0, 0) if !is_double => (exact(FloatOp::MoveFromInt)?, false, true, false),
        // From the other precision; single precision alone has none to convert from.
        (0x08, _, from) if isa.d && u32::from(from) == u32::from(!is_double) => {
            (rounded(FloatOp::Convert)?, true, true, false)
        }
        _ => return None,
    };
    Some(Op {
        kind,
        rd: if gives_float { fields.float_rd() } else { fields.rd() },
        rs1: if takes_float { fields.float_rs1() } else { fields.rs1() },
        rs2: if takes_two { fields.float_rs2() } else { 0 },
        ..op
    })
}

/// `.insn r CUSTOM_0, width, 0, rd, low, high`
fn wide_load(fields: Fields) -> Option<Op> {
    let width = match fields.funct3() {
        0 => Width::Byte,
        1 => Width::Half,
        2 => Width::Word,
        3 => Width::Pair,
        4 => Width::UnsignedByte,
        5 => Width::UnsignedHalf,
        _ => return None,
    };
    let is_even = fields.five(7).is_multiple_of(2);
    if fields.funct7() != 0 || width == Width::Pair && !is_even {
        return None;
    }
    let (rd, rs1, rs2) = (fields.rd(), fields.rs1(), fields.rs2());
    Some(Op { kind: Kind::WideLoad, width, rd, rs1, rs2, ..Op::default() })
}

/// `.insn r4 CUSTOM_1, width, 0, x0, low, high, value`
fn wide_store(fields: Fields) -> Option<Op> {
    let width = match fields.funct3() {
        0 => Width::Byte,
        1 => Width::Half,
        2 => Width::Word,
        3 => Width::Pair,
        _ => return None,
    };
    let is_even = fields.rs3().is_multiple_of(2);
    let rest_is_zero = fields.five(7) == 0 && fields.funct7() & 3 == 0;
    if !rest_is_zero || width == Width::Pair && !is_even {
        return None;
    }
    Some(Op {
        kind: Kind::WideStore,
        width,
        rd: SINK,
        rs1: fields.rs1(),
        rs2: fields.rs2(),
        rs3: fields.rs3(),
        ..Op::default()
    })
}
