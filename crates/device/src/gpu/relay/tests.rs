//! Copies by way of a bus that does everything as late as it may, and fails when it is told to.
#![allow(unsafe_code, reason = "addresses of memory of the test")]

use std::sync::atomic::AtomicBool;

use super::*;

/// A bus that copies as late as it may: when a mark is waited for, or was asked for so often.
#[derive(Debug, Default)]
struct Late {
    queue: Mutex<Queue>,
    /// The call of this number fails, from 1.
    fails_at: usize,
    reaches_all: AtomicBool,
}

#[derive(Debug, Default)]
struct Queue {
    /// Where from, where to, how much, and the mark behind it.
    copies: Vec<(usize, usize, usize, usize)>,
    done: usize,
    calls: usize,
    pieces: usize,
}

impl Queue {
    fn run(&mut self, count: usize) {
        let count = count.max(self.done);
        for (from, to, len, _) in &self.copies[self.done..count] {
            // SAFETY: addresses of the test, which has handed them in.
            unsafe { ptr::copy_nonoverlapping(*from as *const u8, *to as *mut u8, *len) };
        }
        self.done = count;
    }

    fn last(&self, mark: usize) -> usize {
        self.copies.iter().rposition(|it| it.3 == mark).map_or(0, |it| it + 1)
    }
}

impl Late {
    fn call(&self) -> Result<MutexGuard<'_, Queue>> {
        let mut queue = self.queue.lock().unwrap();
        queue.calls += 1;
        match queue.calls == self.fails_at {
            true => Err(DeviceError::Failed("the bus has no wheels".into())),
            false => Ok(queue),
        }
    }

    fn put(&self, from: usize, to: usize, len: usize, mark: usize) -> Result<()> {
        let mut queue = self.call()?;
        queue.pieces += 1;
        queue.copies.push((from, to, len, mark));
        Ok(())
    }
}

impl Bus for Arc<Late> {
    fn reaches(&self, _: *const u8) -> bool {
        self.reaches_all.load(Ordering::Relaxed)
    }

    fn places(&self) -> Option<*mut u8> {
        Some(vec![0_u8; BYTES].leak().as_mut_ptr())
    }

    unsafe fn put_in(&self, on: On, device: u64, place: *const u8, len: usize) -> Result<()> {
        self.put(place as usize, device as usize, len, on.mark)
    }

    unsafe fn put_out(&self, on: On, place: *mut u8, device: u64, len: usize) -> Result<()> {
        self.put(device as usize, place as usize, len, on.mark)
    }

    fn is_done(&self, mark: usize) -> Result<bool> {
        let mut queue = self.call()?;
        let last = queue.last(mark);
        // Now and then one is.
        if queue.calls.is_multiple_of(7) {
            queue.run(last);
        }
        Ok(queue.done >= last)
    }

    fn wait(&self, mark: usize) -> Result<()> {
        let mut queue = self.call()?;
        let last = queue.last(mark);
        queue.run(last);
        Ok(())
    }
}

fn relay(bus: &Arc<Late>, threads: usize) -> Relay {
    let relay = Relay::with_threads(Box::new(Arc::clone(bus)), Some(threads));
    relay.missed.store(WORTH, Ordering::Relaxed);
    relay
}

/// Bytes that differ from place to place, also a piece further.
fn bytes(len: usize, seed: u64) -> Vec<u8> {
    let words = (0..len as u64 / 8 + 1).map(|it| (it + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    words.flat_map(u64::to_le_bytes).take(len).collect()
}

fn copy_in(relay: &Relay, dst: &mut [u8], src: &[u8]) -> Option<Result<()>> {
    assert_eq!(dst.len(), src.len());
    let (at, len) = (dst.as_mut_ptr() as u64, src.len());
    // SAFETY: both have as many bytes.
    unsafe { relay.copy_in(ptr::null_mut(), at, src.as_ptr(), len) }
}

fn copy_out(relay: &Relay, dst: &mut [u8], src: &[u8]) -> Option<Result<()>> {
    assert_eq!(dst.len(), src.len());
    let (at, len) = (src.as_ptr() as u64, src.len());
    // SAFETY: both have as many bytes.
    unsafe { relay.copy_out(ptr::null_mut(), dst.as_mut_ptr(), at, len) }
}

#[test]
fn every_byte_goes_there_and_back() {
    let lengths = [LEAST, LEAST + 1, 5 * PIECE - 1, BYTES - 1, BYTES, BYTES + 1, 70 * PIECE + 77];
    for threads in [1, 2, 4] {
        let bus = Arc::new(Late::default());
        let relay = relay(&bus, threads);
        for (seed, len) in lengths.into_iter().enumerate() {
            // Neither begins where a page or a word does.
            let mut source = bytes(len + 3, seed as u64)[3..].to_vec();
            let expected = source.clone();
            let mut device = vec![0; len + 1];
            assert!(copy_in(&relay, &mut device[1..], &source).unwrap().is_ok());
            // It was read, whatever the bus has done.
            source.fill(0);
            let mut back = vec![0; len + 5];
            assert!(copy_out(&relay, &mut back[5..], &device[1..]).unwrap().is_ok());
            assert!(back[5..] == expected, "{threads} threads, {len} bytes");
            assert_eq!(back[..5], [0; 5]);
            assert!(device[1..] == expected, "{threads} threads, {len} bytes");
        }
        let pieces: usize = lengths.iter().map(|it| 2 * it.div_ceil(PIECE)).sum();
        assert_eq!(bus.queue.lock().unwrap().pieces, pieces);
    }
}

#[test]
fn places_that_are_on_the_bus_are_waited_for_by_the_next() {
    let bus = Arc::new(Late::default());
    let relay = relay(&bus, 2);
    let sources: Vec<_> = (0..5).map(|it| bytes(BYTES - PIECE / 2, 1000 * it)).collect();
    let mut devices = vec![vec![0; BYTES - PIECE / 2]; 5];
    for (device, source) in devices.iter_mut().zip(&sources) {
        assert!(copy_in(&relay, device, source).unwrap().is_ok());
    }
    let mut queue = bus.queue.lock().unwrap();
    let all = queue.copies.len();
    assert!(queue.done < all, "some are not waited for");
    queue.run(all);
    assert!(devices == sources);
}

#[test]
fn a_failure_is_told_and_nothing_is_touched_after_it() {
    for fails_at in [1, 2, 30, 70] {
        for is_in in [true, false] {
            let bus = Arc::new(Late { fails_at, ..Late::default() });
            let relay = relay(&bus, 3);
            let (mut here, mut there) = (bytes(40 * PIECE, 1), bytes(40 * PIECE, 2));
            let done = match is_in {
                true => copy_in(&relay, &mut there, &here),
                false => copy_out(&relay, &mut here, &there),
            };
            let error = done.unwrap().unwrap_err().to_string();
            assert!(error.contains("no wheels"), "{error}");
            let now = here.clone();
            thread::sleep(std::time::Duration::from_millis(2));
            assert!(here == now, "threads have let go of it");
            assert!(copy_in(&relay, &mut there, &here).is_none(), "the driver's way from now on");
        }
    }
}

#[test]
fn who_finds_others_at_it_goes_the_drivers_way() {
    let bus = Arc::new(Late::default());
    let relay = relay(&bus, 2);
    let went = AtomicUsize::new(0);
    thread::scope(|scope| {
        for seed in 0..4 {
            let (relay, bus, went) = (&relay, &bus, &went);
            scope.spawn(move || {
                let source = bytes(9 * PIECE + 11, seed * 10_000);
                let mut device = vec![0; source.len()];
                for _ in 0..10 {
                    let mut back = vec![0; source.len()];
                    match copy_in(relay, &mut device, &source) {
                        Some(done) => done.unwrap(),
                        None => device.copy_from_slice(&source),
                    }
                    match copy_out(relay, &mut back, &device) {
                        Some(done) => done.unwrap(),
                        None => {
                            // What was put on the bus before is there then.
                            let mut queue = bus.queue.lock().unwrap();
                            let all = queue.copies.len();
                            queue.run(all);
                            back.copy_from_slice(&device);
                        }
                    }
                    assert!(back == source);
                    went.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(went.load(Ordering::Relaxed), 40);
}

#[test]
fn small_copies_reached_memory_and_the_first_few_are_the_drivers() {
    let bus = Arc::new(Late::default());
    let relay = Relay::with_threads(Box::new(Arc::clone(&bus)), Some(2));
    let source = bytes(LEAST, 1);
    let mut device = vec![0; LEAST];
    for _ in 1..WORTH / LEAST {
        assert!(copy_in(&relay, &mut device, &source).is_none());
    }
    assert!(copy_in(&relay, &mut device, &source).is_some());
    assert!(copy_in(&relay, &mut device[1..], &source[1..]).is_none());
    bus.reaches_all.store(true, Ordering::Relaxed);
    assert!(copy_in(&relay, &mut device, &source).is_none());
    let off = Relay::with_threads(Box::new(bus), None);
    off.missed.store(WORTH, Ordering::Relaxed);
    assert!(copy_in(&off, &mut device, &source).is_none());
}

#[test]
fn the_user_says_how_many_carry() {
    assert_eq!(threads_of("0").unwrap(), None);
    assert_eq!(threads_of("1").unwrap(), None);
    assert_eq!(threads_of("2").unwrap(), Some(2));
    assert_eq!(threads_of("1000").unwrap(), Some(PLACES));
    assert!(threads_of("").unwrap().is_none_or(|it| it <= MOST_THREADS));
    let error = threads_of("many").unwrap_err().to_string();
    assert!(error.contains("FERRY_COPY_THREADS: `many` is no number of threads"), "{error}");
}
