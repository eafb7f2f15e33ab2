//! Regions that kernels hand back while they run: a page of memory that both sides see ([`abi::mailbox`]), and a thread that
//! looks at it.
//!
//! One kernel thread has the page at a time. What the host wants of the memory that it sees, it copies itself: so it need not
//! be memory that drivers copy from, nor do drivers have to copy while a kernel runs.
#![allow(unsafe_code, reason = "memory that a kernel writes at the same time")]

use std::hint::spin_loop;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use abi::mailbox::{MESSAGE, PIECE, TURN, WORDS, kind};

use crate::handed_back::{self, Sight};
use crate::memory::DevicePtr;
use crate::{DeviceError, Result, Upcalls};

/// Bytes of a page.
pub(crate) const BYTES: usize = WORDS * 8 + PIECE;

/// Bytes of what a mapper pushes at once: base, begin, size, type.
const COMPONENT: usize = 4 * 8;

/// Stack of a thread that runs regions of the host; pages are taken when they are used.
const STACK: usize = 64 << 20;

/// How often it looks without a pause, then how often others may run in between, and how long it sleeps after that.
const LOOKS: u32 = 2000;
const YIELDS: u32 = 2000;
const NAP: Duration = Duration::from_micros(100);
/// How long after so many naps.
const NAPS: u32 = 10_000;
const SLEEP: Duration = Duration::from_millis(5);

/// The mailbox of a device. When it is dropped, nobody looks any more; the page stays.
#[derive(Debug)]
pub(crate) struct Mailbox {
    page: Arc<Page>,
    looks: Thread,
}

/// The page, as the host sees it.
#[derive(Debug)]
struct Page {
    words: *const AtomicU64,
    is_over: AtomicBool,
    /// Kernels spin on this machine's own processors: who yields to one waits until its time is over, who sleeps is woken before that.
    is_crowded: AtomicBool,
    /// What was wrong with a message.
    fault: Mutex<Option<DeviceError>>,
}

// SAFETY: words are atomic, and the data behind them belong to the side whose turn it is.
unsafe impl Send for Page {}
// SAFETY: as above.
unsafe impl Sync for Page {}

impl Mailbox {
    /// Looks at a page from now on.
    ///
    /// # Safety
    /// There are [`BYTES`] bytes of zeros, which stay as long as the process, and which kernels use as agreed.
    pub(crate) unsafe fn start(page: *mut u8, upcalls: Arc<dyn Upcalls>) -> Result<Mailbox> {
        let (is_over, fault) = (AtomicBool::new(false), Mutex::default());
        let page = Arc::new(Page {
            words: page.cast::<AtomicU64>(),
            is_over,
            is_crowded: AtomicBool::new(false),
            fault,
        });
        let own = Arc::clone(&page);
        let builder = thread::Builder::new().name("ferry-upcalls".into()).stack_size(STACK);
        let started = builder.spawn(move || serve(&own, &upcalls));
        let failed = |error| DeviceError::Failed(format!("no thread for a mailbox: {error}"));
        Ok(Mailbox { page, looks: started.map_err(failed)?.thread().clone() })
    }

    /// Where kernels find it.
    pub(crate) fn address(&self) -> DevicePtr {
        DevicePtr(self.page.words as u64)
    }

    /// A kernel is started that may use it.
    pub(crate) fn launched(&self) -> Result<()> {
        self.looks.unpark();
        let fault = self.page.fault.lock().unwrap_or_else(PoisonError::into_inner).take();
        fault.map_or(Ok(()), Err)
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        self.page.is_over.store(true, Ordering::Relaxed);
        self.looks.unpark();
    }
}

impl Page {
    fn word(&self, index: usize) -> &AtomicU64 {
        // SAFETY: the first words of the page, which stays.
        unsafe { &*self.words.add(index.min(WORDS - 1)) }
    }

    fn data(&self) -> *mut u8 {
        // SAFETY: they follow the words.
        unsafe { self.words.add(WORDS) }.cast_mut().cast()
    }

    /// Waits until it is the host's turn; false if the mailbox is over.
    fn wait(&self) -> bool {
        let mut round = 0_u32;
        // The kernel writes half of the word.
        while self.word(TURN).load(Ordering::Acquire) as u32 != 1 {
            if self.is_over.load(Ordering::Relaxed) {
                return false;
            }
            round = round.saturating_add(1);
            match round {
                0..LOOKS => spin_loop(),
                _ if round < LOOKS + YIELDS && !self.is_crowded.load(Ordering::Relaxed) => {
                    let began = Instant::now();
                    thread::yield_now();
                    if began.elapsed() > NAP {
                        self.is_crowded.store(true, Ordering::Relaxed);
                    }
                }
                _ if round < LOOKS + YIELDS + NAPS => thread::park_timeout(NAP),
                _ => thread::park_timeout(SLEEP),
            }
        }
        true
    }

    /// Gives the turn away with a message.
    fn pass(&self, kind: u64, words: &[u64]) {
        for (index, word) in [kind].iter().chain(words).enumerate() {
            self.word(MESSAGE + index).store(*word, Ordering::Relaxed);
        }
        self.word(TURN).store(0, Ordering::Release);
    }

    /// The same, and waits for the answer.
    fn ask(&self, kind: u64, words: &[u64]) -> Result<()> {
        self.pass(kind, words);
        let lost = || DeviceError::Lost("its kernel does not answer any more".into());
        if self.wait() { Ok(()) } else { Err(lost()) }
    }
}

impl Sight for Page {
    unsafe fn read(&self, dst: *mut u8, src: DevicePtr, len: usize) -> Result<()> {
        for offset in (0..len).step_by(PIECE) {
            let size = PIECE.min(len - offset);
            self.ask(kind::READ, &[src.offset(offset).0, size as u64])?;
            // SAFETY: as many bytes were put into the page, and can be written there by contract.
            unsafe { ptr::copy_nonoverlapping(self.data(), dst.add(offset), size) };
        }
        Ok(())
    }

    unsafe fn write(&self, dst: DevicePtr, src: *const u8, len: usize) -> Result<()> {
        for offset in (0..len).step_by(PIECE) {
            let size = PIECE.min(len - offset);
            // SAFETY: the page is ours, and as many bytes can be read by contract.
            unsafe { ptr::copy_nonoverlapping(src.add(offset), self.data(), size) };
            self.ask(kind::WRITE, &[dst.offset(offset).0, size as u64])?;
        }
        Ok(())
    }

    fn components(&self, mapper: u64, entry: [u64; 4]) -> Result<Vec<[u64; 4]>> {
        let [base, begin, size, map_type] = entry;
        self.ask(kind::MAPPER, &[mapper, base, begin, size, map_type])?;
        let count = usize::try_from(self.word(MESSAGE + 1).load(Ordering::Relaxed));
        let most = PIECE / COMPONENT;
        let count = count.ok().filter(|it| *it <= most).ok_or_else(|| {
            DeviceError::Failed(format!("a mapper has more than {most} components"))
        })?;
        // SAFETY: the kernel has written as many.
        let read = |index| unsafe { self.data().cast::<[u64; 4]>().add(index).read() };
        Ok((0..count).map(read).collect())
    }
}

/// Answers kernels until the mailbox is over.
fn serve(page: &Arc<Page>, upcalls: &Arc<dyn Upcalls>) {
    let sight: Arc<dyn Sight> = Arc::clone(page) as Arc<dyn Sight>;
    while page.wait() {
        let [what, size] = [0, 1].map(|it| page.word(MESSAGE + it).load(Ordering::Relaxed));
        let size = usize::try_from(size).unwrap_or(0).min(PIECE);
        let mut frame = vec![0; if what == kind::REGION { size } else { 0 }];
        // SAFETY: the data are ours now, and there are as many.
        unsafe { ptr::copy_nonoverlapping(page.data(), frame.as_mut_ptr(), frame.len()) };
        if let Err(error) = handed_back::run(&sight, Some(upcalls), &frame) {
            *page.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
        // What the region prints comes before what the kernel prints next.
        // SAFETY: flushes all streams of this process.
        unsafe { libc::fflush(ptr::null_mut()) };
        page.pass(kind::DONE, &[]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, HandedBack, MemoryKind, Original};

    /// Takes what the first entry says, doubles each byte of it, and gives it back.
    struct Doubling;

    impl Upcalls for Doubling {
        fn original(&self, _: DevicePtr, _: usize) -> Option<Original> {
            None
        }

        fn run(&self, _: &str, _: &str, _: &[u64]) -> Result<()> {
            Ok(())
        }

        fn hand_back(
            &self,
            region: &HandedBack<'_>,
            host: &dyn Fn() -> Box<dyn Device>,
        ) -> Result<()> {
            assert_eq!((region.region.as_str(), region.place.as_str()), ("twice", ";a.c;f;1;2;;"));
            let host = host();
            let [_, begin, size, map_type, mapper] = *region.entries.first().unwrap();
            let parts = host.components(mapper, [begin, begin, size, map_type])?;
            assert_eq!(parts, [[begin, begin, 0, 0], [begin, begin + 1, size, map_type]]);
            let len = usize::try_from(size).unwrap();
            let at = host.alloc(len, 16, MemoryKind::Device)?;
            // SAFETY: as many bytes of both sides, of which one is what the kernel below sees.
            unsafe {
                host.copy_in(at, begin as *const u8, len)?;
                let bytes = std::slice::from_raw_parts_mut(at.0 as *mut u8, len);
                bytes.iter_mut().for_each(|it| *it = it.wrapping_mul(2));
                host.copy_out(begin as *mut u8, at, len)?;
                host.free(at)
            }
        }
    }

    /// What a kernel does, in Rust: hands the region back with these data.
    fn kernel(page: &Page, data: &mut [u8]) {
        let words = [1, 5, 0, 0, data.as_ptr() as u64, data.len() as u64, 3, 7];
        let head: Vec<u8> = words.iter().flat_map(|it: &u64| it.to_le_bytes()).collect();
        let frame = [head.as_slice(), b"twice;a.c;f;1;2;;"].concat();
        let put = |bytes: &[u8]| {
            // SAFETY: fewer than the page has, which is this side's.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), page.data(), bytes.len()) };
        };
        put(&frame);
        let message = |words: &[u64]| {
            for (index, word) in words.iter().enumerate() {
                page.word(MESSAGE + index).store(*word, Ordering::Relaxed);
            }
        };
        message(&[kind::REGION, frame.len() as u64]);
        loop {
            page.word(TURN).store(1, Ordering::Release);
            while page.word(TURN).load(Ordering::Acquire) != 0 {
                thread::yield_now();
            }
            let [what, at, size, begin, bytes, map_type] =
                [0, 1, 2, 3, 4, 5].map(|it| page.word(MESSAGE + it).load(Ordering::Relaxed));
            let offset = usize::try_from(at.wrapping_sub(data.as_ptr() as u64)).unwrap_or(0);
            match what {
                kind::DONE => return,
                kind::READ => put(&data[offset..offset + usize::try_from(size).unwrap()]),
                kind::WRITE => {
                    let to = &mut data[offset..offset + usize::try_from(size).unwrap()];
                    // SAFETY: as many bytes of the page, which is this side's.
                    unsafe { ptr::copy_nonoverlapping(page.data(), to.as_mut_ptr(), to.len()) };
                }
                kind::MAPPER => {
                    assert_eq!(at, 7, "its number");
                    let words = [size, begin, 0, 0, size, begin + 1, bytes, map_type];
                    let bytes: Vec<u8> = words.iter().flat_map(|it| it.to_ne_bytes()).collect();
                    put(&bytes);
                    message(&[kind::MAPPER, 2]);
                }
                other => panic!("{other}"),
            }
        }
    }

    #[test]
    fn a_region_gets_what_its_kernel_sees_in_pieces_and_gives_it_back() {
        let memory: &mut [u64] = vec![0; BYTES / 8].leak();
        // SAFETY: as many bytes of zeros, which are never given back.
        let mailbox =
            unsafe { Mailbox::start(memory.as_mut_ptr().cast(), Arc::new(Doubling)) }.unwrap();
        for len in [1, 1000, PIECE, 2 * PIECE + 9] {
            let mut data: Vec<u8> = (0..len).map(|it| it as u8).collect();
            mailbox.launched().unwrap();
            kernel(&mailbox.page, &mut data);
            let is_right = |(at, it): (usize, &u8)| *it == (at as u8).wrapping_mul(2);
            assert!(data.iter().enumerate().all(is_right), "{len} bytes");
        }
    }
}
