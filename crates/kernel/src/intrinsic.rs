//! Functions that every language of kernels has under a name of ours.

use ir::program::{DeviceFunction, ExprId, ExprKind, Function, FunctionId, HostWords, Program};
use ir::types::{FunctionType, Ty, TypeKind};
use source::Span;

use crate::build::Builder;

/// `(to, from, size)`: copies bytes; answers nothing.
pub const COPY: &str = "__ferry_kernel_copy";
/// `(to, from, size)`: copies bytes to memory of the thread from a place whose address is a multiple of 16, as the size is.
pub const LOAD_LINES: &str = "__ferry_kernel_load_lines";
/// `(to, from, size)`: the same from memory of the thread, to such a place.
pub const STORE_LINES: &str = "__ferry_kernel_store_lines";
/// The positive infinity of `double`.
pub const INFINITY: &str = "__ferry_kernel_infinity";
/// All threads of the group wait for each other, and see what was written before.
pub const BARRIER: &str = "__ferry_kernel_barrier";
/// The number of the thread in its group.
pub const THREAD: &str = "__ferry_kernel_thread";
/// How many threads the group has.
pub const THREADS: &str = "__ferry_kernel_threads";
/// The number of the group.
pub const GROUP: &str = "__ferry_kernel_group";
/// How many groups there are.
pub const GROUPS: &str = "__ferry_kernel_groups";
/// Takes the one lock of the program if it is free; answers whether.
pub const TRY_LOCK: &str = "__ferry_kernel_try_lock";
/// Gives it back.
pub const UNLOCK: &str = "__ferry_kernel_unlock";
/// `(word, from, size, place)`: leaves bytes in memory of the launch, from a word of 64 bits on. Each group has a place,
/// by its number or by its [`TICKET`].
pub const LEAVE: &str = "__ferry_kernel_leave";
/// `(word, to, size, place)`: takes bytes that a group has left.
pub const TAKE: &str = "__ferry_kernel_take";
/// `(question)`: asked once by each group that has left something; answers whether it is the last to do so. Questions
/// that are asked in a kernel are numbered from 0.
pub const IS_LAST: &str = "__ferry_kernel_is_last";

/// How many groups have asked before: asked once by each. Groups with lower numbers have begun.
pub const TICKET: &str = "__ferry_kernel_ticket";
/// `(place)`: tells others that what was left in a place is there.
pub const POST: &str = "__ferry_kernel_post";
/// `(place)`: waits for that.
pub const AWAIT: &str = "__ferry_kernel_await";
/// `(place)`: as if nobody had told, for the next launch.
pub const FORGET: &str = "__ferry_kernel_forget";

/// `(to, from, size, far)`: gets the bytes that the thread so many places behind in its subgroup gives.
pub const SHUFFLE: &str = "__ferry_kernel_shuffle";
/// Gets what the first of the subgroup gives.
pub const FIRST: &str = "__ferry_kernel_first";

/// `(a, b)`: `a / b` of numbers of 64 bits, most of which are short.
pub const QUOTIENT: &str = "__ferry_kernel_quotient";

/// `(address)`: what is there goes to the host, which may change it.
pub const HAND_BACK: &str = "__ferry_kernel_hand_back";

/// `(fault)`: the kernel has found a fault in itself, which ends the program.
pub const FAIL: &str = "__ferry_kernel_fail";

/// Whether no thread has found a fault yet, as far as a thread can see.
pub const IS_SOUND: &str = "__ferry_kernel_is_sound";

/// All threads of the group have taken a branch in which they wait for each other (OpenCL): does nothing, but some
/// compilers take what follows such a branch at once for another.
pub const BRANCH: &str = "__ferry_kernel_branch";

/// All of them.
pub const ALL: [&str; 25] = [
    COPY,
    LOAD_LINES,
    STORE_LINES,
    INFINITY,
    BARRIER,
    THREAD,
    THREADS,
    GROUP,
    GROUPS,
    TRY_LOCK,
    UNLOCK,
    LEAVE,
    TAKE,
    IS_LAST,
    TICKET,
    POST,
    AWAIT,
    FORGET,
    SHUFFLE,
    FIRST,
    QUOTIENT,
    HAND_BACK,
    FAIL,
    IS_SOUND,
    BRANCH,
];

/// The function of this name, made if the program has none.
fn function(program: &mut Program, name: &str, ret: Ty, params: &[Ty]) -> FunctionId {
    let name = program.names.intern(name);
    if let Some((id, _)) = program.functions.iter().find(|(_, it)| it.name == name) {
        return id;
    }
    let ty = program.types.get(TypeKind::Function(FunctionType {
        ret,
        params: params.into(),
        variadic: false,
        prototyped: true,
    }));
    program.functions.push(Function {
        name,
        ty,
        params: Vec::new(),
        body: None,
        is_static: false,
        is_inline: false,
        is_external: true,
        noreturn: false,
        is_builtin: true,
        device: DeviceFunction::default(),
        host: HostWords::default(),
        calls: Vec::new(),
        indirect_calls: Vec::new(),
        span: Span::NONE,
    })
}

fn call(build: &mut Builder<'_>, name: &str, ret: Ty, params: &[Ty], args: &[ExprId]) -> ExprId {
    let id = function(build.program, name, ret, params);
    let ty = build.program.functions[id].ty;
    let callee = build.expr(ExprKind::Function(id), ty);
    build.expr(ExprKind::Call(callee, args.into()), ret)
}

/// Copies `size` bytes between two places.
pub fn copy_bytes(build: &mut Builder<'_>, to: ExprId, from: ExprId, size: ExprId) -> ExprId {
    copy(build, COPY, to, from, size)
}

/// Copies whole lines of 16 bytes to memory of the thread, or from there.
pub fn copy_lines(
    build: &mut Builder<'_>,
    to: ExprId,
    from: ExprId,
    size: ExprId,
    is_back: bool,
) -> ExprId {
    copy(build, if is_back { STORE_LINES } else { LOAD_LINES }, to, from, size)
}

fn copy(build: &mut Builder<'_>, name: &str, to: ExprId, from: ExprId, size: ExprId) -> ExprId {
    let void = build.program.types.get(TypeKind::Void);
    let pointer = build.program.types.pointer_to(void);
    let number = build.number_type();
    let (to, from) = (build.cast(to, pointer), build.cast(from, pointer));
    call(build, name, void, &[pointer, pointer, number], &[to, from, size])
}

/// Gets what another thread of the subgroup gives: the one so many places behind, or the first.
pub fn shuffle(build: &mut Builder<'_>, to: ExprId, from: ExprId, far: Option<ExprId>) -> ExprId {
    let void = build.program.types.get(TypeKind::Void);
    let pointer = build.program.types.pointer_to(void);
    let number = build.number_type();
    let ty = build.type_of(to).plain();
    let size = build.program.model.size_of(&build.program.types, ty).unwrap_or(0);
    let [to, from] = [to, from].map(|it| {
        let at = build.address(it);
        build.cast(at, pointer)
    });
    let size = build.number(size.cast_signed());
    let Some(far) = far else {
        return call(build, FIRST, void, &[pointer, pointer, number], &[to, from, size]);
    };
    let far = build.as_number(far);
    call(build, SHUFFLE, void, &[pointer, pointer, number, number], &[to, from, size, far])
}

/// Leaves the object at an address in memory of the launch.
pub fn leave(
    build: &mut Builder<'_>,
    word: ExprId,
    from: ExprId,
    size: u64,
    place: ExprId,
) -> ExprId {
    let void = build.program.types.get(TypeKind::Void);
    let pointer = build.program.types.pointer_to(void);
    let number = build.number_type();
    let (from, size) = (build.cast(from, pointer), build.number(size.cast_signed()));
    call(build, LEAVE, void, &[number, pointer, number, number], &[word, from, size, place])
}

/// Takes what a group has left there.
pub fn take(build: &mut Builder<'_>, word: ExprId, to: ExprId, size: u64, place: ExprId) -> ExprId {
    let void = build.program.types.get(TypeKind::Void);
    let pointer = build.program.types.pointer_to(void);
    let number = build.number_type();
    let (to, size) = (build.cast(to, pointer), build.number(size.cast_signed()));
    call(build, TAKE, void, &[number, pointer, number, number], &[word, to, size, place])
}

/// Whether the group is the last to ask this question, of several.
pub fn is_last(build: &mut Builder<'_>, question: u64) -> ExprId {
    let (int, number) = (build.int_type(), build.number_type());
    let question = build.number(question.cast_signed());
    call(build, IS_LAST, int, &[number], &[question])
}

/// Something that is done about a place.
pub fn at_place(build: &mut Builder<'_>, name: &str, place: ExprId) -> ExprId {
    let void = build.program.types.get(TypeKind::Void);
    let number = build.number_type();
    call(build, name, void, &[number], &[place])
}

/// `a / b`
pub fn quotient(build: &mut Builder<'_>, a: ExprId, b: ExprId) -> ExprId {
    let number = build.number_type();
    call(build, QUOTIENT, number, &[number, number], &[a, b])
}

/// Hands what is at an address to the host.
pub fn hand_back(build: &mut Builder<'_>, at: ExprId) -> ExprId {
    let void = build.program.types.get(TypeKind::Void);
    let pointer = build.program.types.pointer_to(void);
    let at = build.cast(at, pointer);
    call(build, HAND_BACK, void, &[pointer], &[at])
}

/// Ends the program with a fault.
pub fn fail(build: &mut Builder<'_>, fault: ExprId) -> ExprId {
    let void = build.program.types.get(TypeKind::Void);
    let number = build.number_type();
    call(build, FAIL, void, &[number], &[fault])
}

/// Whether there is no fault yet.
pub fn is_sound(build: &mut Builder<'_>) -> ExprId {
    let int = build.int_type();
    call(build, IS_SOUND, int, &[], &[])
}

/// Infinity.
pub fn infinity(build: &mut Builder<'_>) -> ExprId {
    let ty = build.program.types.get(TypeKind::Float(ir::types::FloatKind::Double));
    call(build, INFINITY, ty, &[], &[])
}

/// A number of threads or groups.
pub fn ask(build: &mut Builder<'_>, name: &str) -> ExprId {
    let ty = build.number_type();
    call(build, name, ty, &[], &[])
}

/// Something that is done: a barrier, an unlocking.
pub fn act(build: &mut Builder<'_>, name: &str) -> ExprId {
    let void = build.program.types.get(TypeKind::Void);
    call(build, name, void, &[], &[])
}

/// Something that is tried.
pub fn attempt(build: &mut Builder<'_>, name: &str) -> ExprId {
    let int = build.int_type();
    call(build, name, int, &[], &[])
}
