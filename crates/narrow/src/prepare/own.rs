//! Variables of which each thread has its own: a thread is a core here, so there is one for each core, in a row.

use crate::error::Error;
use crate::llvm::{Builder, Context, Linkage, Module, Opcode, Value};

/// The runtime's answer to which core it is: `unsigned ferry_core(void)`, below [`MOST_CORES`].
const CORE: &str = "ferry_core";

/// More cores than any cluster has.
const MOST_CORES: usize = 64;

/// How the front end asks for the address of such a variable.
const ADDRESS: &str = "llvm.threadlocal.address";

pub(super) fn lower(context: Context, module: Module) -> Result<(), Error> {
    let builder = Builder::new(context);
    for variable in module.globals().into_iter().filter(|it| it.is_thread_local()) {
        let Some(core) = module.function(CORE).filter(|it| !it.is_declaration()) else {
            let message = format!("one for each thread, and there is no function `{CORE}`");
            return Err(Error::of(variable, message));
        };
        let Some(initial) = variable.initializer() else {
            return Err(Error::of(variable, "one for each thread, and it is not defined"));
        };
        let each = context.constant_structure(&vec![initial; MOST_CORES], false);
        let row = module.add_global(&format!("{}.each", variable.name()), each.ty());
        row.set_initializer(each);
        row.set_linkage(Linkage::LLVMInternalLinkage);
        row.set_alignment(variable.alignment().max(8));
        let stride = module.layout().size(initial.ty());
        for call in variable.users() {
            let is_address = call.is_instruction()
                && call.opcode() == Opcode::LLVMCall
                && call.called().is_function()
                && call.called().name().starts_with(ADDRESS);
            if !is_address {
                return Err(Error::of(
                    variable,
                    "one for each thread, and its address is a constant",
                ));
            }
            call.replace_by(own(&builder, call, core, row, stride));
            call.erase();
        }
        variable.erase_global();
    }
    Ok(())
}

/// The address of what the calling core has.
fn own(builder: &Builder, before: Value, core: Value, row: Value, stride: u64) -> Value {
    builder.before(before);
    builder.set_location(before.debug_location());
    let number = builder.context().integer(64);
    let mine = builder.call(core.value_type(), core, &[]);
    let mine = builder.cast(Opcode::LLVMZExt, mine, number);
    let offset = builder.binary(Opcode::LLVMMul, mine, number.constant(stride));
    builder.byte_offset(row, offset)
}
