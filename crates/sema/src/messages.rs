//! The catalogue: one function per fault that sema reports, codes `F04xx`.
//!
//! The message names the fault, the label shows the place, `help` alone speaks of the remedy.
//! `F040x` names, `F041x` declarations, `F042x` types, `F043x` expressions, `F044x` calls, `F045x`
//! conversions, `F046x` initialisers and constants, `F047x` statements, `F048x` and `F049x`
//! warnings.

use source::{Diagnostic, Span};

use crate::convert::Goal;

fn suggest(fault: Diagnostic, near: Option<&str>) -> Diagnostic {
    match near {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None => fault,
    }
}

// ---------------------------------------------------------------- names

pub(crate) fn undeclared(name: &str, near: Option<&str>, span: Span) -> Diagnostic {
    let fault = Diagnostic::error("F0401", format!("`{name}` is not declared"));
    suggest(fault.at(span, "not found in this scope"), near)
}

pub(crate) fn type_as_value(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0403", format!("`{name}` is a type, not a value"))
        .at(span, "an expression is expected here")
}

pub(crate) fn no_member(
    name: &str,
    ty: &str,
    near: Option<&str>,
    span: Span,
    declared: Span,
) -> Diagnostic {
    let fault = Diagnostic::error("F0404", format!("`{ty}` has no member `{name}`"))
        .at(span, "unknown member");
    let fault = if declared == Span::NONE { fault } else { fault.label(declared, "its type") };
    suggest(fault, near)
}

pub(crate) fn not_record(name: &str, ty: &str, is_pointer: bool, span: Span) -> Diagnostic {
    let message = format!("member `{name}` asked of `{ty}`, which is not a structure or union");
    let fault = Diagnostic::error("F0405", message).at(span, "has no members");
    if is_pointer { fault.help(format!("use `->{name}` on a pointer")) } else { fault }
}

pub(crate) fn arrow_on_record(name: &str, ty: &str, span: Span) -> Diagnostic {
    let message = format!("`->{name}` asked of `{ty}`, which is not a pointer to a structure");
    Diagnostic::error("F0406", message)
        .at(span, "not a pointer")
        .help(format!("use `.{name}` on a structure"))
}

pub(crate) fn undefined_label(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0407", format!("label `{name}` is used but not defined"))
        .at(span, "no such label in this function")
}

pub(crate) fn duplicate_label(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("F0408", format!("label `{name}` is defined twice"))
        .at(span, "defined again here")
        .label(first, "first defined here")
}

// ---------------------------------------------------------------- declarations

pub(crate) fn redefined(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("F0410", format!("`{name}` is defined twice"))
        .at(span, "defined again here")
        .label(first, "first defined here")
}

pub(crate) fn other_kind(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("F0411", format!("`{name}` is declared as a different kind of thing"))
        .at(span, "declared again here")
        .label(first, "first declared here")
}

pub(crate) fn conflicting_types(
    name: &str,
    (now, before): (&str, &str),
    span: Span,
    first: Span,
) -> Diagnostic {
    Diagnostic::error("F0412", format!("conflicting types for `{name}`"))
        .at(span, format!("here it is `{now}`"))
        .label(first, format!("here it was `{before}`"))
}

pub(crate) fn other_tag(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("F0413", format!("tag `{name}` is of another kind"))
        .at(span, "used with another keyword here")
        .label(first, "first used here")
}

pub(crate) fn static_after_extern(name: &str, span: Span, first: Span) -> Diagnostic {
    let message = format!("`{name}` is declared `static` after it was declared without");
    Diagnostic::error("F0414", message)
        .at(span, "`static` here")
        .label(first, "visible to other files here")
        .help("say `static` in the first declaration")
}

pub(crate) fn duplicate_member(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("F0415", format!("member `{name}` is declared twice"))
        .at(span, "declared again here")
        .label(first, "first declared here")
}

pub(crate) fn wrong_storage(word: &str, what: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0416", format!("`{word}` is not possible on {what} here"))
        .at(span, "this storage class has no meaning")
        .help(format!("remove `{word}`"))
}

pub(crate) fn not_a_param(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0417", format!("`{name}` is declared among the parameters, but is none"))
        .at(span, "not in the parameter list")
}

pub(crate) fn not_a_function(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0419", format!("`{name}` has a body but is not declared as a function"))
        .at(span, "no parameter list")
}

// ---------------------------------------------------------------- types

pub(crate) fn incomplete(what: &str, ty: &str, span: Span, declared: Span) -> Diagnostic {
    let fault = Diagnostic::error("F0420", format!("{what} has incomplete type `{ty}`"))
        .at(span, "its size is not known here");
    if declared == Span::NONE { fault } else { fault.label(declared, "declared here, not defined") }
}

pub(crate) fn void_object(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0421", format!("`{name}` is declared `void`"))
        .at(span, "an object cannot be `void`")
}

pub(crate) fn bad_derivation(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0422", what.to_owned()).at(span, "no such type in C")
}

pub(crate) fn negative_array(span: Span) -> Diagnostic {
    Diagnostic::error("F0423", "size of array is negative").at(span, "must be 0 or more")
}

pub(crate) fn array_size_not_integer(ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0424", format!("size of array has type `{ty}`, not an integer type"))
        .at(span, "an integer is expected here")
}

pub(crate) fn variable_array_here(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0425", format!("size of array {what} is not a constant"))
        .at(span, "computed when the program runs")
        .note("only automatic variables of a block may have a variable length")
}

pub(crate) fn bad_bit_field(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0426", what.to_owned()).at(span, "in this bit-field")
}

pub(crate) fn bad_alignment(span: Span) -> Diagnostic {
    Diagnostic::error("F0427", "requested alignment is not a positive power of two")
        .at(span, "this alignment")
}

pub(crate) fn bad_vector(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0428", what.to_owned()).at(span, "in this vector type")
}

pub(crate) fn auto_without_value(span: Span) -> Diagnostic {
    Diagnostic::error("F0429", "`__auto_type` needs an initial value").at(span, "no value here")
}

// ---------------------------------------------------------------- expressions

pub(crate) fn invalid_operands(op: &str, left: &str, right: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0430", format!("invalid operands to `{op}`: `{left}` and `{right}`"))
        .at(span, "these types do not combine")
}

pub(crate) fn invalid_operand(op: &str, ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0431", format!("invalid operand to `{op}`: `{ty}`"))
        .at(span, "of the wrong type")
}

pub(crate) fn not_lvalue(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0432", format!("{what} needs an object, and this is a value"))
        .at(span, "not an object")
}

pub(crate) fn read_only(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0433", format!("{what} is read-only")).at(span, "declared `const`")
}

pub(crate) fn not_indexable(ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0434", format!("`{ty}` cannot be indexed"))
        .at(span, "neither an array nor a pointer")
}

pub(crate) fn index_not_integer(ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0435", format!("index has type `{ty}`, not an integer type"))
        .at(span, "an integer is expected here")
}

pub(crate) fn not_scalar(ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0436", format!("`{ty}` is used where a number or pointer is needed"))
        .at(span, "not a number or pointer")
}

pub(crate) fn void_value(span: Span) -> Diagnostic {
    Diagnostic::error("F0437", "a `void` value is used").at(span, "this has no value")
}

pub(crate) fn bit_field_address(what: &str, name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0438", format!("{what} of bit-field `{name}`"))
        .at(span, "a bit-field is not a whole object")
}

pub(crate) fn no_generic_match(ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0439", format!("no association of `_Generic` fits `{ty}`"))
        .at(span, "has this type")
        .help("add a `default:` association")
}

// ---------------------------------------------------------------- calls

pub(crate) fn not_callable(ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0440", format!("`{ty}` is called, but is not a function"))
        .at(span, "not a function or pointer to one")
}

pub(crate) fn argument_count(
    name: &str,
    want: usize,
    variadic: bool,
    have: usize,
    span: Span,
    declared: Span,
) -> Diagnostic {
    let few = have < want;
    let word = if few { "few" } else { "many" };
    let at_least = if variadic { "at least " } else { "" };
    let plural = if want == 1 { "" } else { "s" };
    let message =
        format!("too {word} arguments to {name}: {have} given, {at_least}{want} expected");
    let fault = Diagnostic::error("F0441", message)
        .at(span, format!("{at_least}{want} argument{plural} expected"));
    if declared == Span::NONE { fault } else { fault.label(declared, "declared here") }
}

pub(crate) fn bad_builtin(name: &str, why: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0442", format!("`{name}`: {why}")).at(span, "in this call")
}

// ---------------------------------------------------------------- conversions

fn goal_text(goal: Goal) -> String {
    match goal {
        Goal::Assign => "assignment".to_owned(),
        Goal::Init => "initialisation".to_owned(),
        Goal::Return => "`return`".to_owned(),
        Goal::Argument(at) => format!("passing argument {at}"),
    }
}

pub(crate) fn incompatible(goal: Goal, to: &str, from: &str, span: Span) -> Diagnostic {
    let goal = goal_text(goal);
    Diagnostic::error("F0450", format!("incompatible types in {goal}: `{to}` from `{from}`"))
        .at(span, format!("this is `{from}`"))
}

pub(crate) fn cast_refused(to: &str, from: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0451", format!("`{from}` cannot be cast to `{to}`"))
        .at(span, "no such conversion")
}

pub(crate) fn register_address(name: &str, span: Span, declared: Span) -> Diagnostic {
    Diagnostic::error("F0452", format!("address of `{name}`, which is declared `register`"))
        .at(span, "a register has no address")
        .label(declared, "declared here")
        .help("remove `register`")
}

pub(crate) fn pointer_from_integer(goal: Goal, span: Span) -> Diagnostic {
    let goal = goal_text(goal);
    Diagnostic::warning("F0480", format!("{goal} makes a pointer from an integer without a cast"))
        .at(span, "an integer")
}

pub(crate) fn integer_from_pointer(goal: Goal, span: Span) -> Diagnostic {
    let goal = goal_text(goal);
    Diagnostic::warning("F0481", format!("{goal} makes an integer from a pointer without a cast"))
        .at(span, "a pointer")
}

pub(crate) fn other_pointee(goal: Goal, to: &str, from: &str, span: Span) -> Diagnostic {
    let goal = goal_text(goal);
    Diagnostic::warning("F0482", format!("{goal} from an incompatible pointer type"))
        .at(span, format!("this is `{from}`, `{to}` is expected"))
}

pub(crate) fn loses_qualifiers(goal: Goal, to: &str, from: &str, span: Span) -> Diagnostic {
    let goal = goal_text(goal);
    Diagnostic::warning("F0483", format!("{goal} discards a qualifier of the pointer's target"))
        .at(span, format!("this is `{from}`, `{to}` is expected"))
}

pub(crate) fn pointer_mismatch(what: &str, left: &str, right: &str, span: Span) -> Diagnostic {
    Diagnostic::warning("F0484", format!("{what} of `{left}` and `{right}`"))
        .at(span, "these types do not agree")
}

// ---------------------------------------------------------------- initialisers and constants

pub(crate) fn not_constant(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0460", format!("{what} is not a constant"))
        .at(span, "computed when the program runs")
}

pub(crate) fn invalid_initializer(ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0461", format!("invalid initialiser for `{ty}`"))
        .at(span, "a list in braces is expected here")
}

pub(crate) fn bad_designator(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0462", what.to_owned()).at(span, "in this designator")
}

pub(crate) fn empty_scalar(span: Span) -> Diagnostic {
    Diagnostic::error("F0463", "empty initialiser for a scalar").at(span, "a value is needed here")
}

pub(crate) fn variable_array_init(span: Span) -> Diagnostic {
    Diagnostic::error("F0464", "an array of variable length cannot be initialised")
        .at(span, "its length is not known here")
}

pub(crate) fn static_assertion(text: Option<&str>, span: Span) -> Diagnostic {
    let message = match text {
        Some(text) => format!("static assertion failed: {text}"),
        None => "static assertion failed".to_owned(),
    };
    Diagnostic::error("F0465", message).at(span, "this is 0")
}

pub(crate) fn bad_literal(why: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0466", why.to_owned()).at(span, "in this literal")
}

pub(crate) fn value_for_none(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0467", format!("{what} cannot have an initial value"))
        .at(span, "nothing is defined here")
}

pub(crate) fn excess_elements(span: Span) -> Diagnostic {
    Diagnostic::warning("F0485", "more initialisers than elements").at(span, "not used")
}

pub(crate) fn long_string(span: Span) -> Diagnostic {
    Diagnostic::warning("F0486", "string is longer than the array it initialises")
        .at(span, "the end is cut off")
}

// ---------------------------------------------------------------- statements

pub(crate) fn duplicate_case(value: i128, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("F0470", format!("case {value} occurs twice"))
        .at(span, "again here")
        .label(first, "first here")
}

pub(crate) fn duplicate_default(span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("F0471", "`default` occurs twice in one `switch`")
        .at(span, "again here")
        .label(first, "first here")
}

pub(crate) fn outside(word: &str, place: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0472", format!("`{word}` outside {place}"))
        .at(span, format!("not inside {place}"))
}

pub(crate) fn switch_not_integer(ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0473", format!("`switch` over `{ty}`, not an integer type"))
        .at(span, "an integer is expected here")
}

pub(crate) fn goto_not_address(ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0474", format!("`goto *` to `{ty}`, not a pointer"))
        .at(span, "an address such as `&&label` is expected here")
}

pub(crate) fn jump_into_scope(what: &str, span: Span, declared: Span) -> Diagnostic {
    let message = format!("{what} past the declaration of an array of variable length");
    Diagnostic::error("F0475", message)
        .at(span, "this jump")
        .label(declared, "its size is not computed then")
        .help("put the declaration in a block that the jump does not enter")
}

pub(crate) fn returns_value_from_void(span: Span) -> Diagnostic {
    Diagnostic::warning("F0487", "`return` with a value in a function that returns `void`")
        .at(span, "this value is lost")
}

pub(crate) fn returns_nothing(span: Span) -> Diagnostic {
    Diagnostic::warning("F0488", "`return` without a value in a function that returns one")
        .at(span, "a value is expected here")
}

// ---------------------------------------------------------------- warnings

pub(crate) fn implicit_function(name: &str, near: Option<&str>, span: Span) -> Diagnostic {
    let message = format!("function `{name}` is called before it is declared");
    let fault = Diagnostic::warning("F0490", message).at(span, "taken to return `int`");
    match near {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None => fault.help("declare it, or include the header that does"),
    }
}

pub(crate) fn implicit_builtin(name: &str, span: Span) -> Diagnostic {
    Diagnostic::warning("F0491", format!("function `{name}` is used without its header"))
        .at(span, "taken for the standard library's")
        .help("include the header that declares it")
}

pub(crate) fn implicit_int(what: &str, span: Span) -> Diagnostic {
    Diagnostic::warning("F0492", format!("the type of {what} defaults to `int`"))
        .at(span, "no type here")
}

pub(crate) fn unknown_builtin(name: &str, span: Span) -> Diagnostic {
    Diagnostic::warning("F0493", format!("built-in function `{name}` is not known"))
        .at(span, "accepted as it stands; its result is not checked")
}

pub(crate) fn implicit_conflict(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::warning("F0494", format!("`{name}` was called before this declaration"))
        .at(span, "not the type that was taken for granted")
        .label(first, "first called here")
}
