//! The solver beside programs that are run: nothing may happen that it does not know of.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

const NODES: u32 = 6;
/// Sizes of the seen objects; none where offsets are not told apart.
const SIZES: [Option<u32>; 4] = [Some(8), Some(24), None, Some(16)];
/// The bytes of an object as it runs.
const BYTES: [u32; 4] = [8, 24, 24, 16];

fn object(index: u32) -> Object {
    Object(index % 4 + 2)
}

fn constraint() -> impl Strategy<Value = Constraint> {
    let node = || (0..NODES).prop_map(Node);
    let reason = Reason(0);
    prop_oneof![
        4 => (node(), 0..4_u32).prop_map(|(node, it)| Constraint::Address { node, object: object(it) }),
        1 => node().prop_map(move |node| Constraint::Unknown { node, reason }),
        2 => (node(), node()).prop_map(|(from, to)| Constraint::Copy { from, to }),
        2 => (node(), node(), prop::option::of(-1..4_i64)).prop_map(|(from, to, by)| {
            Constraint::Shift { from, to, by: by.map(|it| it * 8) }
        }),
        4 => (node(), node()).prop_map(|(from, to)| Constraint::Load { from, to, whole: false }),
        4 => (node(), node()).prop_map(|(value, to)| Constraint::Store { value, to, whole: false }),
        2 => (node(), node(), prop::option::of(1..4_u64)).prop_map(|(to, from, len)| {
            Constraint::Transfer { to, from, len: len.map(|it| it * 8) }
        }),
        1 => node().prop_map(move |node| Constraint::Taint { node, len: Some(8), reason }),
        1 => node().prop_map(move |node| Constraint::Escape { node, reason }),
        1 => node().prop_map(move |node| Constraint::Reveal { node, reason }),
    ]
}

fn graph(constraints: &[Constraint], asserted: usize) -> Graph {
    let mut graph = Graph::default();
    for index in 0..NODES as usize {
        graph.node(index == asserted);
    }
    for size in SIZES {
        graph.object(ObjectFacts { size, ..ObjectFacts::default() });
    }
    constraints.iter().for_each(|it| graph.add(it.clone()));
    graph
}

/// A value as the program runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Pointer {
    Null,
    Host,
    Into(Object, u32),
}

/// A run: values of nodes, memory, and objects that are known outside.
struct Run {
    nodes: Vec<Pointer>,
    memory: BTreeMap<(Object, u32), Pointer>,
    known: BTreeSet<Object>,
}

impl Run {
    fn get(&self, node: Node) -> Pointer {
        self.nodes[node.0 as usize]
    }

    fn reveal(&mut self, pointer: Pointer) {
        if let Pointer::Into(object, _) = pointer {
            self.known.insert(object);
        }
    }

    /// Anything that somebody outside may come up with.
    fn guess(&self, chance: usize) -> Pointer {
        let known: Vec<Object> = self.known.iter().copied().collect();
        match chance % (known.len() + 1) {
            0 => Pointer::Host,
            it => Pointer::Into(known[it - 1], 0),
        }
    }

    fn read(&self, object: Object, offset: u32) -> Option<Pointer> {
        let fits = offset + 8 <= BYTES[object.0 as usize - 2];
        fits.then(|| self.memory.get(&(object, offset)).copied().unwrap_or(Pointer::Null))
    }

    fn write(&mut self, object: Object, offset: u32, value: Pointer) {
        if offset + 8 <= BYTES[object.0 as usize - 2] {
            self.memory.insert((object, offset), value);
        }
    }

    fn step(&mut self, constraint: &Constraint, chance: usize, asserted: usize) {
        let set = |this: &mut Run, node: Node, value: Pointer| {
            // By the user's word this is no address of the host.
            if !(node.0 as usize == asserted && value == Pointer::Host) {
                this.nodes[node.0 as usize] = value;
            }
        };
        match constraint {
            Constraint::Address { node, object } => set(self, *node, Pointer::Into(*object, 0)),
            Constraint::Unknown { node, .. } => set(self, *node, self.guess(chance)),
            Constraint::Copy { from, to } => set(self, *to, self.get(*from)),
            Constraint::Shift { from, to, by } => match self.get(*from) {
                Pointer::Into(object, offset) => {
                    let by = by.unwrap_or((chance % 5) as i64 * 8 - 16);
                    let moved = i64::from(offset) + by;
                    if (0..=i64::from(BYTES[object.0 as usize - 2])).contains(&moved) {
                        set(self, *to, Pointer::Into(object, moved as u32));
                    }
                }
                other => set(self, *to, other),
            },
            Constraint::Load { from, to, .. } => match self.get(*from) {
                Pointer::Null => {}
                Pointer::Host => set(self, *to, self.guess(chance)),
                Pointer::Into(object, offset) => {
                    if let Some(value) = self.read(object, offset) {
                        set(self, *to, value);
                    }
                }
            },
            Constraint::Store { value, to, .. } => match self.get(*to) {
                Pointer::Null => {}
                Pointer::Host => self.reveal(self.get(*value)),
                Pointer::Into(object, offset) => self.write(object, offset, self.get(*value)),
            },
            Constraint::Transfer { to, from, len } => {
                let len = len.unwrap_or(8 * (chance as u64 % 4)) as u32;
                for part in (0..len).step_by(8) {
                    let value = match self.get(*from) {
                        Pointer::Null => continue,
                        Pointer::Host => self.guess(chance),
                        Pointer::Into(object, offset) => match self.read(object, offset + part) {
                            Some(value) => value,
                            None => continue,
                        },
                    };
                    match self.get(*to) {
                        Pointer::Null => {}
                        Pointer::Host => self.reveal(value),
                        Pointer::Into(object, offset) => self.write(object, offset + part, value),
                    }
                }
            }
            Constraint::Taint { node, .. } => {
                if let Pointer::Into(object, offset) = self.get(*node) {
                    self.write(object, offset, self.guess(chance));
                }
            }
            Constraint::Escape { node, .. } => self.reveal(self.get(*node)),
            Constraint::Reveal { node, .. } => {
                if let Pointer::Into(object, offset) = self.get(*node)
                    && let Some(value) = self.read(object, offset)
                {
                    self.reveal(value);
                }
            }
            Constraint::Low { .. } | Constraint::Call { .. } => {}
        }
        // The outside reads and writes what it knows.
        let known: Vec<Object> = self.known.iter().copied().collect();
        for object in known {
            for offset in (0..BYTES[object.0 as usize - 2]).step_by(8) {
                if let Some(value) = self.read(object, offset) {
                    self.reveal(value);
                }
                if chance.is_multiple_of(7) {
                    self.write(object, offset, self.guess(chance / 7));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn nothing_happens_that_the_solver_does_not_know(
        constraints in prop::collection::vec(constraint(), 1..14),
        asserted in 0..20_usize,
        schedule in prop::collection::vec((0..14_usize, 0..1000_usize), 1..80),
    ) {
        let solution = solve(&graph(&constraints, asserted));
        let mut run = Run {
            nodes: vec![Pointer::Null; NODES as usize],
            memory: BTreeMap::new(),
            known: BTreeSet::new(),
        };
        for (index, chance) in schedule {
            run.step(&constraints[index % constraints.len()], chance, asserted);
            for object in &run.known {
                prop_assert!(solution.is_escaped(*object), "{object:?} is known outside");
            }
            for index in 0..NODES {
                let node = Node(index);
                let places: Vec<Place> = solution.places(node).collect();
                match run.get(node) {
                    Pointer::Null => {}
                    Pointer::Host => prop_assert!(!solution.is_device(node), "{node:?} is of the host"),
                    Pointer::Into(object, offset) => {
                        let is_seen = places.iter().any(|it| {
                            it.object == object
                                && (it.offset == Offset::Any || it.offset == Offset::At(offset))
                        });
                        let is_unseen = solution.is_escaped(object)
                            && places.iter().any(|it| it.object == HOST || it.object == LOW);
                        prop_assert!(is_seen || is_unseen, "{node:?} is {object:?} + {offset}: {places:?}");
                    }
                }
            }
        }
    }
}

fn solution_of(objects: &[ObjectFacts], nodes: u32, constraints: &[Constraint]) -> Solution {
    let mut graph = Graph::default();
    (0..nodes).for_each(|_| {
        graph.node(false);
    });
    objects.iter().for_each(|it| {
        graph.object(it.clone());
    });
    constraints.iter().for_each(|it| graph.add(it.clone()));
    solve(&graph)
}

#[test]
fn fields_of_small_objects_are_told_apart() {
    let pair = ObjectFacts { size: Some(16), ..ObjectFacts::default() };
    let [address, second, host, near, first_read, second_read] = [0, 1, 2, 3, 4, 5].map(Node);
    let found = solution_of(
        &[pair.clone(), pair],
        6,
        &[
            Constraint::Address { node: address, object: Object(2) },
            Constraint::Shift { from: address, to: second, by: Some(8) },
            Constraint::Unknown { node: host, reason: Reason(7) },
            Constraint::Address { node: near, object: Object(3) },
            Constraint::Store { value: host, to: address, whole: false },
            Constraint::Store { value: near, to: second, whole: false },
            Constraint::Load { from: address, to: first_read, whole: false },
            Constraint::Load { from: second, to: second_read, whole: false },
        ],
    );
    assert!(!found.is_device(first_read));
    assert_eq!(found.reason(first_read), Some(Reason(7)));
    assert!(found.is_device(second_read));
}

#[test]
fn what_escapes_may_hold_anything() {
    let [address, read] = [0, 1].map(Node);
    let found = solution_of(
        &[ObjectFacts::default()],
        2,
        &[
            Constraint::Address { node: address, object: Object(2) },
            Constraint::Escape { node: address, reason: Reason(0) },
            Constraint::Load { from: address, to: read, whole: false },
        ],
    );
    assert!(found.is_device(address) && !found.is_device(read));
}

#[test]
fn calls_reach_functions_of_their_shape_only() {
    let function = |shape, parameter: u32| ObjectFacts {
        function: Some(Function {
            shape,
            parameters: vec![Some(Node(parameter))],
            ..Function::default()
        }),
        ..ObjectFacts::default()
    };
    let [callee, host, one, other] = [0, 1, 2, 3].map(Node);
    let found = solution_of(
        &[function(0, 2), function(1, 3)],
        4,
        &[
            Constraint::Address { node: callee, object: Object(2) },
            Constraint::Address { node: callee, object: Object(3) },
            Constraint::Unknown { node: host, reason: Reason(0) },
            Constraint::Call { callee, shape: 0, arguments: vec![Some(host)], result: None },
        ],
    );
    assert!(!found.is_device(one) && found.is_device(other));
}
