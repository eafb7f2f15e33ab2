//! Encodings of instructions, written by hand, and a program file around them.

/// Integer registers by their numbers.
pub(crate) const ZERO: u32 = 0;
pub(crate) const RA: u32 = 1;
pub(crate) const SP: u32 = 2;
pub(crate) const T0: u32 = 5;
pub(crate) const T1: u32 = 6;
pub(crate) const T2: u32 = 7;
pub(crate) const A0: u32 = 10;
pub(crate) const A1: u32 = 11;
pub(crate) const A2: u32 = 12;
pub(crate) const A3: u32 = 13;
pub(crate) const A4: u32 = 14;
pub(crate) const A5: u32 = 15;
pub(crate) const A6: u32 = 16;
pub(crate) const A7: u32 = 17;

/// Widths of loads and stores.
pub(crate) const BYTE: u32 = 0;
pub(crate) const HALF: u32 = 1;
pub(crate) const WORD: u32 = 2;
/// Of wide loads and stores: two registers.
pub(crate) const PAIR: u32 = 3;

pub(crate) const ECALL: u32 = 0x0000_0073;
pub(crate) const EBREAK: u32 = 0x0010_0073;
pub(crate) const MRET: u32 = 0x3020_0073;
pub(crate) const WFI: u32 = 0x1050_0073;
pub(crate) const NOP: u32 = 0x0000_0013;
pub(crate) const FENCE_I: u32 = 0x0000_100f;

pub(crate) const MSTATUS: u32 = 0x300;
pub(crate) const MEPC: u32 = 0x341;
pub(crate) const MHARTID: u32 = 0xf14;
pub(crate) const CYCLE: u32 = 0xc00;
pub(crate) const EXTENSION: u32 = 0x7c0;
pub(crate) const STACK_LOW: u32 = 0x7d0;
pub(crate) const STACK_HIGH: u32 = 0x7d1;

pub(crate) fn r(opcode: u32, funct7: u32, funct3: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
    funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

pub(crate) fn i(opcode: u32, funct3: u32, rd: u32, rs1: u32, imm: i32) -> u32 {
    (imm as u32) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

pub(crate) fn s(opcode: u32, funct3: u32, rs1: u32, rs2: u32, imm: i32) -> u32 {
    let imm = imm as u32;
    (imm >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | (imm & 31) << 7 | opcode
}

pub(crate) fn branch(funct3: u32, rs1: u32, rs2: u32, offset: i32) -> u32 {
    let it = offset as u32;
    let upper = (it >> 12 & 1) << 31 | (it >> 5 & 0x3f) << 25;
    upper | rs2 << 20 | rs1 << 15 | funct3 << 12 | (it >> 1 & 15) << 8 | (it >> 11 & 1) << 7 | 0x63
}

pub(crate) fn beq(rs1: u32, rs2: u32, offset: i32) -> u32 {
    branch(0, rs1, rs2, offset)
}

pub(crate) fn bne(rs1: u32, rs2: u32, offset: i32) -> u32 {
    branch(1, rs1, rs2, offset)
}

pub(crate) fn jal(rd: u32, offset: i32) -> u32 {
    let it = offset as u32;
    let imm = (it >> 20 & 1) << 31 | (it >> 1 & 0x3ff) << 21 | (it >> 11 & 1) << 20;
    imm | (it >> 12 & 0xff) << 12 | rd << 7 | 0x6f
}

pub(crate) fn jalr(rd: u32, rs1: u32, imm: i32) -> u32 {
    i(0x67, 0, rd, rs1, imm)
}

pub(crate) fn lui(rd: u32, upper: u32) -> u32 {
    upper & 0xffff_f000 | rd << 7 | 0x37
}

pub(crate) fn addi(rd: u32, rs1: u32, imm: i32) -> u32 {
    i(0x13, 0, rd, rs1, imm)
}

pub(crate) fn add(rd: u32, rs1: u32, rs2: u32) -> u32 {
    r(0x33, 0, 0, rd, rs1, rs2)
}

pub(crate) fn mul(rd: u32, rs1: u32, rs2: u32) -> u32 {
    r(0x33, 1, 0, rd, rs1, rs2)
}

pub(crate) fn load(width: u32, rd: u32, base: u32, offset: i32) -> u32 {
    i(0x03, width, rd, base, offset)
}

pub(crate) fn lw(rd: u32, base: u32, offset: i32) -> u32 {
    load(WORD, rd, base, offset)
}

pub(crate) fn store(width: u32, value: u32, base: u32, offset: i32) -> u32 {
    s(0x23, width, base, value, offset)
}

pub(crate) fn sw(value: u32, base: u32, offset: i32) -> u32 {
    store(WORD, value, base, offset)
}

pub(crate) fn csrw(register: u32, rs1: u32) -> u32 {
    i(0x73, 1, 0, rs1, register as i32)
}

pub(crate) fn csrr(rd: u32, register: u32) -> u32 {
    i(0x73, 2, rd, 0, register as i32)
}

/// `csrrci rd, mstatus, 8`: masks interrupts.
pub(crate) fn mask_interrupts(rd: u32) -> u32 {
    i(0x73, 7, rd, 8, MSTATUS as i32)
}

pub(crate) fn amo(funct5: u32, rd: u32, address: u32, value: u32) -> u32 {
    r(0x2f, funct5 << 2, 2, rd, address, value)
}

pub(crate) fn amoadd(rd: u32, address: u32, value: u32) -> u32 {
    amo(0, rd, address, value)
}

pub(crate) fn wide_load(width: u32, rd: u32, low: u32, high: u32) -> u32 {
    r(0x0b, 0, width, rd, low, high)
}

pub(crate) fn wide_store(width: u32, value: u32, low: u32, high: u32) -> u32 {
    value << 27 | high << 20 | low << 15 | width << 12 | 0x2b
}

/// Any constant, in two instructions.
pub(crate) fn li(rd: u32, value: u32) -> [u32; 2] {
    let low = (value as i32) << 20 >> 20;
    [lui(rd, value.wrapping_sub(low as u32)), addi(rd, rd, low)]
}

/// A program of single instructions and constants.
#[derive(Default)]
pub(crate) struct Code(pub(crate) Vec<u32>);

impl Code {
    pub(crate) fn li(&mut self, rd: u32, value: u32) -> &mut Code {
        self.0.extend(li(rd, value));
        self
    }

    pub(crate) fn op(&mut self, word: u32) -> &mut Code {
        self.0.push(word);
        self
    }

    pub(crate) fn ops(&mut self, words: &[u32]) -> &mut Code {
        self.0.extend(words);
        self
    }

    /// Ends the program with what is in `register`; changes `t2`.
    pub(crate) fn exit(&mut self, register: u32) -> &mut Code {
        self.li(T2, 0x1020_3000).op(sw(register, T2, 0)).op(jal(0, 0))
    }
}

/// A linked ELF file for 32-bit RISC-V with one segment that may be read, written and executed.
pub(crate) fn elf(address: u32, bytes: &[u8], flags: u32) -> Vec<u8> {
    const HEADERS: u32 = 0x1000;
    let mut file = vec![0x7f, b'E', b'L', b'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let half = |file: &mut Vec<u8>, it: u16| file.extend(it.to_le_bytes());
    let word = |file: &mut Vec<u8>, it: u32| file.extend(it.to_le_bytes());
    half(&mut file, 2); // executable
    half(&mut file, 243); // RISC-V
    for it in [1, address, 52, 0, flags] {
        word(&mut file, it);
    }
    for it in [52, 32, 1, 40, 0, 0] {
        half(&mut file, it);
    }
    let len = bytes.len() as u32;
    for it in [1, HEADERS, address, address, len, len, 7, 0x1000] {
        word(&mut file, it);
    }
    file.resize(HEADERS as usize, 0);
    file.extend(bytes);
    file
}
