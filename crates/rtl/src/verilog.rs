//! A design as Verilog: one module, the operators that it has, and a bench that runs it on the contents of a memory.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::block::{Act, Block, Function, Node, Number, Operand};
use crate::circuit::Circuit;
use crate::design::{Design, Next};
use crate::float::{self, DOUBLE, Format, Order, SINGLE};

/// The text of a design: a module whose registers `r0`, … begin as `in0`, …; it has ended when `done` is one.
pub fn verilog(design: &Design, name: &str) -> String {
    let mut writer = Writer { cores: BTreeMap::new(), ports: Vec::new(), body: String::new() };
    let count = design.states.len();
    for (number, chip) in design.chips.iter().enumerate() {
        let (bits, last) = (chip.number.bits - 1, chip.elements.max(1) - 1);
        writer.line(&format!("reg [{bits}:0] chip{number} [0:{last}];"));
    }
    for (number, state) in design.states.iter().enumerate() {
        writer.block(design, number, &state.block, state.next);
    }
    let registers: Vec<String> = (0..)
        .zip(&design.registers)
        .map(|(at, it): (usize, _)| {
            format!("input [{0}:0] in{at},\n  output reg [{0}:0] r{at}", it.bits - 1)
        })
        .collect();
    let ports: Vec<String> = registers.into_iter().chain(writer.ports).collect();
    let mut text: String = writer.cores.into_values().collect();
    let _ = writeln!(
        text,
        "module {name}(input clock, input reset, output done,\n  {});\n  reg [31:0] state, tick;\n  always @(posedge clock) tick <= reset ? 0 : tick + 1;\n  assign done = state == {count};",
        ports.join(",\n  ")
    );
    text.push_str(&writer.body);
    text.push_str("  always @(posedge clock) begin\n    if (reset) begin\n      state <= 0;\n");
    let _ = writeln!(text, "      on0 <= 1; slot0 <= 0; first0 <= 1;");
    for at in 0..design.registers.len() {
        let _ = writeln!(text, "      r{at} <= in{at};");
    }
    for number in 1..count {
        let _ = writeln!(text, "      on{number} <= 0; first{number} <= 0;");
    }
    text.push_str("    end else begin\n");
    for (number, state) in design.states.iter().enumerate() {
        let block = &state.block;
        let _ = writeln!(
            text,
            "      if (on{number}) begin first{number} <= 0; slot{number} <= slot{number} == {} ? 0 : slot{number} + 1; end",
            block.interval.max(1) - 1
        );
        let stops = if block.is_loop { format!("!test{number}") } else { "1".to_owned() };
        let _ = writeln!(
            text,
            "      if (on{number} && slot{number} == 0 && {stops}) on{number} <= 0;"
        );
        for (register, operand) in &block.sets {
            let ready = block.ready(*operand);
            let value = named(block, number, *operand, ready, width(design, *register));
            let _ = writeln!(text, "      if (v{number}[{ready}]) r{register} <= {value};");
        }
        let go = |to: usize| match to < count {
            true => format!("begin state <= {to}; on{to} <= 1; slot{to} <= 0; first{to} <= 1; end"),
            false => format!("state <= {count};"),
        };
        let next = match state.next {
            Next::Goto(to) => go(to),
            Next::Choose(yes, no) => {
                format!("begin if (|t{number}) {} else {} end", go(yes), go(no))
            }
        };
        let _ = writeln!(text, "      if (leave{number}) {next}");
    }
    text.push_str("    end\n  end\nendmodule\n");
    text
}

fn width(design: &Design, register: usize) -> u32 {
    design.registers.get(register).map_or(64, |it| it.bits)
}

/// An operand in a cycle of its iteration.
fn named(block: &Block, number: usize, operand: Operand, cycle: u64, bits: u32) -> String {
    match operand {
        Operand::Constant(value) => format!("{bits}'h{value:x}"),
        Operand::Node(node) => match cycle.saturating_sub(block.ready(operand)) {
            0 => format!("n{number}_{node}"),
            late => {
                let most = kept(block).get(node).copied().unwrap_or(0);
                match most > LONG {
                    false => format!("n{number}_{node}_d{late}"),
                    true => {
                        let bits = most.next_power_of_two().ilog2();
                        format!(
                            "n{number}_{node}_d[(tick - {late}) & {bits}'h{:x}]",
                            (1u64 << bits) - 1
                        )
                    }
                }
            }
        },
    }
}

/// How many cycles later each value is used at most.
fn kept(block: &Block) -> Vec<u64> {
    let mut kept = vec![0u64; block.nodes.len()];
    let mut keep = |operand: Operand, cycle: u64| {
        if let Operand::Node(node) = operand
            && let Some(it) = kept.get_mut(node)
        {
            *it = (*it).max(cycle.saturating_sub(block.ready(operand)));
        }
    };
    for (at, node) in block.nodes.iter().enumerate() {
        let start = block.starts.get(at).copied().unwrap_or(0);
        node.operands.iter().chain(&node.guard).for_each(|it| keep(*it, start));
        if let Act::Begin(register) = node.act
            && let Some(next) = block.next(register)
        {
            keep(next, start + block.interval.max(1));
        }
    }
    kept
}

/// Values that wait longer lie in a memory, in a place for each cycle.
const LONG: u64 = 8;

struct Writer {
    /// Modules of operators by their names.
    cores: BTreeMap<String, String>,
    ports: Vec<String>,
    body: String,
}

impl Writer {
    fn line(&mut self, text: &str) {
        self.body.push_str("  ");
        self.body.push_str(text);
        self.body.push('\n');
    }

    fn block(&mut self, design: &Design, number: usize, block: &Block, next: Next) {
        let (depth, interval) = (block.depth, block.interval.max(1));
        self.line(&format!("// block {number}: interval {interval}, depth {depth}"));
        self.line(&format!("reg on{number}, first{number}; reg [31:0] slot{number};"));
        let kept = kept(block);
        let test = match block.test.filter(|_| block.is_loop) {
            Some(test) => named(block, number, test, 0, 32),
            None => "1'b1".to_owned(),
        };
        // Declared before they are used.
        for (at, node) in block.nodes.iter().enumerate() {
            let bits = node.gives.bits - 1;
            self.line(&format!("wire [{bits}:0] n{number}_{at};"));
            let late = kept.get(at).copied().unwrap_or(0);
            let name = format!("n{number}_{at}");
            if late > LONG {
                let size = late.next_power_of_two();
                self.line(&format!("reg [{bits}:0] {name}_d [0:{}];", size - 1));
                self.line(&format!(
                    "always @(posedge clock) {name}_d[tick[{}:0]] <= {name};",
                    size.ilog2() - 1
                ));
            }
            for k in 1..=if late > LONG { 0 } else { late } {
                let from = if k == 1 { name.clone() } else { format!("{name}_d{}", k - 1) };
                self.line(&format!(
                    "reg [{bits}:0] {name}_d{k}; always @(posedge clock) {name}_d{k} <= {from};"
                ));
            }
        }
        self.line(&format!("wire test{number} = |{test};"));
        self.line(&format!("wire go{number} = on{number} && slot{number} == 0 && test{number};"));
        // Iterations on their way: one bit for each cycle.
        self.line(&format!(
            "reg [{depth}:0] w{number}; wire [{depth}:0] v{number} = w{number} | go{number};"
        ));
        self.line(&format!("always @(posedge clock) w{number} <= reset ? 0 : v{number} << 1;"));
        self.line(&format!(
            "reg [{depth}:0] e{number}; wire [{depth}:0] f{number} = e{number} | first{number};"
        ));
        self.line(&format!("always @(posedge clock) e{number} <= reset ? 0 : f{number} << 1;"));
        let under_way = match next {
            Next::Choose(..) => format!("|v{number}"),
            Next::Goto(_) if depth > 0 => format!("|v{number}[{}:0]", depth - 1),
            Next::Goto(_) => "0".to_owned(),
        };
        self.line(&format!(
            "wire leave{number} = state == {number} && !on{number} && !({under_way});"
        ));
        if let (Next::Choose(..), Some(test)) = (next, block.test) {
            let ready = block.ready(test);
            let value = named(block, number, test, ready, 32);
            self.line(&format!("reg t{number}; always @(posedge clock) if (v{number}[{ready}]) t{number} <= |{value};"));
        }
        for (at, node) in block.nodes.iter().enumerate() {
            self.node(design, (number, block), at, node);
        }
    }

    fn node(&mut self, design: &Design, (number, block): (usize, &Block), at: usize, node: &Node) {
        let start = block.starts.get(at).copied().unwrap_or(0);
        let latency = block.latencies.get(at).copied().unwrap_or(0);
        let name = format!("n{number}_{at}");
        let of = |it: usize, bits: u32| {
            node.operands
                .get(it)
                .map_or("0".to_owned(), |it| named(block, number, *it, start, bits))
        };
        let guard = node
            .guard
            .map_or(String::new(), |it| format!(" && |{}", named(block, number, it, start, 32)));
        let enable = format!("v{number}[{start}]{guard}");
        match node.act {
            Act::Begin(register) => {
                let Some(next) = block.next(register) else {
                    self.line(&format!("assign {name} = r{register};"));
                    return;
                };
                // The value that it has as the block begins is kept for iterations that look late.
                let bits = width(design, register);
                let late = named(block, number, next, start + block.interval.max(1), bits);
                self.line(&format!("reg [{}:0] i{number}_{at}; always @(posedge clock) if (first{number}) i{number}_{at} <= r{register};", bits - 1));
                self.line(&format!("assign {name} = f{number}[{start}] ? (first{number} ? r{register} : i{number}_{at}) : {late};"));
            }
            Act::Load => {
                let bits = node.gives.bits - 1;
                self.ports.push(format!("output l{number}_{at}_enable, output [63:0] l{number}_{at}_address, input [{bits}:0] l{number}_{at}_data"));
                self.line(&format!(
                    "assign l{number}_{at}_enable = {enable}; assign l{number}_{at}_address = {};",
                    of(0, 64)
                ));
                self.line(&format!("assign {name} = l{number}_{at}_data;"));
            }
            Act::Store => {
                let bits = node.of.bits;
                self.ports.push(format!("output s{number}_{at}_enable, output [63:0] s{number}_{at}_address, output [{}:0] s{number}_{at}_data", bits - 1));
                self.line(&format!("assign s{number}_{at}_enable = {enable}; assign s{number}_{at}_address = {}; assign s{number}_{at}_data = {};", of(0, 64), of(1, bits)));
                self.line(&format!("assign {name} = 0;"));
            }
            Act::Look(chip) => {
                let bits = node.gives.bits - 1;
                let late = latency.max(1);
                self.line(&format!("reg [{bits}:0] {name}_p [1:{late}]; integer q{number}_{at};"));
                self.line(&format!("always @(posedge clock) begin {name}_p[1] <= chip{chip}[{}]; for (q{number}_{at} = 2; q{number}_{at} <= {late}; q{number}_{at} = q{number}_{at} + 1) {name}_p[q{number}_{at}] <= {name}_p[q{number}_{at} - 1]; end", of(0, node.of.bits)));
                self.line(&format!("assign {name} = {name}_p[{late}];"));
            }
            Act::Keep(chip) => {
                let bits = design.chips.get(chip).map_or(32, |it| it.number.bits);
                self.line(&format!(
                    "always @(posedge clock) if ({enable}) chip{chip}[{}] <= {};",
                    of(0, Number::ADDRESS.bits),
                    of(1, bits)
                ));
                self.line(&format!("assign {name} = 0;"));
            }
            // Who uses the module stops its clock while a channel is not ready.
            Act::Pop(channel) => {
                let bits = node.gives.bits - 1;
                let late = latency.max(1);
                self.ports.push(format!(
                    "output pop{channel}_enable, input [{bits}:0] pop{channel}_data"
                ));
                self.line(&format!("assign pop{channel}_enable = {enable};"));
                self.line(&format!("reg [{bits}:0] {name}_p [1:{late}]; integer q{number}_{at};"));
                self.line(&format!("always @(posedge clock) begin {name}_p[1] <= pop{channel}_data; for (q{number}_{at} = 2; q{number}_{at} <= {late}; q{number}_{at} = q{number}_{at} + 1) {name}_p[q{number}_{at}] <= {name}_p[q{number}_{at} - 1]; end"));
                self.line(&format!("assign {name} = {name}_p[{late}];"));
            }
            Act::Push(channel) => {
                let bits = node.of.bits;
                self.ports.push(format!(
                    "output push{channel}_enable, output [{}:0] push{channel}_data",
                    bits - 1
                ));
                self.line(&format!(
                    "assign push{channel}_enable = {enable}; assign push{channel}_data = {};",
                    of(0, bits)
                ));
                self.line(&format!("assign {name} = 0;"));
            }
            Act::Compute(function) => {
                let bits = |it: usize| match function {
                    Function::Select if it > 0 => node.gives.bits,
                    Function::Select => 32,
                    _ => node.of.bits,
                };
                let operands: Vec<String> =
                    (0..node.operands.len()).map(|it| of(it, bits(it))).collect();
                if let Some((core, circuit)) = core(function, node.of, node.gives) {
                    let module = format!("{core}_{latency}");
                    self.cores
                        .entry(module.clone())
                        .or_insert_with(|| circuit.verilog(&module, latency));
                    let inputs: Vec<String> = (0..)
                        .zip(&operands)
                        .map(|(at, it): (usize, _)| format!(".a{at}({it})"))
                        .collect();
                    let bits = circuit.output_width().max(1) - 1;
                    self.line(&format!("wire [{bits}:0] {name}_o; assign {name} = {name}_o;"));
                    self.line(&format!(
                        "{module} u{number}_{at}(.clock(clock), {}, .out({name}_o));",
                        inputs.join(", ")
                    ));
                    return;
                }
                let value = expression(function, &operands, node.of, node.gives);
                if latency == 0 {
                    self.line(&format!("assign {name} = {value};"));
                    return;
                }
                let bits = node.gives.bits - 1;
                self.line(&format!("wire [{bits}:0] {name}_w = {value}; reg [{bits}:0] {name}_p [1:{latency}]; integer q{number}_{at};"));
                self.line(&format!("always @(posedge clock) begin {name}_p[1] <= {name}_w; for (q{number}_{at} = 2; q{number}_{at} <= {latency}; q{number}_{at} = q{number}_{at} + 1) {name}_p[q{number}_{at}] <= {name}_p[q{number}_{at} - 1]; end"));
                self.line(&format!("assign {name} = {name}_p[{latency}];"));
            }
        }
    }
}

/// An operator on integers, or one that only wires bits.
fn expression(function: Function, operands: &[String], of: Number, gives: Number) -> String {
    let at = |it: usize| operands.get(it).cloned().unwrap_or_default();
    let (a, b) = (at(0), at(1));
    let signed =
        |it: &str| if of.is_signed() { format!("$signed({it})") } else { format!("({it})") };
    let (x, y) = (signed(&a), signed(&b));
    let top = of.bits - 1;
    match function {
        Function::Add => format!("{a} + {b}"),
        Function::Sub => format!("{a} - {b}"),
        Function::Mul => format!("{a} * {b}"),
        // What C does not say is nothing.
        Function::Div => format!("({b} == 0) ? 0 : {x} / {y}"),
        Function::Rem => format!("({b} == 0) ? 0 : {x} % {y}"),
        Function::Left => format!("{a} << {b}"),
        Function::Right if of.is_signed() => format!("{x} >>> {b}"),
        Function::Right => format!("{a} >> {b}"),
        Function::And => format!("{a} & {b}"),
        Function::Or => format!("{a} | {b}"),
        Function::Xor => format!("{a} ^ {b}"),
        Function::Less => format!("({x} < {y}) ? 1 : 0"),
        Function::LessOrEqual => format!("({x} <= {y}) ? 1 : 0"),
        Function::Equal => format!("({a} == {b}) ? 1 : 0"),
        Function::Least => format!("({x} < {y}) ? {a} : {b}"),
        Function::Most => format!("({x} < {y}) ? {b} : {a}"),
        Function::Select => format!("(|{a}) ? {b} : {}", at(2)),
        Function::Negate => format!("{a} ^ {}'h{:x}", of.bits, 1u64 << top),
        Function::Absolute => format!("{a} & {}'h{:x}", of.bits, (1u64 << top) - 1),
        Function::Convert if gives.bits > of.bits => match of.is_signed() {
            true => format!("{{{{{}{{{a}[{top}]}}}}, {a}}}", gives.bits - of.bits),
            false => a,
        },
        Function::Convert | Function::Sqrt => a,
    }
}

/// The circuit of an operator on floating-point numbers, and its name.
fn core(function: Function, of: Number, gives: Number) -> Option<(String, Circuit)> {
    let format = |it: Number| if it.bits == 32 { SINGLE } else { DOUBLE };
    let f: Format = format(of);
    let plain = |name: &str, circuit: Circuit| Some((format!("float{}_{name}", of.bits), circuit));
    match function {
        Function::Convert => {
            let wide = |it: Number| it.bits.max(32);
            let name = format!("{}_to_{}", word(of), word(gives));
            match (of.is_float(), gives.is_float()) {
                (true, true) => Some((name, float::convert(f, format(gives)))),
                (true, false) => Some((name, float::to_integer(f, wide(gives), gives.is_signed()))),
                (false, true) => {
                    Some((name, float::from_integer(format(gives), of.bits, of.is_signed())))
                }
                (false, false) => None,
            }
        }
        _ if !of.is_float() => None,
        Function::Add => plain("add", float::add(f, false)),
        Function::Sub => plain("sub", float::add(f, true)),
        Function::Mul => plain("mul", float::multiply(f)),
        Function::Div => plain("div", float::divide(f)),
        Function::Sqrt => plain("sqrt", float::sqrt(f)),
        Function::Less => plain("less", float::compare(f, Order::Less)),
        Function::LessOrEqual => plain("less_or_equal", float::compare(f, Order::LessOrEqual)),
        Function::Equal => plain("equal", float::compare(f, Order::Equal)),
        _ => None,
    }
}

fn word(number: Number) -> String {
    let kind = match number.kind {
        crate::block::NumberKind::Float => "float",
        crate::block::NumberKind::Signed => "int",
        crate::block::NumberKind::Unsigned => "unsigned",
    };
    format!("{kind}{}", number.bits)
}

/// The last place of a memory with one for each of so many cycles.
fn ring(cycles: u64) -> u64 {
    cycles.max(1).next_power_of_two() - 1
}

/// A bench for the module `kernel`: registers begin with these values, memory with the bytes of `memory.hex`; it prints cycles and registers and
/// leaves memory in `memory.out`.
pub fn bench(design: &Design, registers: &[u64], bytes: usize, most: u64) -> String {
    let (load, store) = design.memory;
    let mut text = format!(
        "module bench;\n  reg clock = 0, reset = 1; wire done; integer cycles = 0; reg [31:0] tick = 0;\n  \
         reg [7:0] memory [0:{}];\n",
        bytes.max(1) - 1
    );
    let mut ports = vec![".clock(clock), .reset(reset), .done(done)".to_owned()];
    let mut shown = String::new();
    for (at, (number, value)) in design.registers.iter().zip(registers).enumerate() {
        let _ = writeln!(text, "  wire [{}:0] r{at};", number.bits - 1);
        ports.push(format!(".in{at}({}'h{value:x}), .r{at}(r{at})", number.bits));
        let _ = writeln!(shown, "    $display(\"r{at} %h\", r{at});");
    }
    let mut stores = String::new();
    for (number, state) in design.states.iter().enumerate() {
        for (at, node) in state.block.nodes.iter().enumerate() {
            let (bits, name) = (node.gives.bits, format!("{number}_{at}"));
            let octets = |bits: u32, of: &str| -> String {
                let list: Vec<String> =
                    (0..bits / 8).rev().map(|it| format!("memory[{of} + {it}]")).collect();
                format!("{{{}}}", list.join(", "))
            };
            match node.act {
                Act::Load => {
                    ports.push(format!(
                        ".l{name}_enable(le{name}), .l{name}_address(la{name}), .l{name}_data(ld{name}[(tick - {load}) & {}])",
                        ring(load)
                    ));
                    let address = octets(bits, &format!("la{name}"));
                    let _ = writeln!(
                        text,
                        "  wire le{name}; wire [63:0] la{name}; reg [{}:0] ld{name} [0:{}];\n  \
                         always @(posedge clock) ld{name}[tick & {1}] <= le{name} ? {address} : 0;",
                        bits - 1,
                        ring(load)
                    );
                }
                Act::Store => {
                    ports.push(format!(
                        ".s{name}_enable(se{name}), .s{name}_address(sa{name}), .s{name}_data(sd{name})"
                    ));
                    let (bits, late) = (node.of.bits, store.max(1) - 1);
                    let last = ring(late);
                    let _ = writeln!(
                        text,
                        "  wire se{name}; wire [63:0] sa{name}; wire [{0}:0] sd{name};\n  \
                         reg pe{name} [0:{last}]; reg [63:0] pa{name} [0:{last}]; reg [{0}:0] pd{name} [0:{last}];",
                        bits - 1
                    );
                    for (ring, wire) in [("pe", "se"), ("pa", "sa"), ("pd", "sd")] {
                        let _ =
                            writeln!(stores, "    {ring}{name}[tick & {last}] <= {wire}{name};");
                    }
                    // A store is seen by loads that begin so many cycles after it.
                    let of = |ring: &str, wire: &str| match late {
                        0 => format!("{wire}{name}"),
                        _ => format!("{ring}{name}[(tick - {late}) & {last}]"),
                    };
                    let place = octets(bits, &of("pa", "sa"));
                    let (enable, data) = (of("pe", "se"), of("pd", "sd"));
                    let _ = writeln!(stores, "    if (!reset && {enable}) {place} <= {data};");
                }
                Act::Begin(_)
                | Act::Compute(_)
                | Act::Look(_)
                | Act::Keep(_)
                | Act::Pop(_)
                | Act::Push(_) => {}
            }
        }
    }
    let _ = writeln!(text, "  kernel it({});", ports.join(",\n    "));
    let _ = writeln!(
        text,
        "  always #1 clock = ~clock;\n  initial $readmemh(\"memory.hex\", memory);\n  always @(posedge clock) begin\n    tick <= tick + 1;\n{stores}    if (!reset && !done) cycles <= cycles + 1;\n    if (cycles > {most}) begin $display(\"long\"); $finish; end\n  end"
    );
    let _ = writeln!(
        text,
        "  initial begin\n    @(negedge clock); @(negedge clock); reset = 0;\n    wait (done);\n    repeat ({}) @(negedge clock);\n    $display(\"cycles %0d\", cycles);\n{shown}    $writememh(\"memory.out\", memory);\n    $finish;\n  end\nendmodule",
        store + 2
    );
    text
}
