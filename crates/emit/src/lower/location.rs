//! Where constructs stand, for compilers of the text and for messages of programs.

use ir::construct::Construct;
use ir::program::{FunctionId, RegionId, StmtId, Typed};
use source::Span;

use super::Lowering;
use super::kinds::directive_of;
use super::stub::{self, At};

impl Lowering<'_> {
    /// Tells the compiler where the text goes on.
    pub(super) fn marker(&self, base: u32, at: usize) -> String {
        let at = base.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
        let span = Span::new(at.saturating_sub(1), at);
        match (self.place)(span) {
            Some((file, line)) => format!("# {line} {}\n", stub::quoted(&file)),
            None => "\n".to_owned(),
        }
    }

    pub(super) fn at(&self, id: RegionId) -> At {
        let region = &self.program.regions[id];
        self.at_construct(&region.construct, region.body, region.function)
    }

    pub(super) fn at_construct(
        &self,
        construct: &Construct<Typed>,
        body: Option<StmtId>,
        function: FunctionId,
    ) -> At {
        let function = &self.program.functions[function];
        let location = self.locator.locate(construct.span);
        At {
            file: location.as_ref().map_or_else(String::new, |it| it.file.to_string()),
            function: self.program.names.text(function.name).to_owned(),
            line: location.as_ref().map_or(0, |it| it.line),
            column: location.as_ref().map_or(0, |it| it.column),
            directive: directive_of(construct),
            lines: [
                body.map_or(construct.span, |it| self.program.stmts[it].span).end,
                function.body.map_or(0, |it| self.program.stmts[it].span.start + 1),
                function.body.map_or(0, |it| self.program.stmts[it].span.end),
            ]
            .map(|end| self.line(end)),
        }
    }

    /// The line of the character before `end`; 0 if there is none.
    pub(super) fn line(&self, end: u32) -> u32 {
        let at = self.locator.locate(Span::new(end.saturating_sub(1), end));
        at.filter(|_| end > 0).map_or(0, |it| it.line)
    }
}
