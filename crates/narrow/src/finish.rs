//! From the rebuilt module to code: LLVM's passes, then the instructions of wide accesses, then the file.
//!
//! Wide accesses stay calls until all passes have run; LLVM then knows what they read and write, which it would not know
//! of assembly. The instructions are those of the cluster that crate `sim` models.

use crate::error::Error;
use crate::llvm::{Context, FileKind, Linkage, Machine, Module};
use crate::options::{Assign, Atomics, Emit, Hardware, Options};
use crate::prepare::{GENERIC_COPIES, LOCK, UNLOCK};
use crate::rebuild::{CHECK, LOAD, STORE, UPDATE};
use crate::steady;

/// The register that holds the upper half of the next address.
const REGISTER: u32 = 0x1020_0bf8;
/// The control register that does.
const CONTROL_REGISTER: &str = "0x7c0";

/// Runs the passes and makes the output.
pub(crate) fn finish(
    context: Context,
    module: Module,
    machine: &Machine,
    abi: &str,
    options: &Options,
) -> Result<Vec<u8>, Error> {
    let broken = |what: &str| {
        let what = what.to_owned();
        move |why: String| Error::new(format!("a bug of ferry-narrow: {what}: {why}"))
    };
    module.add_flag("target-abi", abi);
    bring_along(context, module)?;
    module.verify().map_err(broken("the rebuilt program is not valid"))?;
    let passes = match options.level {
        0 => "default<O0>",
        1 => "default<O1>",
        2 => "default<O2>",
        _ => "default<O3>",
    };
    module.run(passes, Some(machine)).map_err(broken("passes"))?;
    // Without our assignment, programs are what the paper's are.
    if options.level > 1 && options.assign == Assign::Points {
        module.run(steady::PREPARE, Some(machine)).map_err(broken("passes"))?;
        if steady::ask(context, module) {
            module.run(steady::SPLIT, Some(machine)).map_err(broken("passes"))?;
        }
    }
    put_in_place(context, module, options)?;
    let late = match options.level {
        0 => "always-inline,globaldce",
        _ => {
            "always-inline,globaldce,function(early-cse,instcombine<no-verify-fixpoint>,simplifycfg)"
        }
    };
    module.run(late, Some(machine)).map_err(broken("late passes"))?;
    module.verify().map_err(broken("the finished program is not valid"))?;
    // The order in which a value's uses were made decides what LLVM's strength reduction chooses among equals. Written and read
    // again there is one order only, so the same program becomes the same code however it came about.
    let written = module.bitcode();
    module.dispose();
    let module = context.parse("program", &written).map_err(broken("read again"))?;
    match options.emit {
        Emit::Obj => machine.emit(module, FileKind::Object).map_err(broken("code")),
        Emit::Asm => machine.emit(module, FileKind::Assembly).map_err(broken("code")),
        Emit::Bc => Ok(module.bitcode()),
        Emit::Ll => Ok(module.text().into_bytes()),
    }
}

/// Links what the program calls and does not define.
fn bring_along(context: Context, module: Module) -> Result<(), Error> {
    link(context, module, "support", include_str!("support.ll"))?;
    let own = GENERIC_COPIES.iter().map(|it| it.1).chain([LOCK, UNLOCK, CHECK]);
    let is_missing = |name: &str| module.function(name).is_some_and(|it| it.is_declaration());
    let missing: Vec<&str> = own.clone().filter(|it| is_missing(it)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let generic = parse(context, module, "support", include_str!("support_generic.ll"))?;
    // What the runtime defines is the runtime's, and what nobody calls goes.
    for name in own {
        if let Some(function) = generic.function(name) {
            let is_wanted = missing.contains(&name)
                || name == "ferry.generic.memcpy" && missing.contains(&"ferry.generic.memmove");
            if !is_wanted {
                function.set_linkage(Linkage::LLVMInternalLinkage);
            }
        }
    }
    if !module.link(generic) {
        return Err(Error::new("a bug of ferry-narrow: its support cannot be linked"));
    }
    for name in missing.iter().chain(&["ferry.generic.memcpy"]) {
        if let Some(function) = module.function(name)
            && !function.is_declaration()
        {
            function.set_linkage(Linkage::LLVMInternalLinkage);
        }
    }
    Ok(())
}

fn parse(context: Context, module: Module, name: &str, text: &str) -> Result<Module, Error> {
    let part = context
        .parse(name, text.as_bytes())
        .map_err(|it| Error::new(format!("a bug of ferry-narrow: {name}: {it}")))?;
    part.set_triple(&module.triple());
    part.set_layout(&module.layout_text());
    Ok(part)
}

fn link(context: Context, module: Module, name: &str, text: &str) -> Result<(), Error> {
    let part = parse(context, module, name, text)?;
    match module.link(part) {
        true => Ok(()),
        false => Err(Error::new(format!("a bug of ferry-narrow: {name} cannot be linked"))),
    }
}

/// Defines the wide accesses that are left; inlining puts them in place.
fn put_in_place(context: Context, module: Module, options: &Options) -> Result<(), Error> {
    let hardware = options.hardware;
    let mut text = String::new();
    let mut names = Vec::new();
    for function in module.functions() {
        let name = function.name();
        let digits = |prefix: &str| {
            let rest = name.strip_prefix(prefix)?;
            rest.strip_suffix(".volatile").unwrap_or(rest).parse::<u32>().ok()
        };
        let body = match (digits(LOAD), digits(STORE)) {
            (Some(bits), _) => wide_load(&name, bits, hardware),
            (None, Some(bits)) => wide_store(&name, bits, hardware),
            (None, None) => match name.strip_prefix(UPDATE) {
                Some(instruction) => wide_update(&name, instruction, options.atomics()),
                None => continue,
            },
        };
        text.push_str(&body);
        names.push(name);
    }
    if names.is_empty() {
        return Ok(());
    }
    link(context, module, "wide accesses", &text)?;
    for function in names.iter().filter_map(|it| module.function(it)) {
        function.set_linkage(Linkage::LLVMInternalLinkage);
        function.add_attribute(crate::llvm::FUNCTION, "alwaysinline", 0);
    }
    Ok(())
}

/// Halves of the address, as `%low` and `%high`.
const HALVES: &str = "  %low = trunc i64 %address to i32\n  %shifted = lshr i64 %address, 32\n  \
                      %high = trunc i64 %shifted to i32\n";

/// The function of one load. In the assembly below `$` numbers are operands: results first.
fn wide_load(name: &str, bits: u32, hardware: Hardware) -> String {
    let head = format!("define i{bits} @{name}(i64 %address) nounwind {{\n{HALVES}");
    if bits == 64 {
        let body = match hardware {
            Hardware::Mapped => format!(
                "  %all = call {{ i32, i32, i32 }} asm sideeffect \"csrrci $2, mstatus, 8\\0Asw $4, 0($5)\\0A\
                 lw $0, 0($3)\\0Asw $4, 0($5)\\0Alw $1, 4($3)\\0Acsrw mstatus, $2\", \
                 \"=&r,=&r,=&r,r,r,r,~{{memory}}\"(i32 %low, i32 %high, i32 {REGISTER})\n  \
                 %first = extractvalue {{ i32, i32, i32 }} %all, 0\n  \
                 %second = extractvalue {{ i32, i32, i32 }} %all, 1\n"
            ),
            Hardware::Csr => format!(
                "  %all = call {{ i32, i32 }} asm sideeffect \"csrw {CONTROL_REGISTER}, $3\\0Alw $0, 0($2)\\0A\
                 csrw {CONTROL_REGISTER}, $3\\0Alw $1, 4($2)\", \"=&r,=&r,r,r,~{{memory}}\"(i32 %low, i32 %high)\n  \
                 %first = extractvalue {{ i32, i32 }} %all, 0\n  \
                 %second = extractvalue {{ i32, i32 }} %all, 1\n"
            ),
            // One access to a pair of registers, which LLVM cannot choose: the last two.
            Hardware::Isa => {
                "  %all = call { i32, i32 } asm sideeffect \".insn r 0x0b, 3, 0, $0, $2, $3\", \
                 \"={x30},={x31},r,r,~{memory}\"(i32 %low, i32 %high)\n  \
                 %first = extractvalue { i32, i32 } %all, 0\n  \
                 %second = extractvalue { i32, i32 } %all, 1\n"
                    .to_owned()
            }
        };
        return format!(
            "{head}{body}  %a = zext i32 %first to i64\n  %b = zext i32 %second to i64\n  \
             %c = shl i64 %b, 32\n  %value = or i64 %a, %c\n  ret i64 %value\n}}\n"
        );
    }
    let (instruction, width) = match bits {
        8 => ("lbu", 4),
        16 => ("lhu", 5),
        _ => ("lw", 2),
    };
    let body = match hardware {
        Hardware::Mapped => format!(
            "  %all = call {{ i32, i32 }} asm sideeffect \"csrrci $1, mstatus, 8\\0Asw $3, 0($4)\\0A\
             {instruction} $0, 0($2)\\0Acsrw mstatus, $1\", \"=&r,=&r,r,r,r,~{{memory}}\"\
             (i32 %low, i32 %high, i32 {REGISTER})\n  %word = extractvalue {{ i32, i32 }} %all, 0\n"
        ),
        Hardware::Csr => format!(
            "  %word = call i32 asm sideeffect \"csrw {CONTROL_REGISTER}, $2\\0A{instruction} $0, 0($1)\", \
             \"=&r,r,r,~{{memory}}\"(i32 %low, i32 %high)\n"
        ),
        Hardware::Isa => format!(
            "  %word = call i32 asm sideeffect \".insn r 0x0b, {width}, 0, $0, $1, $2\", \
             \"=r,r,r,~{{memory}}\"(i32 %low, i32 %high)\n"
        ),
    };
    match bits {
        32 => format!("{head}{body}  ret i32 %word\n}}\n"),
        _ => {
            format!("{head}{body}  %value = trunc i32 %word to i{bits}\n  ret i{bits} %value\n}}\n")
        }
    }
}

/// The function of one atomic change of a word; there is none where they are changed under the lock.
fn wide_update(name: &str, instruction: &str, atomics: Atomics) -> String {
    let head = format!("define i32 @{name}(i64 %address, i32 %value) nounwind {{\n{HALVES}");
    let body = match atomics {
        Atomics::Mapped => format!(
            "  %all = call {{ i32, i32 }} asm sideeffect \"csrrci $1, mstatus, 8\\0Asw $3, 0($4)\\0A\
             {instruction}.w.aqrl $0, $5, ($2)\\0Acsrw mstatus, $1\", \"=&r,=&r,r,r,r,r,~{{memory}}\"\
             (i32 %low, i32 %high, i32 {REGISTER}, i32 %value)\n  %old = extractvalue {{ i32, i32 }} %all, 0\n"
        ),
        Atomics::Csr | Atomics::Lock => format!(
            "  %old = call i32 asm sideeffect \"csrw {CONTROL_REGISTER}, $2\\0A{instruction}.w.aqrl $0, $3, ($1)\", \
             \"=&r,r,r,r,~{{memory}}\"(i32 %low, i32 %high, i32 %value)\n"
        ),
    };
    format!("{head}{body}  ret i32 %old\n}}\n")
}

fn wide_store(name: &str, bits: u32, hardware: Hardware) -> String {
    let head = format!("define void @{name}(i64 %address, i{bits} %value) nounwind {{\n{HALVES}");
    if bits == 64 {
        let split = "  %first = trunc i64 %value to i32\n  %above = lshr i64 %value, 32\n  \
                     %second = trunc i64 %above to i32\n";
        let body = match hardware {
            Hardware::Mapped => format!(
                "  %status = call i32 asm sideeffect \"csrrci $0, mstatus, 8\\0Asw $2, 0($3)\\0Asw $4, 0($1)\\0A\
                 sw $2, 0($3)\\0Asw $5, 4($1)\\0Acsrw mstatus, $0\", \"=&r,r,r,r,r,r,~{{memory}}\"\
                 (i32 %low, i32 %high, i32 {REGISTER}, i32 %first, i32 %second)\n"
            ),
            Hardware::Csr => format!(
                "  call void asm sideeffect \"csrw {CONTROL_REGISTER}, $1\\0Asw $2, 0($0)\\0A\
                 csrw {CONTROL_REGISTER}, $1\\0Asw $3, 4($0)\", \"r,r,r,r,~{{memory}}\"\
                 (i32 %low, i32 %high, i32 %first, i32 %second)\n"
            ),
            Hardware::Isa => "  call void asm sideeffect \".insn r4 0x2b, 3, 0, x0, $0, $1, $2\", \
                 \"r,r,{x30},{x31},~{memory}\"(i32 %low, i32 %high, i32 %first, i32 %second)\n"
                .to_owned(),
        };
        return format!("{head}{split}{body}  ret void\n}}\n");
    }
    let (instruction, width) = match bits {
        8 => ("sb", 0),
        16 => ("sh", 1),
        _ => ("sw", 2),
    };
    let widened = match bits {
        32 => "  %word = or i32 %value, 0\n".to_owned(),
        _ => format!("  %word = zext i{bits} %value to i32\n"),
    };
    let body = match hardware {
        Hardware::Mapped => format!(
            "  %status = call i32 asm sideeffect \"csrrci $0, mstatus, 8\\0Asw $2, 0($3)\\0A\
             {instruction} $4, 0($1)\\0Acsrw mstatus, $0\", \"=&r,r,r,r,r,~{{memory}}\"\
             (i32 %low, i32 %high, i32 {REGISTER}, i32 %word)\n"
        ),
        Hardware::Csr => format!(
            "  call void asm sideeffect \"csrw {CONTROL_REGISTER}, $1\\0A{instruction} $2, 0($0)\", \
             \"r,r,r,~{{memory}}\"(i32 %low, i32 %high, i32 %word)\n"
        ),
        Hardware::Isa => format!(
            "  call void asm sideeffect \".insn r4 0x2b, {width}, 0, x0, $0, $1, $2\", \
             \"r,r,r,~{{memory}}\"(i32 %low, i32 %high, i32 %word)\n"
        ),
    };
    format!("{head}{widened}{body}  ret void\n}}\n")
}
