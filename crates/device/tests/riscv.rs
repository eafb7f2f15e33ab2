//! The simulated cluster as a device: programs by clang, loaded and run through the trait.
//!
//! The programs are written for 32 bits by hand; what `ferry cc` makes is tried in the driver's tests.
#![allow(
    unsafe_code,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test; it keeps what the trait wants to be promised"
)]

use std::ffi::{CStr, CString};
use std::fs;
use std::process::Command;

use device::riscv::{Riscv, Sharing};
use device::{Convention, Device, DeviceError, DevicePtr, Kernel, Launch, MemoryKind, Module};

/// The least that a program needs: core 0 runs the kernel, the others sleep.
const START: &str = r#"
typedef unsigned u32; typedef unsigned long long u64;
u32 ferry_kernel; u64 ferry_slots[256];
#define REGISTER(at) (*(volatile u32 *)(at))
static u32 ask(u32 what, u32 a) {
  register u32 a0 __asm__("a0") = what; register u32 a1 __asm__("a1") = a;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a1) : "memory");
  return a0;
}
__attribute__((used)) void begin(void) {
  ((void (*)(u64 *))ferry_kernel)(ferry_slots);
  REGISTER(0x10203000) = 0;
  for (;;) ;
}
__asm__(".globl _start\n_start: li sp, 0x10010000\n csrr t0, mhartid\n bnez t0, 1f\n call begin\n"
        "1: li t1, 0x10204000\n lw t0, 0(t1)\n j 1b\n");
static void copy(u64 to, u64 from, u32 bytes) {
  REGISTER(0x10204400) = (u32)from; REGISTER(0x10204404) = (u32)(from >> 32);
  REGISTER(0x10204408) = (u32)to; REGISTER(0x1020440c) = (u32)(to >> 32);
  REGISTER(0x10204410) = bytes;
  REGISTER(0x10204428) = REGISTER(0x10204420);
  (void)REGISTER(0x1020442c);
}
"#;

/// An image of a program; `None`, with a word, where there is no compiler for it.
fn image(text: &str) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a.c"), format!("{START}{text}")).unwrap();
    let preset = sim::PRESETS.iter().find(|it| it.0 == "hero-paper").unwrap().1;
    fs::write(at("cluster.toml"), preset).unwrap();
    let note =
        format!(".section .ferry.cluster,\"\",@progbits\n.incbin {:?}\n", at("cluster.toml"));
    fs::write(at("n.s"), note).unwrap();
    let compiled = Command::new("clang-19")
        .args([
            "--target=riscv32-unknown-elf",
            "-march=rv32imaf_zicsr",
            "-mabi=ilp32f",
            "-O1",
            "-g",
        ])
        .args(["-ffreestanding", "-nostdlib", "-fuse-ld=lld", "-Wl,--image-base=0x1c000000"])
        .args([at("a.c"), at("n.s"), "-o".into(), at("a.elf")])
        .output();
    let Ok(compiled) = compiled else {
        println!("skipped: there is no clang-19");
        return None;
    };
    let said = String::from_utf8_lossy(&compiled.stderr).into_owned();
    if said.contains("unable to execute command") || said.contains("invalid linker name") {
        println!("skipped: clang-19 has no lld");
        return None;
    }
    assert!(compiled.status.success(), "{said}");
    Some(fs::read(at("a.elf")).unwrap())
}

fn open(image: &[u8]) -> (Riscv, Module) {
    let device = Riscv::open(0, Sharing::Copies).unwrap();
    assert!(device.accepts(image));
    let module = device.load(image).unwrap();
    (device, module)
}

fn run(device: &Riscv, module: Module, kernel: &CStr, args: &[u64]) -> Result<(), DeviceError> {
    let kernel = device.kernel(module, kernel).unwrap();
    launch(device, kernel, args)
}

fn launch(device: &Riscv, kernel: Kernel, args: &[u64]) -> Result<(), DeviceError> {
    let convention = Convention::Slots;
    let launch = Launch {
        convention,
        teams: 0,
        limit: 0,
        trip_count: 0,
        group_memory: 0,
        name: "k",
        source: "a.c:1:1",
    };
    // SAFETY: the kernels below take what the tests hand them.
    unsafe { device.launch(kernel, args, &launch) }
}

#[test]
fn data_go_there_and_back_at_addresses_of_64_bits() {
    let text = r#"
    int scale = 3; static int tile[1000];
    void k(u64 *slots) {
      u32 n = (u32)slots[1];
      copy((u32)tile, slots[0], n * 4);
      for (u32 i = 0; i < n; i++) tile[i] *= scale;
      copy(slots[0], (u32)tile, n * 4);
    }"#;
    let Some(image) = image(text) else { return };
    let (device, module) = open(&image);
    // The second block has a multiple of 4 GiB in it.
    let front = device.alloc((1 << 20) - 2000, 16, MemoryKind::Device).unwrap();
    let buffer = device.alloc(4000, 16, MemoryKind::Device).unwrap();
    assert_ne!(buffer.0 >> 32, (buffer.0 + 4000) >> 32, "{buffer}");
    let data: Vec<i32> = (0..1000).collect();
    let scale = device.symbol(module, c"scale").unwrap();
    let mut back = vec![0i32; 1000];
    // SAFETY: the ranges are the tests' own, and large enough.
    unsafe {
        device.copy_in(buffer, data.as_ptr().cast(), 4000).unwrap();
        run(&device, module, c"k", &[buffer.0, 1000]).unwrap();
        device.copy_in(scale.address, (&raw const data[5]).cast(), 4).unwrap();
        run(&device, module, c"k", &[buffer.0, 1000]).unwrap();
        device.copy_out(back.as_mut_ptr().cast(), buffer, 4000).unwrap();
    }
    assert!(back.iter().enumerate().all(|(at, it)| *it == at as i32 * 15), "{back:?}");
    let account = device.account().unwrap();
    assert!(account.contains(" cycles") && account.contains("dma "), "{account}");
    assert!(device.owns(buffer) && !device.owns(DevicePtr(0x1c00_0000)));
    // SAFETY: both came from there.
    unsafe {
        device.free(front).unwrap();
        device.free(buffer).unwrap();
        assert!(device.free(buffer).is_err(), "twice");
    }
}

#[test]
fn what_goes_wrong_is_told() {
    let text = r#"
    void beyond(u64 *slots) { static char here[64]; copy((u32)here, slots[0] + 60, 8); }
    void wild(u64 *slots) { *(volatile int *)0x30000000 = 1; }
    void crash(u64 *slots) { u64 words[1] = {(u32)"on purpose"}; ask(5, (u32)words); }
    void stop(u64 *slots) { ask(4, 7); }
    void nonsense(u64 *slots) { ask(99, 0); }
    void lost(u64 *slots) { u64 words[1] = {0x123}; ask(3, (u32)words); }
    "#;
    let Some(image) = image(text) else { return };
    let (device, module) = open(&image);
    let buffer = device.alloc(64, 16, MemoryKind::Device).unwrap();
    let fault = |kernel: &CStr| match run(&device, module, kernel, &[buffer.0]) {
        Err(DeviceError::Fault { address, what }) => (address, what),
        other => panic!("{other:?}"),
    };
    let (address, what) = fault(c"beyond");
    assert!(
        address.is_some_and(|it| it >= buffer.0) && what.contains("nothing is there"),
        "{what}"
    );
    let (address, what) = fault(c"wild");
    assert!(
        address == Some(0x3000_0000) && what.contains("in wild") && what.contains("a.c:"),
        "{what}"
    );
    assert_eq!(fault(c"crash").1, "on purpose");
    assert!(fault(c"nonsense").1.contains("unknown"));
    assert!(fault(c"lost").1.contains("free"));
    let stopped = run(&device, module, c"stop", &[]);
    assert_eq!(stopped, Err(DeviceError::Exited { status: 7 }));
    assert!(matches!(device.kernel(module, c"absent"), Err(DeviceError::NotFound(_))));
    assert!(matches!(device.load(&image), Err(DeviceError::BadImage(_))), "a second program");
    assert!(launch(&device, Kernel(0), &[0; 257]).is_err(), "too many");
    device.unload(module).unwrap();
    let gone = device.kernel(module, c"wild");
    assert!(matches!(gone, Err(DeviceError::BadImage(_))), "{gone:?}");
    let name = CString::new("x").unwrap();
    assert!(device.symbol(module, &name).is_err());
}

#[test]
fn kernels_of_a_device_that_shares_memory_see_the_host() {
    let text = r#"
    void k(u64 *slots) {
      static int here[4];
      copy((u32)here, slots[0], 16);
      here[0] = here[1] + here[2] + here[3];
      copy(slots[0], (u32)here, 4);
    }"#;
    let Some(image) = image(text) else { return };
    let device = Riscv::open(0, Sharing::Shared).unwrap();
    let module = device.load(&image).unwrap();
    let mut data = Box::new([0i32, 1, 2, 3]);
    let at = data.as_mut_ptr() as u64;
    run(&device, module, c"k", &[at]).unwrap();
    // SAFETY: the place is ours; the compiler does not know who wrote it.
    assert_eq!(unsafe { std::ptr::read_volatile(data.as_ptr()) }, 6);
    let nowhere = run(&device, module, c"k", &[0x7000_0000_0000]);
    assert!(matches!(nowhere, Err(DeviceError::Fault { .. })), "{nowhere:?}");
}

#[test]
fn other_files_are_no_images() {
    let device = Riscv::open(0, Sharing::Copies).unwrap();
    assert!(!device.accepts(b"") && !device.accepts(b"\x7fELF\x02\x01"));
    let Some(image) = image("void k(u64 *slots) {}") else { return };
    let cut = image.get(..64).unwrap();
    assert!(matches!(device.load(cut), Err(DeviceError::BadImage(_))));
}
