//! Loops as text.

use super::{Code, Made, Maker, Nest};
use crate::c::Out;

impl Maker<'_, '_> {
    /// A nest, with a pragma in front of its loops and lines behind them.
    pub(super) fn put(
        &self,
        nest: &Nest,
        pragma: Option<String>,
        after: &[String],
        out: &mut Out<'_>,
    ) {
        out.line("{");
        out.indented(|out| {
            for it in &nest.prelude {
                if it.line.starts_with('#') { out.raw(&it.line) } else { out.line(&it.line) }
            }
            match pragma {
                Some(pragma) => {
                    out.raw(&pragma);
                    self.tight(nest, out);
                }
                None => self.loose(&nest.loops, &nest.body, out),
            }
            after.iter().for_each(|it| out.line(it));
        });
        out.line("}");
    }

    /// Loops with nothing between them, as a pragma asks for.
    fn tight(&self, nest: &Nest, out: &mut Out<'_>) {
        nest.loops.iter().for_each(|it| put_head(it, out));
        out.line("{");
        out.indented(|out| {
            nest.loops.iter().flat_map(|it| &it.before).for_each(|it| out.line(it));
            let checks: Vec<&str> =
                nest.loops.iter().filter_map(|it| it.check.as_deref()).collect();
            if !checks.is_empty() {
                out.line(&format!("if ({})", checks.join(" && ")));
            }
            self.block(&nest.body, out);
        });
        out.line("}");
    }

    /// Loops whose bounds may use what an outer one computes.
    fn loose(&self, loops: &[Made], body: &Code, out: &mut Out<'_>) {
        let Some((first, rest)) = loops.split_first() else { return self.block(body, out) };
        put_head(first, out);
        out.line("{");
        out.indented(|out| {
            first.before.iter().for_each(|it| out.line(it));
            if let Some(check) = &first.check {
                out.line(&format!("if ({check})"));
            }
            self.loose(rest, body, out);
        });
        out.line("}");
    }

    pub(super) fn block(&self, code: &Code, out: &mut Out<'_>) {
        out.line("{");
        out.indented(|out| self.code(code, out));
        out.line("}");
    }

    fn code(&self, code: &Code, out: &mut Out<'_>) {
        match code {
            Code::Stmt(stmt) => {
                self.inside.stmt(*stmt, out);
                out.beside(self.lowering.program.stmts[*stmt].span);
            }
            Code::Line(line) => out.line(line),
            Code::Nest(nest) => self.put(nest, None, &[], out),
            Code::Seq(list) => list.iter().for_each(|it| self.code(it, out)),
            Code::If(condition, code) => {
                out.line(&format!("if ({condition})"));
                self.block(code, out);
            }
            Code::Once(code) => {
                out.line("do");
                self.block(code, out);
                out.line("while (0);");
            }
        }
    }
}

fn put_head(made: &Made, out: &mut Out<'_>) {
    let Made { counter, begin, end, step, .. } = made;
    if let Some(times) = made.unroll {
        out.raw(&format!("#pragma GCC unroll {times}"));
    }
    out.line(&format!(
        "for (unsigned long {counter} = {begin}; {counter} < {end}; {counter} += {step})"
    ));
}
