//! What functions do with data that their parameters point to.
//!
//! In: what [`super::uses`] sees of parameters, one access at a time, and which of them are handed
//! on. Out: the [`Pointee`] of each parameter, with all that its functions hand it to. Of a function
//! without a body only the type is known.

use ir::program::{FunctionId, Program, VarId};
use ir::region::Pointee;
use ir::types::TypeKind;
use rustc_hash::FxHashMap;

use super::walk::{self, Beyond};

/// A parameter: its function and position.
pub(super) type Parameter = (FunctionId, u32);

/// What is known of all parameters.
#[derive(Debug, Default)]
pub(super) struct Pointees {
    known: FxHashMap<Parameter, Pointee>,
    /// To whom parameters are handed on, in the order of the text.
    handed: Vec<(Parameter, Parameter)>,
}

impl Pointees {
    /// A function does something with a variable of its own.
    pub(super) fn note(
        &mut self,
        program: &Program,
        function: FunctionId,
        var: VarId,
        beyond: Beyond,
    ) {
        let params = &program.functions[function].params;
        let Some(at) = (0u32..).zip(params).find(|it| *it.1 == var).map(|it| it.0) else { return };
        let known = self.known.entry((function, at)).or_default();
        *known = known.and(beyond.pointee);
        self.handed.extend(beyond.handed.map(|it| ((function, at), it)));
    }

    /// Carries what is done to those who hand on.
    pub(super) fn settle(&mut self, program: &Program) {
        let mut givers: FxHashMap<Parameter, Vec<Parameter>> = FxHashMap::default();
        let mut open = Vec::new();
        for &(giver, taker) in &self.handed {
            givers.entry(taker).or_default().push(giver);
            open.push(taker);
        }
        while let Some(taker) = open.pop() {
            let done = self.of(program, taker);
            for giver in givers.get(&taker).into_iter().flatten() {
                let known = self.known.entry(*giver).or_default();
                let more = known.and(done);
                if more != *known {
                    *known = more;
                    open.push(*giver);
                }
            }
        }
    }

    /// What becomes of data that is handed to a parameter.
    pub(super) fn of(&self, program: &Program, (id, at): Parameter) -> Pointee {
        let function = &program.functions[id];
        let anything = Pointee { escapes: true, ..Pointee::UNTOUCHED };
        if function.body.is_some() && (at as usize) < function.params.len() {
            return self.known.get(&(id, at)).copied().unwrap_or_default();
        }
        let TypeKind::Function(ty) = program.types.shape(function.ty) else { return anything };
        let Some(&param) = ty.params.get(at as usize) else { return anything };
        match program.types.shape(param) {
            TypeKind::Pointer(to) => walk::behind(program, *to),
            _ => anything,
        }
    }
}
