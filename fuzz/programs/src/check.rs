//! One check: a C function with its own seed that runs directives and compares what comes out with what the standard says.

use crate::rng::Rng;
use std::fmt::Write;

/// What a family of checks is made with: random numbers, and the C text so far.
pub struct Check {
    /// Everything in the check follows from this.
    pub seed: u64,
    /// The family it belongs to.
    pub family: &'static str,
    /// Random numbers of this check.
    pub rng: Rng,
    /// Text in front of the function.
    pub top: String,
    /// Text of the function.
    pub body: String,
    /// Names that `top` declares without the seed in them: no other check of a file may have them.
    pub claims: Vec<String>,
    depth: usize,
}

impl Check {
    /// An empty check.
    pub fn new(seed: u64, family: &'static str, rng: Rng) -> Self {
        Check {
            seed,
            family,
            rng,
            top: String::new(),
            body: String::new(),
            claims: Vec::new(),
            depth: 1,
        }
    }

    /// A line in front of the function.
    pub fn top(&mut self, line: impl AsRef<str>) {
        self.top.push_str(line.as_ref());
        self.top.push('\n');
    }

    /// A line of the function; braces in it indent what follows.
    pub fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if line.starts_with('}') {
            self.depth -= 1;
        }
        let _ = writeln!(self.body, "{:1$}{line}", "", self.depth * 2);
        if line.ends_with('{') {
            self.depth += 1;
        }
    }

    /// A directive of either standard.
    pub fn pragma(&mut self, words: impl AsRef<str>) {
        self.line(format!("#pragma {}", words.as_ref()));
    }

    /// The whole number `got` must be `want`.
    pub fn same(&mut self, got: &str, want: i64) {
        self.line(format!("same(\"{got}\", (long long)({got}), {});", number(want)));
    }

    /// The whole number `got` must be `want`, or `shared` where host and device share memory; `None` is anything.
    pub fn either(&mut self, got: &str, want: Option<i64>, shared: Option<i64>) {
        match (want, shared) {
            (Some(want), Some(shared)) if want == shared => self.same(got, want),
            (Some(want), Some(shared)) => self.line(format!(
                "same(\"{got}\", (long long)({got}), shared ? {} : {});",
                number(shared),
                number(want)
            )),
            (Some(want), None) => {
                self.line(format!(
                    "if (!shared) same(\"{got}\", (long long)({got}), {});",
                    number(want)
                ));
            }
            (None, Some(shared)) => {
                self.line(format!(
                    "if (shared) same(\"{got}\", (long long)({got}), {});",
                    number(shared)
                ));
            }
            (None, None) => {}
        }
    }

    /// The floating-point number `got` must be `want`, to the bit.
    pub fn exact(&mut self, got: &str, want: f64) {
        let name = got.replace('"', "'");
        self.line(format!("exact(\"{name}\", {got}, {});", float(want)));
    }
}

/// A whole number as C spells it.
pub fn number(it: i64) -> String {
    match it {
        i64::MIN => "(-9223372036854775807LL - 1)".into(),
        _ if i32::try_from(it).is_ok() && it != i64::from(i32::MIN) => it.to_string(),
        _ => format!("{it}LL"),
    }
}

/// A floating-point number as C spells it.
pub fn float(it: f64) -> String {
    if it.is_nan() {
        "NAN".into()
    } else if it.is_infinite() {
        if it > 0.0 { "INFINITY".into() } else { "-INFINITY".into() }
    } else {
        format!("{it:?}")
    }
}
