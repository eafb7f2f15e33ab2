//! Names of instructions, for traces.

use super::op::{AtomicOp, CsrOp, FloatOp, Kind, Op, Width};

/// As an assembler spells it; short instructions by their long names.
pub(crate) fn mnemonic(op: &Op) -> String {
    let plain = match op.kind {
        Kind::Undecoded => "undecoded",
        Kind::Constant => "li",
        Kind::Addi => "addi",
        Kind::Slti => "slti",
        Kind::Sltiu => "sltiu",
        Kind::Xori => "xori",
        Kind::Ori => "ori",
        Kind::Andi => "andi",
        Kind::Slli => "slli",
        Kind::Srli => "srli",
        Kind::Srai => "srai",
        Kind::Add => "add",
        Kind::Sub => "sub",
        Kind::Sll => "sll",
        Kind::Slt => "slt",
        Kind::Sltu => "sltu",
        Kind::Xor => "xor",
        Kind::Srl => "srl",
        Kind::Sra => "sra",
        Kind::Or => "or",
        Kind::And => "and",
        Kind::Mul => "mul",
        Kind::Mulh => "mulh",
        Kind::Mulhsu => "mulhsu",
        Kind::Mulhu => "mulhu",
        Kind::Div => "div",
        Kind::Divu => "divu",
        Kind::Rem => "rem",
        Kind::Remu => "remu",
        Kind::Jal => "jal",
        Kind::Jalr => "jalr",
        Kind::Beq => "beq",
        Kind::Bne => "bne",
        Kind::Blt => "blt",
        Kind::Bge => "bge",
        Kind::Bltu => "bltu",
        Kind::Bgeu => "bgeu",
        Kind::Fence => "fence",
        Kind::FenceI => "fence.i",
        Kind::Csr => return format!("csrr{}", csr(op.csr)),
        Kind::CsrConstant => return format!("csrr{}i", csr(op.csr)),
        Kind::Single => return float(op.float, "s", "d"),
        Kind::Double => return float(op.float, "d", "s"),
        Kind::Lb => "lb",
        Kind::Lh => "lh",
        Kind::Lw => "lw",
        Kind::Lbu => "lbu",
        Kind::Lhu => "lhu",
        Kind::Sb => "sb",
        Kind::Sh => "sh",
        Kind::Sw => "sw",
        Kind::Flw => "flw",
        Kind::Fld => "fld",
        Kind::Fsw => "fsw",
        Kind::Fsd => "fsd",
        Kind::LrW => "lr.w",
        Kind::ScW => "sc.w",
        Kind::Amo => return format!("amo{}.w", atomic(op.atomic)),
        Kind::WideLoad => return format!("wide.l{}", width(op.width)),
        Kind::WideStore => return format!("wide.s{}", width(op.width)),
        Kind::Wfi => "wfi",
        Kind::Mret => "mret",
        Kind::Ecall => "ecall",
        Kind::Ebreak => "ebreak",
        Kind::Illegal => "illegal",
    };
    plain.to_owned()
}

fn float(op: FloatOp, own: &str, other: &str) -> String {
    let name = match op {
        FloatOp::Add => "fadd",
        FloatOp::Sub => "fsub",
        FloatOp::Mul => "fmul",
        FloatOp::Div => "fdiv",
        FloatOp::Sqrt => "fsqrt",
        FloatOp::Madd => "fmadd",
        FloatOp::Msub => "fmsub",
        FloatOp::Nmsub => "fnmsub",
        FloatOp::Nmadd => "fnmadd",
        FloatOp::Sgnj => "fsgnj",
        FloatOp::Sgnjn => "fsgnjn",
        FloatOp::Sgnjx => "fsgnjx",
        FloatOp::Min => "fmin",
        FloatOp::Max => "fmax",
        FloatOp::Eq => "feq",
        FloatOp::Lt => "flt",
        FloatOp::Le => "fle",
        FloatOp::Class => "fclass",
        FloatOp::ToInt => return format!("fcvt.w.{own}"),
        FloatOp::ToUint => return format!("fcvt.wu.{own}"),
        FloatOp::FromInt => return format!("fcvt.{own}.w"),
        FloatOp::FromUint => return format!("fcvt.{own}.wu"),
        FloatOp::MoveToInt => return "fmv.x.w".to_owned(),
        FloatOp::MoveFromInt => return "fmv.w.x".to_owned(),
        FloatOp::Convert => return format!("fcvt.{own}.{other}"),
    };
    format!("{name}.{own}")
}

fn csr(op: CsrOp) -> &'static str {
    match op {
        CsrOp::Write => "w",
        CsrOp::Set => "s",
        CsrOp::Clear => "c",
    }
}

fn atomic(op: AtomicOp) -> &'static str {
    match op {
        AtomicOp::Swap => "swap",
        AtomicOp::Add => "add",
        AtomicOp::Xor => "xor",
        AtomicOp::And => "and",
        AtomicOp::Or => "or",
        AtomicOp::Min => "min",
        AtomicOp::Max => "max",
        AtomicOp::Minu => "minu",
        AtomicOp::Maxu => "maxu",
    }
}

fn width(width: Width) -> &'static str {
    match width {
        Width::Byte => "b",
        Width::Half => "h",
        Width::Word => "w",
        Width::UnsignedByte => "bu",
        Width::UnsignedHalf => "hu",
        Width::Pair => "d",
    }
}
