//! Designs as text: what images carry. [`write`] and [`read`] are inverse.
//!
//! ```text
//! board ecp5 80
//! kernel scale loads 4 stores 2
//! register u64
//! chip s32 640
//! slot 0 register 0
//! loop interval 1 depth 9 next 1
//! node begin 0 gives u64 at 0 for 0
//! node add of u64 gives u64 at 0 for 1 with n0 #4
//! node load of u64 gives f32 at 1 for 4 with n1 if n0
//! set 0 n1
//! test n0
//! ```
//!
//! A block begins with `once` or `loop` and has what follows it; nodes and registers are numbered in their order. Behind the
//! kernels come groups of those that may run at the same time, each with channels and with designs that use them:
//!
//! ```text
//! group
//! channel t f32 depth 16 from 0 slot 1 to 1 slot 0
//! member scale loads 4 stores 2
//! …
//! node push 0 of f32 gives f32 at 5 for 1 with n2
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::block::{Act, Block, Function, Node, Number, NumberKind, Operand};
use crate::design::{Chip, Design, Next, Parameter, State};
use crate::group::{Channel, End, Group, Member};

/// The kernels of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// The device whose latencies they have.
    pub board: String,
    /// Its clock, in MHz: an assumption.
    pub clock: f64,
    /// By their names.
    pub kernels: BTreeMap<String, Design>,
    /// Those of them that may run at the same time.
    pub groups: Vec<Group>,
}

/// What is wrong with a text: the line, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Counted from 1.
    pub line: usize,
    /// In words.
    pub why: &'static str,
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl std::error::Error for Wrong {}

/// More is nothing that was made here; sums of it stay numbers.
const MOST: u64 = 1 << 24;

const FUNCTIONS: [(&str, Function); 20] = [
    ("add", Function::Add),
    ("sub", Function::Sub),
    ("mul", Function::Mul),
    ("div", Function::Div),
    ("rem", Function::Rem),
    ("left", Function::Left),
    ("right", Function::Right),
    ("and", Function::And),
    ("or", Function::Or),
    ("xor", Function::Xor),
    ("less", Function::Less),
    ("less_or_equal", Function::LessOrEqual),
    ("equal", Function::Equal),
    ("least", Function::Least),
    ("most", Function::Most),
    ("select", Function::Select),
    ("convert", Function::Convert),
    ("negate", Function::Negate),
    ("absolute", Function::Absolute),
    ("sqrt", Function::Sqrt),
];

/// The text of a module.
pub fn write(module: &Module) -> String {
    let mut text = format!("board {} {}\n", module.board, module.clock);
    for (name, design) in &module.kernels {
        written(&mut text, "kernel", name, design);
    }
    for group in &module.groups {
        line(&mut text, format_args!("group"));
        for Channel { name, number, depth, from, to } in &group.channels {
            let (number, End { member, slot }) = (word(*number), *from);
            line(
                &mut text,
                format_args!(
                    "channel {name} {number} depth {depth} from {member} slot {slot} to {} slot {}",
                    to.member, to.slot
                ),
            );
        }
        for it in &group.members {
            written(&mut text, "member", &it.name, &it.design);
        }
    }
    text
}

fn written(text: &mut String, kind: &str, name: &str, design: &Design) {
    let (loads, stores) = design.memory;
    line(text, format_args!("{kind} {name} loads {loads} stores {stores}"));
    for it in &design.registers {
        line(text, format_args!("register {}", word(*it)));
    }
    for Chip { number, elements } in &design.chips {
        line(text, format_args!("chip {} {elements}", word(*number)));
    }
    for Parameter { slot, register } in &design.parameters {
        line(text, format_args!("slot {slot} register {register}"));
    }
    design.states.iter().for_each(|it| state(text, it));
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{words}");
}

fn state(text: &mut String, State { block, next }: &State) {
    let kind = if block.is_loop { "loop" } else { "once" };
    let next = match next {
        Next::Goto(to) => format!("next {to}"),
        Next::Choose(yes, no) => format!("next {yes} else {no}"),
    };
    let Block { interval, depth, .. } = block;
    line(text, format_args!("{kind} interval {interval} depth {depth} {next}"));
    for (at, node) in block.nodes.iter().enumerate() {
        let start = block.starts.get(at).copied().unwrap_or(0);
        let latency = block.latencies.get(at).copied().unwrap_or(0);
        let act = match node.act {
            Act::Begin(register) => format!("begin {register}"),
            Act::Load => "load".to_owned(),
            Act::Store => "store".to_owned(),
            Act::Look(chip) => format!("look {chip}"),
            Act::Keep(chip) => format!("keep {chip}"),
            Act::Pop(channel) => format!("pop {channel}"),
            Act::Push(channel) => format!("push {channel}"),
            Act::Compute(function) => {
                let named = FUNCTIONS.iter().find(|it| it.1 == function);
                named.map_or("", |it| it.0).to_owned()
            }
        };
        let (of, gives) = (word(node.of), word(node.gives));
        let with: String = node.operands.iter().map(|it| format!(" {}", operand(*it))).collect();
        let guard = node.guard.map_or(String::new(), |it| format!(" if {}", operand(it)));
        line(
            text,
            format_args!(
                "node {act} of {of} gives {gives} at {start} for {latency} with{with}{guard}"
            ),
        );
    }
    for (register, it) in &block.sets {
        line(text, format_args!("set {register} {}", operand(*it)));
    }
    if let Some(test) = block.test {
        line(text, format_args!("test {}", operand(test)));
    }
}

fn word(number: Number) -> String {
    let kind = match number.kind {
        NumberKind::Signed => 's',
        NumberKind::Unsigned => 'u',
        NumberKind::Float => 'f',
    };
    format!("{kind}{}", number.bits)
}

fn operand(it: Operand) -> String {
    match it {
        Operand::Constant(value) => format!("#{value:x}"),
        Operand::Node(node) => format!("n{node}"),
    }
}

/// Reads texts of modules, one behind the other: kernels of all of them. Lines that begin with `//` say nothing.
///
/// # Errors
/// If it is no such text.
pub fn read(text: &str) -> Result<Module, Wrong> {
    let mut reader = Reader::default();
    for (number, line) in (1..).zip(text.lines()) {
        reader.line(line).map_err(|why| Wrong { line: number, why })?;
    }
    let ended = reader.ended().and_then(|()| reader.grouped());
    ended.map_err(|why| Wrong { line: text.lines().count(), why })?;
    Ok(reader.module)
}

type Read<T> = Result<T, &'static str>;

#[derive(Default)]
struct Reader {
    module: Module,
    /// The kernel whose lines are read.
    kernel: Option<(String, Design)>,
    /// It is a member of the last group.
    is_member: bool,
}

impl Reader {
    fn line(&mut self, line: &str) -> Read<()> {
        let mut words = Words(line.split_ascii_whitespace());
        let Some(first) = words.0.next().filter(|it| !it.starts_with("//")) else { return Ok(()) };
        match first {
            "board" => {
                self.module.board = words.next()?.to_owned();
                self.module.clock = words.next()?.parse().map_err(|_| "a clock is a number")?;
                return words.end();
            }
            "kernel" | "member" => {
                self.ended()?;
                let name = words.next()?.to_owned();
                let memory = (words.named("loads")?, words.named("stores")?);
                self.kernel = Some((name, Design { memory, ..Design::default() }));
                self.is_member = first == "member";
                return words.end();
            }
            "group" => {
                self.ended()?;
                self.module.groups.push(Group::default());
                return words.end();
            }
            "channel" => {
                self.ended()?;
                let (name, number) = (words.next()?.to_owned(), words.number()?);
                let depth = words.named("depth")?;
                let from = words.after("from")?.channel_end()?;
                let to = words.after("to")?.channel_end()?;
                let group = self.module.groups.last_mut().ok_or("no group has begun")?;
                group.channels.push(Channel { name, number, depth, from, to });
                return words.end();
            }
            _ => {}
        }
        let Some((_, design)) = &mut self.kernel else { return Err("no kernel has begun") };
        let block = design.states.last_mut().map(|it| &mut it.block);
        match (first, block) {
            ("register", _) => design.registers.push(words.number()?),
            ("chip", _) => {
                let number = words.number()?;
                let elements = words.next()?.parse().map_err(|_| "a number was expected")?;
                if elements > MOST {
                    return Err("a number that is too large");
                }
                design.chips.push(Chip { number, elements });
            }
            ("slot", _) => {
                let slot = words.index()?;
                let register = words.after("register")?.index()?;
                design.parameters.push(Parameter { slot, register });
            }
            ("once" | "loop", _) => {
                let (interval, depth) = (words.named("interval")?, words.named("depth")?);
                let to = words.after("next")?.index()?;
                let next = match words.0.next() {
                    None => Next::Goto(to),
                    Some("else") => Next::Choose(to, words.index()?),
                    Some(_) => return Err("a word that is not known"),
                };
                let is_loop = first == "loop";
                let block = Block { is_loop, interval, depth, ..Block::default() };
                design.states.push(State { block, next });
            }
            ("node", Some(block)) => {
                let act = match words.next()? {
                    "begin" => Act::Begin(words.index()?),
                    "load" => Act::Load,
                    "store" => Act::Store,
                    "look" => Act::Look(words.index()?),
                    "keep" => Act::Keep(words.index()?),
                    "pop" => Act::Pop(words.index()?),
                    "push" => Act::Push(words.index()?),
                    name => {
                        let known = FUNCTIONS.iter().find(|it| it.0 == name);
                        Act::Compute(known.ok_or("an operator that is not known")?.1)
                    }
                };
                let of = words.after("of")?.number()?;
                let gives = words.after("gives")?.number()?;
                block.starts.push(words.named("at")?);
                block.latencies.push(words.named("for")?);
                words.after("with")?;
                let (mut operands, mut guard) = (Vec::new(), None);
                while let Some(word) = words.0.next() {
                    match word {
                        "if" => guard = Some(self::of(words.next()?)?),
                        word => operands.push(self::of(word)?),
                    }
                }
                block.nodes.push(Node { act, operands, of, gives, guard, about: () });
            }
            ("set", Some(block)) => block.sets.push((words.index()?, of(words.next()?)?)),
            ("test", Some(block)) => block.test = Some(of(words.next()?)?),
            (_, _) => return Err("a word that is not known"),
        }
        words.end()
    }

    /// The last kernel is whole: what it names is there.
    fn ended(&mut self) -> Read<()> {
        let Some((name, design)) = self.kernel.take() else { return Ok(()) };
        let group = self.module.groups.last_mut().filter(|_| self.is_member);
        let channels = group.as_ref().map_or(0, |it| it.channels.len());
        let registers = design.registers.len();
        let is_there = |it: usize| it < registers;
        let mut is_whole = design.parameters.iter().all(|it| is_there(it.register));
        for State { block, .. } in &design.states {
            let is_node = |it: &Operand| match it {
                Operand::Node(at) => *at < block.nodes.len(),
                Operand::Constant(_) => true,
            };
            let begins = |it: &Node| match it.act {
                Act::Begin(register) => is_there(register),
                Act::Look(chip) | Act::Keep(chip) => chip < design.chips.len(),
                Act::Pop(channel) | Act::Push(channel) => channel < channels && it.guard.is_none(),
                Act::Load | Act::Store | Act::Compute(_) => true,
            };
            let operands = block.nodes.iter().flat_map(|it| it.operands.iter().chain(&it.guard));
            let mut operands = operands.chain(&block.test).chain(block.sets.iter().map(|it| &it.1));
            is_whole &= operands.all(is_node)
                && block.nodes.iter().all(begins)
                && block.sets.iter().all(|it| is_there(it.0));
        }
        if !is_whole {
            return Err("a kernel that names what is not there");
        }
        match (self.is_member, group) {
            (true, Some(group)) => group.members.push(Member { name, design }),
            (true, None) => return Err("no group has begun"),
            (false, _) => {
                self.module.kernels.insert(name, design);
            }
        }
        Ok(())
    }

    /// Groups are whole: channels have ends, and members stand for kernels.
    fn grouped(&self) -> Read<()> {
        for Group { channels, members } in &self.module.groups {
            let has_ends =
                |it: &Channel| it.from.member < members.len() && it.to.member < members.len();
            let is_kernel = |it: &Member| self.module.kernels.contains_key(&it.name);
            if !channels.iter().all(has_ends) || !members.iter().all(is_kernel) {
                return Err("a group that names what is not there");
            }
        }
        Ok(())
    }
}

fn of(word: &str) -> Read<Operand> {
    let read = match word.split_at_checked(1) {
        Some(("#", value)) => u64::from_str_radix(value, 16).ok().map(Operand::Constant),
        Some(("n", node)) => node.parse().ok().map(Operand::Node),
        Some(_) | None => None,
    };
    read.ok_or("an operand that cannot be read")
}

struct Words<'a>(std::str::SplitAsciiWhitespace<'a>);

impl<'a> Words<'a> {
    fn next(&mut self) -> Read<&'a str> {
        self.0.next().ok_or("the line ends early")
    }

    fn end(&mut self) -> Read<()> {
        if self.0.next().is_some() { Err("the line is too long") } else { Ok(()) }
    }

    fn after(&mut self, word: &str) -> Read<&mut Words<'a>> {
        if self.next()? == word { Ok(self) } else { Err("another word was expected") }
    }

    fn index(&mut self) -> Read<usize> {
        self.next()?.parse().map_err(|_| "a number was expected")
    }

    fn named(&mut self, word: &str) -> Read<u64> {
        let number = self.after(word)?.next()?.parse().map_err(|_| "a number was expected")?;
        if number > MOST { Err("a number that is too large") } else { Ok(number) }
    }

    fn channel_end(&mut self) -> Read<End> {
        let member = self.index()?;
        Ok(End { member, slot: self.after("slot")?.index()? })
    }

    fn number(&mut self) -> Read<Number> {
        let word = self.next()?;
        let (kind, bits) = word.split_at_checked(1).ok_or("a type was expected")?;
        let kind = match kind {
            "s" => NumberKind::Signed,
            "u" => NumberKind::Unsigned,
            "f" => NumberKind::Float,
            _ => return Err("a type was expected"),
        };
        match bits {
            "8" => Ok(Number { bits: 8, kind }),
            "16" => Ok(Number { bits: 16, kind }),
            "32" => Ok(Number { bits: 32, kind }),
            "64" => Ok(Number { bits: 64, kind }),
            _ => Err("a type was expected"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a[0] = a[0] * 2 + n`, where `n` is an argument.
    const TEXT: &str = "board ecp5 80\nkernel k loads 4 stores 2\nregister u64\nregister s32\n\
        slot 1 register 0\nslot 0 register 1\nonce interval 1 depth 9 next 1\n\
        node begin 0 of u64 gives u64 at 0 for 0 with\nnode begin 1 of s32 gives s32 at 0 for 0 with\n\
        node load of u64 gives s32 at 0 for 4 with n0\nnode mul of s32 gives s32 at 4 for 1 with n2 #2\n\
        node add of s32 gives s32 at 5 for 1 with n3 n1\nnode store of s32 gives s32 at 6 for 2 with n0 n4 if n1\n\
        set 1 n4\ntest n3\n";

    /// The second element of a memory on the chip gets 5, is looked at as the cycle begins, and a cycle later.
    const CHIP: &str = "board ecp5 80\nkernel k loads 4 stores 2\nregister s32\nregister s32\nchip s32 2\n\
        once interval 1 depth 4 next 1\nnode keep 0 of s32 gives s32 at 1 for 1 with #1 #5\n\
        node look 0 of s32 gives s32 at 1 for 2 with #1\nnode look 0 of s32 gives s32 at 2 for 2 with #1\nset 0 n1\nset 1 n2\n";

    #[test]
    fn memories_on_the_chip_are_read_before_they_are_written() {
        let module = read(CHIP).unwrap();
        assert_eq!(write(&module), CHIP);
        let design = &module.kernels["k"];
        let mut registers = vec![9, 9];
        let memory = &mut [0u8; 8];
        let cycles = crate::run::run(design, &mut registers, memory.as_mut_slice(), 100);
        assert_eq!((cycles, registers), (Ok(5), vec![0, 5]));
        let outside = read(&CHIP.replace(
            "with #1\nnode look 0 of s32 gives s32 at 2",
            "with #2\nnode look 0 of s32 gives s32 at 2",
        ))
        .unwrap();
        let found = crate::run::run(&outside.kernels["k"], &mut [0, 0], memory.as_mut_slice(), 100);
        assert_eq!(found, Err(crate::run::Fault::Element(2)));
        assert!(read(&CHIP.replace("keep 0", "keep 1")).is_err());
    }

    #[test]
    fn what_is_read_is_written_again_and_runs() {
        let module = read(TEXT).unwrap();
        assert_eq!(write(&module), TEXT);
        let design = &module.kernels["k"];
        let mut registers = design.begin(&[u64::MAX, 8]);
        assert_eq!(registers, [8, u64::from(u32::MAX)], "bits of its type");
        let mut memory = [0u8; 16];
        memory[8] = 21;
        let cycles = crate::run::run(design, &mut registers, memory.as_mut_slice(), 100);
        assert_eq!((cycles, memory[8], registers[1]), (Ok(10), 41, 41));
        let outside = crate::run::run(design, &mut [14, 1], memory.as_mut_slice(), 100);
        assert_eq!(outside, Err(crate::run::Fault::Read(14)));
        let long = crate::run::run(design, &mut [8, 1], memory.as_mut_slice(), 3);
        assert_eq!(long, Err(crate::run::Fault::Long));
    }

    /// Twice the elements of one array go into a channel, and out of it into another array.
    const ENDS: &str = "board ecp5 80\nkernel first loads 4 stores 2\nkernel second loads 4 stores 2\ngroup\n\
        channel t s32 depth DEPTH from 0 slot 1 to 1 slot 0\nmember first loads 4 stores 2\nregister u64\nregister s32\n\
        slot 0 register 0\nloop interval 1 depth 9 next 1\nnode begin 1 of s32 gives s32 at 0 for 0 with\n\
        node less of s32 gives s32 at 0 for 0 with n0 #ROUNDS\nnode add of s32 gives s32 at 0 for 1 with n0 #1\n\
        node begin 0 of u64 gives u64 at 0 for 0 with\nnode add of u64 gives u64 at 0 for 1 with n3 #4\n\
        node load of u64 gives s32 at 1 for 4 with n3\nnode add of s32 gives s32 at 5 for 1 with n5 n5\n\
        node push 0 of s32 gives s32 at 6 for 1 with n6\nset 0 n4\nset 1 n2\ntest n1\n\
        member second loads 4 stores 2\nregister u64\nregister s32\nslot 1 register 0\n\
        loop interval INTERVAL depth 6 next 1\nnode begin 1 of s32 gives s32 at 0 for 0 with\n\
        node less of s32 gives s32 at 0 for 0 with n0 #TAKES\nnode add of s32 gives s32 at 0 for 1 with n0 #1\n\
        node begin 0 of u64 gives u64 at 0 for 0 with\nnode add of u64 gives u64 at 0 for 1 with n3 #4\n\
        node pop 0 of s32 gives s32 at 0 for 2 with\nnode store of s32 gives s32 at 2 for 2 with n3 n5\n\
        set 0 n4\nset 1 n2\ntest n1\n";

    /// Runs both for 20 elements: the cycles, or what they wait for.
    fn ends(depth: u64, interval: u64, takes: u64) -> Result<u64, crate::run::Fault> {
        let text = ENDS
            .replace("DEPTH", &depth.to_string())
            .replace("ROUNDS", "14")
            .replace("INTERVAL", &interval.to_string())
            .replace("TAKES", &format!("{takes:x}"));
        let module = read(&text).unwrap();
        assert_eq!(write(&module), text);
        let group = &module.groups[0];
        let mut memory = [0u8; 168];
        for at in 0..20 {
            memory[4 * at] = u8::try_from(at).unwrap() + 1;
        }
        let begin = |it: &Member| it.design.begin(&[0, 80]);
        let registers: Vec<Vec<u64>> = group.members.iter().map(begin).collect();
        let cycles = crate::run::together(group, &registers, memory.as_mut_slice(), 1000)?;
        for at in 0..20 {
            assert_eq!(memory[80 + 4 * at], 2 * memory[4 * at], "element {at}");
        }
        Ok(cycles)
    }

    #[test]
    fn kernels_with_a_channel_run_at_the_same_time() {
        // The first value is put in in cycle 6 and taken out in cycle 7; the last store is 19 cycles later, and the kernel
        // ends 6 cycles after its last iteration has begun.
        assert_eq!(ends(16, 1, 20), Ok(7 + 19 + 6 + 1));
        // With one place a value goes through every other cycle.
        assert_eq!(ends(1, 1, 20), Ok(7 + 2 * 19 + 6 + 1));
        // Who takes values out sets the pace.
        assert_eq!(ends(16, 3, 20), Ok(7 + 3 * 19 + 6 + 1));
        assert_eq!(ends(2, 3, 20), Ok(7 + 3 * 19 + 6 + 1));
    }

    #[test]
    fn kernels_that_wait_for_each_other_are_told() {
        use crate::group::Waiting;
        use crate::run::Fault;
        let waiting = |member, is_full| vec![Waiting { member, channel: 0, is_full }];
        assert_eq!(ends(16, 1, 21), Err(Fault::Deadlock(waiting(1, false))));
        assert_eq!(ends(4, 1, 2), Err(Fault::Deadlock(waiting(0, true))));
    }

    #[test]
    fn groups_that_are_not_whole_are_refused() {
        let text = ENDS.replace("DEPTH", "4").replace("ROUNDS", "14");
        let text = text.replace("INTERVAL", "1").replace("TAKES", "14");
        assert!(read(&text).is_ok());
        let wrong = [("to 1", "to 2"), ("push 0", "push 1"), ("kernel second", "kernel third")];
        for (from, to) in [&wrong[..], &[("group\n", ""), ("with n6", "with n6 if n1")]].concat() {
            assert!(read(&text.replace(from, to)).is_err(), "{to}");
        }
        for end in 0..text.len() {
            // No panic, whatever is left.
            let _ = read(&text[..end]);
        }
    }

    #[test]
    fn texts_follow_each_other() {
        let both = format!("// one\n{TEXT}// two\n{}", TEXT.replace(" k ", " l "));
        assert_eq!(read(&both).unwrap().kernels.len(), 2);
    }

    #[test]
    fn what_is_cut_or_changed_is_refused() {
        for (from, to) in [("n3 n1", "n3 n9"), ("set 1", "set 2"), ("mul", "mull"), ("s32", "s31")]
        {
            assert!(read(&TEXT.replace(from, to)).is_err(), "{to}");
        }
        for end in 0..TEXT.len() {
            // No panic, whatever is left.
            let _ = read(&TEXT[..end]);
        }
    }
}
