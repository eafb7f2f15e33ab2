//! Expressions, with the parentheses they need and those that compilers ask for.

use ir::program::{
    BinaryOp, CastKind, Expr, ExprId, ExprKind, FunctionId, Program, Section, StepOp, UnaryOp,
    VarId,
};
use ir::types::{ArrayLen, FloatKind, RecordId, Ty, TypeKind};
use syntax::print::Level;

use super::bits::width_of;
use super::function_pointers::named_callee;
use super::{Grid, Out, Printer, THREAD};

impl Printer<'_> {
    /// An expression that stands alone.
    pub fn expr(&self, id: ExprId) -> String {
        self.operand(id, Level::Comma)
    }

    /// An expression that can be an operand anywhere.
    pub fn primary(&self, id: ExprId) -> String {
        self.operand(id, Level::Primary)
    }

    /// An expression where nothing looser than `least` may stand.
    pub(super) fn operand(&self, id: ExprId, least: Level) -> String {
        let mut text = String::new();
        self.put(id, least, &mut text);
        text
    }

    fn put(&self, id: ExprId, least: Level, out: &mut String) {
        let Some(node) = self.program.exprs.find(id) else { return out.push('0') };
        if !self.lengths.is_empty()
            && let Some(text) = self.lengths.get(&id)
        {
            return out.push_str(text);
        }
        // What C does by itself leaves no trace.
        if let ExprKind::Cast(kind, inner) = node.kind
            && self.is_invisible(kind, inner, node.ty)
        {
            return self.put(inner, least, out);
        }
        if self.grid.is_some()
            && let Some(text) = self.without_lengths(node)
        {
            return out.push_str(&text);
        }
        if self.put_function(node, out) {
            return;
        }
        if self.grid.is_some() && self.put_bits(id, node, out) {
            return;
        }
        let level = self.level(node);
        let is_grouped = level < least;
        if is_grouped {
            out.push('(');
        }
        self.put_bare(node, out);
        if is_grouped {
            out.push(')');
        }
    }

    fn is_invisible(&self, kind: CastKind, inner: ExprId, to: Ty) -> bool {
        match kind {
            CastKind::ArrayToPointer | CastKind::FunctionToPointer => true,
            // A number for all lanes of a vector: gcc knows no cast for it.
            CastKind::Implicit => {
                let types = &self.program.types;
                types.is_vector(to) && self.ty(inner).is_some_and(|it| !types.is_vector(it))
            }
            CastKind::Explicit => false,
        }
    }

    fn level(&self, node: &Expr) -> Level {
        match &node.kind {
            ExprKind::Int(value) => self.integer(self.widened(*value, node.ty), node.ty).1,
            ExprKind::WideInt(value) => self.integer(**value, node.ty).1,
            ExprKind::EnumConst(id, _) if self.sees_constants(*id) => Level::Primary,
            ExprKind::EnumConst(id, at) => self.integer(self.constant_of(*id, *at), node.ty).1,
            ExprKind::Error
            | ExprKind::Float(_)
            | ExprKind::Str(_)
            | ExprKind::Var(_)
            | ExprKind::Function(_)
            | ExprKind::Offsetof(..)
            | ExprKind::StmtExpr(_)
            | ExprKind::VaArg(_)
            | ExprKind::ConvertVector(_) => Level::Primary,
            ExprKind::Index(..)
            | ExprKind::Member(..)
            | ExprKind::Call(..)
            | ExprKind::CompoundLiteral(_)
            | ExprKind::Section(_)
            | ExprKind::Step(StepOp::PostInc | StepOp::PostDec, _) => Level::Postfix,
            ExprKind::Unary(..)
            | ExprKind::Deref(_)
            | ExprKind::AddrOf(_)
            | ExprKind::Sizeof(_)
            | ExprKind::Alignof(_)
            | ExprKind::LabelAddr(_)
            | ExprKind::Step(StepOp::PreInc | StepOp::PreDec, _) => Level::Unary,
            ExprKind::Cast(..) | ExprKind::Shaped(..) => Level::Cast,
            ExprKind::Binary(op, ..) => binary(*op).1,
            ExprKind::And(..) => Level::And,
            ExprKind::Or(..) => Level::Or,
            ExprKind::Conditional(..) => Level::Conditional,
            ExprKind::Assign(..) | ExprKind::AssignOp(..) => Level::Assign,
            ExprKind::Comma(..) => Level::Comma,
        }
    }

    /// What has to do with a bit-field, where those are bytes.
    fn put_bits(&self, id: ExprId, node: &Expr, out: &mut String) -> bool {
        if let ExprKind::Assign(to, value) = node.kind
            && let Some((base, bits)) = self.bits_of(to)
        {
            self.put_bits_assigned(base, &bits, value, out);
        } else if let ExprKind::AssignOp(op, to, by, within) = node.kind
            && let Some((base, bits)) = self.bits_of(to)
        {
            self.put_bits_changed(op, base, &bits, by, within, out);
        } else if let ExprKind::Step(op, to) = node.kind
            && let Some((base, bits)) = self.bits_of(to)
        {
            self.put_bits_stepped(op, base, &bits, out);
        } else if let Some((base, bits)) = self.bits_of(id) {
            self.put_bits_read(base, &bits, out);
        } else {
            return false;
        }
        true
    }

    fn put_bare(&self, node: &Expr, out: &mut String) {
        match &node.kind {
            ExprKind::Error => out.push('0'),
            ExprKind::Int(value) => {
                out.push_str(&self.integer(self.widened(*value, node.ty), node.ty).0);
            }
            ExprKind::WideInt(value) => out.push_str(&self.integer(**value, node.ty).0),
            ExprKind::EnumConst(id, at) if self.sees_constants(*id) => {
                out.push_str(self.constant_name(*id, *at));
            }
            ExprKind::EnumConst(id, at) => {
                out.push_str(&self.integer(self.constant_of(*id, *at), node.ty).0);
            }
            ExprKind::Float(name) if self.is_cpp() && self.program.types.is_complex(node.ty) => {
                out.push_str(&self.imaginary(self.text(*name), node.ty));
            }
            ExprKind::Float(name) => out.push_str(self.text(*name)),
            ExprKind::Str(pieces) => {
                let text = self.string(pieces, node.ty);
                match self.grid {
                    // Strings lie in memory of another kind than pointers lead to; where types say so, nothing but what
                    // prints has them.
                    Some(Grid::OpenCl | Grid::OpenCl12 | Grid::Fpga(_)) => {
                        out.push_str(&format!("((const char *)__ferry_flat({text}))"));
                    }
                    // In C nobody promises not to change them.
                    Some(Grid::Cuda | Grid::Hip) => out.push_str(&format!("((char *){text})")),
                    None => out.push_str(&text),
                }
            }
            ExprKind::Var(var) => out.push_str(&self.var_name(*var)),
            // One of several with that name.
            ExprKind::Function(id)
                if self.is_cpp() && self.hook.has_function(self.plain_name(*id)) =>
            {
                let ty = self.declare_pointer(node.ty, "");
                out.push_str(&format!("(({ty}){})", self.function_name(*id)));
            }
            ExprKind::Function(id) => out.push_str(&self.function_name(*id)),
            ExprKind::Unary(op, e) => self.put_unary(*op, *e, out),
            ExprKind::Deref(e) => self.put_prefix("*", *e, out),
            ExprKind::AddrOf(e) => self.put_prefix("&", *e, out),
            ExprKind::Step(op, e) => self.put_step(*op, *e, out),
            ExprKind::Binary(op, a, b) if self.counts_bytes(*a) || self.counts_bytes(*b) => {
                self.put_bytes(*op, *a, *b, out);
            }
            ExprKind::Binary(BinaryOp::Div, a, b) if self.is_inverse_root(node.ty, *a, *b) => {
                self.put_inverse_root(*b, out);
            }
            ExprKind::Binary(op, a, b) => self.put_binary(*op, *a, *b, out),
            ExprKind::And(a, b) => self.put_pair(*a, " && ", *b, Level::And, out),
            ExprKind::Or(a, b) => {
                // Compilers ask for parentheses around `&&` in `||`.
                let least = |it, least| {
                    let is_and = self.visible_level(it) == Level::And;
                    if is_and { Level::Cast } else { least }
                };
                self.put(*a, least(*a, Level::Or), out);
                out.push_str(" || ");
                self.put(*b, least(*b, Level::And), out);
            }
            ExprKind::Assign(a, b) => {
                self.put(*a, Level::Unary, out);
                out.push_str(" = ");
                match self.ty(*a) {
                    Some(ty) => self.put_assigned(*b, ty, Level::Assign, out),
                    None => self.put(*b, Level::Assign, out),
                }
            }
            ExprKind::AssignOp(op, a, b, within) => {
                self.put_changed(*a, Level::Unary, out);
                out.push_str(&format!(" {}= ", binary(*op).0));
                let b = match matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
                    true => self.promoted_operand(*b),
                    false => self.balanced_right(*a, *b, *within),
                };
                self.put(b, Level::Assign, out);
            }
            ExprKind::Conditional(c, None, b) if self.is_cpp() => {
                self.put_either(*c, *b, node.ty, out);
            }
            ExprKind::Conditional(c, a, b) => {
                self.put(*c, Level::Or, out);
                match a {
                    Some(a) => {
                        let (a, b) = self.balanced(*a, *b);
                        out.push_str(" ? ");
                        self.put(a, Level::Conditional, out);
                        out.push_str(" : ");
                        self.put(b, Level::Conditional, out);
                    }
                    None => {
                        out.push_str(" ?: ");
                        self.put(*b, Level::Conditional, out);
                    }
                }
            }
            ExprKind::Comma(a, b) => self.put_pair(*a, ", ", *b, Level::Comma, out),
            ExprKind::Cast(_, e) => {
                out.push_str(&format!("({})", self.type_name(node.ty.plain())));
                self.put(*e, Level::Cast, out);
            }
            ExprKind::Index(a, i) if self.put_of_character(*a, *i, out) => {}
            ExprKind::Index(a, i) => {
                let elsewhere = self.elements_of(*a);
                match elsewhere {
                    Some((buffer, _)) => out.push_str(&format!("{buffer}[(")),
                    None => {
                        self.put(*a, Level::Postfix, out);
                        out.push('[');
                    }
                }
                self.put(*i, Level::Comma, out);
                match elsewhere {
                    Some((_, first)) => out.push_str(&format!(") - {first}]")),
                    None => out.push(']'),
                }
            }
            ExprKind::Member(e, record, at) if self.put_left_out(*e, (*record, *at), out) => {}
            ExprKind::Member(e, record, at) => match self.field_name(*record, *at) {
                Some(name) => self.put_member(*e, &name, out),
                // An anonymous member: its own members are named as if they were the outer's.
                None => self.put(*e, Level::Postfix, out),
            },
            ExprKind::Call(callee, args) => self.put_call(*callee, args, out),
            ExprKind::Sizeof(ty) => match self.sized_alike(*ty) {
                Some(object) => out.push_str(&format!("sizeof({object})")),
                None => out.push_str(&format!("sizeof({})", self.type_name(*ty))),
            },
            ExprKind::Alignof(ty) => {
                let word = if self.is_cpp() { "alignof" } else { "_Alignof" };
                out.push_str(&format!("{word}({})", self.type_name(*ty)));
            }
            ExprKind::Offsetof(ty, path) => out.push_str(&self.offsetof(*ty, path)),
            ExprKind::CompoundLiteral(var) => out.push_str(&self.compound_literal(*var)),
            ExprKind::StmtExpr(body) if self.is_cpp() => self.put_statements(*body, node.ty, out),
            ExprKind::StmtExpr(body) => {
                let mut inner = Out::new();
                self.stmt(*body, &mut inner);
                out.push_str(&format!("({})", inner.into_text().trim_end()));
            }
            ExprKind::LabelAddr(label) => out.push_str(&format!("&&{}", self.label_name(*label))),
            ExprKind::VaArg(list) => {
                let list = self.operand(*list, Level::Assign);
                let ty = self.type_name(node.ty);
                out.push_str(&format!("__builtin_va_arg({list}, {ty})"));
            }
            ExprKind::ConvertVector(e) => {
                let value = self.operand(*e, Level::Assign);
                let ty = self.type_name(node.ty.plain());
                out.push_str(&format!("__builtin_convertvector({value}, {ty})"));
            }
            ExprKind::Section(it) => self.put_section(it, out),
            ExprKind::Shaped(shape, e) => {
                out.push('(');
                shape.iter().for_each(|it| out.push_str(&format!("[{}]", self.expr(*it))));
                out.push(')');
                self.put(*e, Level::Cast, out);
            }
        }
    }

    fn put_pair(&self, a: ExprId, word: &str, b: ExprId, level: Level, out: &mut String) {
        self.put(a, level, out);
        out.push_str(word);
        self.put(b, level.tighter(), out);
    }

    /// An operand of a bitwise or shift operator: any other binary operator in it is put in
    /// parentheses, as compilers ask for.
    fn put_clear(&self, id: ExprId, own: Level, out: &mut String) {
        let least = if self.visible_level(id) == own { own } else { Level::Cast };
        self.put(id, least, out);
    }

    fn visible_level(&self, id: ExprId) -> Level {
        let node = self.program.exprs.find(self.visible(id));
        node.map_or(Level::Primary, |it| self.level(it))
    }

    /// The expression behind conversions that are not printed.
    fn visible(&self, id: ExprId) -> ExprId {
        let mut id = id;
        while let Some(node) = self.program.exprs.find(id)
            && let ExprKind::Cast(kind, inner) = node.kind
            && self.is_invisible(kind, inner, node.ty)
        {
            id = inner;
        }
        id
    }

    /// `1.0f / sqrtf(x)` in a language that has something for it.
    fn is_inverse_root(&self, ty: Ty, a: ExprId, b: ExprId) -> bool {
        let is_one = if let ExprKind::Float(text) = &self.program.exprs[a].kind {
            let text = self.text(*text).trim_end_matches(['f', 'F']);
            text.parse::<f32>().is_ok_and(|it| it.to_bits() == 1.0_f32.to_bits())
        } else if let ExprKind::Cast(_, of) = self.program.exprs[a].kind {
            matches!(self.program.exprs[of].kind, ExprKind::Int(1))
        } else {
            false
        };
        let is_root = |callee: FunctionId| {
            let function = &self.program.functions[callee];
            function.body.is_none() && self.text(function.name) == "sqrtf"
        };
        let is_float = matches!(self.program.types.shape(ty), TypeKind::Float(FloatKind::Float));
        self.grid == Some(Grid::Cuda) && is_one && is_float && self.called(b).is_some_and(is_root)
    }

    /// The function that is called.
    fn called(&self, call: ExprId) -> Option<FunctionId> {
        let ExprKind::Call(mut callee, _) = self.program.exprs[call].kind else { return None };
        while let ExprKind::Cast(_, of) = self.program.exprs[callee].kind {
            callee = of;
        }
        let ExprKind::Function(id) = self.program.exprs[callee].kind else { return None };
        Some(id)
    }

    fn put_inverse_root(&self, root: ExprId, out: &mut String) {
        let ExprKind::Call(_, values) = &self.program.exprs[root].kind else { return };
        let is_large = values.iter().all(|it| self.is_large(*it));
        let word = if is_large { "__ferry_inverse_root_of_large" } else { "__ferry_inverse_root" };
        out.push_str(&format!("{word}("));
        values.iter().for_each(|it| self.put(*it, Level::Assign, out));
        out.push(')');
    }

    /// Whether a number is 2^-100 or more, or none: squares, and something that is so large. Rounding keeps to that.
    fn is_large(&self, id: ExprId) -> bool {
        const LEAST: f64 = 1e-30;
        let kind = &self.program.exprs[id].kind;
        if let ExprKind::Cast(_, of) = kind {
            self.is_float(*of) && self.is_large(*of)
        } else if let ExprKind::Binary(BinaryOp::Add, a, b) = kind {
            let both = [(*a, *b), (*b, *a)];
            both.iter().any(|(one, other)| self.is_large(*one) && self.is_not_negative(*other))
        } else {
            self.float_value(id).is_some_and(|it| it >= LEAST)
        }
    }

    /// Whether a number is zero or more, or none.
    fn is_not_negative(&self, id: ExprId) -> bool {
        let kind = |id: ExprId| &self.program.exprs[id].kind;
        if let ExprKind::Cast(_, of) = kind(id) {
            self.is_float(*of) && self.is_not_negative(*of)
        } else if let ExprKind::Binary(BinaryOp::Add, a, b) = kind(id) {
            self.is_not_negative(*a) && self.is_not_negative(*b)
        } else if let ExprKind::Binary(BinaryOp::Mul, a, b) = kind(id)
            && let (ExprKind::Var(one), ExprKind::Var(other)) = (kind(*a), kind(*b))
        {
            one == other && !self.program.vars[*one].ty.quals.is_volatile
        } else {
            self.float_value(id).is_some_and(|it| it >= 0.0)
        }
    }

    fn is_float(&self, id: ExprId) -> bool {
        let ty = self.program.types.shape(self.program.exprs[id].ty);
        matches!(ty, TypeKind::Float(FloatKind::Float | FloatKind::Double))
    }

    /// The value of a constant as it is spelt.
    fn float_value(&self, id: ExprId) -> Option<f64> {
        let ExprKind::Float(text) = &self.program.exprs[id].kind else { return None };
        self.text(*text).trim_end_matches(['f', 'F', 'l', 'L']).parse().ok()
    }

    fn put_binary(&self, op: BinaryOp, a: ExprId, b: ExprId, out: &mut String) {
        let (word, level) = binary(op);
        let is_pointer = |it| self.ty(it).is_some_and(|it| self.program.types.is_pointer(it));
        let (a, b) = match op {
            BinaryOp::Shl | BinaryOp::Shr => (self.promoted_operand(a), self.promoted_operand(b)),
            BinaryOp::Lt
            | BinaryOp::Gt
            | BinaryOp::Le
            | BinaryOp::Ge
            | BinaryOp::Eq
            | BinaryOp::Ne
                if is_pointer(a) || is_pointer(b) =>
            {
                self.compared(a, b)
            }
            BinaryOp::Add | BinaryOp::Sub if is_pointer(a) || is_pointer(b) => (a, b),
            BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Lt
            | BinaryOp::Gt
            | BinaryOp::Le
            | BinaryOp::Ge
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::BitAnd
            | BinaryOp::BitXor
            | BinaryOp::BitOr => self.balanced(a, b),
        };
        match op {
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem | BinaryOp::Add | BinaryOp::Sub => {
                self.put_pair(a, &format!(" {word} "), b, level, out);
            }
            BinaryOp::Lt
            | BinaryOp::Gt
            | BinaryOp::Le
            | BinaryOp::Ge
            | BinaryOp::Eq
            | BinaryOp::Ne => {
                self.put(a, Level::Shift, out);
                out.push_str(&format!(" {word} "));
                self.put(b, Level::Shift, out);
            }
            BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::BitAnd
            | BinaryOp::BitXor
            | BinaryOp::BitOr => {
                self.put_clear(a, level, out);
                out.push_str(&format!(" {word} "));
                self.put(b, Level::Cast, out);
            }
        }
    }

    fn put_unary(&self, op: UnaryOp, e: ExprId, out: &mut String) {
        match op {
            UnaryOp::Plus => self.put_prefix("+", self.promoted_operand(e), out),
            UnaryOp::Minus => self.put_prefix("-", self.promoted_operand(e), out),
            UnaryOp::BitNot => self.put_prefix("~", self.promoted_operand(e), out),
            UnaryOp::Not => self.put_prefix("!", e, out),
            UnaryOp::Real | UnaryOp::Imag if self.is_cpp() => self.put_half(op, e, out),
            UnaryOp::Real => self.put_prefix("__real__ ", e, out),
            UnaryOp::Imag => self.put_prefix("__imag__ ", e, out),
        }
    }

    /// `-x`, and `- -x`: the tokens must not grow together.
    fn put_prefix(&self, word: &str, e: ExprId, out: &mut String) {
        let operand = self.operand(e, Level::Cast);
        out.push_str(word);
        if word.len() == 1 && operand.starts_with(word) && word != "*" && word != "!" {
            out.push(' ');
        }
        out.push_str(&operand);
    }

    /// A step of a truth value, which C++ no longer has.
    fn put_truth_step(&self, op: StepOp, e: ExprId, out: &mut String) {
        let (by, is_before) = match op {
            StepOp::PreInc => ("+", true),
            StepOp::PreDec => ("-", true),
            StepOp::PostInc => ("+", false),
            StepOp::PostDec => ("-", false),
        };
        let object = self.operand(e, Level::Assign);
        if width_of(self.program, e).is_none() {
            let word = if is_before { "__ferry_stepped" } else { "__ferry_step" };
            return out.push_str(&format!("{word}({object}, {by}1)"));
        }
        let next = format!("{object} = ({object} {by} 1) != 0;");
        out.push_str(&match is_before {
            true => format!("[&]() {{ {next} return {object}; }}()"),
            false => format!("[&]() {{ const bool __old = {object}; {next} return __old; }}()"),
        });
    }

    fn put_step(&self, op: StepOp, e: ExprId, out: &mut String) {
        if self.is_cpp() && self.ty(e).is_some_and(|it| self.program.types.is_bool(it)) {
            return self.put_truth_step(op, e, out);
        }
        if self.grid == Some(Grid::Cuda) && self.ty(e).is_some_and(|it| self.is_short(it)) {
            return self.put_short_step(op, e, out);
        }
        let (before, after) = match op {
            StepOp::PreInc => ("++", ""),
            StepOp::PreDec => ("--", ""),
            StepOp::PostInc => ("", "++"),
            StepOp::PostDec => ("", "--"),
        };
        out.push_str(before);
        self.put_changed(e, if after.is_empty() { Level::Unary } else { Level::Postfix }, out);
        out.push_str(after);
    }

    /// Whether a type is a signed integer shorter than `int`.
    fn is_short(&self, ty: Ty) -> bool {
        let (types, model) = (&self.program.types, self.program.model);
        let is_signed = types.integer_kind(ty).is_some_and(|it| model.int_range(it).0 < 0);
        is_signed && model.size_of(types, ty).is_ok_and(|it| it < 4)
    }

    /// A step by a sum: of `c--` NVIDIA's compilers take it that it does not wrap round.
    fn put_short_step(&self, op: StepOp, e: ExprId, out: &mut String) {
        let (there, back) = match op {
            StepOp::PreInc | StepOp::PostInc => (" += 1", " - 1"),
            StepOp::PreDec | StepOp::PostDec => (" -= 1", " + 1"),
        };
        let is_after = matches!(op, StepOp::PostInc | StepOp::PostDec);
        let ty = self.ty(e).map(|it| self.type_name(it.plain())).unwrap_or_default();
        out.push_str(&if is_after { format!("(({ty})((") } else { "(".to_owned() });
        self.put_changed(e, Level::Unary, out);
        out.push_str(there);
        out.push_str(&if is_after { format!("){back}))") } else { ")".to_owned() });
    }

    /// Whether arithmetic with a pointer is in bytes by an extension that the language lacks.
    fn counts_bytes(&self, e: ExprId) -> bool {
        let types = &self.program.types;
        let pointee = self.ty(e).filter(|_| self.is_cpp()).and_then(|it| types.pointee(it));
        pointee.is_some_and(|it| types.is_void(it))
    }

    /// `p + n` where it counts bytes, and comparisons of such pointers.
    fn put_bytes(&self, op: BinaryOp, a: ExprId, b: ExprId, out: &mut String) {
        if !matches!(op, BinaryOp::Add | BinaryOp::Sub) {
            return self.put_binary(op, a, b, out);
        }
        let bytes = |it| match self.counts_bytes(it) {
            true => format!("(char *){}", self.operand(it, Level::Cast)),
            false => self.operand(it, Level::Cast),
        };
        let sum = format!("({} {} {})", bytes(a), binary(op).0, bytes(b));
        let is_distance = self.counts_bytes(a) && self.counts_bytes(b);
        out.push_str(&if is_distance { sum } else { format!("((void *){sum})") });
    }

    /// An object that is stepped or changed by an operator.
    fn put_changed(&self, e: ExprId, least: Level, out: &mut String) {
        match self.counts_bytes(e) {
            true => out.push_str(&format!("(*(char **)&{})", self.operand(e, Level::Cast))),
            false => self.put(e, least, out),
        }
    }

    /// `p->m`, `s.m`
    pub(super) fn put_member(&self, base: ExprId, name: &str, out: &mut String) {
        let mut base = base;
        // Through anonymous members to the object that is named.
        while let Some(node) = self.program.exprs.find(base)
            && let ExprKind::Member(outer, record, at) = node.kind
            && self.field_name(record, at).is_none()
        {
            base = outer;
        }
        if let Some(node) = self.program.exprs.find(base)
            && let ExprKind::Deref(pointer) = node.kind
        {
            self.put(pointer, Level::Postfix, out);
            out.push_str("->");
        } else {
            self.put(base, Level::Postfix, out);
            out.push('.');
        }
        out.push_str(name);
    }

    /// What glibc's tables say of a character, `(*__ctype_b_loc())[c]`, where a function says it; whether it is that.
    fn put_of_character(&self, table: ExprId, character: ExprId, out: &mut String) -> bool {
        let kind = |it: ExprId| self.program.exprs.find(it).map(|it| &it.kind);
        let Some(ExprKind::Deref(call)) = kind(table).filter(|_| self.grid.is_some()) else {
            return false;
        };
        let Some(ExprKind::Call(callee, _)) = kind(*call) else { return false };
        let Some((_, function)) = named_callee(self.program, *callee) else { return false };
        let name = match self.plain_name(function) {
            "__ctype_b_loc" => "__ferry_x_ctype",
            "__ctype_toupper_loc" => "__ferry_x_toupper",
            "__ctype_tolower_loc" => "__ferry_x_tolower",
            _ => return false,
        };
        out.push_str(&format!("{name}({})", self.operand(character, Level::Assign)));
        true
    }

    /// A member that is an array without elements of its own, where the record has it not; whether it is one.
    fn put_left_out(&self, base: ExprId, (record, at): (RecordId, u32), out: &mut String) -> bool {
        let types = &self.program.types;
        let fields = types.records.find(record).and_then(|it| it.fields.as_ref());
        let field = fields.and_then(|it| it.get(at as usize)).filter(|it| self.is_left_out(it));
        let layout = self.program.model.record(types, record).ok();
        let place = layout.as_ref().and_then(|it| it.fields.get(at as usize));
        let element = field.and_then(|it| types.element(it.ty));
        let (Some(element), Some(place)) = (element, place) else { return false };
        let array = self.declare(element, "(*)[1]");
        let object = match self.program.exprs.find(base).map(|it| &it.kind) {
            Some(ExprKind::Deref(pointer)) => self.operand(*pointer, Level::Unary),
            _ => format!("&{}", self.operand(base, Level::Unary)),
        };
        out.push_str(&format!("(*({array})((char *){object} + {}))", place.offset));
        true
    }

    fn put_call(&self, callee: ExprId, args: &[ExprId], out: &mut String) {
        let ty = self.ty(callee).and_then(|it| self.program.types.callee(it));
        // A grid has one way to print; a stream, or what checks are wanted, stand before the format.
        let skipped = self.grid.and_then(|_| self.printing(callee)).map(|it| it.before_format);
        let mut is_numbered = false;
        match (skipped, named_callee(self.program, callee)) {
            (Some(_), _) => out.push_str("printf"),
            (None, Some((_, id)))
                if self.is_of_library(callee) || self.grid.is_some_and(Grid::is_opencl) =>
            {
                out.push_str(&self.function_name(id));
            }
            (None, None) if self.put_caller(callee, out) => is_numbered = true,
            (None, None) if self.hook.asks_for_functions() => self.put_asked(callee, out),
            (None, _) => self.put(callee, Level::Postfix, out),
        }
        let skipped = skipped.unwrap_or(0);
        out.push('(');
        if self.names_memory() && (is_numbered || self.has_body(callee)) {
            out.push_str(THREAD);
            out.push_str(if args.is_empty() && !is_numbered { "" } else { ", " });
        }
        if is_numbered {
            self.put(callee, Level::Assign, out);
            out.push_str(if args.is_empty() { "" } else { ", " });
        }
        for (at, arg) in args.iter().enumerate().skip(skipped) {
            if at > skipped {
                out.push_str(", ");
            }
            if self.grid.is_some()
                && let Some(text) = self.printed_text(callee, *arg)
            {
                out.push_str(&text);
                continue;
            }
            let param = ty.filter(|it| it.prototyped).and_then(|it| it.params.get(at));
            // The library of a grid has one name for functions of all types.
            if let Some(param) = param.filter(|_| self.grid.is_some())
                && self.program.types.is_arithmetic(*param)
                && self.is_of_library(callee)
            {
                out.push_str(&format!("({})", self.type_name(param.plain())));
                self.put(self.assigned(*arg, *param), Level::Cast, out);
                continue;
            }
            match param {
                Some(param) => self.put_assigned(*arg, *param, Level::Assign, out),
                None => self.put(self.passed(*arg), Level::Assign, out),
            }
        }
        out.push(')');
    }

    /// Whether a callee is a function that is defined here.
    fn has_body(&self, callee: ExprId) -> bool {
        let Some((_, id)) = named_callee(self.program, callee) else { return false };
        let is_defined = self.program.functions.find(id).is_some_and(|it| it.body.is_some());
        is_defined && Printing::of(self.program, id).is_none()
    }

    /// Whether a callee is a function that needs no declaration.
    fn is_of_library(&self, callee: ExprId) -> bool {
        let kind = self.program.exprs.find(self.visible(callee)).map(|it| &it.kind);
        matches!(kind, Some(ExprKind::Function(id)) if self.hook.has_function(self.plain_name(*id)))
    }

    fn plain_name(&self, id: FunctionId) -> &str {
        self.program.functions.find(id).map_or("", |it| self.text(it.name))
    }

    /// A function that prints, if a callee is one.
    fn printing(&self, callee: ExprId) -> Option<Printing> {
        let ExprKind::Function(id) = self.program.exprs.find(self.visible(callee))?.kind else {
            return None;
        };
        Printing::of(self.program, id)
    }

    /// A literal that is printed by a grid, which wants it as it stands, with the words for widths that
    /// it knows.
    fn printed_text(&self, callee: ExprId, arg: ExprId) -> Option<String> {
        self.printing(callee)?;
        let mut arg = arg;
        while let ExprKind::Cast(_, inner) = self.program.exprs.find(arg)?.kind {
            arg = inner;
        }
        let ExprKind::Str(pieces) = &self.program.exprs.find(arg)?.kind else { return None };
        let pieces: Vec<&str> = pieces.iter().map(|it| self.text(*it)).collect();
        Some(one_width(&pieces.join(" ")))
    }

    fn put_section(&self, it: &Section, out: &mut String) {
        let part = |e: Option<ExprId>| e.map(|it| self.expr(it)).unwrap_or_default();
        self.put(it.base, Level::Postfix, out);
        out.push_str(&format!("[{}:{}", part(it.lower), part(it.length)));
        if it.stride.is_some() {
            out.push_str(&format!(":{}", part(it.stride)));
        }
        out.push(']');
    }

    /// `(struct point){ .x = 1 }`
    fn compound_literal(&self, id: VarId) -> String {
        let Some(var) = self.program.vars.find(id) else { return "0".to_owned() };
        let init = var.init.map_or_else(|| "{}".to_owned(), |it| self.init(it, var.ty));
        let init = if init.starts_with('{') { init } else { format!("{{ {init} }}") };
        if self.grid.is_some()
            && let Some(text) = self.kept_literal(id, &init)
        {
            return text;
        }
        match self.is_cpp() {
            true => format!("__ferry_make<{}>{init}", self.type_name(var.ty)),
            false => format!("({}){init}", self.type_name(var.ty)),
        }
    }

    /// An integer is kept in 64 bits: those of an unsigned type are read as such.
    fn widened(&self, value: i64, ty: Ty) -> i128 {
        let kind = self.program.types.integer_kind(ty);
        let signed = kind.is_none_or(|it| self.program.model.int_signed(it));
        if signed { i128::from(value) } else { i128::from(value as u64) }
    }

    /// Whether the text around declares the constants of an enumeration.
    fn sees_constants(&self, id: ir::types::EnumId) -> bool {
        self.program.types.enums.find(id).is_some_and(|it| self.is_seen(it.span))
    }

    fn constant_name(&self, id: ir::types::EnumId, at: u32) -> &str {
        let constants = self.program.types.enums.find(id).and_then(|it| it.constants.as_ref());
        constants.and_then(|it| it.get(at as usize)).map_or("0", |it| self.text(it.0))
    }

    fn constant_of(&self, id: ir::types::EnumId, at: u32) -> i128 {
        let constants = self.program.types.enums.find(id).and_then(|it| it.constants.as_ref());
        constants.and_then(|it| it.get(at as usize)).map_or(0, |it| it.1)
    }

    /// An object whose length was computed when it was declared: to compute it again could give
    /// another.
    fn sized_alike(&self, ty: Ty) -> Option<String> {
        let types = &self.program.types;
        // A typedef name was written: no object need be near.
        if !types.is_vla(ty) || matches!(types.kind(ty.id), TypeKind::Alias(_)) {
            return None;
        }
        // Its lengths were computed elsewhere and are known by name.
        if types.lengths(ty).iter().any(|it| self.lengths.contains_key(it)) {
            return None;
        }
        let wanted = types.resolve(ty).id;
        self.program.vars.iter().find_map(|(id, var)| {
            var.name?;
            let (mut ty, mut path) = (types.resolve(var.ty), String::new());
            loop {
                let kind = types.kind(ty.id);
                if ty.id == wanted {
                    return Some(format!("{}{path}", self.var_name(id)));
                } else if let TypeKind::Array(inner, ArrayLen::Known(_) | ArrayLen::Variable(_))
                | TypeKind::Pointer(inner) = kind
                {
                    path.push_str("[0]");
                    ty = types.resolve(*inner);
                } else {
                    return None;
                }
            }
        })
    }
}

/// A function of the C library that prints what a format says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Printing {
    /// How many arguments stand before the format.
    before_format: usize,
    /// The first of them says where to.
    pub(crate) has_stream: bool,
}

impl Printing {
    /// What a function is, by its name: one that is only declared, or that the library's headers define to
    /// check its arguments.
    pub(crate) fn of(program: &Program, id: FunctionId) -> Option<Printing> {
        let function = program.functions.find(id)?;
        let is_of_header = function.is_inline && function.is_external;
        if function.body.is_some() && !is_of_header {
            return None;
        }
        let (before_format, has_stream) = match program.names.text(function.name) {
            "printf" => (0, false),
            "__printf_chk" => (1, false),
            "fprintf" => (1, true),
            "__fprintf_chk" => (2, true),
            _ => return None,
        };
        Some(Printing { before_format, has_stream })
    }
}

pub(super) fn binary(op: BinaryOp) -> (&'static str, Level) {
    match op {
        BinaryOp::Mul => ("*", Level::Product),
        BinaryOp::Div => ("/", Level::Product),
        BinaryOp::Rem => ("%", Level::Product),
        BinaryOp::Add => ("+", Level::Sum),
        BinaryOp::Sub => ("-", Level::Sum),
        BinaryOp::Shl => ("<<", Level::Shift),
        BinaryOp::Shr => (">>", Level::Shift),
        BinaryOp::Lt => ("<", Level::Relation),
        BinaryOp::Gt => (">", Level::Relation),
        BinaryOp::Le => ("<=", Level::Relation),
        BinaryOp::Ge => (">=", Level::Relation),
        BinaryOp::Eq => ("==", Level::Equality),
        BinaryOp::Ne => ("!=", Level::Equality),
        BinaryOp::BitAnd => ("&", Level::BitAnd),
        BinaryOp::BitXor => ("^", Level::BitXor),
        BinaryOp::BitOr => ("|", Level::BitOr),
    }
}

/// A format in which all wide numbers are `l`: `%lld`, `%zu` and the like.
fn one_width(format: &str) -> String {
    let mut out = String::with_capacity(format.len());
    let mut is_conversion = false;
    for c in format.chars() {
        match c {
            '%' => is_conversion = !is_conversion,
            'z' | 'j' | 't' if is_conversion => {
                out.push('l');
                continue;
            }
            'l' if is_conversion && out.ends_with('l') => continue,
            '0'..='9' | '.' | '-' | '+' | '#' | ' ' | '*' | 'l' | 'h' => {}
            _ => is_conversion = false,
        }
        out.push(c);
    }
    out
}
