//! List items of data clauses as places in memory: where they start, how large they are, and which
//! pointers are followed on the way.
//!
//! In: an item (`x`, `a[2:n]`, `s->in.p[0:k]`) and a printer that knows how variables are called
//! where the text will stand. Out: C texts for its first element and its size.

use std::mem;

use ir::program::{CastKind, ExprId, ExprKind, Program, Section, VarId};
use ir::types::{ArrayLen, Ty, TypeKind};

use crate::c::Printer;

/// A list item, taken apart.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The variable at its root; none for an item that begins with a call or the like.
    pub(super) root: Option<VarId>,
    /// The first element, as an object.
    pub(super) first: String,
    /// Pointer objects that are followed on the way from the root, in that order.
    pub(super) pointers: Vec<String>,
    /// Its dimensions, where it is a section: outermost first.
    pub(super) dims: Vec<Dim>,
    /// Where it is a section of what each of several pointers points to: these pointers, outermost
    /// first. The texts above then speak of one of them, by the name of its number.
    pub(super) rows: Vec<Rows>,
    /// Whether it is more than the root's name or what a pointer points to: a member.
    pub(super) is_member: bool,
    /// Where it is a pointer: what holds that.
    pub(super) holder: Holder,
    /// The type of one element.
    pub(super) ty: Ty,
}

/// What holds a pointer.
#[derive(Clone, Debug)]
pub(super) enum Holder {
    /// The place itself.
    Itself,
    /// It is computed from this pointer.
    Pointer(String),
    /// Nothing: it is computed from an array, which is the root's.
    Array,
}

/// One dimension of a section.
#[derive(Clone, Debug)]
pub(super) struct Dim {
    /// Number of elements.
    pub(super) length: String,
    /// Distance in elements; none is one.
    pub(super) stride: Option<String>,
    /// The size of what one index steps over.
    pub(super) step: String,
}

impl Dim {
    fn has_stride(&self) -> bool {
        self.stride.as_deref().is_some_and(|it| it != "1")
    }
}

/// Pointers side by side that are all followed.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// Where the pointers lie.
    pub(super) spine: Box<Place>,
    /// The variable that numbers them.
    pub(super) number: String,
    /// How many there are.
    pub(super) count: String,
}

impl Place {
    /// A variable as a whole.
    pub(super) fn whole(printer: &Printer<'_>, var: VarId) -> Place {
        Place {
            root: Some(var),
            first: printer.var_name(var),
            pointers: Vec::new(),
            dims: Vec::new(),
            rows: Vec::new(),
            is_member: false,
            holder: Holder::Itself,
            ty: printer.program().vars[var].ty,
        }
    }

    /// What it points to is looked at next.
    fn follow(&mut self) {
        match mem::replace(&mut self.holder, Holder::Itself) {
            Holder::Itself => self.pointers.push(self.first.clone()),
            Holder::Pointer(pointer) => self.pointers.push(pointer),
            Holder::Array => {}
        }
    }

    /// The size of all of it.
    pub(super) fn bytes(&self) -> String {
        let element = format!("sizeof({})", self.first);
        self.dims.iter().rfold(element, |text, it| format!("({}) * {text}", it.length))
    }

    /// The same, checked when the program runs: a size that is negative or too large stays one that nothing has;
    /// of a section that was computed here, a negative length is none. So does one whose elements do not follow each
    /// other.
    pub(super) fn size(&self, is_computed: bool) -> String {
        let is_literal = |it: &Dim| it.length.bytes().all(|it| it.is_ascii_digit());
        if self.dims.iter().all(is_literal) {
            return self.bytes();
        }
        let helper = if is_computed { "__ferry_extent" } else { "__ferry_bytes" };
        let element = format!("sizeof({})", self.first);
        let may_have_gaps =
            |it: &Dim, each: &str| !is_computed && (it.has_stride() || it.step != each);
        self.dims.iter().rfold(element, |text, it| match may_have_gaps(it, &text) {
            true => {
                let stride = it.stride.as_deref().unwrap_or("1");
                format!("__ferry_side_by_side({}, {text}, ({stride}) * {})", it.length, it.step)
            }
            false => format!("{helper}({}, {text})", it.length),
        })
    }

    /// Whether its elements may not follow each other.
    pub(super) fn is_apart(&self) -> bool {
        let Some(last) = self.dims.last() else { return false };
        self.dims.len() > 1 || last.has_stride() || !self.is_whole_element(last)
    }

    /// Whether all of what one index steps over is named.
    fn is_whole_element(&self, dim: &Dim) -> bool {
        dim.step == format!("sizeof({})", self.first)
    }

    /// Its dimensions, the last of which steps over elements.
    pub(super) fn dims_of_elements(&self) -> Vec<Dim> {
        let mut dims = self.dims.clone();
        if dims.last().is_some_and(|it| !self.is_whole_element(it)) {
            let step = format!("sizeof({})", self.first);
            dims.push(Dim { length: "1".to_owned(), stride: None, step });
        }
        dims
    }
}

/// Takes `item` apart.
pub(super) fn of(printer: &Printer<'_>, item: ExprId) -> Place {
    let program = printer.program();
    let Some(expr) = program.exprs.find(item) else {
        return opaque(printer, item);
    };
    match &expr.kind {
        ExprKind::Var(var) => Place { ty: expr.ty, ..Place::whole(printer, *var) },
        ExprKind::Member(base, record, index) => {
            let mut place = of(printer, *base);
            let field = program
                .types
                .records
                .find(*record)
                .and_then(|it| it.fields.as_ref()?.get(*index as usize)?.name);
            if let Some(name) = field {
                place.first = format!("{}.{}", place.first, program.names.text(name));
            }
            place.is_member = true;
            place.ty = expr.ty;
            place
        }
        ExprKind::Deref(base) => {
            let mut place = of(printer, *base);
            place.follow();
            place.first = format!("(*{})", place.first);
            place.is_member = false;
            place.ty = expr.ty;
            place
        }
        ExprKind::Index(base, index) => {
            let index = printer.expr(*index);
            element(printer, *base, &index, expr.ty)
        }
        ExprKind::Section(section) => self::section(printer, section, expr.ty),
        ExprKind::Shaped(shape, base) => {
            let mut place = of(printer, *base);
            let inner = program.types.pointee(place.ty).unwrap_or(place.ty);
            let dims: String = shape.iter().map(|it| format!("[{}]", printer.expr(*it))).collect();
            let array = format!("{} (*){dims}", printer.type_name(inner));
            place.follow();
            place.first = format!("(*({array}){})", place.first);
            place.ty = expr.ty;
            place
        }
        ExprKind::Cast(CastKind::ArrayToPointer, base) => of(printer, *base),
        // A pointer computed from a variable: what it points to belongs to that variable.
        ExprKind::Cast(_, base) | ExprKind::Binary(_, base, _) => {
            let mut place = of(printer, *base);
            if is_array(program, place.ty) {
                place.holder = Holder::Array;
            } else if let Holder::Itself = place.holder {
                place.holder = Holder::Pointer(mem::take(&mut place.first));
            }
            place.first = format!("({})", printer.expr(item));
            place.ty = expr.ty;
            place
        }
        _ => opaque(printer, item),
    }
}

fn opaque(printer: &Printer<'_>, item: ExprId) -> Place {
    let program = printer.program();
    let ty = program.exprs[item].ty;
    Place {
        root: None,
        first: format!("({})", printer.expr(item)),
        pointers: Vec::new(),
        dims: Vec::new(),
        rows: Vec::new(),
        is_member: false,
        holder: Holder::Itself,
        ty,
    }
}

/// `base[index]`, whatever the base is.
fn element(printer: &Printer<'_>, base: ExprId, index: &str, ty: Ty) -> Place {
    let mut place = of(printer, base);
    if !is_array(printer.program(), place.ty) {
        if !place.dims.is_empty() {
            place = each(place);
        }
        place.follow();
        place.is_member = false;
    }
    place.first = format!("{}[{index}]", place.first);
    place.ty = ty;
    place
}

/// One of the elements of a section, whichever.
fn each(spine: Place) -> Place {
    let number = format!("__r{}", spine.rows.len());
    let step = spine.dims.last().and_then(|it| it.stride.as_deref()).unwrap_or("1");
    let counts: Vec<String> = spine.dims.iter().map(|it| format!("({})", it.length)).collect();
    let mut place = spine.clone();
    place.first = match step {
        "1" => format!("(&{})[{number}]", spine.first),
        step => format!("(&{})[{number} * ({step})]", spine.first),
    };
    place.dims.clear();
    place.rows.push(Rows { spine: Box::new(spine), number, count: counts.join(" * ") });
    place
}

fn section(printer: &Printer<'_>, it: &Section, ty: Ty) -> Place {
    let program = printer.program();
    let base = of(printer, it.base);
    let lower = it.lower.map_or_else(|| "0".to_owned(), |it| printer.expr(it));
    let stride = it.stride.map(|it| printer.expr(it));
    let length = match (it.length, program.types.shape(base.ty)) {
        (Some(length), _) => printer.expr(length),
        (None, TypeKind::Array(_, ArrayLen::Known(count))) => {
            rest(&count.to_string(), &lower, stride.as_deref())
        }
        (None, TypeKind::Array(_, ArrayLen::Variable(_))) => {
            let count = format!("sizeof({0}) / sizeof({0}[0])", base.first);
            rest(&count, &lower, stride.as_deref())
        }
        // Nobody knows how long it is: its beginning stands for it.
        (None, _) => "0".to_owned(),
    };
    let element_ty = match program.types.shape(base.ty) {
        TypeKind::Array(element, _) | TypeKind::Pointer(element) => *element,
        _ => ty,
    };
    let mut place = element(printer, it.base, &lower, element_ty);
    let step = format!("sizeof({})", place.first);
    place.dims.push(Dim { length, stride, step });
    place
}

/// How many elements follow from `lower` on.
fn rest(count: &str, lower: &str, stride: Option<&str>) -> String {
    match stride {
        _ if lower == "0" && stride.is_none() => count.to_owned(),
        None => format!("{count} - ({lower})"),
        Some(stride) => format!("({count} - ({lower}) + ({stride}) - 1) / ({stride})"),
    }
}

fn is_array(program: &Program, ty: Ty) -> bool {
    program.types.is_array(ty)
}
