//! Constructs that move data or tie its life to a device: begin, end and update calls; mappers and
//! requirements.

use abi::MapType;
use directive::HOST_DIALECT;
use ir::construct::{Clause, ClauseKind, Leaf, OnAbsent, Requirement, UseDevice};
use ir::program::{DeviceVar, ExprKind, Program, RegionId, StmtId, Typed, VarId, VarStorage};
use ir::walk::Part;

use super::entries::{self, Entries, Entry};
use super::frame::Row;
use super::queue::Order;
use super::stub::{self, At};
use super::unknown::lone;
use super::{Kind, Lowering, kind};
use crate::c::{Out, Printer, Setting};

impl Lowering<'_> {
    /// A call that stands alone.
    pub(super) fn data_call(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let at = self.at(id);
        self.state.borrow_mut().is_framed = true;
        let entries = entries::of_data(printer, &self.mappers, region);
        let call = if region.construct.has(Leaf::EnterData) {
            abi::names::DATA_BEGIN
        } else if region.construct.has(Leaf::ExitData) {
            abi::names::DATA_END
        } else {
            abi::names::DATA_UPDATE
        };
        let order = self.order(printer, id);
        out.beside(region.span);
        out.line("{");
        out.indented(|out| {
            self.said_before(region.construct.span, out);
            self.location(out, &at);
            let device = stub::device(printer, &region.construct.clauses, self.device_words());
            let device = order.open(printer, device, out);
            let tables = self.tables(out, &entries, &at, region.span);
            let text = self.data_call_text(call, &device, &tables, &at);
            order.call(printer, &text, out);
        });
        out.line("}");
    }

    /// Begin, body, end.
    pub(super) fn data_region(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let at = self.at(id);
        let mut entries = entries::of_data(printer, &self.mappers, region);
        let seen = self.device_names(printer, id, &mut entries);
        let order = self.order(printer, id).in_place();
        let end = self.open_data(printer, id, &order, &entries, &at, out);
        self.body(printer, id, &seen, out);
        self.close_data(printer, id, &order, &end, out);
    }

    /// A data region whose body can stay as it is: what comes before it and what after it. None if
    /// host code in the body sees device addresses.
    pub(super) fn data_around(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
    ) -> Option<(String, String)> {
        let region = &self.program.regions[id];
        region.body?;
        let changes_names = |it: &Clause<Typed>| matches!(it.kind, ClauseKind::UseDevice(..));
        if kind(&region.construct) != Kind::DataRegion
            || region.construct.clauses.iter().any(changes_names)
        {
            return None;
        }
        let at = self.at(id);
        let entries = entries::of_data(printer, &self.mappers, region);
        let order = self.order(printer, id).in_place();
        let mut before = Out::placed(self.place);
        let end = self.open_data(printer, id, &order, &entries, &at, &mut before);
        let mut after = Out::placed(self.place);
        self.close_data(printer, id, &order, &end, &mut after);
        Some((before.into_text(), after.into_text()))
    }

    /// Opens a block, with the tables and the call that begins the life of the data; answers the call
    /// that ends it.
    fn open_data(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        order: &Order<'_>,
        entries: &Entries,
        at: &At,
        out: &mut Out<'_>,
    ) -> String {
        let region = &self.program.regions[id];
        self.state.borrow_mut().is_framed = true;
        out.beside(region.span);
        out.line("{");
        let mut end = String::new();
        out.indented(|out| {
            self.said_before(region.construct.span, out);
            self.location(out, at);
            let device = stub::device(printer, &region.construct.clauses, self.device_words());
            let device = order.open(printer, device, out);
            if device != "__fv" {
                out.line(&format!("const __ferry_i64 __fv = {device};"));
            }
            let tables = self.tables(out, entries, at, region.span);
            end = self.data_call_text(abi::names::DATA_END, "__fv", &tables, at);
            let call = self.data_call_text(abi::names::DATA_BEGIN, "__fv", &tables, at);
            order.call(printer, &call, out);
            if let Some(group) = self.task_group(id) {
                out.raw(&group);
                out.line("{");
            }
        });
        end
    }

    /// The directive that makes the end of a data region wait for the tasks begun in it, if there may be
    /// any: before the last revision of the standard they could outlive their data.
    fn task_group(&self, id: RegionId) -> Option<String> {
        let region = &self.program.regions[id];
        let construct = &region.construct;
        let is_apart = construct.clauses.iter().any(|it| {
            self.is_said(it, |kind| match kind {
                ClauseKind::Nogroup(condition) => Some(*condition),
                _ => None,
            })
        });
        let has_group = construct.has(Leaf::DataRegion)
            && construct.dialect == HOST_DIALECT
            && !is_apart
            && region.body.is_some_and(|it| begins_tasks(self.program, it));
        has_group.then(|| self.pragma(&lone(Leaf::Taskgroup, Vec::new(), region.span))).flatten()
    }

    fn close_data(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        order: &Order<'_>,
        end: &str,
        out: &mut Out<'_>,
    ) {
        out.beside(self.program.regions[id].span);
        if self.task_group(id).is_some() {
            out.indented(|out| out.line("}"));
        }
        out.indented(|out| order.call(printer, end, out));
        out.line("}");
    }

    /// The body of a data region, where some variables stand for their device versions.
    fn body(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        seen: &[(VarId, usize, bool)],
        out: &mut Out<'_>,
    ) {
        let Some(body) = self.program.regions[id].body else { return };
        if seen.is_empty() {
            return printer.stmt(body, out);
        }
        let mut inner = printer.clone();
        out.line("{");
        out.indented(|out| {
            for (var, index, is_pointer) in seen {
                let ty = self.program.vars[*var].ty;
                let name = format!("__d{}", var.index());
                let declared = match is_pointer {
                    true => printer.declare(ty.plain(), &name),
                    false => printer.declare(ty, &format!("(*{name})")),
                };
                out.line(&match self.standalone {
                    true => format!("{declared} = __ferry_items[{index}].base;"),
                    false => format!("{declared} = __fb[{index}];"),
                });
                inner.substitute(*var, if *is_pointer { name } else { format!("(*{name})") });
            }
            inner.stmt(body, out);
        });
        out.line("}");
    }

    /// Adds to the entries what host code in the body sees as device addresses: variable, position
    /// of its entry, whether it is the pointer's value that changes.
    fn device_names(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        entries: &mut Entries,
    ) -> Vec<(VarId, usize, bool)> {
        let mut seen = Vec::new();
        let construct = &self.program.regions[id].construct;
        let mut bits = MapType::RETURN_PARAM | MapType::UNCOUNTED;
        if construct.rules.on_absent == OnAbsent::Error {
            bits |= MapType::PRESENT;
        }
        for clause in &construct.clauses {
            let ClauseKind::UseDevice(how, items) = &clause.kind else { continue };
            for item in items {
                let place = super::place::of(printer, *item);
                let Some(var) = place.root else { continue };
                let is_plain = matches!(self.program.exprs[*item].kind, ExprKind::Var(_));
                let is_pointer = self.program.types.is_pointer(self.program.vars[var].ty);
                let by_value = match how {
                    UseDevice::Pointer => true,
                    UseDevice::Address => is_pointer && !is_plain,
                    UseDevice::ByType => is_pointer,
                };
                let name = printer.var_name(var);
                let address = match by_value {
                    true => format!("(void *)({name})"),
                    false => format!("(void *)&{name}"),
                };
                let at = entries.list.len();
                entries.list.push(Entry {
                    base: address.clone(),
                    begin: address,
                    size: "0".to_owned(),
                    bits,
                    parent: None,
                    name,
                    mapper: None,
                    repeats: Vec::new(),
                    strided: None,
                });
                seen.push((var, at, by_value));
            }
        }
        seen
    }

    /// What the unit requires of devices, and its variables that exist on them.
    pub(super) fn requirements(&self) {
        let mut bits = 0;
        let mut is_said = false;
        for declaration in &self.program.declarations {
            if !declaration.construct.has(Leaf::Requires) {
                continue;
            }
            is_said = true;
            self.check_requirements(&declaration.construct);
            for clause in &declaration.construct.clauses {
                bits |= match clause.kind {
                    ClauseKind::Require(what, _) => requirement(what),
                    _ => 0,
                };
            }
        }
        let printer = self.printer(Setting::Appended);
        let kernels = self.state.borrow().kernels.clone();
        let rooms = self.room_rows(&kernels);
        let mut state = self.state.borrow_mut();
        state.rows.extend(self.indirect_rows());
        state.rows.extend(rooms);
        if is_said {
            let data = if bits == 0 { abi::requires::NONE } else { bits };
            state.rows.push(Row {
                address: "0".to_owned(),
                name: String::new(),
                size: "0".to_owned(),
                flags: abi::entry::REQUIRES,
                data,
            });
        }
        for (id, var) in self.program.vars.iter() {
            let (Some(name), Some(device)) = (var.name, var.device) else { continue };
            let name = self.program.names.text(name);
            let is_defined = match var.storage {
                VarStorage::Global | VarStorage::Static => true,
                VarStorage::Extern
                | VarStorage::LocalStatic(_)
                | VarStorage::Param(_)
                | VarStorage::Local(_) => false,
            };
            match device {
                DeviceVar::Enter | DeviceVar::Local | DeviceVar::Resident if is_defined => {
                    state.rows.push(Row {
                        address: format!("&{name}"),
                        name: self.symbol(id),
                        size: format!("sizeof({name})"),
                        flags: abi::entry::ORDINARY,
                        data: 0,
                    });
                }
                DeviceVar::Enter | DeviceVar::Local | DeviceVar::Resident => {}
                DeviceVar::Link => {
                    let pointer = entries::link_pointer(&printer, id);
                    let words = match var.storage == VarStorage::Static {
                        true => "static",
                        false => "__attribute__((weak, visibility(\"hidden\")))",
                    };
                    state.declarations.push(format!("{words} void *{pointer};\n"));
                    state.functions.push(format!("{words} void *{pointer} = (void *)&{name};\n"));
                    state.rows.push(Row {
                        address: format!("&{pointer}"),
                        size: format!("sizeof({pointer})"),
                        name: self.link_pointer(id),
                        flags: abi::entry::LINK,
                        data: 0,
                    });
                }
            }
        }
    }
}

/// Whether a statement may begin tasks that it does not wait for.
fn begins_tasks(program: &Program, stmt: StmtId) -> bool {
    let mut open = vec![Part::Stmt(stmt)];
    while let Some(part) = open.pop() {
        let begins = match part {
            Part::Region(id) => {
                let construct = &program.regions[id].construct;
                let is_task = |it: &Leaf| matches!(it, Leaf::Task | Leaf::Taskloop);
                construct.leaves.iter().any(is_task)
                    || construct.kinds().any(|it| matches!(it, ClauseKind::Nowait(_)))
            }
            Part::Expr(id) => matches!(program.exprs[id].kind, ExprKind::Call(..)),
            Part::Stmt(_) | Part::Local(_) | Part::Init(_) => false,
        };
        if begins {
            return true;
        }
        program.parts(part, &mut |it| open.push(it));
    }
    false
}

fn requirement(what: Requirement) -> u32 {
    match what {
        Requirement::ReverseOffload => abi::requires::REVERSE_OFFLOAD,
        Requirement::UnifiedAddress => abi::requires::UNIFIED_ADDRESS,
        // Maps that share storage need memory that is shared.
        Requirement::UnifiedSharedMemory | Requirement::SelfMaps => {
            abi::requires::UNIFIED_SHARED_MEMORY
        }
        Requirement::DynamicAllocators => abi::requires::DYNAMIC_ALLOCATORS,
        Requirement::DeviceSafesync | Requirement::Safesync => 0,
    }
}
