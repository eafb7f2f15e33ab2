//! An instruction as it is run: decoded once, with its targets and operands worked out.

/// What an instruction does. Those from [`Kind::Lb`] on touch what cores share, and run in the order of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Not looked at yet.
    #[default]
    Undecoded,
    /// `lui`, and `auipc` with its sum.
    Constant,
    Addi,
    Slti,
    Sltiu,
    Xori,
    Ori,
    Andi,
    Slli,
    Srli,
    Srai,
    Add,
    Sub,
    Sll,
    Slt,
    Sltu,
    Xor,
    Srl,
    Sra,
    Or,
    And,
    Mul,
    Mulh,
    Mulhsu,
    Mulhu,
    Div,
    Divu,
    Rem,
    Remu,
    Jal,
    Jalr,
    Beq,
    Bne,
    Blt,
    Bge,
    Bltu,
    Bgeu,
    Fence,
    FenceI,
    /// Reads and changes the control register in `imm`; how is in [`Op::csr`].
    Csr,
    /// The same with a constant, in `rounding`.
    CsrConstant,
    /// Single precision; what is in [`Op::float`].
    Single,
    /// Double precision; what is in [`Op::float`].
    Double,
    Lb,
    Lh,
    Lw,
    Lbu,
    Lhu,
    Sb,
    Sh,
    Sw,
    Flw,
    Fld,
    Fsw,
    Fsd,
    LrW,
    ScW,
    /// Read, change and write; what is in [`Op::atomic`].
    Amo,
    /// Load with an address in two registers; its size is in [`Op::width`].
    WideLoad,
    WideStore,
    Wfi,
    /// Back from an interrupt.
    Mret,
    Ecall,
    Ebreak,
    /// The bits are in `imm`.
    Illegal,
}

impl Kind {
    /// Whether it touches what cores share.
    #[inline(always)]
    pub(crate) fn is_shared(self) -> bool {
        self >= Kind::Lb
    }
}

/// What floating-point arithmetic does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum FloatOp {
    #[default]
    Add,
    Sub,
    Mul,
    Div,
    Sqrt,
    /// `a * b + c`
    Madd,
    /// `a * b - c`
    Msub,
    /// `-(a * b) + c`
    Nmsub,
    /// `-(a * b) - c`
    Nmadd,
    Sgnj,
    Sgnjn,
    Sgnjx,
    Min,
    Max,
    Eq,
    Lt,
    Le,
    Class,
    ToInt,
    ToUint,
    FromInt,
    FromUint,
    /// `fmv.x.w`
    MoveToInt,
    /// `fmv.w.x`
    MoveFromInt,
    /// Between single and double precision, into that of the instruction.
    Convert,
}

/// What an instruction does to a control register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum CsrOp {
    #[default]
    Write,
    Set,
    Clear,
}

/// What an atomic instruction makes of the value in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum AtomicOp {
    #[default]
    Swap,
    Add,
    Xor,
    And,
    Or,
    Min,
    Max,
    Minu,
    Maxu,
}

impl AtomicOp {
    pub(crate) fn combine(self, old: u32, operand: u32) -> u32 {
        match self {
            AtomicOp::Swap => operand,
            AtomicOp::Add => old.wrapping_add(operand),
            AtomicOp::Xor => old ^ operand,
            AtomicOp::And => old & operand,
            AtomicOp::Or => old | operand,
            AtomicOp::Min => old.cast_signed().min(operand.cast_signed()).cast_unsigned(),
            AtomicOp::Max => old.cast_signed().max(operand.cast_signed()).cast_unsigned(),
            AtomicOp::Minu => old.min(operand),
            AtomicOp::Maxu => old.max(operand),
        }
    }
}

/// Size and sign of what a wide load or store moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Width {
    Byte,
    Half,
    #[default]
    Word,
    UnsignedByte,
    UnsignedHalf,
    /// Two registers, the lower with an even number.
    Pair,
}

impl Width {
    pub(crate) fn bytes(self) -> u32 {
        match self {
            Width::Byte | Width::UnsignedByte => 1,
            Width::Half | Width::UnsignedHalf => 2,
            Width::Word => 4,
            Width::Pair => 8,
        }
    }

    /// What a register holds after these bytes were loaded.
    pub(crate) fn extend(self, value: u64) -> u32 {
        let low = value as u32;
        match self {
            Width::Byte => (low as i8) as u32,
            Width::Half => (low as i16) as u32,
            Width::UnsignedByte => low & 0xff,
            Width::UnsignedHalf => low & 0xffff,
            Width::Word | Width::Pair => low,
        }
    }
}

/// Added to numbers of floating-point registers.
pub(crate) const FLOAT: u8 = 32;

/// Where writes to `x0` go, so that none has to be tested for.
pub(crate) const SINK: u8 = 64;

/// The stack pointer.
pub(crate) const SP: u8 = 2;

/// A decoded instruction. Registers that it does not read are 0, which is always there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Op {
    pub(crate) kind: Kind,
    /// [`SINK`] instead of 0; [`FLOAT`] added where it is a floating-point register.
    pub(crate) rd: u8,
    pub(crate) rs1: u8,
    pub(crate) rs2: u8,
    pub(crate) rs3: u8,
    /// Bytes: 2 or 4.
    pub(crate) len: u8,
    /// Rounding mode as written; 7 is the one in `fcsr`.
    pub(crate) rounding: u8,
    pub(crate) float: FloatOp,
    pub(crate) csr: CsrOp,
    pub(crate) atomic: AtomicOp,
    pub(crate) width: Width,
    /// Immediate, target of a jump, number of a control register, or bits.
    pub(crate) imm: u32,
    /// The registers that it reads, a bit each; nobody waits for `x0`.
    pub(crate) reads: u64,
}

impl Op {
    /// The same with [`Op::reads`] filled in.
    pub(crate) fn with_reads(self) -> Op {
        let bit = |register: u8| 1_u64 << (register & 63);
        let mut reads = bit(self.rs1) | bit(self.rs2) | bit(self.rs3);
        if self.kind == Kind::WideStore && self.width == Width::Pair {
            reads |= bit(self.rs3 + 1);
        }
        Op { reads: reads & !1, ..self }
    }
}
