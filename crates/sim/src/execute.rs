//! Runs one core until another one has its turn.
//!
//! What touches only the core itself may run ahead of the others' time; what is shared ([`Kind::is_shared`]) waits
//! until no other core is earlier. So the order of all accesses is that of a simulation cycle by cycle, at less cost.
//! Only the instruction cache is asked out of order, by [`AHEAD`] cycles at most.

use crate::access::{self, Target};
use crate::code::Code;
use crate::fault::{Access, FaultKind, Wait};
use crate::float;
use crate::hart::{Hart, NO_LINE, cycle_of};
use crate::host::HostMemory;
use crate::isa::decode::decode;
use crate::isa::op::{CsrOp, FLOAT, FloatOp, Kind, Op, SINK, SP, Width};
use crate::shared::{Done, Shared};
use crate::trace::{Event, Observer, Step};

/// Cycles that a core may run ahead in a loop without shared accesses.
const AHEAD: u64 = 64;

/// Why a core stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Others have their turn, or it sleeps.
    Turn,
    /// It asks whoever embeds the cluster for something (`ecall`).
    Call,
}

/// Runs instructions while the core's key is below `limit`.
///
/// # Errors
/// What the instruction at the core's `pc` did wrong; of its effects there are none, but a stack pointer.
pub(crate) fn run<O: Observer>(
    hart: &mut Hart,
    shared: &mut Shared,
    code: &mut Code,
    host: &mut dyn HostMemory,
    limit: u64,
    observer: &mut O,
) -> Result<Pause, FaultKind> {
    let deadline = cycle_of(limit).saturating_add(AHEAD);
    let line_bits = shared.icache.line_bits;
    loop {
        let pc = hart.pc;
        let Some(op) = code.at(pc) else {
            if hart.key() >= limit {
                return Ok(Pause::Turn);
            }
            let address = u64::from(pc);
            return Err(FaultKind::Unmapped { address, bytes: 2, access: Access::Fetch });
        };
        if pc >> line_bits != hart.line {
            fetch(hart, shared, pc >> line_bits);
        }
        if hart.pending & op.reads != 0 {
            hart.wait_for_operands(op);
        }
        if op.kind.is_shared() && hart.key() >= limit {
            return Ok(Pause::Turn);
        }
        let began = hart.time;
        let mut next = pc.wrapping_add(u32::from(op.len));
        // Whether it can have changed who is next: it jumped, or asked an engine for something.
        let mut may_yield = false;
        let a = hart.x(op.rs1);
        let b = hart.x(op.rs2);
        macro_rules! load {
            ($bytes:literal) => {{
                let address = a.wrapping_add(op.imm);
                match scratchpad_load::<$bytes>(hart, shared, address) {
                    Some(value) => value,
                    None => {
                        may_yield = true;
                        let target = Target::narrow(hart, shared, address);
                        match access::load(hart, shared, host, target, $bytes)? {
                            Done::Value(value) => value,
                            Done::Asleep(wait) => {
                                return Ok(sleep(hart, shared, wait, *op, observer));
                            }
                        }
                    }
                }
            }};
        }
        macro_rules! branch {
            ($is_taken:expr) => {
                if $is_taken {
                    may_yield = true;
                    next = op.imm;
                    jump(hart, shared, code, shared.timing.taken_branch, next);
                }
            };
        }
        macro_rules! store {
            ($bytes:literal, $value:expr) => {{
                let address = a.wrapping_add(op.imm);
                let value: u64 = $value;
                if !scratchpad_store::<$bytes>(hart, shared, address, value) {
                    may_yield = true;
                    let target = Target::narrow(hart, shared, address);
                    access::store(hart, shared, host, target, $bytes, value)?;
                }
            }};
        }
        match op.kind {
            Kind::Undecoded => {
                let half = |at: u32| shared.l2.array::<2>(at).map(u16::from_le_bytes);
                let low = half(pc).unwrap_or(0);
                let op = decode(low, half(pc.wrapping_add(2)), pc, shared.csr.isa);
                code.set(pc, op);
                continue;
            }
            Kind::Constant => hart.set_x(op.rd, op.imm),
            Kind::Addi => hart.set_x(op.rd, a.wrapping_add(op.imm)),
            Kind::Slti => hart.set_x(op.rd, u32::from(a.cast_signed() < op.imm.cast_signed())),
            Kind::Sltiu => hart.set_x(op.rd, u32::from(a < op.imm)),
            Kind::Xori => hart.set_x(op.rd, a ^ op.imm),
            Kind::Ori => hart.set_x(op.rd, a | op.imm),
            Kind::Andi => hart.set_x(op.rd, a & op.imm),
            Kind::Slli => hart.set_x(op.rd, a << (op.imm & 31)),
            Kind::Srli => hart.set_x(op.rd, a >> (op.imm & 31)),
            Kind::Srai => hart.set_x(op.rd, (a.cast_signed() >> (op.imm & 31)).cast_unsigned()),
            Kind::Add => hart.set_x(op.rd, a.wrapping_add(b)),
            Kind::Sub => hart.set_x(op.rd, a.wrapping_sub(b)),
            Kind::Sll => hart.set_x(op.rd, a << (b & 31)),
            Kind::Slt => hart.set_x(op.rd, u32::from(a.cast_signed() < b.cast_signed())),
            Kind::Sltu => hart.set_x(op.rd, u32::from(a < b)),
            Kind::Xor => hart.set_x(op.rd, a ^ b),
            Kind::Srl => hart.set_x(op.rd, a >> (b & 31)),
            Kind::Sra => hart.set_x(op.rd, (a.cast_signed() >> (b & 31)).cast_unsigned()),
            Kind::Or => hart.set_x(op.rd, a | b),
            Kind::And => hart.set_x(op.rd, a & b),
            Kind::Mul => hart.set_x(op.rd, a.wrapping_mul(b)),
            Kind::Mulh => {
                let product = i64::from(a.cast_signed()) * i64::from(b.cast_signed());
                hart.set_x(op.rd, (product >> 32) as u32);
                arithmetic(hart, shared.timing.multiply_high);
            }
            Kind::Mulhsu => {
                let product = i64::from(a.cast_signed()) * i64::from(b);
                hart.set_x(op.rd, (product >> 32) as u32);
                arithmetic(hart, shared.timing.multiply_high);
            }
            Kind::Mulhu => {
                hart.set_x(op.rd, ((u64::from(a) * u64::from(b)) >> 32) as u32);
                arithmetic(hart, shared.timing.multiply_high);
            }
            Kind::Div => {
                // Without an exception: by zero gives all ones, and what overflows stays as it is.
                let (signed, by) = (a.cast_signed(), b.cast_signed());
                let value = if b == 0 { u32::MAX } else { signed.wrapping_div(by).cast_unsigned() };
                hart.set_x(op.rd, value);
                division(hart, shared, by.unsigned_abs());
            }
            Kind::Divu => {
                hart.set_x(op.rd, a.checked_div(b).unwrap_or(u32::MAX));
                division(hart, shared, b);
            }
            Kind::Rem => {
                let (signed, by) = (a.cast_signed(), b.cast_signed());
                let value = if b == 0 { a } else { signed.wrapping_rem(by).cast_unsigned() };
                hart.set_x(op.rd, value);
                division(hart, shared, by.unsigned_abs());
            }
            Kind::Remu => {
                hart.set_x(op.rd, a.checked_rem(b).unwrap_or(a));
                division(hart, shared, b);
            }
            Kind::Jal => {
                may_yield = true;
                hart.set_x(op.rd, next);
                next = op.imm;
                jump(hart, shared, code, shared.timing.jump, next);
            }
            Kind::Jalr => {
                // The base is needed one stage earlier than operands of arithmetic.
                let is_fresh = op.rs1 != 0 && op.rs1 == hart.last_written;
                may_yield = true;
                hart.set_x(op.rd, next);
                next = a.wrapping_add(op.imm) & !1;
                let hazard = if is_fresh { shared.timing.jump_hazard } else { 0 };
                jump(hart, shared, code, shared.timing.jump + hazard, next);
            }
            Kind::Beq => branch!(a == b),
            Kind::Bne => branch!(a != b),
            Kind::Blt => branch!(a.cast_signed() < b.cast_signed()),
            Kind::Bge => branch!(a.cast_signed() >= b.cast_signed()),
            Kind::Bltu => branch!(a < b),
            Kind::Bgeu => branch!(a >= b),
            Kind::Fence => {}
            Kind::FenceI => {
                hart.line = NO_LINE;
                control(hart, shared.timing.fence_instructions);
            }
            Kind::Csr | Kind::CsrConstant => {
                if csr(hart, shared, op).is_none() {
                    return illegal(hart, shared, limit);
                }
            }
            Kind::Single => {
                if float::run::single(hart, op).is_none() {
                    return illegal(hart, shared, limit);
                }
                float_time(hart, shared, op);
            }
            Kind::Double => {
                if float::run::double(hart, op).is_none() {
                    return illegal(hart, shared, limit);
                }
                float_time(hart, shared, op);
            }
            Kind::Lw => {
                let value = load!(4) as u32;
                hart.set_x(op.rd, value);
                loaded(hart, shared, op.rd);
            }
            Kind::Lb => {
                let value = load!(1) as i8 as u32;
                hart.set_x(op.rd, value);
                loaded(hart, shared, op.rd);
            }
            Kind::Lbu => {
                let value = load!(1) as u32;
                hart.set_x(op.rd, value);
                loaded(hart, shared, op.rd);
            }
            Kind::Lh => {
                let value = load!(2) as i16 as u32;
                hart.set_x(op.rd, value);
                loaded(hart, shared, op.rd);
            }
            Kind::Lhu => {
                let value = load!(2) as u32;
                hart.set_x(op.rd, value);
                loaded(hart, shared, op.rd);
            }
            Kind::Flw => {
                let value = load!(4) as u32;
                hart.set_single(op.rd, value);
                loaded(hart, shared, op.rd);
            }
            Kind::Fld => {
                let value = load!(8);
                hart.set_double(op.rd, value);
                loaded(hart, shared, op.rd);
            }
            Kind::Sw => store!(4, u64::from(b)),
            Kind::Sb => store!(1, u64::from(b)),
            Kind::Sh => store!(2, u64::from(b)),
            Kind::Fsw => store!(4, hart.double(op.rs2)),
            Kind::Fsd => store!(8, hart.double(op.rs2)),
            Kind::LrW => {
                let value = access::load_reserved(hart, shared, host, a)?;
                hart.set_x(op.rd, value);
                loaded(hart, shared, op.rd);
            }
            Kind::ScW => {
                may_yield = true;
                let value = access::store_conditional(hart, shared, host, a, b)?;
                hart.set_x(op.rd, value);
                loaded(hart, shared, op.rd);
            }
            Kind::Amo => {
                may_yield = true;
                let value = access::update(hart, shared, host, a, op.atomic, b)?;
                hart.set_x(op.rd, value);
                loaded(hart, shared, op.rd);
            }
            Kind::WideLoad => {
                may_yield = true;
                wide_cost(hart, shared);
                let bytes = op.width.bytes();
                let value = match access::load(hart, shared, host, Target::wide(a, b), bytes)? {
                    Done::Value(value) => value,
                    Done::Asleep(wait) => return Ok(sleep(hart, shared, wait, *op, observer)),
                };
                if op.width == Width::Pair {
                    hart.set_x(above(op.rd), (value >> 32) as u32);
                    loaded(hart, shared, above(op.rd));
                }
                hart.set_x(op.rd, op.width.extend(value));
                loaded(hart, shared, op.rd);
            }
            Kind::WideStore => {
                may_yield = true;
                wide_cost(hart, shared);
                let upper = if op.width == Width::Pair { hart.x(above(op.rs3)) } else { 0 };
                let value = u64::from(upper) << 32 | u64::from(hart.x(op.rs3));
                access::store(hart, shared, host, Target::wide(a, b), op.width.bytes(), value)?;
            }
            Kind::Wfi => {
                let (done, cycles) = shared.events.wait(hart.id);
                hart.counters.stalls.event += u64::from(cycles);
                hart.time += u64::from(cycles);
                if let Done::Asleep(wait) = done {
                    return Ok(sleep(hart, shared, wait, *op, observer));
                }
            }
            Kind::Mret => {
                may_yield = true;
                next = hart.leave_interrupt();
                jump(hart, shared, code, shared.timing.taken_branch, next);
            }
            Kind::Ecall => {
                hart.pc = next;
                hart.time += 1;
                hart.counters.instructions += 1;
                return Ok(Pause::Call);
            }
            Kind::Ebreak => return Err(FaultKind::Breakpoint),
            Kind::Illegal => return Err(FaultKind::Illegal { bits: op.imm }),
        }
        if op.rd == SP {
            stack(hart)?;
        }
        hart.last_written = op.rd;
        hart.pc = next;
        hart.time += 1;
        hart.counters.instructions += 1;
        if O::LOOKS {
            let value = result(hart, op);
            observer.step(&Step::new(hart.id, began, hart.time, pc, *op, value));
        }
        if may_yield && (shared.sleepers.disturbed || hart.time > deadline) {
            code.forget(&mut shared.code_written);
            return Ok(Pause::Turn);
        }
    }
}

/// Comes to another line of instructions.
#[inline(always)]
fn fetch(hart: &mut Hart, shared: &mut Shared, line: u32) {
    hart.line = line;
    if !hart.has_recent(line, shared.icache.generation) {
        ask_cache(hart, shared, line);
    }
}

#[inline(never)]
fn ask_cache(hart: &mut Hart, shared: &mut Shared, line: u32) {
    let (wait, is_miss) = shared.icache.fetch(line, hart.time);
    if wait != 0 {
        hart.counters.fetch_misses += u64::from(is_miss);
        hart.counters.stalls.fetch += wait;
        hart.time += wait;
    }
    // It is there now, whenever this core comes back.
    hart.set_recent(line, shared.icache.generation);
}

/// An instruction of `cycles`; one of them is counted with all instructions.
#[inline(always)]
fn arithmetic(hart: &mut Hart, cycles: u32) {
    let more = u64::from(cycles) - 1;
    hart.counters.stalls.arithmetic += more;
    hart.time += more;
}

fn division(hart: &mut Hart, shared: &Shared, by: u32) {
    arithmetic(hart, shared.timing.divide + by.leading_zeros());
}

#[inline(always)]
fn control(hart: &mut Hart, cycles: u32) {
    let more = u64::from(cycles) - 1;
    hart.counters.stalls.control += more;
    hart.time += more;
}

/// Goes elsewhere.
#[inline(always)]
fn jump(hart: &mut Hart, shared: &Shared, code: &Code, cycles: u32, to: u32) {
    let mut more = u64::from(cycles) - 1;
    // A long instruction across two words takes two fetches.
    if to & 2 != 0 && is_long(shared, code, to) {
        more += u64::from(shared.timing.unaligned_target);
    }
    hart.counters.stalls.branch += more;
    hart.time += more;
}

/// Whether the instruction at `pc` has 32 bits.
fn is_long(shared: &Shared, code: &Code, pc: u32) -> bool {
    match code.at(pc) {
        Some(op) if op.kind == Kind::Undecoded => {
            shared.l2.array::<2>(pc).is_some_and(|[low, _]| low & 3 == 3)
        }
        Some(op) => op.len == 4,
        None => false,
    }
}

/// `None` if there is no such register, or it can only be read.
fn csr(hart: &mut Hart, shared: &Shared, op: &Op) -> Option<()> {
    let registers = &shared.csr;
    let is_constant = op.kind == Kind::CsrConstant;
    let operand = if is_constant { u32::from(op.rounding) } else { hart.x(op.rs1) };
    let names_nothing = if is_constant { operand == 0 } else { op.rs1 == 0 };
    let old = registers.read(hart, op.imm)?;
    if op.csr == CsrOp::Write || !names_nothing {
        let new = match op.csr {
            CsrOp::Write => operand,
            CsrOp::Set => old | operand,
            CsrOp::Clear => old & !operand,
        };
        registers.write(hart, op.imm, new)?;
    }
    hart.set_x(op.rd, old);
    control(hart, registers.cost_of(op.imm));
    Some(())
}

/// An instruction that turned out to be none, once no other core is earlier.
#[cold]
fn illegal(hart: &Hart, shared: &Shared, limit: u64) -> Result<Pause, FaultKind> {
    if hart.key() >= limit {
        return Ok(Pause::Turn);
    }
    let bits = shared.l2.array::<4>(hart.pc).map_or(0, u32::from_le_bytes);
    Err(FaultKind::Illegal { bits })
}

/// Time of floating-point arithmetic: a pipeline, but for divisions and roots.
#[inline(always)]
fn float_time(hart: &mut Hart, shared: &Shared, op: &Op) {
    match op.float {
        FloatOp::Div => arithmetic(hart, shared.timing.float_divide),
        FloatOp::Sqrt => arithmetic(hart, shared.timing.float_square_root),
        FloatOp::Add
        | FloatOp::Sub
        | FloatOp::Mul
        | FloatOp::Madd
        | FloatOp::Msub
        | FloatOp::Nmsub
        | FloatOp::Nmadd
        | FloatOp::Sgnj
        | FloatOp::Sgnjn
        | FloatOp::Sgnjx
        | FloatOp::Min
        | FloatOp::Max
        | FloatOp::Eq
        | FloatOp::Lt
        | FloatOp::Le
        | FloatOp::Class
        | FloatOp::ToInt
        | FloatOp::ToUint
        | FloatOp::FromInt
        | FloatOp::FromUint
        | FloatOp::MoveToInt
        | FloatOp::MoveFromInt
        | FloatOp::Convert => {
            if shared.timing.float_latency != 0 {
                hart.set_ready(op.rd, hart.time + 1 + u64::from(shared.timing.float_latency));
            }
        }
    }
}

/// A register was loaded: the next instruction has to wait if it reads it.
#[inline(always)]
fn loaded(hart: &mut Hart, shared: &Shared, register: u8) {
    if shared.timing.load_use != 0 {
        hart.set_ready(register, hart.time + 1 + u64::from(shared.timing.load_use));
    }
}

/// An aligned load from the scratchpad; `None` if it is anything else.
#[inline(always)]
fn scratchpad_load<const N: usize>(
    hart: &mut Hart,
    shared: &mut Shared,
    address: u32,
) -> Option<u64> {
    if hart.extension != 0 || !address.is_multiple_of(N as u32) {
        return None;
    }
    let bytes = shared.l1.array::<N>(address)?;
    let mut value = [0; 8];
    *value.first_chunk_mut::<N>()? = bytes;
    bank::<N>(hart, shared, address);
    Some(u64::from_le_bytes(value))
}

/// An aligned store into the scratchpad; false if it is anything else.
#[inline(always)]
fn scratchpad_store<const N: usize>(
    hart: &mut Hart,
    shared: &mut Shared,
    address: u32,
    value: u64,
) -> bool {
    if hart.extension != 0 || !address.is_multiple_of(N as u32) {
        return false;
    }
    let Some(place) = shared.l1.array_mut::<N>(address) else { return false };
    let value = value.to_le_bytes();
    let Some(bytes) = value.first_chunk::<N>() else { return false };
    *place = *bytes;
    if shared.reserved {
        shared.unreserve(u64::from(address), N as u64);
    }
    bank::<N>(hart, shared, address);
    true
}

/// Waits for the bank of an address, or for both banks of 8 bytes.
#[inline(always)]
fn bank<const N: usize>(hart: &mut Hart, shared: &mut Shared, address: u32) {
    let word = address.wrapping_sub(shared.l1.base) >> 2;
    let mut wait = shared.banks.grant(word, hart.time, 1);
    if N == 8 {
        wait = wait.max(shared.banks.grant(word + 1, hart.time, 1));
    }
    access::conflict(hart, wait);
    hart.counters.l1 += 1;
}

/// The second cycle of a wide load or store: its address takes two.
fn wide_cost(hart: &mut Hart, shared: &Shared) {
    hart.counters.wide.instruction += 1;
    hart.counters.stalls.wide += shared.wide_instruction;
    hart.time += shared.wide_instruction;
}

/// The upper register of a pair; above `x0` there is nothing to write.
fn above(register: u8) -> u8 {
    if register == SINK { SINK } else { register + 1 }
}

/// The instruction is over when the core wakes; until then others run.
fn sleep<O: Observer>(
    hart: &mut Hart,
    shared: &mut Shared,
    wait: Wait,
    op: Op,
    observer: &mut O,
) -> Pause {
    let (core, cycle, pc) = (hart.id, hart.time, hart.pc);
    hart.asleep = Some((wait, op.rd));
    hart.waits_at = pc;
    hart.last_written = op.rd;
    hart.pc = pc.wrapping_add(u32::from(op.len));
    hart.time += 1;
    hart.counters.instructions += 1;
    if O::LOOKS {
        observer.step(&Step::new(core, cycle, hart.time, pc, op, 0));
    }
    shared.note(Event::Sleeps { cycle, core, wait });
    Pause::Turn
}

/// The stack pointer was written: it must point into the stack, or to its end.
#[inline(always)]
fn stack(hart: &Hart) -> Result<(), FaultKind> {
    let (pointer, low, high) = (hart.x(SP), hart.stack_low, hart.stack_high);
    if high != 0 && (pointer < low || pointer > high) {
        return Err(FaultKind::StackOverflow { pointer, low, high });
    }
    Ok(())
}

/// What the instruction has written.
fn result(hart: &Hart, op: &Op) -> u64 {
    match op.rd {
        SINK => 0,
        register if register >= FLOAT => hart.double(register),
        register => u64::from(hart.x(register)),
    }
}
