//! Programs: linked ELF files of 32-bit RISC-V, with what they tell about themselves.
//!
//! In: the bytes of a file. Out: segments, the entry, names and source lines. What a cluster cannot run is refused
//! here, with the reason.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use addr2line::gimli::{self, EndianSlice, LittleEndian, SectionId};
use object::elf;
use object::read::elf::{ElfFile32, FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol};

use crate::fault::Place;
use crate::isa::Isa;

/// Why a program cannot be run here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError(pub(crate) String);

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LoadError {}

/// The text of a section of a program that is not loaded: what its maker has to say. `None` if there is none.
pub fn note<'a>(file: &'a [u8], section: &str) -> Option<&'a str> {
    let elf: ElfFile32<'a, Endianness> = ElfFile32::parse(file).ok()?;
    let bytes = elf.section_by_name(section)?.data().ok()?;
    std::str::from_utf8(bytes).ok()
}

/// A part of the program in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) address: u32,
    pub(crate) bytes: Vec<u8>,
    /// With zeros behind the bytes.
    pub(crate) size: u32,
    pub(crate) is_code: bool,
}

/// A program.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    file: Vec<u8>,
    pub(crate) entry: u32,
    pub(crate) segments: Vec<Segment>,
    symbols: BTreeMap<String, u32>,
    functions: Vec<(Range<u32>, String)>,
}

impl Program {
    pub(crate) fn read(file: &[u8], isa: Isa) -> Result<Program, LoadError> {
        let refuse = |why: &str| Err(LoadError(why.to_owned()));
        let unreadable =
            |error: object::Error| LoadError(format!("not a readable program: {error}"));
        if let [0x7f, b'E', b'L', b'F', class, order, ..] = file {
            if *class == elf::ELFCLASS64 {
                return refuse("a 64-bit program; the cores have 32 bits");
            }
            if *order == elf::ELFDATA2MSB {
                return refuse("a big-endian program; the cores are little-endian");
            }
        }
        let elf: ElfFile32<'_, Endianness> = match ElfFile32::parse(file) {
            Ok(elf) => elf,
            Err(error) => return Err(unreadable(error)),
        };
        let (header, endian) = (elf.elf_header(), elf.endian());
        if header.e_machine(endian) != elf::EM_RISCV {
            return refuse("a program for another machine than RISC-V");
        }
        if header.e_type(endian) != elf::ET_EXEC {
            return refuse("not linked to fixed addresses; link it with `-static -no-pie`");
        }
        check_flags(header.e_flags(endian), isa)?;
        let mut segments = Vec::new();
        let headers = header.program_headers(endian, file).map_err(unreadable)?;
        for it in headers.iter().filter(|it| it.p_type(endian) == elf::PT_LOAD) {
            let Ok(bytes) = it.data(endian, file) else {
                return refuse("a segment lies outside the file");
            };
            let size = it.p_memsz(endian);
            if (size as usize) < bytes.len() {
                return refuse("a segment is smaller in memory than in the file");
            }
            if size == 0 {
                continue;
            }
            let is_code = it.p_flags(endian) & elf::PF_X != 0;
            let (address, bytes) = (it.p_vaddr(endian), bytes.to_vec());
            segments.push(Segment { address, bytes, size, is_code });
        }
        let mut symbols = BTreeMap::new();
        let mut functions = Vec::new();
        // Labels of assembly have neither type nor size.
        for symbol in elf.symbols().filter(|it| !it.is_undefined()) {
            let (Ok(name), Ok(address)) = (symbol.name(), u32::try_from(symbol.address())) else {
                continue;
            };
            if symbol.kind() == object::SymbolKind::Text && symbol.size() > 0 {
                let end = address.saturating_add(symbol.size() as u32);
                functions.push((address..end, name.to_owned()));
            }
            if symbol.is_global() {
                symbols.insert(name.to_owned(), address);
            }
        }
        let entry = header.e_entry(endian);
        Ok(Program { file: file.to_vec(), entry, segments, symbols, functions })
    }

    pub(crate) fn symbol(&self, name: &str) -> Option<u32> {
        self.symbols.get(name).copied()
    }

    pub(crate) fn function(&self, pc: u32) -> Option<&str> {
        let function = self.functions.iter().find(|it| it.0.contains(&pc));
        function.map(|it| it.1.as_str())
    }

    /// Where an instruction was written, if the program was compiled to tell. Read anew each time: faults are rare.
    pub(crate) fn place(&self, pc: u32) -> Option<Place> {
        let elf: ElfFile32<'_, Endianness> = ElfFile32::parse(self.file.as_slice()).ok()?;
        let section = |id: SectionId| -> Result<EndianSlice<'_, LittleEndian>, gimli::Error> {
            let section = elf.section_by_name(id.name());
            let bytes = section.and_then(|it| it.data().ok()).unwrap_or(&[]);
            Ok(EndianSlice::new(bytes, LittleEndian))
        };
        let dwarf = gimli::Dwarf::load(section).ok()?;
        let context = addr2line::Context::from_dwarf(dwarf).ok()?;
        let location = context.find_location(u64::from(pc)).ok()??;
        Some(Place {
            file: location.file?.to_owned(),
            line: location.line?,
            column: location.column.unwrap_or(0),
        })
    }
}

/// The file says what its code needs.
fn check_flags(flags: u32, isa: Isa) -> Result<(), LoadError> {
    let needs = |what: &str| Err(LoadError(format!("needs {what}, which the cores lack")));
    if flags & elf::EF_RISCV_RVC != 0 && !isa.c {
        return needs("instructions of 16 bits (extension `c`)");
    }
    if flags & elf::EF_RISCV_RVE != 0 {
        return Err(LoadError("made for 16 registers (RV32E)".to_owned()));
    }
    match flags & elf::EF_RISCV_FLOAT_ABI {
        elf::EF_RISCV_FLOAT_ABI_SINGLE if !isa.f => needs("single precision (extension `f`)"),
        elf::EF_RISCV_FLOAT_ABI_DOUBLE if !isa.d => needs("double precision (extension `d`)"),
        elf::EF_RISCV_FLOAT_ABI_QUAD => needs("quadruple precision"),
        _ => Ok(()),
    }
}
