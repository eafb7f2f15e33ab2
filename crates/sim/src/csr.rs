//! Control registers of a core.

use crate::hart::Hart;
use crate::isa::Isa;

/// Set flags of floating-point arithmetic.
const FFLAGS: u32 = 0x001;
/// Rounding mode.
const FRM: u32 = 0x002;
/// Both.
const FCSR: u32 = 0x003;
const MSTATUS: u32 = 0x300;
const MISA: u32 = 0x301;
const MSCRATCH: u32 = 0x340;
const MEPC: u32 = 0x341;
/// The upper half of the next address.
const EXTENSION: u32 = 0x7c0;
/// The lowest address of the stack.
const STACK_LOW: u32 = 0x7d0;
/// The end of the stack; 0 for no check.
const STACK_HIGH: u32 = 0x7d1;
const CYCLE: u32 = 0xc00;
const TIME: u32 = 0xc01;
const INSTRET: u32 = 0xc02;
const CYCLE_HIGH: u32 = 0xc80;
const TIME_HIGH: u32 = 0xc81;
const INSTRET_HIGH: u32 = 0xc82;
const MCYCLE: u32 = 0xb00;
const MINSTRET: u32 = 0xb02;
const MCYCLE_HIGH: u32 = 0xb80;
const MINSTRET_HIGH: u32 = 0xb82;
const MHARTID: u32 = 0xf14;

/// What of the cluster decides which registers there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registers {
    pub(crate) isa: Isa,
    /// Whether [`EXTENSION`] is there.
    pub(crate) extension: bool,
    /// Cycles of `mstatus`.
    pub(crate) status_cost: u32,
    /// Cycles of any other.
    pub(crate) cost: u32,
}

impl Registers {
    /// Cycles of an access.
    pub(crate) fn cost_of(&self, number: u32) -> u32 {
        if number == MSTATUS { self.status_cost } else { self.cost }
    }

    /// `None` if there is no such register.
    pub(crate) fn read(&self, hart: &Hart, number: u32) -> Option<u32> {
        Some(match number {
            FFLAGS if self.isa.f => hart.flags,
            FRM if self.isa.f => u32::from(hart.rounding),
            FCSR if self.isa.f => u32::from(hart.rounding) << 5 | hart.flags,
            MSTATUS => hart.status,
            MISA => self.isa.register(),
            MSCRATCH => hart.scratch,
            MEPC => hart.resume,
            EXTENSION if self.extension => hart.extension,
            STACK_LOW => hart.stack_low,
            STACK_HIGH => hart.stack_high,
            CYCLE | TIME | MCYCLE => hart.time as u32,
            CYCLE_HIGH | TIME_HIGH | MCYCLE_HIGH => (hart.time >> 32) as u32,
            INSTRET | MINSTRET => hart.counters.instructions as u32,
            INSTRET_HIGH | MINSTRET_HIGH => (hart.counters.instructions >> 32) as u32,
            MHARTID => hart.id,
            _ => return None,
        })
    }

    /// `None` if there is no such register, or it can only be read.
    pub(crate) fn write(&self, hart: &mut Hart, number: u32, value: u32) -> Option<()> {
        match number {
            FFLAGS if self.isa.f => hart.flags = value & 31,
            FRM if self.isa.f => hart.rounding = (value & 7) as u8,
            FCSR if self.isa.f => {
                hart.flags = value & 31;
                hart.rounding = (value >> 5 & 7) as u8;
            }
            MSTATUS => hart.status = value,
            // What it says is fixed; writing it is allowed and changes nothing.
            MISA => {}
            MSCRATCH => hart.scratch = value,
            MEPC => hart.resume = value & !1,
            EXTENSION if self.extension => {
                hart.extension = value;
                hart.counters.wide.csr += 1;
            }
            STACK_LOW => hart.stack_low = value,
            STACK_HIGH => hart.stack_high = value,
            _ => return None,
        }
        Some(())
    }
}
