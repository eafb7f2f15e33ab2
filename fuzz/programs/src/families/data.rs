//! Scripts of data directives: regions in regions, enter and exit, updates of parts, maps with `always`, kernels in
//! between that read and write. The host's values are compared at the end, and now and then before.

use crate::check::{Check, number};
use crate::memory::{Object, Value};

/// Where an object lies.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Scalar,
    Array,
    Static,
    Pointer,
}

struct Variable {
    name: String,
    kind: Kind,
    ty: &'static str,
    object: Object,
    /// Data regions around this place that hold it.
    lexical: u32,
    /// Of these, regions that name a part of what is there.
    partial: u32,
    /// Data regions around this place that name it, with effect or not.
    named: u32,
}

struct Script<'a> {
    c: &'a mut Check,
    openmp: bool,
    all: Vec<Variable>,
    budget: i32,
}

/// Scripts in the words of OpenMP.
pub(super) fn openmp(c: &mut Check) {
    script(c, true);
}

/// Scripts in the words of OpenACC.
pub(super) fn openacc(c: &mut Check) {
    script(c, false);
}

fn script(c: &mut Check, openmp: bool) {
    let mut all = Vec::new();
    for k in 0..c.rng.range(1, 3) {
        let kind = c.rng.pick(&[
            Kind::Scalar,
            Kind::Array,
            Kind::Array,
            Kind::Static,
            Kind::Pointer,
            Kind::Pointer,
        ]);
        let ty = c.rng.pick(&["int", "int", "double", "long", "short", "float"]);
        let size = if kind == Kind::Scalar { 1 } else { c.rng.range(2, 8) as usize };
        let values: Vec<i64> = (0..size).map(|_| c.rng.range(-20, 99)).collect();
        let name = format!("{}{k}", c.rng.pick(&["a", "b", "v"]));
        let list: Vec<String> = values.iter().map(|it| number(*it)).collect();
        let list = list.join(", ");
        match kind {
            Kind::Scalar => c.line(format!("{ty} {name} = {list};")),
            Kind::Array => c.line(format!("{ty} {name}[{size}] = {{{list}}};")),
            Kind::Static => c.line(format!("static {ty} {name}[{size}] = {{{list}}};")),
            Kind::Pointer => {
                c.line(format!("{ty} {name}_values[{size}] = {{{list}}}, *{name} = malloc(sizeof {name}_values);"));
                c.line(format!("memcpy({name}, {name}_values, sizeof {name}_values);"));
            }
        }
        all.push(Variable {
            name,
            kind,
            ty,
            object: Object::new(&values),
            lexical: 0,
            partial: 0,
            named: 0,
        });
    }
    let budget = c.rng.range(3, 7) as i32;
    let mut it = Script { c, openmp, all, budget };
    it.steps(0);
    // Whatever is left on the device goes: some of it comes back.
    for k in 0..it.all.len() {
        while it.all[k].object.range.is_some() {
            it.exit(k);
        }
    }
    it.compare();
    for k in 0..it.all.len() {
        if it.all[k].kind == Kind::Pointer {
            let name = it.all[k].name.clone();
            it.c.line(format!("free({name});"));
        }
    }
}

impl Script<'_> {
    fn steps(&mut self, depth: u32) {
        for _ in 0..self.c.rng.range(1, 4) {
            if self.budget <= 0 {
                return;
            }
            self.budget -= 1;
            let k = self.c.rng.below(self.all.len());
            match self.c.rng.below(12) {
                0 | 1 => self.host_write(k),
                2 | 3 if depth < 3 => self.region(k, depth),
                4 => self.enter(k),
                5 if self.may_exit(k) => self.exit(k),
                6 | 7 if self.all[k].object.range.is_some() => self.update(k),
                _ => self.kernel(k),
            }
        }
    }

    /// Something outside of regions holds it; if that is the last but for regions, they must hold all of it.
    fn may_exit(&self, k: usize) -> bool {
        let it = &self.all[k];
        it.object.count > it.lexical + u32::from(it.partial > 0)
    }

    /// The spelling of an element.
    fn element(&self, k: usize, at: usize) -> String {
        let it = &self.all[k];
        if it.kind == Kind::Scalar { it.name.clone() } else { format!("{}[{at}]", it.name) }
    }

    /// The spelling of a part in a clause.
    fn part(&mut self, k: usize, low: usize, high: usize) -> String {
        let it = &self.all[k];
        let size = it.object.host.len();
        match it.kind {
            Kind::Scalar => it.name.clone(),
            Kind::Array | Kind::Static if low == 0 && high == size && self.c.rng.chance(60) => {
                it.name.clone()
            }
            Kind::Array | Kind::Static if low == 0 && self.c.rng.chance(20) => {
                format!("{}[:{high}]", it.name)
            }
            Kind::Array | Kind::Static if high == size && self.c.rng.chance(20) => {
                format!("{}[{low}:]", it.name)
            }
            Kind::Array | Kind::Static | Kind::Pointer => {
                format!("{}[{low}:{}]", it.name, high - low)
            }
        }
    }

    /// A part that can be mapped now: all that is there or a part of it, or anything if nothing is.
    fn choose(&mut self, k: usize) -> (usize, usize) {
        let (low, high) = self.all[k].object.range.unwrap_or((0, self.all[k].object.host.len()));
        if self.c.rng.chance(60) {
            return (low, high);
        }
        let low = low + self.c.rng.below(high - low);
        (low, low + 1 + self.c.rng.below(high - low))
    }

    fn host_write(&mut self, k: usize) {
        let at = self.c.rng.below(self.all[k].object.host.len());
        let value = self.c.rng.range(-50, 200);
        let element = self.element(k, at);
        self.c.line(format!("{element} = {value};"));
        self.all[k].object.host[at] = Value::known(value);
    }

    /// A structured data region.
    fn region(&mut self, k: usize, depth: u32) {
        let (low, high) = self.choose(k);
        let part = self.part(k, low, high);
        // Without effect where the condition is false.
        let off = self.c.rng.chance(10);
        let (to, from, always, words) = if self.openmp {
            let (word, to, from) = self.c.rng.pick(&[
                ("to: ", true, false),
                ("from: ", false, true),
                ("tofrom: ", true, true),
                ("", true, true),
                ("alloc: ", false, false),
            ]);
            let always = !word.is_empty() && word != "alloc: " && self.c.rng.chance(15);
            let always_word = if always { "always, " } else { "" };
            (to, from, always, format!("omp target data map({always_word}{word}{part})"))
        } else {
            let (word, to, from) = self.c.rng.pick(&[
                ("copyin", true, false),
                ("copyout", false, true),
                ("copy", true, true),
                ("create", false, false),
            ]);
            (to, from, false, format!("acc data {word}({part})"))
        };
        self.c.pragma(format!("{words}{}", if off { " if(0)" } else { "" }));
        self.c.line("{");
        self.all[k].named += 1;
        let partial = u32::from(self.all[k].object.range.is_some_and(|it| it != (low, high)));
        if !off {
            self.all[k].object.enter(low, high, to, always);
            self.all[k].lexical += 1;
            self.all[k].partial += partial;
        }
        self.steps(depth + 1);
        self.c.line("}");
        self.all[k].named -= 1;
        if !off {
            self.all[k].lexical -= 1;
            self.all[k].partial -= partial;
            self.all[k].object.leave(low, high, from, always, false);
        }
    }

    fn enter(&mut self, k: usize) {
        let (low, high) = self.choose(k);
        let part = self.part(k, low, high);
        let to = self.c.rng.chance(65);
        let words = match (self.openmp, to) {
            (true, true) => format!("omp target enter data map(to: {part})"),
            (true, false) => format!("omp target enter data map(alloc: {part})"),
            (false, true) => format!("acc enter data copyin({part})"),
            (false, false) => format!("acc enter data create({part})"),
        };
        self.c.pragma(words);
        self.all[k].object.enter(low, high, to, false);
    }

    fn exit(&mut self, k: usize) {
        let Some((low, high)) = self.all[k].object.range else { return };
        let part = self.part(k, low, high);
        let from = self.c.rng.chance(65);
        let all = !from && self.all[k].lexical == 0 && self.c.rng.chance(40);
        let words = match (self.openmp, from, all) {
            (true, true, _) => format!("omp target exit data map(from: {part})"),
            (true, false, true) => format!("omp target exit data map(delete: {part})"),
            (true, false, false) => format!("omp target exit data map(release: {part})"),
            (false, true, _) => format!("acc exit data copyout({part})"),
            (false, false, true) => format!("acc exit data delete({part}) finalize"),
            (false, false, false) => format!("acc exit data delete({part})"),
        };
        self.c.pragma(words);
        self.all[k].object.leave(low, high, from, false, all);
    }

    fn update(&mut self, k: usize) {
        let Some((first, end)) = self.all[k].object.range else { return };
        let to = self.c.rng.chance(50);
        let (mut low, mut high) = self.choose(k);
        let mut stride = 1;
        let mut part = self.part(k, low, high);
        if self.openmp
            && self.all[k].kind != Kind::Scalar
            && end - first >= 3
            && self.c.rng.chance(20)
        {
            stride = 2;
            (low, high) = (first, end);
            part = format!("{}[{low}:{}:2]", self.all[k].name, (high - low).div_ceil(2));
        }
        let word = match (self.openmp, to) {
            (true, true) => "omp target update to",
            (true, false) => "omp target update from",
            (false, true) => "acc update device",
            (false, false) => self.c.rng.pick(&["acc update self", "acc update host"]),
        };
        self.c.pragma(format!("{word}({part})"));
        let elements = (low..high).step_by(stride);
        if to {
            self.all[k].object.send(elements);
        } else {
            self.all[k].object.fetch(elements);
        }
    }

    /// A region that computes with one variable, on the device or (with `if(0)`) on the host.
    fn kernel(&mut self, k: usize) {
        let off = self.c.rng.chance(12);
        let there = self.all[k].object.range;
        let (low, high) = self.choose(k);
        let whole = (low, high) == (0, self.all[k].object.host.len());
        let kind = self.all[k].kind;
        // Without a clause: arrays are mapped whole, pointers lead to what is there, scalars are copies of the kernel's own.
        let own = kind == Kind::Scalar
            && self.c.rng.chance(40)
            && (self.openmp || (there.is_none() && self.all[k].named == 0));
        // Whether a copy is made for a region of OpenACC that the host runs is left open.
        let off = off && (self.openmp || !own);
        let silent =
            !own && match kind {
                Kind::Scalar => false,
                Kind::Array | Kind::Static => whole && there.is_none_or(|it| it == (low, high)),
                Kind::Pointer => {
                    !off && there.is_some_and(|it| it.0 == 0)
                        && (self.openmp || self.all[k].lexical > 0)
                }
            } && self.c.rng.chance(50);
        let (mut to, mut from, mut always) = (true, true, false);
        let mut clause = String::new();
        if !own && !silent {
            let part = self.part(k, low, high);
            if self.openmp {
                let (word, t, f) = self.c.rng.pick(&[
                    ("tofrom", true, true),
                    ("tofrom", true, true),
                    ("to", true, false),
                    ("from", false, true),
                    ("alloc", false, false),
                ]);
                (to, from) = (t, f);
                always = word != "alloc" && self.c.rng.chance(15);
                let there =
                    if there.is_some() && !off && self.c.rng.chance(15) { "present, " } else { "" };
                clause =
                    format!(" map({there}{}{word}: {part})", if always { "always, " } else { "" });
            } else {
                let words = [
                    ("copy", true, true),
                    ("copy", true, true),
                    ("copyin", true, false),
                    ("copyout", false, true),
                    ("create", false, false),
                ];
                let (word, t, f) = if there.is_some() && !off && self.c.rng.chance(40) {
                    ("present", false, false)
                } else {
                    self.c.rng.pick(&words)
                };
                (to, from) = (t, f);
                clause = format!(" {word}({part})");
            }
        }
        let (low, high) = if silent { there.unwrap_or((low, high)) } else { (low, high) };
        let object = &mut self.all[k].object;
        if !off && !own {
            object.enter(low, high, to, always);
        }
        // What the kernel does, element by element; only with values that are known.
        let known =
            |at: usize, object: &Object| if off || own { object.host[at] } else { object.read(at) };
        let limit = if self.all[k].ty == "short" { 20_000 } else { 1_000_000 };
        let factor = self.c.rng.pick(&[1, 1, 2, 3]);
        let (add, each) = (self.c.rng.range(-9, 30), self.c.rng.range(0, 4));
        let object = &mut self.all[k].object;
        let readable = (low..high).all(|at| {
            known(at, object).both().is_some_and(|(a, b)| (a.abs().max(b.abs()) + 100) * 3 < limit)
        });
        let adds = readable && self.c.rng.chance(75);
        let condition = if off { " if(0)" } else { "" };
        let serial = kind == Kind::Scalar || self.c.rng.chance(40);
        let words = match (self.openmp, serial) {
            (true, true) => "omp target",
            (true, false) => self.c.rng.pick(&[
                "omp target teams distribute parallel for",
                "omp target parallel for",
                "omp target simd",
                "omp target teams loop",
            ]),
            (false, true) => "acc serial",
            (false, false) => self.c.rng.pick(&[
                "acc parallel loop",
                "acc parallel loop gang vector",
                "acc kernels loop independent",
            ]),
        };
        self.c.pragma(format!("{words}{clause}{condition}"));
        let name = self.all[k].name.clone();
        let (head, element, count) = if kind == Kind::Scalar {
            ("{".to_string(), name, format!("{each}"))
        } else {
            (
                format!("for (int i = {low}; i < {high}; i++) {{"),
                format!("{name}[i]"),
                format!("{each} * i"),
            )
        };
        let value = if adds {
            format!("{element} * {factor} + {add} + {count}")
        } else {
            format!("{add} + {count}")
        };
        self.c.line(head);
        self.c.line(format!("{element} = {value};"));
        self.c.line("}");
        let object = &mut self.all[k].object;
        if !own || off {
            for at in low..high {
                let rest = add + each * if kind == Kind::Scalar { 1 } else { at as i64 };
                let old = known(at, object);
                let new = |old: Option<i64>| {
                    if adds { old.map(|it| it * factor + rest) } else { Some(rest) }
                };
                let new = Value { apart: new(old.apart), shared: new(old.shared) };
                if off {
                    object.host[at] = if own { old } else { new };
                } else {
                    object.write(at, new);
                }
            }
        }
        if !off && !own {
            object.leave(low, high, from, always, false);
        }
        if self.c.rng.chance(25) {
            self.compare();
        }
    }

    /// Compares all values of the host.
    fn compare(&mut self) {
        for k in 0..self.all.len() {
            for at in 0..self.all[k].object.host.len() {
                let Value { apart, shared } = self.all[k].object.host[at];
                let element = self.element(k, at);
                self.c.either(&element, apart, shared);
            }
        }
    }
}
