//! What the compiler knows without a declaration: gcc's built-in functions.
//!
//! Most have a plain signature, written with one letter per type (see [`Cx::letter`]) and read when
//! the function is first named. Those whose result depends on their arguments are typed call by
//! call. What is not known here is accepted with a warning, and its result fits everywhere.

mod table;

use ir::program::{ExprId, ExprKind, FunctionId};
use ir::types::{FloatKind, FunctionType, Ty, TypeKind};
use source::{Name, Span};
use syntax::ast;

use crate::Cx;
use crate::messages;
use crate::scope::Entity;

/// How the result of a call depends on its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Generic {
    /// Always this.
    Int,
    Bool,
    Void,
    /// What the first argument points to.
    Pointee,
    /// The type of the first argument.
    Same,
    /// The complex type of the first argument.
    Complex,
    /// Whether the argument is a constant.
    ConstantP,
    /// One of several functions by the type of the arguments.
    Tgmath,
    /// A vector from elements of two.
    ShuffleVector,
}

impl Cx<'_> {
    /// The built-in function of this name, declared if there is one.
    pub(crate) fn builtin_function(&mut self, name: Name) -> Option<FunctionId> {
        let text = self.program.names.text(name);
        let signature = table::signature(text)?;
        let ty = self.signature_ty(signature);
        let function = self.new_function(name, ty, Span::NONE);
        let noreturn = table::is_noreturn(self.program.names.text(name));
        let it = &mut self.program.functions[function];
        (it.is_builtin, it.noreturn) = (true, noreturn);
        self.scopes.set_global(name, Entity::Function(function));
        self.scopes.set_linked(name, Entity::Function(function));
        Some(function)
    }

    fn signature_ty(&mut self, signature: &str) -> Ty {
        let mut letters = signature.chars();
        let ret = letters.next().map_or(self.basics.int, |it| self.letter(it));
        let mut params = Vec::new();
        let mut variadic = false;
        for letter in letters {
            match letter {
                '.' => variadic = true,
                _ => params.push(self.letter(letter)),
            }
        }
        let (params, prototyped) = (params.into(), true);
        self.program.types.get(TypeKind::Function(FunctionType {
            ret,
            params,
            variadic,
            prototyped,
        }))
    }

    fn letter(&mut self, letter: char) -> Ty {
        let basics = &self.basics;
        let to = match letter {
            'v' => return basics.void,
            'b' => return basics.bool,
            'c' => return basics.char,
            'h' => return basics.ushort,
            'i' => return basics.int,
            'u' => return basics.uint,
            'l' => return basics.long,
            'L' => return basics.ulong,
            'q' => return basics.llong,
            'Q' => return basics.ullong,
            'z' => return basics.size,
            'x' => return basics.ptrdiff,
            'w' => return basics.wchar,
            'f' => return basics.float,
            'd' => return basics.double,
            'e' => return basics.ldouble,
            'g' => return basics.float128,
            'p' => return basics.void_ptr,
            'P' => return basics.const_void_ptr,
            's' => return basics.char_ptr,
            'S' => return basics.const_char_ptr,
            'V' => return basics.va_list,
            'X' => return self.program.types.get(TypeKind::Complex(FloatKind::Double)),
            'Y' => return self.program.types.get(TypeKind::Complex(FloatKind::Float)),
            'Z' => return self.program.types.get(TypeKind::Complex(FloatKind::LongDouble)),
            'I' => basics.int,
            'D' => basics.double,
            'F' => basics.float,
            'E' => basics.ldouble,
            'A' => basics.char_ptr,
            'U' => basics.uint,
            'm' => basics.long,
            'M' => basics.ulong,
            'n' => basics.llong,
            'N' => basics.ullong,
            _ => return basics.error,
        };
        self.program.types.pointer_to(to)
    }

    /// A call whose type depends on its arguments; nothing for any other function.
    pub(crate) fn generic_builtin(
        &mut self,
        name: Name,
        args: &[ast::ExprId],
        span: Span,
    ) -> Option<ExprId> {
        let generic = generic_kind(self.program.names.text(name))?;
        if generic == Generic::ConstantP {
            return Some(self.constant_p(args, span));
        }
        // Lists of arguments and objects that are changed stay objects.
        let args: Vec<ExprId> = args
            .iter()
            .map(|it| match generic {
                Generic::Void => self.expr(*it),
                _ => self.value(*it),
            })
            .collect();
        if args.iter().any(|it| self.is_error(self.ty(*it))) {
            return Some(self.wrong(span));
        }
        if generic == Generic::Tgmath {
            return Some(self.tgmath(&args, span));
        }
        let ty = match self.generic_result(generic, &args) {
            Ok(ty) => ty,
            Err(why) => {
                let fault = messages::bad_builtin(self.program.names.text(name), why, span);
                return Some(self.refuse(fault, span));
            }
        };
        let callee = self.generic_callee(name, span);
        Some(self.make(ExprKind::Call(callee, args.into()), ty, span))
    }

    /// A function that takes anything: its calls have types of their own.
    fn generic_callee(&mut self, name: Name, span: Span) -> ExprId {
        let ret = self.basics.error;
        let ty = self.program.types.get(TypeKind::Function(FunctionType {
            ret,
            params: [].into(),
            variadic: false,
            prototyped: false,
        }));
        let function = match self.scopes.linked(name) {
            Some(Entity::Function(function)) => function,
            _ => {
                let function = self.new_function(name, ty, Span::NONE);
                self.program.functions[function].is_builtin = true;
                // Known by linkage alone: each call comes back here.
                self.scopes.set_linked(name, Entity::Function(function));
                function
            }
        };
        self.make(ExprKind::Function(function), ty, span)
    }

    fn generic_result(&mut self, generic: Generic, args: &[ExprId]) -> Result<Ty, &'static str> {
        let first = args.first().map(|it| self.value_ty(*it));
        let basics = &self.basics;
        match generic {
            Generic::Int | Generic::ConstantP => Ok(basics.int),
            Generic::Bool => Ok(basics.bool),
            Generic::Void => Ok(basics.void),
            Generic::Same | Generic::Tgmath => first.ok_or("an argument is missing"),
            Generic::Pointee => {
                let to = first.and_then(|it| self.pointee(it));
                to.map(|it| self.unqualified(it)).ok_or("the first argument is not a pointer")
            }
            Generic::Complex => match first.map(|it| self.shape(it)) {
                Some(TypeKind::Float(kind)) => {
                    let kind = TypeKind::Complex(*kind);
                    Ok(self.program.types.get(kind))
                }
                _ => Err("the arguments are not real floating numbers"),
            },
            Generic::ShuffleVector => {
                let elem = first.and_then(|it| self.vector_element(it));
                let elem = elem.ok_or("the first argument is not a vector")?;
                let lanes = u32::try_from(args.len().saturating_sub(2)).unwrap_or(0);
                Ok(self.program.types.get(TypeKind::Vector(elem, lanes)))
            }
        }
    }

    fn constant_p(&mut self, args: &[ast::ExprId], span: Span) -> ExprId {
        self.unevaluated += 1;
        let is_constant = args.iter().all(|it| {
            let value = self.value(*it);
            self.constant(value).is_some()
                || matches!(self.program.exprs[value].kind, ExprKind::Float(_))
        });
        self.unevaluated -= 1;
        let ty = self.basics.int;
        self.int(i64::from(is_constant && !args.is_empty()), ty, span)
    }

    /// `__builtin_tgmath(f, f1, …, x, …)`: the function whose parameters are of the common type of
    /// those arguments whose type the functions do not agree on.
    fn tgmath(&mut self, args: &[ExprId], span: Span) -> ExprId {
        let is_function = |it: &ExprId| self.program.types.callee(self.ty(*it)).is_some();
        let count = args.iter().take_while(|it| is_function(it)).count();
        let (functions, values) = args.split_at(count);
        let mut common: Option<Ty> = None;
        for (at, value) in values.iter().enumerate() {
            if !self.params_differ(functions, at) {
                continue;
            }
            let ty = self.value_ty(*value);
            // Integers count as `double`.
            let ty = if self.is_integer(ty) { self.basics.double } else { ty };
            common = Some(match common {
                Some(before) => self.usual(before, ty),
                None => ty,
            });
        }
        let wanted = common.unwrap_or(self.basics.double);
        let param = |cx: &Self, it: &ExprId| {
            let at = (0..values.len()).find(|at| cx.params_differ(functions, *at)).unwrap_or(0);
            cx.program.types.callee(cx.ty(*it)).and_then(|it| it.params.get(at).copied())
        };
        let exact =
            functions.iter().find(|it| param(self, it).is_some_and(|ty| self.is_same(ty, wanted)));
        let chosen = exact.or_else(|| {
            // A complex argument needs a function that takes one.
            let is_complex = self.is_complex(wanted);
            let fits =
                |it: &&ExprId| param(self, it).is_some_and(|ty| !is_complex || self.is_complex(ty));
            functions.iter().find(fits)
        });
        match chosen {
            Some(function) => self.call_value(*function, values.to_vec(), span),
            None => {
                let why = "no function fits the arguments";
                let fault = messages::bad_builtin("__builtin_tgmath", why, span);
                self.refuse(fault, span)
            }
        }
    }

    fn params_differ(&self, functions: &[ExprId], at: usize) -> bool {
        let param = |it: &ExprId| {
            self.program.types.callee(self.ty(*it)).and_then(|it| it.params.get(at).copied())
        };
        let mut params = functions.iter().map(param);
        let first = params.next().flatten();
        params.any(|it| it.zip(first).is_some_and(|(a, b)| !self.is_same(a, b)))
    }
}

fn generic_kind(text: &str) -> Option<Generic> {
    if let Some(name) = text.strip_prefix("__sync_") {
        return Some(match name {
            "synchronize" | "lock_release" => Generic::Void,
            "bool_compare_and_swap" => Generic::Bool,
            "val_compare_and_swap" | "lock_test_and_set" => Generic::Pointee,
            _ if name.starts_with("fetch_and_") || name.ends_with("_and_fetch") => Generic::Pointee,
            _ => return None,
        });
    }
    if let Some(name) = text.strip_prefix("__atomic_") {
        return Some(match name {
            "load" | "store" | "store_n" | "exchange" | "clear" | "thread_fence"
            | "signal_fence" => Generic::Void,
            "compare_exchange" | "compare_exchange_n" | "test_and_set" | "always_lock_free"
            | "is_lock_free" => Generic::Bool,
            "load_n" | "exchange_n" => Generic::Pointee,
            _ if name.starts_with("fetch_") || name.ends_with("_fetch") => Generic::Pointee,
            _ => return None,
        });
    }
    Some(match text.strip_prefix("__builtin_")? {
        "constant_p" => Generic::ConstantP,
        "isnan" | "isinf" | "isfinite" | "isnormal" | "signbit" | "isinf_sign" | "isgreater"
        | "isgreaterequal" | "isless" | "islessequal" | "islessgreater" | "isunordered"
        | "iseqsig" | "issignaling" | "fpclassify" | "classify_type" => Generic::Int,
        "add_overflow"
        | "sub_overflow"
        | "mul_overflow"
        | "add_overflow_p"
        | "sub_overflow_p"
        | "mul_overflow_p"
        | "is_constant_evaluated" => Generic::Bool,
        "va_start" | "va_end" | "va_copy" | "clear_padding" | "next_arg" => Generic::Void,
        "complex" => Generic::Complex,
        "shuffle" | "assoc_barrier" | "speculation_safe_value" => Generic::Same,
        "shufflevector" => Generic::ShuffleVector,
        "tgmath" => Generic::Tgmath,
        _ => return None,
    })
}
