//! Maps of records: members with map types of their own, what their pointers lead to, and `declare mapper`, which maps members
//! as its clauses say, with the type that they and the map combine to.

use crate::check::{Check, number};
use crate::memory::{Object, Value};

/// Which way a map copies.
#[derive(Clone, Copy, PartialEq)]
struct Way {
    word: &'static str,
    to: bool,
    from: bool,
}

const WAYS: [Way; 4] = [
    Way { word: "tofrom", to: true, from: true },
    Way { word: "to", to: true, from: false },
    Way { word: "from", to: false, from: true },
    Way { word: "alloc", to: false, from: false },
];

struct Field {
    name: String,
    ty: &'static str,
    /// Elements; a scalar has one.
    len: usize,
    scalar: bool,
    pointer: bool,
    /// How it is mapped; some are not.
    way: Option<Way>,
}

/// A record of the program: its spelling, and its fields' memory.
struct Instance {
    path: String,
    memory: Vec<Object>,
    /// What the map of this one allows, of what its fields' maps say.
    way: Way,
}

/// Members of one variable, each with its own map.
pub(super) fn members(c: &mut Check) {
    let fields = fields(c, true);
    let id = c.seed;
    declare_type(c, &format!("record_{id}"), &fields);
    c.line(format!("struct record_{id} s;"));
    let mut all = vec![instance(c, "s", &fields, WAYS[0])];
    let mut clauses = String::new();
    // A pointer comes to the device by itself, or with what it leads to.
    for it in fields.iter().filter(|it| it.way.is_some()) {
        let word = it.way.map_or("", |way| way.word);
        if it.pointer {
            if c.rng.chance(60) {
                clauses += &format!(" map({}: s.{})", c.rng.pick(&["to", "alloc"]), it.name);
            }
            clauses += &format!(" map({word}: s.{}[0:{}])", it.name, it.len);
        } else if !it.scalar && c.rng.chance(30) {
            clauses += &format!(" map({word}: s.{}[0:{}])", it.name, it.len);
        } else {
            clauses += &format!(" map({word}: s.{})", it.name);
        }
    }
    around(c, &fields, &mut all, &clauses, &clauses);
}

/// A mapper with a map for each member, used by variables, arrays and other mappers.
pub(super) fn mapper(c: &mut Check) {
    let fields = fields(c, false);
    let id = c.seed;
    let ty = format!("struct record_{id}");
    declare_type(c, &format!("record_{id}"), &fields);
    let named = c.rng.chance(25);
    let name = if named { format!("mine_{id}: ") } else { String::new() };
    let mut clauses = String::new();
    for it in fields.iter().filter(|it| it.way.is_some()) {
        let word = it.way.map_or("", |way| way.word);
        if it.pointer {
            let length = if c.rng.chance(50) { "v.n".into() } else { it.len.to_string() };
            if c.rng.chance(40) {
                clauses += &format!(" map(to: v.{})", it.name);
            }
            clauses += &format!(" map({word}: v.{}[0:{length}])", it.name);
        } else {
            clauses += &format!(" map({word}: v.{})", it.name);
        }
    }
    c.top(format!("#pragma omp declare mapper({name}{ty} v){clauses}"));
    let use_name = if named { format!("mapper(mine_{id}), ") } else { String::new() };
    let outer = c.rng.pick(&WAYS);
    let inner = c.rng.pick(&[outer, WAYS[0]]);
    match c.rng.below(if named { 3 } else { 4 }) {
        0 => {
            c.line(format!("{ty} s;"));
            let mut all = vec![instance(c, "s", &fields, outer)];
            around(
                c,
                &fields,
                &mut all,
                &format!(" map({use_name}{}: s)", outer.word),
                &format!(" map({use_name}{}: s)", inner.word),
            );
        }
        1 => {
            let count = c.rng.range(1, 3);
            c.line(format!("{ty} s[{count}];"));
            let mut all: Vec<Instance> =
                (0..count).map(|k| instance(c, &format!("s[{k}]"), &fields, outer)).collect();
            let part = if c.rng.chance(50) { "s".into() } else { format!("s[0:{count}]") };
            around(
                c,
                &fields,
                &mut all,
                &format!(" map({use_name}{}: {part})", outer.word),
                &format!(" map({use_name}{}: {part})", inner.word),
            );
        }
        2 => {
            let count = c.rng.range(1, 3);
            c.line(format!("{ty} *s = malloc({count} * sizeof *s);"));
            let mut all: Vec<Instance> =
                (0..count).map(|k| instance(c, &format!("s[{k}]"), &fields, outer)).collect();
            let part = format!("s[0:{count}]");
            around(
                c,
                &fields,
                &mut all,
                &format!(" map({use_name}{}: {part})", outer.word),
                &format!(" map({use_name}{}: {part})", inner.word),
            );
            c.line("free(s);");
        }
        _ => {
            // Records in a record, one inside it and some behind a pointer, mapped by its mapper and theirs.
            let count = c.rng.range(1, 3);
            c.top(format!("struct outer_{id} {{ int k; {ty} in; {ty} *list; }};"));
            let (in_way, list_way) = (c.rng.pick(&WAYS), c.rng.pick(&WAYS));
            c.top(format!(
                "#pragma omp declare mapper(struct outer_{id} o) map(to: o.k) map({}: o.in) map({}: o.list[0:o.k])",
                in_way.word, list_way.word
            ));
            c.line(format!("struct outer_{id} s;"));
            c.line(format!("s.k = {count};"));
            c.line(format!("s.list = malloc({count} * sizeof *s.list);"));
            let mut all = vec![instance(c, "s.in", &fields, both(outer, in_way))];
            for k in 0..count {
                all.push(instance(c, &format!("s.list[{k}]"), &fields, both(outer, list_way)));
            }
            // The list's own length is read from the host by every map.
            around(
                c,
                &fields,
                &mut all,
                &format!(" map({}: s)", outer.word),
                &format!(" map({}: s)", inner.word),
            );
            c.same("s.k", count);
            c.line("free(s.list);");
        }
    }
}

/// What is copied where one map is asked for through another.
fn both(a: Way, b: Way) -> Way {
    Way { word: "", to: a.to && b.to, from: a.from && b.from }
}

/// Fields of random types and ways; `n`, the length that mappers use, is mapped to the device.
fn fields(c: &mut Check, plain: bool) -> Vec<Field> {
    let mut all = Vec::new();
    let len = c.rng.range(1, 4) as usize;
    if !plain {
        all.push(Field {
            name: "n".into(),
            ty: "int",
            len: 1,
            scalar: true,
            pointer: false,
            way: Some(WAYS[1]),
        });
    }
    for k in 0..c.rng.range(2, 5) {
        let pointer = c.rng.chance(30);
        let scalar = !pointer && c.rng.chance(70);
        let way = if c.rng.chance(20) && k > 0 { None } else { Some(c.rng.pick(&WAYS)) };
        let size = if scalar {
            1
        } else if pointer {
            len
        } else {
            c.rng.range(2, 4) as usize
        };
        all.push(Field {
            name: format!("{}{k}", c.rng.pick(&["m", "x", "data"])),
            ty: c.rng.pick(&["int", "double", "short", "long", "char", "float"]),
            len: size,
            scalar,
            pointer,
            way,
        });
    }
    all
}

fn declare_type(c: &mut Check, name: &str, fields: &[Field]) {
    let mut text = format!("struct {name} {{ ");
    for it in fields {
        text += &match (it.pointer, it.scalar) {
            (true, _) => format!("{} *{}; ", it.ty, it.name),
            (false, true) => format!("{} {}; ", it.ty, it.name),
            (false, false) => format!("{} {}[{}]; ", it.ty, it.name, it.len),
        };
    }
    c.top(text + "};");
}

/// Gives the fields of one record their values.
fn instance(c: &mut Check, path: &str, fields: &[Field], way: Way) -> Instance {
    let mut memory = Vec::new();
    for it in fields {
        let values: Vec<i64> = if it.name == "n" {
            vec![fields.iter().find(|it| it.pointer).map_or(1, |it| it.len as i64)]
        } else {
            (0..it.len).map(|_| c.rng.range(1, 60)).collect()
        };
        if it.pointer {
            c.line(format!(
                "{path}.{} = malloc({} * sizeof *{path}.{});",
                it.name, it.len, it.name
            ));
        }
        for (at, value) in values.iter().enumerate() {
            c.line(format!("{} = {};", element(path, it, at), number(*value)));
        }
        memory.push(Object::new(&values));
    }
    Instance { path: path.into(), memory, way }
}

fn element(path: &str, field: &Field, at: usize) -> String {
    if field.scalar {
        format!("{path}.{}", field.name)
    } else {
        format!("{path}.{}[{at}]", field.name)
    }
}

/// A region with the maps, alone or in a data region with the same ones; then everything is compared.
fn around(c: &mut Check, fields: &[Field], all: &mut [Instance], outer: &str, inner: &str) {
    let nested = c.rng.chance(50);
    let unstructured = nested && c.rng.chance(30);
    c.line("long long r = 0;");
    for it in fields.iter().enumerate().filter(|(_, it)| it.pointer).flat_map(|(_, it)| {
        all.iter()
            .enumerate()
            .map(move |(k, record)| format!("void *kept_{k}_{0} = {1}.{0};", it.name, record.path))
    }) {
        c.line(it);
    }
    if unstructured {
        // What enters is copied there or not; what leaves likewise.
        c.pragma(format!(
            "omp target enter data{}",
            outer.replace("tofrom:", "to:").replace("from:", "alloc:")
        ));
    } else if nested {
        c.pragma(format!("omp target data{outer}"));
        c.line("{");
    }
    if nested {
        enter(fields, all);
        host_writes(c, fields, all);
        for _ in 0..c.rng.range(1, 2) {
            kernel(c, fields, all, inner, false);
            host_writes(c, fields, all);
        }
        if unstructured {
            c.pragma(format!(
                "omp target exit data{}",
                outer
                    .replace("tofrom:", "from:")
                    .replace("(to:", "(release:")
                    .replace(" to:", " release:")
                    .replace("alloc:", "release:")
            ));
        } else {
            c.line("}");
        }
        leave(fields, all);
    } else {
        let off = c.rng.chance(10);
        if !off {
            enter(fields, all);
        }
        kernel(c, fields, all, outer, off);
        if !off {
            leave(fields, all);
        }
    }
    for (k, record) in all.iter().enumerate() {
        for (field, memory) in fields.iter().zip(&record.memory) {
            for (at, value) in memory.host.iter().enumerate() {
                c.either(&element(&record.path, field, at), value.apart, value.shared);
            }
            if field.pointer {
                c.line(format!(
                    "same(\"{0}.{1} is as it was\", {0}.{1} == kept_{k}_{1}, 1);",
                    record.path, field.name
                ));
                c.line(format!("free({}.{});", record.path, field.name));
            }
        }
    }
}

fn enter(fields: &[Field], all: &mut [Instance]) {
    for record in all {
        for (field, memory) in fields.iter().zip(&mut record.memory) {
            if let Some(way) = field.way {
                memory.enter(0, field.len, way.to && record.way.to, false);
            }
        }
    }
}

fn leave(fields: &[Field], all: &mut [Instance]) {
    for record in all {
        for (field, memory) in fields.iter().zip(&mut record.memory) {
            if let Some(way) = field.way {
                memory.leave(0, field.len, way.from && record.way.from, false, false);
            }
        }
    }
}

/// The host changes some values, also of members that nobody maps; lengths stay.
fn host_writes(c: &mut Check, fields: &[Field], all: &mut [Instance]) {
    for record in all {
        for (field, memory) in fields.iter().zip(&mut record.memory) {
            if field.name != "n" && c.rng.chance(40) {
                let at = c.rng.below(field.len);
                let value = c.rng.range(1, 60);
                c.line(format!("{} = {value};", element(&record.path, field, at)));
                memory.host[at] = Value::known(value);
            }
        }
    }
}

/// A kernel that sums up what is known of the mapped members and writes to them.
fn kernel(c: &mut Check, fields: &[Field], all: &mut [Instance], maps: &str, off: bool) {
    let threads = c.rng.chance(25);
    c.line("r = 0;");
    let words = if threads {
        "omp target teams distribute parallel for reduction(+: r)"
    } else {
        "omp target map(tofrom: r)"
    };
    c.pragma(format!("{words}{maps}{}", if off { " if(0)" } else { "" }));
    c.line(if threads { "for (int once = 0; once < 1; once++) {" } else { "{" });
    let mut sum = (0, 0);
    for record in all.iter_mut() {
        for (field, memory) in fields.iter().zip(&mut record.memory) {
            if field.way.is_none() {
                continue;
            }
            for at in 0..field.len {
                let place = element(&record.path, field, at);
                let old = if off { memory.host[at] } else { memory.read(at) };
                let weight = c.rng.range(1, 3);
                if let Some((apart, shared)) = old.both().filter(|_| c.rng.chance(80)) {
                    c.line(format!("r += {weight} * {place};"));
                    sum = (sum.0 + weight * apart, sum.1 + weight * shared);
                }
                if field.name != "n" && c.rng.chance(60) {
                    let value = c.rng.range(60, 120);
                    c.line(format!("{place} = {value};"));
                    let value = Value::known(value);
                    if off { memory.host[at] = value } else { memory.write(at, value) }
                }
            }
        }
    }
    c.line("}");
    c.either("r", Some(sum.0), Some(sum.1));
}
