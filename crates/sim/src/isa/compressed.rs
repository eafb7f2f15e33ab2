//! Instructions of 16 bits as the ones of 32 bits that they stand for.

use super::Isa;

/// `None` where the bits are reserved, or belong to an extension that this cluster lacks.
pub(crate) fn expand(half: u16, isa: Isa) -> Option<u32> {
    let bits = Bits(u32::from(half));
    match bits.0 & 3 {
        0 => memory(bits, isa),
        1 => arithmetic(bits),
        2 => stack(bits, isa),
        _ => None,
    }
}

const SP: u32 = 2;

/// Bits of an instruction, or of an immediate in it.
#[derive(Clone, Copy)]
struct Bits(u32);

impl Bits {
    fn funct3(self) -> u32 {
        self.0 >> 13
    }

    /// Bits `from` and the `count - 1` above it.
    fn field(self, from: u32, count: u32) -> u32 {
        self.0 >> from & ((1 << count) - 1)
    }

    fn rd(self) -> u32 {
        self.field(7, 5)
    }

    fn rs2(self) -> u32 {
        self.field(2, 5)
    }

    /// The registers `x8` to `x15`, in three bits.
    fn short_rs1(self) -> u32 {
        8 + self.field(7, 3)
    }

    fn short_rs2(self) -> u32 {
        8 + self.field(2, 3)
    }

    /// Six bits with a sign.
    fn immediate(self) -> u32 {
        sign_extend(self.field(12, 1) << 5 | self.field(2, 5), 6)
    }

    fn offset_word(self) -> u32 {
        self.field(10, 3) << 3 | self.field(6, 1) << 2 | self.field(5, 1) << 6
    }

    fn offset_double(self) -> u32 {
        self.field(10, 3) << 3 | self.field(5, 2) << 6
    }

    fn jump(self) -> u32 {
        let offset = self.field(12, 1) << 11
            | self.field(11, 1) << 4
            | self.field(9, 2) << 8
            | self.field(8, 1) << 10
            | self.field(7, 1) << 6
            | self.field(6, 1) << 7
            | self.field(3, 3) << 1
            | self.field(2, 1) << 5;
        sign_extend(offset, 12)
    }

    fn branch(self) -> u32 {
        let offset = self.field(12, 1) << 8
            | self.field(10, 2) << 3
            | self.field(5, 2) << 6
            | self.field(3, 2) << 1
            | self.field(2, 1) << 5;
        sign_extend(offset, 9)
    }
}

fn sign_extend(value: u32, bits: u32) -> u32 {
    let shift = 32 - bits;
    ((value << shift).cast_signed() >> shift).cast_unsigned()
}

/// Quadrant 0: loads and stores by a register, and addresses on the stack.
fn memory(bits: Bits, isa: Isa) -> Option<u32> {
    let (base, register) = (bits.short_rs1(), bits.short_rs2());
    let (word, double) = (bits.offset_word(), bits.offset_double());
    Some(match bits.funct3() {
        0 => {
            let offset = bits.field(11, 2) << 4
                | bits.field(7, 4) << 6
                | bits.field(6, 1) << 2
                | bits.field(5, 1) << 3;
            if offset == 0 {
                return None;
            }
            i_type(0x13, 0, register, SP, offset)
        }
        1 if isa.d => i_type(0x07, 3, register, base, double),
        2 => i_type(0x03, 2, register, base, word),
        3 if isa.f => i_type(0x07, 2, register, base, word),
        5 if isa.d => s_type(0x27, 3, base, register, double),
        6 => s_type(0x23, 2, base, register, word),
        7 if isa.f => s_type(0x27, 2, base, register, word),
        _ => return None,
    })
}

/// Quadrant 1: arithmetic, jumps and branches.
fn arithmetic(bits: Bits) -> Option<u32> {
    let (rd, imm) = (bits.rd(), bits.immediate());
    Some(match bits.funct3() {
        0 => i_type(0x13, 0, rd, rd, imm),
        1 => j_type(1, bits.jump()),
        2 => i_type(0x13, 0, rd, 0, imm),
        3 if imm == 0 => return None,
        3 if rd == SP => {
            let offset = bits.field(12, 1) << 9
                | bits.field(6, 1) << 4
                | bits.field(5, 1) << 6
                | bits.field(3, 2) << 7
                | bits.field(2, 1) << 5;
            i_type(0x13, 0, SP, SP, sign_extend(offset, 10))
        }
        3 => imm << 12 | rd << 7 | 0x37,
        4 => short_arithmetic(bits)?,
        5 => j_type(0, bits.jump()),
        6 => b_type(0, bits.short_rs1(), bits.branch()),
        7 => b_type(1, bits.short_rs1(), bits.branch()),
        _ => return None,
    })
}

/// Shifts, `c.andi` and operations of two short registers.
fn short_arithmetic(bits: Bits) -> Option<u32> {
    let (rd, rs2) = (bits.short_rs1(), bits.short_rs2());
    let is_long = bits.field(12, 1) == 1;
    Some(match (bits.field(10, 2), bits.field(5, 2)) {
        (0 | 1 | 3, _) if is_long => return None,
        (0, _) => i_type(0x13, 5, rd, rd, bits.field(2, 5)),
        (1, _) => i_type(0x13, 5, rd, rd, 0x400 | bits.field(2, 5)),
        (2, _) => i_type(0x13, 7, rd, rd, bits.immediate()),
        (_, 0) => 0x20 << 25 | r_type(0, rd, rd, rs2),
        (_, 1) => r_type(4, rd, rd, rs2),
        (_, 2) => r_type(6, rd, rd, rs2),
        (_, _) => r_type(7, rd, rd, rs2),
    })
}

/// Quadrant 2: loads and stores on the stack, jumps by a register, moves.
fn stack(bits: Bits, isa: Isa) -> Option<u32> {
    let (rd, rs2) = (bits.rd(), bits.rs2());
    let load_word = bits.field(12, 1) << 5 | bits.field(4, 3) << 2 | bits.field(2, 2) << 6;
    let load_double = bits.field(12, 1) << 5 | bits.field(5, 2) << 3 | bits.field(2, 3) << 6;
    let store_word = bits.field(9, 4) << 2 | bits.field(7, 2) << 6;
    let store_double = bits.field(10, 3) << 3 | bits.field(7, 3) << 6;
    Some(match bits.funct3() {
        0 if bits.field(12, 1) == 0 => i_type(0x13, 1, rd, rd, bits.field(2, 5)),
        1 if isa.d => i_type(0x07, 3, rd, SP, load_double),
        2 if rd != 0 => i_type(0x03, 2, rd, SP, load_word),
        3 if isa.f => i_type(0x07, 2, rd, SP, load_word),
        4 => match (bits.field(12, 1), rd, rs2) {
            (0, 0, 0) => return None,
            (0, _, 0) => i_type(0x67, 0, 0, rd, 0),
            (0, _, _) => r_type(0, rd, 0, rs2),
            (_, 0, 0) => 0x0010_0073,
            (_, _, 0) => i_type(0x67, 0, 1, rd, 0),
            (_, _, _) => r_type(0, rd, rd, rs2),
        },
        5 if isa.d => s_type(0x27, 3, SP, rs2, store_double),
        6 => s_type(0x23, 2, SP, rs2, store_word),
        7 if isa.f => s_type(0x27, 2, SP, rs2, store_word),
        _ => return None,
    })
}

fn r_type(funct3: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
    rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x33
}

fn i_type(opcode: u32, funct3: u32, rd: u32, rs1: u32, imm: u32) -> u32 {
    imm << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

fn s_type(opcode: u32, funct3: u32, rs1: u32, rs2: u32, imm: u32) -> u32 {
    (imm >> 5) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | (imm & 31) << 7 | opcode
}

fn b_type(funct3: u32, rs1: u32, offset: u32) -> u32 {
    (offset >> 12 & 1) << 31
        | (offset >> 5 & 0x3f) << 25
        | rs1 << 15
        | funct3 << 12
        | (offset >> 1 & 15) << 8
        | (offset >> 11 & 1) << 7
        | 0x63
}

fn j_type(rd: u32, offset: u32) -> u32 {
    (offset >> 20 & 1) << 31
        | (offset >> 1 & 0x3ff) << 21
        | (offset >> 11 & 1) << 20
        | (offset >> 12 & 0xff) << 12
        | rd << 7
        | 0x6f
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Isa = Isa { m: true, a: true, f: true, d: true, c: true, wide: true };

    #[track_caller]
    fn check(half: u16, expect: u32) {
        assert_eq!(expand(half, ALL), Some(expect), "{half:#06x}");
    }

    /// Pairs that clang's assembler gives for the same instruction, short and long.
    #[test]
    fn short_instructions_stand_for_long_ones() {
        check(0x0001, 0x0000_0013); // c.nop
        check(0x1141, 0xff01_0113); // c.addi sp, -16
        check(0x1101, 0xfe01_0113); // c.addi sp, -32
        check(0x0800, 0x0101_0413); // c.addi4spn s0, sp, 16
        check(0x4501, 0x0000_0513); // c.li a0, 0
        check(0x8082, 0x0000_8067); // c.jr ra
        check(0x9002, 0x0010_0073); // c.ebreak
        check(0xc606, 0x0011_2623); // c.swsp ra, 12(sp)
        check(0x40b2, 0x00c1_2083); // c.lwsp ra, 12(sp)
        check(0x952e, 0x00b5_0533); // c.add a0, a1
        check(0x8d0d, 0x40b5_0533); // c.sub a0, a1
    }

    #[test]
    fn reserved_bits_are_no_instruction() {
        assert_eq!(expand(0x0000, ALL), None, "all zero");
        assert_eq!(expand(0x8002, ALL), None, "c.jr x0");
        assert_eq!(expand(0x6101, ALL), None, "c.addi16sp 0");
        assert_eq!(expand(0x1402, ALL), None, "a shift by more than 31");
        let plain = Isa { f: false, d: false, ..ALL };
        assert_eq!(expand(0x6000, ALL), Some(0x0004_2407), "c.flw");
        assert_eq!(expand(0x6000, plain), None, "c.flw without floating point");
    }
}
