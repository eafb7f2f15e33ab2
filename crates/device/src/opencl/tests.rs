//! What only a driver can show: work that goes on while nobody waits, and code that is not compiled twice.
//! Without one the tests say so and end.
#![allow(unsafe_code, reason = "kernels and memory by address")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::*;
use crate::Convention;

/// A kernel that takes a while, and one that depends on it.
const TEXT: &str = "\
__kernel void spin(ulong at, ulong rounds) {
  volatile ulong x = 1;
  for (ulong i = 0; i < rounds; i++) x = x * 3 + i;
  *(__global ulong *)at = x | 1;
}
__kernel void twice(ulong at) { *(__global ulong *)at *= 2; }
";

fn image() -> Vec<u8> {
    format!("{}{TEXT}", abi::image::OPENCL).into_bytes()
}

fn opened(folder: &Path) -> Option<OpenCl> {
    opened_as(Kind::OpenCl, folder)
}

fn opened_as(kind: Kind, folder: &Path) -> Option<OpenCl> {
    let device = choose::device(0, level(kind));
    match device.and_then(|it| OpenCl::with_cache(it, kind, Cache::in_folder(folder))) {
        Ok(device) => Some(device),
        Err(why) => {
            eprintln!("skipped: {why}");
            None
        }
    }
}

const LAUNCH: Launch<'static> = Launch {
    convention: Convention::Slots,
    teams: 1,
    limit: 1,
    trip_count: 1,
    group_memory: 0,
    name: "test",
    source: "",
};

fn run(device: &OpenCl, kernel: Kernel, args: &[u64]) {
    // SAFETY: the kernels of the test take these.
    unsafe { device.launch(kernel, args, &LAUNCH) }.expect("it runs");
}

fn put(stream: &dyn Stream, kernel: Kernel, args: &[u64]) {
    // SAFETY: as above; their memory is never given back.
    unsafe { stream.launch(kernel, args, &LAUNCH) }.expect("it is put into the stream");
}

fn word(device: &OpenCl, at: DevicePtr) -> u64 {
    let mut bytes = [0; 8];
    // SAFETY: eight bytes on both sides.
    unsafe { device.copy_out(bytes.as_mut_ptr(), at, 8) }.expect("a copy");
    u64::from_ne_bytes(bytes)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for inner in fs::read_dir(folder).expect("a folder") {
        let inner = fs::read_dir(inner.expect("an entry").path()).expect("a folder");
        found.extend(inner.map(|it| it.expect("an entry").path()));
    }
    found
}

#[test]
fn a_program_is_compiled_once_and_a_damaged_one_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(first) = opened(folder.path()) else { return };
    let builds = |device: &OpenCl| {
        let module = device.load(&image()).expect("it loads");
        let kernel = device.kernel(module, c"twice").expect("a kernel");
        let at = device.alloc(8, 8, MemoryKind::Device).expect("memory");
        // SAFETY: eight bytes on both sides.
        unsafe { device.copy_in(at, 21_u64.to_ne_bytes().as_ptr(), 8) }.expect("a copy");
        run(device, kernel, &[at.0]);
        assert_eq!(word(device, at), 42);
        device.build_of(module)
    };
    assert_eq!(builds(&first), Some(Build::Compiled));
    let again = || builds(&opened(folder.path()).expect("it opened before"));
    assert_eq!(again(), Some(Build::Kept));
    let [entry] = entries(folder.path()).try_into().expect("one entry");
    let mut bytes = fs::read(&entry).expect("an entry");
    *bytes.last_mut().expect("bytes") ^= 1;
    fs::write(&entry, &bytes).expect("it is damaged");
    assert_eq!(again(), Some(Build::Compiled));
    assert_eq!(again(), Some(Build::Kept));
    // Whole, and nothing that a driver has made.
    let other = tempfile::tempdir().expect("a folder");
    Cache::in_folder(other.path()).keep(&cache::Key::new("other"), b"not a program");
    let [made] = entries(other.path()).try_into().expect("one entry");
    fs::copy(&made, &entry).expect("it is replaced");
    assert_eq!(again(), Some(Build::Compiled));
}

#[test]
fn a_thread_goes_on_while_its_kernel_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(device) = opened(folder.path()) else { return };
    let module = device.load(&image()).expect("it loads");
    let kernel = |name| device.kernel(module, name).expect("a kernel");
    let (spin, twice) = (kernel(c"spin"), kernel(c"twice"));
    let at = device.alloc(8, 8, MemoryKind::Device).expect("memory");
    // As long as makes a difference, however busy the machine is.
    let (mut rounds, mut took) = (1_u64 << 16, Duration::ZERO);
    while took < Duration::from_millis(300) {
        rounds *= 2;
        let began = Instant::now();
        run(&device, spin, &[at.0, rounds]);
        took = began.elapsed();
    }
    let alone = word(&device, at);

    let began = Instant::now();
    let stream = device.stream().expect("a stream");
    put(&*stream, spin, &[at.0, rounds]);
    put(&*stream, twice, &[at.0]);
    assert!(!stream.is_idle());
    assert!(began.elapsed() < took / 2, "{:?} of {took:?}", began.elapsed());
    stream.synchronise().expect("it is done");
    assert!(stream.is_idle());
    assert_eq!(word(&device, at), alone.wrapping_mul(2));

    let began = Instant::now();
    let stream = device.stream_behind(&[]).expect("a stream");
    put(&*stream, spin, &[at.0, rounds]);
    let first = stream.submit().expect("an event");
    let stream = device.stream_behind(&[first]).expect("a stream");
    put(&*stream, twice, &[at.0]);
    let second = stream.submit().expect("an event");
    assert!(began.elapsed() < took / 2, "{:?} of {took:?}", began.elapsed());
    device.wait(second, "twice").expect("it is done");
    assert_eq!(word(&device, at), alone.wrapping_mul(2));
}

#[test]
fn what_is_left_goes_on_and_comes_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(device) = opened(folder.path()) else { return };
    let module = device.load(&image()).expect("it loads");
    let kernel = |name| device.kernel(module, name).expect("a kernel");
    let (spin, twice) = (kernel(c"spin"), kernel(c"twice"));
    let at = device.alloc(8, 8, MemoryKind::Device).expect("memory");
    let (mut rounds, mut took) = (1_u64 << 16, Duration::ZERO);
    while took < Duration::from_millis(300) {
        rounds *= 2;
        let began = Instant::now();
        run(&device, spin, &[at.0, rounds]);
        took = began.elapsed();
    }
    let alone = word(&device, at);
    let left = || {
        let stream = device.stream().expect("a stream");
        put(&*stream, spin, &[at.0, rounds]);
        assert!(stream.leave() && stream.is_left());
        stream
    };
    let began = Instant::now();
    drop(left());
    assert!(began.elapsed() < took / 2, "{:?} of {took:?}", began.elapsed());
    assert_eq!(word(&device, at), alone, "who looks waits");
    // Beside it, in another queue, and in one for work that is submitted.
    let first = left();
    let second = device.stream().expect("a stream");
    put(&*second, twice, &[at.0]);
    second.synchronise().expect("it is done");
    assert_eq!(word(&device, at), alone.wrapping_mul(2));
    drop((first, second));
    drop(left());
    let stream = device.stream_behind(&[]).expect("a stream");
    put(&*stream, twice, &[at.0]);
    let event = stream.submit().expect("an event");
    device.wait(event, "twice").expect("it is done");
    assert_eq!(word(&device, at), alone.wrapping_mul(2));
}

#[test]
fn what_is_copied_is_what_was_there_at_the_call() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(device) = opened(folder.path()) else { return };
    // More than there is room to put aside.
    let count = 2 * STAGED as u64 / 8;
    let at = device.alloc(8 * count as usize, 8, MemoryKind::Device).expect("memory");
    let stream = device.stream().expect("a stream");
    let mut value = [0; 8];
    for number in 0..count {
        value = number.to_ne_bytes();
        // SAFETY: eight bytes on both sides.
        unsafe { stream.copy_in(DevicePtr(at.0 + 8 * number), value.as_ptr(), 8) }.expect("a copy");
    }
    value.fill(0xff);
    stream.synchronise().expect("it is done");
    for number in 0..count {
        assert_eq!(word(&device, DevicePtr(at.0 + 8 * number)), number, "{value:?}");
    }
}

#[test]
fn a_processor_reaches_all_memory_of_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(device) = opened(folder.path()) else { return };
    if !device.chosen.is_processor {
        eprintln!("skipped: the first device is no processor");
        return;
    }
    assert_eq!(gives(0), requires::UNIFIED_SHARED_MEMORY | requires::REVERSE_OFFLOAD);
    assert_eq!(gives(usize::MAX), 0, "no such device gives nothing");
    let module = device.load(&image()).expect("it loads");
    let kernel = device.kernel(module, c"twice").expect("a kernel");
    // Memory that the driver knows nothing of, on the heap.
    let mut own = Box::new(21_u64);
    run(&device, kernel, &[&raw mut *own as u64]);
    device.synchronize().expect("it is done");
    assert_eq!(*own, 42);
}

/// A kernel in version 1.2, with what all of them are passed, and one that looks whether memory has moved.
const TEXT_12: &str = "#define __FERRY_STACK 64ul
#define MEMORIES __global char *m0, ulong b0, __global char *m1, ulong b1, \\
  __global char *m2, ulong b2, __global char *m3, ulong b3, volatile __global ulong *table, ulong stacks
__kernel void twice(ulong at, MEMORIES) {
  if ((ulong)m0 != b0 || (ulong)m1 != b1 || (ulong)m2 != b2 || (ulong)m3 != b3) { table[0] = 1; return; }
  __global ulong *stack = (__global ulong *)(stacks + get_global_id(0) * __FERRY_STACK);
  *stack = *(__global ulong *)at;
  *(__global ulong *)at += *stack;
}
";

fn image_12() -> Vec<u8> {
    format!("{}{TEXT}{}{TEXT_12}", abi::image::OPENCL, abi::image::OPENCL_12).into_bytes()
}

fn buffers(device: &OpenCl) -> &Buffers {
    match &device.memory {
        Memory::Buffers(it) => it,
        Memory::Shared => unreachable!("it was opened with version 1.2"),
    }
}

#[test]
fn version_12_has_memory_in_buffers() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(device) = opened_as(Kind::OpenCl12, folder.path()) else { return };
    let module = device.load(&image_12()).expect("it loads");
    let kernel = device.kernel(module, c"twice").expect("a kernel");
    let words: Vec<DevicePtr> =
        (0..3).map(|_| device.alloc(8, 8, MemoryKind::Device).expect("memory")).collect();
    // More than the first buffer has.
    let large = device.alloc(300 << 20, 8, MemoryKind::Device).expect("memory");
    for (number, at) in (1_u64..).zip(words.iter().chain([&large])) {
        // SAFETY: eight bytes on both sides.
        unsafe { device.copy_in(*at, number.to_ne_bytes().as_ptr(), 8) }.expect("a copy");
        run(&device, kernel, &[at.0]);
        assert_eq!(word(&device, *at), 2 * number);
    }
    let end = DevicePtr(large.0 + (300 << 20) - 8);
    // SAFETY: eight bytes of the large block.
    unsafe {
        device.fill(end, 7, 8).expect("it is filled");
        device.copy_within(words[0], end, 8).expect("a copy");
    }
    assert_eq!(word(&device, words[0]), 0x0707_0707_0707_0707);
    // SAFETY: memory that is not used again.
    unsafe { device.free(large) }.expect("it is given back");
    let again = device.alloc(300 << 20, 8, MemoryKind::Device).expect("memory");
    assert_eq!(again, large, "the place is taken again");
    let most = device.chosen.largest;
    assert!(matches!(
        device.alloc(most + 1, 8, MemoryKind::Device),
        Err(DeviceError::OutOfMemory { .. })
    ));
}

#[test]
fn memory_that_a_driver_moves_is_an_error_not_a_wrong_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(device) = opened_as(Kind::OpenCl12, folder.path()) else { return };
    let module = device.load(&image_12()).expect("it loads");
    let kernel = device.kernel(module, c"twice").expect("a kernel");
    let at = device.alloc(8, 8, MemoryKind::Device).expect("memory");
    buffers(&device).pretend_moved();
    // SAFETY: the kernel takes the address of a word.
    let ran = unsafe { device.launch(kernel, &[at.0], &LAUNCH) };
    let said = ran.and_then(|()| device.synchronize()).expect_err("memory has moved");
    assert!(said.to_string().contains("moves memory between kernels"), "{said}");
}

#[test]
fn an_image_without_text_for_version_12_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(device) = opened_as(Kind::OpenCl12, folder.path()) else { return };
    let said = device.load(&image()).expect_err("there is none");
    assert!(said.to_string().contains("no text for OpenCL 1.2: it was compiled without"), "{said}");
    let why = "a.c:3: `f`, which is elsewhere, cannot be compiled";
    let [word, lacks] = [abi::image::OPENCL_12, abi::image::OPENCL_12_LACKS];
    let text = format!("{}{TEXT}{word}{lacks}{why}\n", abi::image::OPENCL);
    let said = device.load(text.as_bytes()).expect_err("there is none");
    assert!(said.to_string().contains(why), "{said}");
    let newer = opened(folder.path()).expect("it opened before");
    newer.load(text.as_bytes()).expect("version 2.0 does not need it");
}
