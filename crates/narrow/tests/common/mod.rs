//! Compiles test programs for the host and for the cluster, runs both, and compares what they leave in memory.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use narrow::Hardware;
use sim::{Cluster, Config, PrivateMemory, Stop};

/// Buffers of the host: all above 4 GiB; two with the same lower half, one whose lower half looks like the
/// scratchpad, one across a 4 GiB boundary.
pub(crate) const BUFFERS: [(u64, usize); 4] = [
    (0x7a12_8000_0000, 0x4000),
    (0x0001_8000_0000, 0x4000),
    (0x0005_1000_0000, 0x4000),
    (0x0002_ffff_e000, 0x4000),
];

/// A folder of C texts of the tests.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// Whether the compilers are here; says so if not.
pub(crate) fn tools_are_here() -> bool {
    let missing: Vec<&str> = ["clang-19", "ld.lld-19"]
        .into_iter()
        .filter(|it| Command::new(it).arg("--version").output().is_err())
        .collect();
    if !missing.is_empty() {
        eprintln!("skipped: {} is missing", missing.join(" and "));
    }
    missing.is_empty()
}

#[track_caller]
pub(crate) fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{errors}");
    output
}

/// How a file is made into intermediate code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Model {
    /// 64-bit pointers.
    Host,
    /// 32-bit pointers.
    Device,
}

/// Intermediate code of a C file.
#[track_caller]
pub(crate) fn intermediate(file: &Path, model: Model, flags: &[&str]) -> (String, Vec<u8>) {
    let work = tempfile::tempdir().unwrap();
    let out = work.path().join("a.bc");
    let machine: &[&str] = match model {
        Model::Host => &["--target=riscv64-unknown-elf", "-march=rv64imafd", "-mabi=lp64d"],
        Model::Device => &["--target=riscv32-unknown-elf", "-march=rv32imaf", "-mabi=ilp32f"],
    };
    let mut clang = Command::new("clang-19");
    clang.args(machine).args(["-fsigned-char", "-O2", "-Xclang", "-disable-llvm-passes"]);
    clang.args(["-fopenmp=libomp", "-ffreestanding", "-w", "-emit-llvm", "-c", "-I"]);
    clang.arg(folder("device")).args(flags).arg(file).arg("-o").arg(&out);
    succeed(&mut clang);
    (file.display().to_string(), std::fs::read(out).unwrap())
}

/// A program and what it needs, as intermediate code.
#[track_caller]
pub(crate) fn inputs(file: &Path, model: Model, flags: &[&str]) -> Vec<(String, Vec<u8>)> {
    vec![
        intermediate(file, model, flags),
        intermediate(&folder("device").join("runtime.c"), model, flags),
    ]
}

/// What a run on the cluster left.
pub(crate) struct Ran {
    pub(crate) buffers: Vec<Vec<u8>>,
    pub(crate) cycles: u64,
    /// Addresses of 64 bits that were made.
    pub(crate) wide: u64,
}

/// The start code, and the compiler's library of arithmetic, which may be missing.
fn start() -> &'static (Vec<u8>, Option<String>) {
    static START: OnceLock<(Vec<u8>, Option<String>)> = OnceLock::new();
    START.get_or_init(|| {
        let work = tempfile::tempdir().unwrap();
        let out = work.path().join("start.o");
        let mut clang = Command::new("clang-19");
        clang.args(["--target=riscv32-unknown-elf", "-march=rv32imaf_zicsr", "-mabi=ilp32f", "-c"]);
        succeed(clang.arg(folder("device").join("start.S")).arg("-o").arg(&out));
        let gcc = Command::new("riscv64-unknown-elf-gcc")
            .args(["-march=rv32imaf", "-mabi=ilp32f", "-print-libgcc-file-name"])
            .output();
        let library = gcc.ok().map(|it| String::from_utf8(it.stdout).unwrap().trim().to_owned());
        (std::fs::read(out).unwrap(), library)
    })
}

/// Links an object file with the start code; the program.
#[track_caller]
pub(crate) fn link(object: &[u8], kernel: &str) -> Vec<u8> {
    let work = tempfile::tempdir().unwrap();
    let path = |name: &str| work.path().join(name);
    let (start, library) = start();
    std::fs::write(path("program.o"), object).unwrap();
    std::fs::write(path("start.o"), start).unwrap();
    let mut lld = Command::new("ld.lld-19");
    lld.arg("-T").arg(folder("device").join("link.ld")).arg("--gc-sections");
    lld.arg(format!("--defsym=KERNEL={kernel}")).arg(path("start.o")).arg(path("program.o"));
    succeed(lld.args(library).arg("-o").arg(path("program")));
    std::fs::read(path("program")).unwrap()
}

/// Runs on the cluster, from the buffers as given.
#[track_caller]
pub(crate) fn run(object: &[u8], kernel: &str, hardware: Hardware, buffers: &[Vec<u8>]) -> Ran {
    let addresses = BUFFERS.map(|it| it.0);
    let slots = addresses.iter().flat_map(|it| it.to_le_bytes()).collect();
    run_at(object, kernel, hardware, buffers, addresses, slots)
}

/// The same for a program whose pointers have 32 bits: buffers lie below 4 GiB.
#[track_caller]
pub(crate) fn run_flat(object: &[u8], kernel: &str, buffers: &[Vec<u8>]) -> Ran {
    let addresses = [0x8000_0000, 0x9000_0000, 0xa000_0000, 0xb000_0000_u64];
    let slots = addresses.iter().flat_map(|it| (*it as u32).to_le_bytes()).collect();
    run_at(object, kernel, Hardware::Csr, buffers, addresses, slots)
}

#[track_caller]
fn run_at(
    object: &[u8],
    kernel: &str,
    hardware: Hardware,
    buffers: &[Vec<u8>],
    addresses: [u64; 4],
    slots: Vec<u8>,
) -> Ran {
    let program = link(object, kernel);
    let mut cluster = Cluster::new(&config(hardware));
    cluster.load(&program).unwrap_or_else(|error| panic!("{error}"));
    let place = cluster.symbol("slots").expect("start.S has slots");
    assert!(cluster.write(place, &slots));
    let mut host = PrivateMemory::new();
    for (address, bytes) in addresses.iter().zip(buffers) {
        host.map(*address, bytes.clone());
    }
    match cluster.run(&mut host, Some(500_000_000)) {
        Ok(Stop::Exited(0)) => {}
        Ok(stop) => panic!("{kernel}: {stop:?}"),
        Err(fault) => panic!("{kernel}: {fault}"),
    }
    let counters = cluster.counters();
    let wide = counters.iter().map(|it| it.wide.register + it.wide.csr + it.wide.instruction).sum();
    let left =
        |(address, bytes): (&u64, &Vec<u8>)| host.bytes(*address, bytes.len()).unwrap().to_vec();
    let buffers = addresses.iter().zip(buffers).map(left).collect();
    Ran { buffers, cycles: cluster.cycle(), wide }
}

/// A cluster that has one of the three ways only.
pub(crate) fn config(hardware: Hardware) -> Config {
    let mut config = Config::preset("hero-paper").unwrap();
    config.extension.register = hardware == Hardware::Mapped;
    config.extension.csr = hardware == Hardware::Csr;
    config.extension.instructions = hardware == Hardware::Isa;
    config
}

/// A test program, compiled for the host.
pub(crate) struct OnHost {
    work: tempfile::TempDir,
}

impl OnHost {
    #[track_caller]
    pub(crate) fn new(file: &Path, flags: &[&str]) -> OnHost {
        let work = tempfile::tempdir().unwrap();
        let mut clang = Command::new("clang-19");
        clang.args([
            "-O1",
            "-w",
            "-DHOST",
            "-fsigned-char",
            "-fno-strict-aliasing",
            "-rdynamic",
            "-I",
        ]);
        clang.arg(folder("device")).args(flags).arg(file).arg(folder("device").join("host.c"));
        succeed(clang.arg("-o").arg(work.path().join("program")).args(["-lm", "-ldl"]));
        OnHost { work }
    }

    /// Buffers before and after a run.
    #[track_caller]
    pub(crate) fn run(&self, kernel: &str) -> [Vec<Vec<u8>>; 2] {
        let mut run = Command::new(self.work.path().join("program"));
        for (address, len) in BUFFERS {
            run.arg(format!("{address:x}")).arg(len.to_string());
        }
        let output = succeed(run.arg(kernel)).stdout;
        let mut rest = output.as_slice();
        [(); 2].map(|()| {
            BUFFERS
                .iter()
                .map(|(_, len)| {
                    let (buffer, behind) = rest.split_at(*len);
                    rest = behind;
                    buffer.to_vec()
                })
                .collect()
        })
    }
}

/// The words behind `// key:` in a test program.
pub(crate) fn directive(text: &str, key: &str) -> Option<String> {
    let start = format!("// {key}:");
    text.lines().find_map(|it| it.strip_prefix(&start)).map(|it| it.trim().to_owned())
}

/// Where two buffers differ first.
#[track_caller]
pub(crate) fn same(found: &[Vec<u8>], expect: &[Vec<u8>], what: &str) {
    for (number, (found, expect)) in found.iter().zip(expect).enumerate() {
        if let Some(at) = (0..found.len()).find(|it| found[*it] != expect[*it]) {
            let word = |it: &[u8]| {
                it[at & !7..][..8].iter().rev().map(|it| format!("{it:02x}")).collect::<String>()
            };
            panic!(
                "{what}: buffer {number} at {at:#x}: 0x{} instead of 0x{}",
                word(found),
                word(expect)
            );
        }
    }
}
