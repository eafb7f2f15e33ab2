//! Compares the data models with compilers: random records, laid out by both.
//!
//! One C program holds several hundred records; the compiler either runs it (and it prints where
//! each bit of each member is) or only checks assertions, which needs no library of the target.
//! Compilers for other machines are asked where they are installed.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use ir::layout::{DataModel, ILP32, ILP32_X86, LLP64, LP64, Layouts};
use ir::types::{
    Alias, ArrayLen, Enum, Field, FloatKind, IntKind, Record, RecordId, Ty, TypeKind, Types,
};
use source::{Names, Span};

const RECORDS: usize = 600;

/// A small generator: the same records on every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn once_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }
}

/// The records, as types and as C.
struct Records {
    types: Types,
    names: Names,
    text: String,
    made: Vec<RecordId>,
    /// Scalar types with their names in C and the bits of a bit-field of that type, if allowed.
    scalars: Vec<(Ty, String, u32)>,
}

fn scalars(model: &DataModel) -> Records {
    let (mut types, mut names, mut text) = (Types::new(), Names::new(), String::new());
    let mut scalars = Vec::new();
    let ints = [
        IntKind::Char,
        IntKind::SChar,
        IntKind::UChar,
        IntKind::Short,
        IntKind::UShort,
        IntKind::Int,
        IntKind::UInt,
        IntKind::Long,
        IntKind::ULong,
        IntKind::LongLong,
        IntKind::ULongLong,
    ];
    for kind in ints {
        let ty = types.get(TypeKind::Int(kind));
        scalars.push((ty, kind.spelling().to_owned(), model.int_bits(kind)));
    }
    scalars.push((types.get(TypeKind::Bool), "_Bool".to_owned(), 1));
    for kind in [FloatKind::Float, FloatKind::Double, FloatKind::LongDouble] {
        scalars.push((types.get(TypeKind::Float(kind)), kind.spelling().to_owned(), 0));
        let complex = types.get(TypeKind::Complex(kind));
        scalars.push((complex, format!("_Complex {}", kind.spelling()), 0));
    }
    let void = types.get(TypeKind::Void);
    scalars.push((types.pointer_to(void), "void *".to_owned(), 0));
    text.push_str("enum e { E0, E1 };\n");
    let e = types.enums.push(Enum {
        tag: Some(names.intern("e")),
        constants: Some(vec![(names.intern("E0"), 0), (names.intern("E1"), 1)]),
        underlying: IntKind::UInt,
        packed: false,
        span: Span::NONE,
    });
    scalars.push((types.get(TypeKind::Enum(e)), "enum e".to_owned(), 32));
    let aligned =
        [(IntKind::Int, 2), (IntKind::Int, 16), (IntKind::LongLong, 4), (IntKind::Char, 8)];
    for (index, (kind, align)) in aligned.into_iter().enumerate() {
        let name = format!("t{index}");
        let target = types.get(TypeKind::Int(kind));
        let spelling = kind.spelling();
        writeln!(text, "typedef {spelling} {name} __attribute__((aligned({align})));").unwrap();
        let alias =
            Alias { name: names.intern(&name), ty: target, align: Some(align), span: Span::NONE };
        let alias = types.aliases.push(alias);
        scalars.push((types.get(TypeKind::Alias(alias)), name, model.int_bits(kind)));
    }
    let int = types.get(TypeKind::Int(IntKind::Int));
    let atomic = types.get(TypeKind::Atomic(int));
    scalars.push((atomic, "_Atomic(int)".to_owned(), 0));
    let vector = types.get(TypeKind::Vector(int, 4));
    text.push_str("typedef int v4 __attribute__((vector_size(16)));\n");
    scalars.push((vector, "v4".to_owned(), 0));
    Records { types, names, text, made: Vec::new(), scalars }
}

fn records(model: &DataModel, seed: u64) -> Records {
    let mut all = scalars(model);
    let mut dice = Dice(seed);
    for index in 0..RECORDS {
        record(&mut all, &mut dice, index);
    }
    all
}

fn record(all: &mut Records, dice: &mut Dice, index: usize) {
    let is_union = dice.once_in(5);
    let packed = dice.once_in(4);
    let pack = dice.once_in(5).then(|| 1u32 << dice.roll(4));
    let align = dice.once_in(8).then(|| 1u64 << dice.roll(6));
    let mut fields = Vec::new();
    let mut body = String::new();
    for position in 0..dice.roll(8) {
        let field = member(all, dice, position, &mut body);
        fields.push(field);
    }
    let has_named = fields.iter().any(|it: &Field| it.name.is_some());
    if !is_union && has_named && dice.once_in(10) {
        let element = all.types.get(TypeKind::Int(IntKind::Int));
        let len = if dice.once_in(2) { ArrayLen::Unknown } else { ArrayLen::Known(0) };
        let ty = all.types.get(TypeKind::Array(element, len));
        body.push_str(if len == ArrayLen::Unknown {
            "  int tail[];\n"
        } else {
            "  int tail[0];\n"
        });
        let name = Some(all.names.intern("tail"));
        fields.push(Field { name, ty, bits: None, align: None, packed: false, span: Span::NONE });
    }
    let word = if is_union { "union" } else { "struct" };
    let mut attributes = String::new();
    if packed {
        attributes.push_str(" __attribute__((packed))");
    }
    if let Some(align) = align {
        write!(attributes, " __attribute__((aligned({align})))").unwrap();
    }
    let pragma = pack.map_or(String::new(), |it| format!("#pragma pack({it})\n"));
    writeln!(all.text, "{pragma}typedef {word} {{\n{body}}}{attributes} r{index};\n#pragma pack()")
        .unwrap();
    // An anonymous record keeps its attributes; the typedef name has none of its own.
    all.made.push(all.types.records.push(Record {
        tag: None,
        is_union,
        fields: Some(fields),
        packed,
        pack,
        align,
        transparent: false,
        span: Span::NONE,
    }));
}

fn member(all: &mut Records, dice: &mut Dice, position: u64, body: &mut String) -> Field {
    let plain =
        |name, ty| Field { name, ty, bits: None, align: None, packed: false, span: Span::NONE };
    let name = Some(all.names.intern(&format!("m{position}")));
    let mut field;
    let mut declared = format!("m{position}");
    if !all.made.is_empty() && dice.once_in(7) {
        // A record made before, but none that ends in a flexible array.
        let index = dice.roll(all.made.len() as u64) as usize;
        let id = all.made[index];
        let is_open =
            all.types.records[id].fields.iter().flatten().any(|it| {
                matches!(all.types.kind(it.ty.id), TypeKind::Array(_, ArrayLen::Unknown))
            });
        if !is_open {
            let ty = all.types.get(TypeKind::Record(id));
            field = plain(name, ty);
            let attributes = attributes(dice, &mut field);
            writeln!(body, "  r{index} {declared}{attributes};").unwrap();
            return field;
        }
    }
    let (ty, spelling, widest) = all.scalars[dice.roll(all.scalars.len() as u64) as usize].clone();
    field = plain(name, ty);
    if widest > 0 && dice.roll(3) > 0 {
        field.bits = Some(match dice.roll(6) {
            0 => 0,
            1 => widest,
            2 if widest >= 8 => 8 << dice.roll(u64::from(widest.ilog2() - 2)),
            _ => 1 + dice.roll(u64::from(widest)) as u32,
        });
        if field.bits == Some(0) || dice.once_in(6) {
            field.name = None;
            declared.clear();
        }
        write!(declared, " : {}", field.bits.unwrap()).unwrap();
    } else if dice.once_in(5) && !spelling.starts_with('t') {
        let len = dice.roll(4);
        field.ty = all.types.get(TypeKind::Array(ty, ArrayLen::Known(len)));
        write!(declared, "[{len}]").unwrap();
    }
    let attributes = attributes(dice, &mut field);
    writeln!(body, "  {spelling} {declared}{attributes};").unwrap();
    field
}

fn attributes(dice: &mut Dice, field: &mut Field) -> String {
    let mut text = String::new();
    if field.name.is_some() && dice.once_in(9) {
        let align = 1 << dice.roll(5);
        field.align = Some(align);
        write!(text, " __attribute__((aligned({align})))").unwrap();
    }
    if field.name.is_some() && dice.once_in(9) {
        field.packed = true;
        text.push_str(" __attribute__((packed))");
    }
    text
}

/// Compiles `text` with `compiler`; its complaints if it refuses, nothing if it is not there.
fn compile(compiler: &[&str], text: &str) -> Option<Result<(), String>> {
    let mut command = Command::new(compiler[0]);
    command.args(&compiler[1..]).args(["-w", "-x", "c", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).ok();
    let output = child.wait_with_output().unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    Some(if output.status.success() { Ok(()) } else { Err(complaints) })
}

/// What the model says of each record, as assertions that a compiler checks.
fn assertions(model: &'static DataModel, all: &Records) -> String {
    let mut text = all.text.clone();
    let layouts = Layouts::new(model);
    for (index, &id) in all.made.iter().enumerate() {
        let layout = layouts.record(&all.types, id).unwrap();
        let r = format!("r{index}");
        let mut check = |what: String, value: u64| {
            writeln!(text, "_Static_assert({what} == {value}, \"{r}: not {value}\");").unwrap();
        };
        check(format!("sizeof({r})"), layout.size);
        check(format!("_Alignof({r})"), layout.align);
        let fields = all.types.records[id].fields.as_ref().unwrap();
        for (field, place) in fields.iter().zip(&layout.fields) {
            if let (Some(name), None) = (field.name, field.bits) {
                let name = all.names.text(name);
                check(format!("__builtin_offsetof({r}, {name})"), place.offset);
            }
        }
    }
    text
}

/// A program that sets each bit-field to all ones and looks which bits of the record change.
fn bit_program(model: &'static DataModel, all: &Records) -> String {
    let mut text = assertions(model, all);
    text.push_str(
        "static int faults;\n\
         static void look(const char *r, const char *m, const unsigned char *p, long n, long at, long w) {\n\
         for (long i = 0; i < n * 8; i++) {\n\
         int want = i >= at && i < at + w, got = p[i / 8] >> (i % 8) & 1;\n\
         if (want != got) { faults++; __builtin_printf(\"%s.%s: bit %ld\\n\", r, m, i); return; } } }\n\
         int main(void) {\n",
    );
    let layouts = Layouts::new(model);
    for (index, &id) in all.made.iter().enumerate() {
        let layout = layouts.record(&all.types, id).unwrap();
        let fields = all.types.records[id].fields.as_ref().unwrap();
        for (field, place) in fields.iter().zip(&layout.fields) {
            let (Some(name), Some(width)) = (field.name, field.bits) else { continue };
            let name = all.names.text(name);
            let at = place.offset * 8 + u64::from(place.bit_offset);
            writeln!(
                text,
                "{{ static r{index} x; x.{name} = -1; look(\"r{index}\", \"{name}\", \
                 (unsigned char *)&x, sizeof x, {at}, {width}); }}"
            )
            .unwrap();
        }
    }
    text.push_str("return faults != 0; }\n");
    text
}

/// Asks a compiler whether it lays records out as the model does. On refusal the text of the first
/// record in question is shown.
#[track_caller]
fn check(model: &'static DataModel, compiler: &[&str], seed: u64) {
    let all = records(model, seed);
    let text = assertions(model, &all);
    match compile(compiler, &text) {
        Some(Ok(())) => {}
        Some(Err(complaints)) => {
            panic!("{} and {compiler:?}\n{}", model.name, first(&all, &complaints))
        }
        None => println!("skipped: {} is not installed", compiler[0]),
    }
}

/// The first complaints, and the records that they are about.
fn first(all: &Records, complaints: &str) -> String {
    let mut shown = String::new();
    for line in complaints.lines().filter(|it| it.contains("error")).take(4) {
        writeln!(shown, "{line}").unwrap();
        if let Some(at) = line.find(": \"r") {
            let name: String = line[at + 3..].chars().take_while(|it| *it != ':').collect();
            let end = all.text.find(&format!(" {name};\n")).unwrap_or(0);
            let start = all.text[..end].rfind("#pragma pack()").unwrap_or(0);
            writeln!(shown, "{}", &all.text[start..end]).unwrap();
        }
    }
    shown
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "the host is another machine")]
fn lp64_is_what_the_host_compiler_does() {
    for seed in [1, 2] {
        check(&LP64, &["cc", "-fsyntax-only"], seed);
    }
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "the host is another machine")]
fn bits_are_where_the_host_compiler_puts_them() {
    let all = records(&LP64, 3);
    let program = std::env::temp_dir().join(format!("ir-layout-{}", std::process::id()));
    let path = program.to_str().unwrap();
    let compiled = compile(&["cc", "-o", path], &bit_program(&LP64, &all)).unwrap();
    if let Err(complaints) = compiled {
        panic!("{}", first(&all, &complaints));
    }
    let output = Command::new(&program).output().unwrap();
    std::fs::remove_file(&program).ok();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "the host is another machine")]
fn ilp32_x86_is_what_gcc_does_with_m32() {
    check(&ILP32_X86, &["cc", "-m32", "-fsyntax-only"], 4);
}

#[test]
fn ilp32_is_what_gcc_does_for_riscv() {
    let compiler = "riscv64-unknown-elf-gcc";
    check(&ILP32, &[compiler, "-march=rv32imac", "-mabi=ilp32", "-fsyntax-only"], 5);
}

#[test]
fn llp64_is_what_mingw_does() {
    check(&LLP64, &["x86_64-w64-mingw32-gcc", "-fsyntax-only"], 6);
}
