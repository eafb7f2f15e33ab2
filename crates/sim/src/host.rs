//! The host's memory, as the cluster sees it through its interconnect.
//!
//! Whoever embeds the simulator decides what is there: the process's own memory, or [`PrivateMemory`] in tests.

use std::ops::Range;

/// Why an access was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is nothing at this address.
    Unmapped,
    /// It may be read only.
    ReadOnly,
}

/// Memory by addresses of 64 bits. An access that is refused must change nothing.
pub trait HostMemory {
    /// Reads all of `into`.
    ///
    /// # Errors
    /// Why it may not, for any of the bytes.
    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), Refusal>;

    /// Writes all of `from`.
    ///
    /// # Errors
    /// Why it may not, for any of the bytes.
    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), Refusal>;

    /// Replaces the word at an aligned address by what `change` makes of it, and gives the old one. Memory that
    /// threads of the host use as well must see to it that nothing comes between.
    ///
    /// # Errors
    /// Why it may not.
    fn update(&mut self, address: u64, change: &mut dyn FnMut(u32) -> u32) -> Result<u32, Refusal> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes)?;
        let old = u32::from_le_bytes(bytes);
        self.write(address, &change(old).to_le_bytes())?;
        Ok(old)
    }
}

/// A host without memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMemory;

impl HostMemory for NoMemory {
    fn read(&mut self, _: u64, _: &mut [u8]) -> Result<(), Refusal> {
        Err(Refusal::Unmapped)
    }

    fn write(&mut self, _: u64, _: &[u8]) -> Result<(), Refusal> {
        Err(Refusal::Unmapped)
    }
}

/// Pieces of memory at chosen addresses.
#[derive(Clone, Debug, Default)]
pub struct PrivateMemory {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
struct Piece {
    start: u64,
    bytes: Vec<u8>,
    is_writable: bool,
}

impl PrivateMemory {
    /// None at all.
    pub fn new() -> PrivateMemory {
        PrivateMemory::default()
    }

    /// Adds `bytes` at `start`.
    pub fn map(&mut self, start: u64, bytes: Vec<u8>) {
        self.pieces.push(Piece { start, bytes, is_writable: true });
    }

    /// Adds `bytes` that may not be written.
    pub fn map_read_only(&mut self, start: u64, bytes: Vec<u8>) {
        self.pieces.push(Piece { start, bytes, is_writable: false });
    }

    /// The bytes at `address`, if they are in one piece.
    pub fn bytes(&self, address: u64, len: usize) -> Option<&[u8]> {
        let (piece, range) = self.find(address, len)?;
        self.pieces.get(piece)?.bytes.get(range)
    }

    fn find(&self, address: u64, len: usize) -> Option<(usize, Range<usize>)> {
        self.pieces.iter().enumerate().find_map(|(index, piece)| {
            let offset = usize::try_from(address.checked_sub(piece.start)?).ok()?;
            let end = offset.checked_add(len)?;
            (end <= piece.bytes.len()).then_some((index, offset..end))
        })
    }
}

impl HostMemory for PrivateMemory {
    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), Refusal> {
        let bytes = self.bytes(address, into.len()).ok_or(Refusal::Unmapped)?;
        into.copy_from_slice(bytes);
        Ok(())
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), Refusal> {
        let (piece, range) = self.find(address, from.len()).ok_or(Refusal::Unmapped)?;
        let piece = self.pieces.get_mut(piece).ok_or(Refusal::Unmapped)?;
        if !piece.is_writable {
            return Err(Refusal::ReadOnly);
        }
        piece.bytes.get_mut(range).ok_or(Refusal::Unmapped)?.copy_from_slice(from);
        Ok(())
    }
}
