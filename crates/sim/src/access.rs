//! Loads and stores beyond the ordinary: outside the scratchpad, misaligned, wide, atomic.

use crate::config::{Errors, Misaligned, PERIPHERALS};
use crate::data_cache::{Cost, DataCaches};
use crate::fault::{Access, FaultKind};
use crate::hart::Hart;
use crate::host::{HostMemory, Refusal};
use crate::isa::op::AtomicOp;
use crate::peripheral;
use crate::shared::{Done, Region, Shared};

/// Where an access goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    address: u64,
    /// The extension register made its upper half: it leaves the cluster, wherever the lower half points.
    leaves: bool,
    /// The extension register is used up by it.
    uses_register: bool,
    /// Whether bytes behind a 4 GiB boundary are beyond it, or at its other end.
    carries: bool,
}

impl Target {
    /// An address of 32 bits, and the core's extension.
    pub(crate) fn narrow(hart: &Hart, shared: &Shared, address: u32) -> Target {
        let leaves = hart.extension != 0;
        let address = u64::from(hart.extension) << 32 | u64::from(address);
        Target { address, leaves, uses_register: leaves, carries: leaves && shared.carry }
    }

    /// An address of two registers.
    pub(crate) fn wide(low: u32, high: u32) -> Target {
        let address = u64::from(high) << 32 | u64::from(low);
        Target { address, leaves: high != 0, uses_register: false, carries: true }
    }

    fn is_peripheral(self) -> bool {
        !self.leaves && PERIPHERALS.contains(&self.address)
    }

    /// How many of the bytes lie before a 4 GiB boundary, and where the rest is.
    fn split(self, bytes: usize) -> (usize, u64) {
        let before = (1 << 32) - (self.address & 0xffff_ffff);
        let first = bytes.min(usize::try_from(before).unwrap_or(bytes));
        let next = (self.address >> 32).wrapping_add(u64::from(self.carries)) << 32;
        (first, next)
    }
}

/// Checks the alignment.
fn align(
    hart: &mut Hart,
    shared: &Shared,
    target: Target,
    bytes: u32,
    access: Access,
) -> Result<(), FaultKind> {
    let Target { address, .. } = target;
    if !address.is_multiple_of(u64::from(bytes)) {
        let must_be = shared.misaligned == Misaligned::Fault || access == Access::Atomic;
        if must_be || target.is_peripheral() {
            return Err(FaultKind::Misaligned { address, bytes, access });
        }
        let crosses_word = (address & 3) + u64::from(bytes) > 4 && (bytes < 8 || address & 3 != 0);
        if crosses_word {
            let cycles = u64::from(shared.timing.misaligned);
            hart.counters.stalls.misaligned += cycles;
            hart.time += cycles;
        }
    }
    Ok(())
}

/// Checks the alignment, waits for memory and counts; gives the region.
fn approach(
    hart: &mut Hart,
    shared: &mut Shared,
    target: Target,
    bytes: u32,
    access: Access,
) -> Result<Region, FaultKind> {
    align(hart, shared, target, bytes, access)?;
    let Target { address, .. } = target;
    let region = if target.leaves { Region::Host } else { shared.region(address, bytes as usize) };
    match region {
        Region::L1 => {
            let first = (address as u32).wrapping_sub(shared.l1.base) / 4;
            let last = (address as u32).wrapping_add(bytes - 1).wrapping_sub(shared.l1.base) / 4;
            let busy = if access == Access::Atomic { 1 + shared.l1_atomic } else { 1 };
            let wait = (first..=last).map(|it| shared.banks.grant(it, hart.time, busy)).max();
            conflict(hart, wait.unwrap_or(0));
            hart.counters.l1 += 1;
        }
        Region::L2 => {
            let wait = shared.leave(hart.time, shared.l2_latency);
            hart.counters.stalls.l2 += wait;
            hart.counters.l2 += 1;
            hart.time += wait;
        }
        Region::Host => {
            let wait = shared.leave(hart.time, shared.host_latency);
            hart.counters.stalls.host += wait;
            hart.counters.host += 1;
            hart.time += wait;
        }
    }
    Ok(region)
}

/// Waits for a bank.
#[inline(always)]
pub(crate) fn conflict(hart: &mut Hart, wait: u64) {
    if wait != 0 {
        hart.counters.conflicts += 1;
        hart.counters.stalls.conflict += wait;
        hart.time += wait;
    }
}

/// What an access comes to that was refused: a fault, or a bit in the error register.
fn refused(
    hart: &mut Hart,
    shared: &Shared,
    target: Target,
    bytes: u32,
    access: Access,
    refusal: Refusal,
) -> Result<(), FaultKind> {
    let address = target.address;
    if shared.errors == Errors::Record && target.leaves {
        hart.errors |= match refusal {
            Refusal::Unmapped => 1,
            Refusal::ReadOnly => 2,
        };
        return Ok(());
    }
    Err(match refusal {
        Refusal::Unmapped => FaultKind::Unmapped { address, bytes, access },
        Refusal::ReadOnly => FaultKind::ReadOnly { address },
    })
}

/// Loads 1 to 8 bytes, without sign.
#[inline(never)]
pub(crate) fn load(
    hart: &mut Hart,
    shared: &mut Shared,
    host: &mut dyn HostMemory,
    target: Target,
    bytes: u32,
) -> Result<Done, FaultKind> {
    if target.is_peripheral() {
        if bytes != 4 || !target.address.is_multiple_of(4) {
            let address = target.address;
            return Err(FaultKind::NoRegister { address, access: Access::Read });
        }
        return peripheral::read(hart, shared, target.address as u32);
    }
    let mut value = [0; 8];
    if let Some((mut caches, address)) = cached(shared, target, bytes) {
        let into = value.get_mut(..bytes as usize).unwrap_or_default();
        let loaded = caches.load(&mut shared.l2, hart.id, address, into);
        shared.data_caches = Some(caches);
        through(hart, shared, target, bytes, Access::Read, loaded)?;
        return Ok(Done::Value(u64::from_le_bytes(value)));
    }
    approach(hart, shared, target, bytes, Access::Read)?;
    let (first, next) = target.split(bytes as usize);
    let (before, behind) = value.split_at_mut(first);
    let behind = behind.get_mut(..bytes as usize - first).unwrap_or_default();
    let mut read = read_outside(shared, host, target, target.address, before);
    if read.is_ok() && !behind.is_empty() {
        read = read_outside(shared, host, target, next, behind);
    }
    if target.uses_register {
        hart.extension = 0;
    }
    if let Err(refusal) = read {
        refused(hart, shared, target, bytes, Access::Read, refusal)?;
        return Ok(Done::Value(0));
    }
    Ok(Done::Value(u64::from_le_bytes(value)))
}

/// The caches, if this access goes through one; they are given back by the caller.
fn cached(shared: &mut Shared, target: Target, bytes: u32) -> Option<(Box<DataCaches>, u64)> {
    let is_cached = !target.leaves
        && shared.data_caches.is_some()
        && shared.region(target.address, bytes as usize) == Region::L2;
    let caches = if is_cached { shared.data_caches.take() } else { None };
    Some((caches?, target.address))
}

/// Counts an access that went through the core's cache.
fn through(
    hart: &mut Hart,
    shared: &mut Shared,
    target: Target,
    bytes: u32,
    access: Access,
    done: Result<Cost, FaultKind>,
) -> Result<(), FaultKind> {
    align(hart, shared, target, bytes, access)?;
    let wait = shared.fill(hart.time, done?);
    hart.counters.stalls.l2 += wait;
    hart.counters.l2 += 1;
    hart.time += wait;
    Ok(())
}

fn read_outside(
    shared: &Shared,
    host: &mut dyn HostMemory,
    target: Target,
    address: u64,
    into: &mut [u8],
) -> Result<(), Refusal> {
    match target.leaves {
        true => host.read(address, into),
        false => shared.read(host, address, into),
    }
}

/// Stores the lowest 1 to 8 bytes.
#[inline(never)]
pub(crate) fn store(
    hart: &mut Hart,
    shared: &mut Shared,
    host: &mut dyn HostMemory,
    target: Target,
    bytes: u32,
    value: u64,
) -> Result<(), FaultKind> {
    if target.is_peripheral() {
        if bytes != 4 || !target.address.is_multiple_of(4) {
            let address = target.address;
            return Err(FaultKind::NoRegister { address, access: Access::Write });
        }
        return peripheral::write(hart, shared, target.address as u32, value as u32);
    }
    let value = value.to_le_bytes();
    if let Some((mut caches, address)) = cached(shared, target, bytes) {
        let from = value.get(..bytes as usize).unwrap_or_default();
        let stored = caches.store(&mut shared.l2, hart.id, address, from);
        shared.data_caches = Some(caches);
        shared.code_written.push((address as u32, bytes));
        shared.sleepers.disturbed = true;
        return through(hart, shared, target, bytes, Access::Write, stored);
    }
    approach(hart, shared, target, bytes, Access::Write)?;
    let (first, next) = target.split(bytes as usize);
    let (before, behind) = value.split_at(first);
    let behind = behind.get(..bytes as usize - first).unwrap_or_default();
    let mut written = write_outside(shared, host, target, target.address, before);
    if written.is_ok() && !behind.is_empty() {
        written = write_outside(shared, host, target, next, behind);
    }
    if target.uses_register {
        hart.extension = 0;
    }
    match written {
        Ok(()) => Ok(()),
        Err(refusal) => refused(hart, shared, target, bytes, Access::Write, refusal),
    }
}

fn write_outside(
    shared: &mut Shared,
    host: &mut dyn HostMemory,
    target: Target,
    address: u64,
    from: &[u8],
) -> Result<(), Refusal> {
    if !target.leaves {
        return shared.write(host, address, from);
    }
    host.write(address, from)?;
    if shared.reserved {
        shared.unreserve(address, from.len() as u64);
    }
    Ok(())
}

/// Reads a word, writes what `atomic` makes of it, gives the old one.
pub(crate) fn update(
    hart: &mut Hart,
    shared: &mut Shared,
    host: &mut dyn HostMemory,
    address: u32,
    atomic: AtomicOp,
    operand: u32,
) -> Result<u32, FaultKind> {
    let target = Target::narrow(hart, shared, address);
    no_register(target)?;
    let region = approach(hart, shared, target, 4, Access::Atomic)?;
    let mut change = |old| atomic.combine(old, operand);
    let old = match region {
        Region::Host => {
            let old = host.update(target.address, &mut change);
            if shared.reserved && old.is_ok() {
                shared.unreserve(target.address, 4);
            }
            old
        }
        Region::L1 | Region::L2 => {
            let mut bytes = [0; 4];
            let read = shared.read(host, target.address, &mut bytes);
            let old = u32::from_le_bytes(bytes);
            let new = change(old).to_le_bytes();
            read.and_then(|()| shared.write(host, target.address, &new)).map(|()| old)
        }
    };
    if target.uses_register {
        hart.extension = 0;
    }
    match old {
        Ok(old) => Ok(old),
        Err(refusal) => {
            refused(hart, shared, target, 4, Access::Atomic, refusal)?;
            Ok(0)
        }
    }
}

fn no_register(target: Target) -> Result<(), FaultKind> {
    match target.is_peripheral() {
        true => Err(FaultKind::NoRegister { address: target.address, access: Access::Atomic }),
        false => Ok(()),
    }
}

/// `lr.w`: loads a word and reserves it.
pub(crate) fn load_reserved(
    hart: &mut Hart,
    shared: &mut Shared,
    host: &mut dyn HostMemory,
    address: u32,
) -> Result<u32, FaultKind> {
    let target = reservable(hart, shared, address)?;
    let value = match load(hart, shared, host, target, 4)? {
        Done::Value(value) => value as u32,
        Done::Asleep(_) => 0,
    };
    if let Some(it) = shared.reservations.get_mut(hart.id as usize) {
        *it = Some(target.address);
        shared.reserved = true;
    }
    Ok(value)
}

/// `sc.w`: stores a word if it is still reserved; 0 if so.
pub(crate) fn store_conditional(
    hart: &mut Hart,
    shared: &mut Shared,
    host: &mut dyn HostMemory,
    address: u32,
    value: u32,
) -> Result<u32, FaultKind> {
    let target = reservable(hart, shared, address)?;
    let reserved = shared.reservations.get_mut(hart.id as usize).and_then(Option::take);
    if reserved != Some(target.address) {
        approach(hart, shared, target, 4, Access::Atomic)?;
        if target.uses_register {
            hart.extension = 0;
        }
        return Ok(1);
    }
    store(hart, shared, host, target, 4, u64::from(value))?;
    Ok(0)
}

fn reservable(hart: &Hart, shared: &Shared, address: u32) -> Result<Target, FaultKind> {
    let target = Target::narrow(hart, shared, address);
    no_register(target)?;
    if !target.address.is_multiple_of(4) {
        let (address, access) = (target.address, Access::Atomic);
        return Err(FaultKind::Misaligned { address, bytes: 4, access });
    }
    let in_l1 = !target.leaves && shared.region(target.address, 4) == Region::L1;
    if in_l1 && !shared.l1_reservations {
        return Err(FaultKind::NoReservations { address: target.address });
    }
    Ok(target)
}
