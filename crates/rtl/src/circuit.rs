//! Circuits: gates on words of up to 128 bits, without state.
//!
//! One description is run here ([`Circuit::run`]) and printed as Verilog ([`Circuit::verilog`]), where registers cut it into
//! as many cycles as its user wants: a new operand every cycle, the result so many cycles later.

use std::fmt::Write as _;

/// What a gate gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wire(usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gate {
    Input(usize),
    Constant(u128),
    Not(Wire),
    And(Wire, Wire),
    Or(Wire, Wire),
    Xor(Wire, Wire),
    /// Sums, differences and products modulo the width.
    Add(Wire, Wire),
    Sub(Wire, Wire),
    Mul(Wire, Wire),
    /// Without sign.
    Less(Wire, Wire),
    Equal(Wire, Wire),
    /// The second where the first is one, else the third.
    Mux(Wire, Wire, Wire),
    Left(Wire, Wire),
    Right(Wire, Wire),
    /// Bits from this one on.
    Slice(Wire, u32),
    /// The first above the second.
    Join(Wire, Wire),
    Any(Wire),
}

/// Gates, each after those that it waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Circuit {
    gates: Vec<(Gate, u32)>,
    inputs: Vec<u32>,
    output: Option<Wire>,
}

/// A word with this many ones.
pub(super) fn ones(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

impl Circuit {
    fn put(&mut self, gate: Gate, width: u32) -> Wire {
        self.gates.push((gate, width));
        Wire(self.gates.len() - 1)
    }

    /// Bits of a wire.
    pub fn width(&self, wire: Wire) -> u32 {
        self.gates.get(wire.0).map_or(0, |it| it.1)
    }

    /// Bits of what it gives.
    pub fn output_width(&self) -> u32 {
        self.output.map_or(1, |it| self.width(it))
    }

    /// One more operand.
    pub fn input(&mut self, width: u32) -> Wire {
        self.inputs.push(width);
        self.put(Gate::Input(self.inputs.len() - 1), width)
    }

    /// Says what it gives.
    #[must_use]
    pub fn giving(mut self, output: Wire) -> Circuit {
        self.output = Some(output);
        self
    }

    /// A number.
    pub fn constant(&mut self, value: u128, width: u32) -> Wire {
        self.put(Gate::Constant(value & ones(width)), width)
    }

    /// All bits turned.
    pub fn not(&mut self, a: Wire) -> Wire {
        self.put(Gate::Not(a), self.width(a))
    }

    /// Bit by bit.
    pub fn and(&mut self, a: Wire, b: Wire) -> Wire {
        self.put(Gate::And(a, b), self.width(a))
    }

    /// Bit by bit.
    pub fn or(&mut self, a: Wire, b: Wire) -> Wire {
        self.put(Gate::Or(a, b), self.width(a))
    }

    /// Bit by bit.
    pub fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        self.put(Gate::Xor(a, b), self.width(a))
    }

    /// A sum in the width of the first.
    pub fn add(&mut self, a: Wire, b: Wire) -> Wire {
        self.put(Gate::Add(a, b), self.width(a))
    }

    /// A difference in the width of the first.
    pub fn sub(&mut self, a: Wire, b: Wire) -> Wire {
        self.put(Gate::Sub(a, b), self.width(a))
    }

    /// A product with all its bits.
    pub fn mul(&mut self, a: Wire, b: Wire) -> Wire {
        self.put(Gate::Mul(a, b), self.width(a) + self.width(b))
    }

    /// Whether the first is less, without sign.
    pub fn less(&mut self, a: Wire, b: Wire) -> Wire {
        self.put(Gate::Less(a, b), 1)
    }

    /// Whether both are the same.
    pub fn equal(&mut self, a: Wire, b: Wire) -> Wire {
        self.put(Gate::Equal(a, b), 1)
    }

    /// One of two.
    pub fn mux(&mut self, which: Wire, yes: Wire, no: Wire) -> Wire {
        self.put(Gate::Mux(which, yes, no), self.width(yes))
    }

    /// Shifted to the left.
    pub fn left(&mut self, a: Wire, by: Wire) -> Wire {
        self.put(Gate::Left(a, by), self.width(a))
    }

    /// Shifted to the right.
    pub fn right(&mut self, a: Wire, by: Wire) -> Wire {
        self.put(Gate::Right(a, by), self.width(a))
    }

    /// So many bits from one on.
    pub fn slice(&mut self, a: Wire, low: u32, width: u32) -> Wire {
        self.put(Gate::Slice(a, low), width)
    }

    /// The first above the second.
    pub fn join(&mut self, high: Wire, low: Wire) -> Wire {
        self.put(Gate::Join(high, low), self.width(high) + self.width(low))
    }

    /// Whether any bit is one.
    pub fn any(&mut self, a: Wire) -> Wire {
        self.put(Gate::Any(a), 1)
    }

    /// Zeros above it up to a width.
    pub fn wide(&mut self, a: Wire, width: u32) -> Wire {
        let zeros = width.saturating_sub(self.width(a));
        if zeros == 0 {
            return a;
        }
        let zeros = self.constant(0, zeros);
        self.join(zeros, a)
    }

    /// Zeros below it.
    pub fn raised(&mut self, a: Wire, zeros: u32) -> Wire {
        if zeros == 0 {
            return a;
        }
        let zeros = self.constant(0, zeros);
        self.join(a, zeros)
    }

    /// The word shifted so that its first one is on top, and by how much, in so many bits.
    pub fn normal(&mut self, a: Wire, bits: u32) -> (Wire, Wire) {
        let width = self.width(a);
        let (mut word, mut by) = (a, self.constant(0, bits));
        let mut half = width.next_power_of_two() / 2;
        while half > 0 {
            if half < width {
                let top = self.slice(word, width - half, half);
                let is_there = self.any(top);
                let amount = self.constant(u128::from(half), bits);
                let moved = self.left(word, amount);
                let more = self.add(by, amount);
                word = self.mux(is_there, word, moved);
                by = self.mux(is_there, by, more);
            }
            half /= 2;
        }
        (word, by)
    }

    /// Shifted to the right; the lowest bit tells whether any one was lost.
    pub fn sticky_right(&mut self, a: Wire, by: Wire) -> Wire {
        let width = self.width(a);
        let kept = self.right(a, by);
        let again = self.left(kept, by);
        let is_exact = self.equal(again, a);
        let lost = self.not(is_exact);
        let lost = self.wide(lost, width);
        self.or(kept, lost)
    }

    /// What it gives for these operands.
    pub fn run(&self, inputs: &[u128]) -> u128 {
        let mut values: Vec<u128> = Vec::with_capacity(self.gates.len());
        for (gate, width) in &self.gates {
            let of = |it: Wire| values.get(it.0).copied().unwrap_or(0);
            let truth = u128::from;
            let shift = |it: Wire| u32::try_from(of(it)).unwrap_or(u32::MAX);
            let value = match *gate {
                Gate::Input(at) => inputs.get(at).copied().unwrap_or(0),
                Gate::Constant(value) => value,
                Gate::Not(a) => !of(a),
                Gate::And(a, b) => of(a) & of(b),
                Gate::Or(a, b) => of(a) | of(b),
                Gate::Xor(a, b) => of(a) ^ of(b),
                Gate::Add(a, b) => of(a).wrapping_add(of(b)),
                Gate::Sub(a, b) => of(a).wrapping_sub(of(b)),
                Gate::Mul(a, b) => of(a).wrapping_mul(of(b)),
                Gate::Less(a, b) => truth(of(a) < of(b)),
                Gate::Equal(a, b) => truth(of(a) == of(b)),
                Gate::Mux(c, a, b) => {
                    if of(c) != 0 {
                        of(a)
                    } else {
                        of(b)
                    }
                }
                Gate::Left(a, by) => of(a).checked_shl(shift(by)).unwrap_or(0),
                Gate::Right(a, by) => of(a).checked_shr(shift(by)).unwrap_or(0),
                Gate::Slice(a, low) => of(a).checked_shr(low).unwrap_or(0),
                Gate::Join(a, b) => of(a).checked_shl(self.width(b)).unwrap_or(0) | of(b),
                Gate::Any(a) => truth(of(a) != 0),
            };
            values.push(value & ones(*width));
        }
        self.output.and_then(|it| values.get(it.0).copied()).unwrap_or(0)
    }

    /// What a gate waits for.
    fn operands(gate: &Gate) -> Vec<Wire> {
        match *gate {
            Gate::Input(_) | Gate::Constant(_) => Vec::new(),
            Gate::Not(a) | Gate::Slice(a, _) | Gate::Any(a) => vec![a],
            Gate::And(a, b)
            | Gate::Or(a, b)
            | Gate::Xor(a, b)
            | Gate::Add(a, b)
            | Gate::Sub(a, b)
            | Gate::Mul(a, b)
            | Gate::Less(a, b)
            | Gate::Equal(a, b)
            | Gate::Left(a, b)
            | Gate::Right(a, b)
            | Gate::Join(a, b) => vec![a, b],
            Gate::Mux(a, b, c) => vec![a, b, c],
        }
    }

    /// How long a gate takes, roughly, in levels of logic.
    fn weight(&self, gate: &Gate, width: u32) -> u64 {
        let levels = u64::from(width.max(2).ilog2());
        let is_constant = |it: Wire| matches!(self.gates.get(it.0), Some((Gate::Constant(_), _)));
        match *gate {
            Gate::Input(_) | Gate::Constant(_) | Gate::Slice(..) | Gate::Join(..) => 0,
            Gate::Left(_, by) | Gate::Right(_, by) if is_constant(by) => 0,
            Gate::Not(_) => 0,
            Gate::And(..) | Gate::Or(..) | Gate::Xor(..) | Gate::Mux(..) => 1,
            Gate::Add(..) | Gate::Sub(..) => levels,
            Gate::Less(a, _) | Gate::Equal(a, _) | Gate::Any(a) => {
                u64::from(self.width(a).max(2).ilog2())
            }
            Gate::Left(..) | Gate::Right(..) => levels,
            Gate::Mul(..) => 2 * levels,
        }
    }

    /// The cycle in which each gate works, for a result after so many.
    fn cycles(&self, latency: u64) -> Vec<u64> {
        let mut ends: Vec<u64> = Vec::with_capacity(self.gates.len());
        for (gate, width) in &self.gates {
            let begin = Circuit::operands(gate).iter().filter_map(|it| ends.get(it.0)).max();
            ends.push(begin.copied().unwrap_or(0) + self.weight(gate, *width));
        }
        let all = ends.iter().copied().max().unwrap_or(0).max(1);
        // A gate that ends on a border belongs before it.
        let cycle =
            |end: &u64| (end.saturating_sub(1) * latency / all).min(latency.saturating_sub(1));
        ends.iter().map(cycle).collect()
    }

    /// A module of Verilog with operands `a0`, `a1`, … and the result `out` after `latency` cycles.
    pub fn verilog(&self, name: &str, latency: u64) -> String {
        let cycles = self.cycles(latency);
        let at = |wire: Wire| cycles.get(wire.0).copied().unwrap_or(0);
        let is_constant = |it: Wire| matches!(self.gates.get(it.0), Some((Gate::Constant(_), _)));
        // How many cycles later a gate's word is used at most.
        let mut kept = vec![0u64; self.gates.len()];
        let mut keep = |wire: Wire, until: u64| {
            if let Some(it) = kept.get_mut(wire.0).filter(|_| !is_constant(wire)) {
                *it = (*it).max(until.saturating_sub(at(wire)));
            }
        };
        for (index, (gate, _)) in self.gates.iter().enumerate() {
            Circuit::operands(gate).into_iter().for_each(|it| keep(it, at(Wire(index))));
        }
        self.output.into_iter().for_each(|it| keep(it, latency));
        let named = |wire: Wire, cycle: u64| match cycle.saturating_sub(at(wire)) {
            _ if is_constant(wire) => format!("w{}", wire.0),
            0 => format!("w{}", wire.0),
            late => format!("w{}_{late}", wire.0),
        };
        let mut text = format!("module {name}(input clock");
        for (number, width) in self.inputs.iter().enumerate() {
            let _ = write!(text, ", input [{}:0] a{number}", width - 1);
        }
        let _ = writeln!(text, ", output [{}:0] out);", self.output_width().max(1) - 1);
        for (index, (gate, width)) in self.gates.iter().enumerate() {
            let cycle = at(Wire(index));
            let n = |it: Wire| named(it, cycle);
            let value = match *gate {
                Gate::Input(at) => format!("a{at}"),
                Gate::Constant(value) => format!("{width}'h{value:x}"),
                Gate::Not(a) => format!("~{}", n(a)),
                Gate::And(a, b) => format!("{} & {}", n(a), n(b)),
                Gate::Or(a, b) => format!("{} | {}", n(a), n(b)),
                Gate::Xor(a, b) => format!("{} ^ {}", n(a), n(b)),
                Gate::Add(a, b) => format!("{} + {}", n(a), n(b)),
                Gate::Sub(a, b) => format!("{} - {}", n(a), n(b)),
                Gate::Mul(a, b) => format!("{} * {}", n(a), n(b)),
                Gate::Less(a, b) => format!("{} < {}", n(a), n(b)),
                Gate::Equal(a, b) => format!("{} == {}", n(a), n(b)),
                Gate::Mux(c, a, b) => format!("{} ? {} : {}", n(c), n(a), n(b)),
                Gate::Left(a, by) => format!("{} << {}", n(a), n(by)),
                Gate::Right(a, by) => format!("{} >> {}", n(a), n(by)),
                Gate::Slice(a, low) => format!("{}[{}:{low}]", n(a), low + width - 1),
                Gate::Join(a, b) => format!("{{{}, {}}}", n(a), n(b)),
                Gate::Any(a) => format!("|{}", n(a)),
            };
            let _ = writeln!(text, "  wire [{}:0] w{index} = {value};", width - 1);
            let late = kept.get(index).copied().unwrap_or(0);
            for k in 1..=late {
                let from = if k == 1 { format!("w{index}") } else { format!("w{index}_{}", k - 1) };
                let _ = writeln!(
                    text,
                    "  reg [{}:0] w{index}_{k}; always @(posedge clock) w{index}_{k} <= {from};",
                    width - 1
                );
            }
        }
        let out = self.output.map_or("0".to_owned(), |it| named(it, latency));
        let _ = writeln!(text, "  assign out = {out};\nendmodule");
        text
    }
}
