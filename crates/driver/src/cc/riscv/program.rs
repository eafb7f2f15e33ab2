//! One program for the cluster: bitcode of the user's, the runtime, the tools, a linked file.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use abi::cluster::{Ask, DESCRIPTION, MOST_SLOTS, NEAR_ROOM};
use sim::{Config, Letter};

use super::tools::{Asked, Tools};
use crate::report::reason;

/// The runtime, in the order in which its parts know one another.
const RUNTIME: [&str; 9] = [
    include_str!("runtime/cluster.h"),
    include_str!("runtime/team.c"),
    include_str!("runtime/loops.c"),
    include_str!("runtime/memory.c"),
    include_str!("runtime/library.c"),
    include_str!("runtime/ancestor.c"),
    include_str!("runtime/near.c"),
    include_str!("runtime/tasks.c"),
    include_str!("runtime/api.c"),
];

/// Where all cores begin.
pub(super) const START: &str = include_str!("runtime/start.S");

/// What is said to clang for every text: nothing is done to the program yet, because
/// what is done before pointers are narrow makes indices wide.
const COMPILE: &[&str] = &[
    "-std=gnu17",
    "-O2",
    "-Xclang",
    "-disable-llvm-passes",
    "-w",
    "-nostdinc",
    "-fno-math-errno",
    "-fno-stack-protector",
    "-emit-llvm",
    "-c",
];

/// How data are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// As on the host, with pointers of 64 bits.
    Host,
    /// As the cores would have it, with pointers of 32 bits: for comparison.
    Cores,
}

/// The words for clang.
pub(crate) fn compile_words(model: Model) -> Vec<String> {
    let target = match model {
        Model::Host => ["--target=riscv64-unknown-elf", "-march=rv64imafd", "-mabi=lp64d"],
        Model::Cores => ["--target=riscv32-unknown-elf", "-march=rv32imaf", "-mabi=ilp32f"],
    };
    // Plain `char` is what it is on the host.
    let is_signed = cfg!(any(target_arch = "x86_64", target_arch = "x86"));
    let char = if is_signed { "-fsigned-char" } else { "-funsigned-char" };
    target.iter().chain(COMPILE).chain(&[char]).map(|it| (*it).to_owned()).collect()
}

/// What is agreed with the device, and the C.
pub(super) fn runtime() -> String {
    let mut text = String::new();
    for (name, ask) in Ask::ALL {
        let _ = writeln!(text, "#define {name} {}u", ask as u32);
    }
    for (name, number) in abi::mailbox::NUMBERS {
        let _ = writeln!(text, "#define MAIL_{name} {number}u");
    }
    let _ = writeln!(text, "#define SLOTS {MOST_SLOTS}\n#define NEAR_ROOM {NEAR_ROOM}");
    RUNTIME.iter().for_each(|it| text.push_str(it));
    text
}

/// What a program is made of.
pub(crate) struct Request<'a> {
    pub(crate) machine: Machine,
    pub(crate) config: &'a Config,
    /// Its text, which the program brings along.
    pub(crate) description: &'a str,
    pub(crate) bitcode: Vec<&'a [u8]>,
}

impl Request<'_> {
    /// Makes it; files on the way there are left in the folder.
    pub(crate) fn build(&self, tools: &Tools, folder: &Path) -> Result<Vec<u8>, Asked> {
        let machine = &self.machine;
        let file = |name: &str, bytes: &[u8]| -> Result<PathBuf, Asked> {
            let path = folder.join(name);
            fs::write(&path, bytes)
                .map_err(|error| Asked::file("writing", &path, &reason(&error)))?;
            Ok(path)
        };
        let mut words = compile_words(machine.model);
        words.push(format!("-DDMA_BITS={}", self.config.dma.address_bits));
        let compiled = tools.clang(&words, ["-x", "c"], runtime().as_bytes(), folder);
        let compiled = compiled.map_err(|it| Asked::ours("compiling the runtime of", it))?;
        let mut narrow: Vec<OsString> = vec![
            "--hardware".into(),
            machine.hardware.into(),
            "--march".into(),
            machine.arch.clone().into(),
            file("runtime.bc", &compiled)?.into(),
        ];
        if let Some(atomics) = machine.atomics {
            narrow.extend(["--atomics".into(), atomics.into()]);
        }
        if !machine.assigns {
            narrow.push("--no-assign".into());
        }
        for (number, bitcode) in self.bitcode.iter().enumerate() {
            narrow.push(file(&bitcode_name(number), bitcode)?.into());
        }
        let object = folder.join("program.o");
        narrow.extend(["-o".into(), object.clone().into()]);
        tools.narrow(&narrow)?;
        let note = file("cluster.toml", self.description.as_bytes())?;
        let mut start = START.to_owned();
        // Writing to a string cannot fail.
        let _ =
            writeln!(start, "    .section {DESCRIPTION}, \"\", @progbits\n    .incbin {note:?}");
        let mut words = vec!["--target=riscv32-unknown-elf".to_owned(), "-c".to_owned()];
        words.extend([format!("-march={}_zicsr", machine.arch), format!("-mabi={}", machine.abi)]);
        let assembled = tools.clang(&words, ["-x", "assembler"], start.as_bytes(), folder);
        let assembled = assembled.map_err(|it| Asked::ours("assembling the start of", it))?;
        let start = file("start.o", &assembled)?;
        let script = file("link.ld", machine.script(self.config).as_bytes())?;
        let image = folder.join("image");
        let mut words: Vec<OsString> = vec!["-T".into(), script.into(), "--gc-sections".into()];
        words.extend([start.into(), object.into()]);
        words.extend(tools.libraries(&machine.arch, machine.abi).into_iter().map(OsString::from));
        words.extend(["-o".into(), image.clone().into()]);
        tools.link(&words)?;
        fs::read(&image).map_err(|error| Asked::file("reading", &image, &reason(&error)))
    }
}

/// What a file of the user's bitcode is called in the folder.
pub(super) fn bitcode_name(number: usize) -> String {
    format!("{number}.bc")
}

/// What the tools are told of a cluster.
pub(crate) struct Machine {
    pub(crate) arch: String,
    pub(crate) abi: &'static str,
    /// How addresses of 64 bits are made: `isa`, `csr` or `mapped`.
    pub(crate) hardware: &'static str,
    /// How words of the host are changed in one instruction, if another way than the addresses are made.
    pub(crate) atomics: Option<&'static str>,
    /// Whether pointers are proven to stay in the cluster, where they do.
    pub(crate) assigns: bool,
    pub(crate) model: Model,
    /// Bytes of the stack of each core; what is left beside a heap otherwise.
    pub(crate) stack: Option<u32>,
}

impl Machine {
    /// The best that can be made of a cluster.
    pub(crate) fn of(config: &Config) -> Result<Machine, String> {
        let has = |letter: Letter| config.cores.extensions.contains(&letter);
        for (letter, name) in [(Letter::M, 'm'), (Letter::A, 'a')] {
            if !has(letter) {
                return Err(format!(
                    "cluster `{}`: programs need the extension `{name}` of its cores",
                    config.name
                ));
            }
        }
        // Instructions of 16 bits are left out: targets of jumps would not be aligned.
        let (letters, abi) = match (has(Letter::F), has(Letter::D)) {
            (_, true) => ("fd", "ilp32d"),
            (true, false) => ("f", "ilp32f"),
            (false, false) => ("", "ilp32"),
        };
        let extension = &config.extension;
        let ways = [
            (extension.instructions, "isa"),
            (extension.csr, "csr"),
            (extension.register, "mapped"),
        ];
        let Some((_, hardware)) = ways.iter().find(|it| it.0).copied() else {
            return Err(format!(
                "cluster `{}`: its cores have no way to addresses of 64 bits",
                config.name
            ));
        };
        let arch = format!("rv32ima{letters}");
        // There is no such instruction with an address in two registers.
        let others = ways.iter().filter(|_| hardware == "isa").skip(1);
        let atomics = others.into_iter().find(|it| it.0).map(|it| it.1);
        let (assigns, model) = (true, Model::Host);
        Ok(Machine { arch, abi, hardware, atomics, assigns, model, stack: None })
    }

    /// Where things lie. Half of the scratchpad is for stacks: a quarter of that for core 0, which runs what is not parallel.
    fn script(&self, config: &Config) -> String {
        let (l1, l2) = (&config.l1, &config.l2);
        let others = config.cores.count.saturating_sub(1);
        let first = self.stack.unwrap_or(l1.size / 8) & !15;
        let other = self.stack.or_else(|| (l1.size / 8 * 3).checked_div(others)).unwrap_or(0) & !15;
        let top = l1.base.wrapping_add(l1.size);
        let heap_end = top - first - other * others;
        let scratchpad = format!(
            ". = {base:#x};\n\
             .l1 : {{ *(.l1 .l1.*) }}\n\
             . = ALIGN(16);\n\
             __heap_begin = .;\n\
             __heap_end = {heap_end:#x};\n\
             ASSERT(. <= {heap_end:#x}, \"the runtime does not fit into the scratchpad (l1)\")\n",
            base = l1.base,
        );
        // The host may map a variable of the program that no kernel names.
        let kept = |it: &str| format!("KEEP(*program.o({it})) *({it})");
        let program = format!(
            ". = {base:#x};\n\
             .text : {{ *(.text.start) *(.text .text.*) }}\n\
             . = ALIGN(16);\n\
             .rodata : {{ {rodata} }}\n\
             .eh_frame : {{ *(.eh_frame) }}\n\
             .data : {{ {data} }}\n\
             .tdata : {{ *(.tdata .tdata.*) }}\n\
             .tbss : {{ *(.tbss .tbss.*) }}\n\
             .bss : {{ {bss} }}\n\
             ASSERT(. <= {end:#x}, \"the program is larger than the cluster's memory (l2)\")\n",
            base = l2.base,
            rodata = kept(".rodata .rodata.* .srodata .srodata.*"),
            data = kept(".data .data.* .sdata .sdata.*"),
            bss = kept(".bss .bss.* .sbss .sbss.* COMMON"),
            end = u64::from(l2.base) + u64::from(l2.size),
        );
        // The linker wants addresses to rise.
        let sections = match l1.base < l2.base {
            true => [scratchpad, program],
            false => [program, scratchpad],
        };
        format!(
            "ENTRY(_start)\n\
             __stack_top = {top:#x};\n\
             __stack_first = {first:#x};\n\
             __stack_other = {other:#x};\n\
             SECTIONS {{\n{}}}\n",
            sections.concat()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::cluster;
    use super::*;

    #[test]
    fn what_a_cluster_has_decides_what_is_made() {
        let machine = |name: &str| Machine::of(&cluster(name).unwrap().0).unwrap();
        let paper = machine("hero-paper");
        assert_eq!((paper.arch.as_str(), paper.abi, paper.hardware), ("rv32imaf", "ilp32f", "isa"));
        assert_eq!(paper.atomics, Some("csr"));
        assert_eq!(machine("keystone2-like").abi, "ilp32d");
        let text = cluster("hero-paper").unwrap().1;
        let without = text.replace("instructions = true", "instructions = false");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("c.toml");
        fs::write(&file, &without).unwrap();
        let other = machine(file.to_str().unwrap());
        assert_eq!((other.hardware, other.atomics), ("csr", None));
        let bare = without
            .replace("csr = true", "csr = false")
            .replace("register = true", "register = false");
        let config = Config::from_toml(&bare).unwrap();
        assert!(Machine::of(&config).is_err_and(|it| it.contains("64 bits")));
        let simple = Config::from_toml(&text.replace("\"a\", ", "")).unwrap();
        assert!(Machine::of(&simple).is_err_and(|it| it.contains("`a`")));
        assert!(cluster("no-such").is_err_and(|it| it.contains("hero-paper")));
    }
}
