//! Instructions: their bits ([`decode`], [`compressed`]), what they become before they run ([`op`]), their names.

pub(crate) mod compressed;
pub(crate) mod decode;
pub(crate) mod name;
pub(crate) mod op;

use crate::config::{Config, Letter};

/// Which instructions there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Isa {
    pub(crate) m: bool,
    pub(crate) a: bool,
    pub(crate) f: bool,
    pub(crate) d: bool,
    pub(crate) c: bool,
    /// Loads and stores with an address in two registers.
    pub(crate) wide: bool,
}

impl Isa {
    pub(crate) fn of(config: &Config) -> Isa {
        Isa {
            m: config.has(Letter::M),
            a: config.has(Letter::A),
            f: config.has(Letter::F),
            d: config.has(Letter::D),
            c: config.has(Letter::C),
            wide: config.extension.instructions,
        }
    }

    /// `misa`: 32 bits, and a bit per letter.
    pub(crate) fn register(self) -> u32 {
        let bit = |has: bool, letter: u32| u32::from(has) << letter;
        1 << 30
            | bit(self.a, 0)
            | bit(self.c, 2)
            | bit(self.d, 3)
            | bit(self.f, 5)
            | 1 << 8
            | bit(self.m, 12)
    }
}
