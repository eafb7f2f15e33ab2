//! What becomes of a construct in the host's text.

use ir::construct::{Construct, Leaf};
use ir::program::Typed;

use super::known;

/// What is done with a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Its body becomes a kernel.
    Offload,
    /// Data lives on the device during its body.
    DataRegion,
    /// A call that moves data or ties its life.
    DataCall,
    /// Its body chooses the construct while it runs.
    Choice,
    /// A call that may be replaced.
    Dispatch,
    /// The host's compiler does it.
    Host,
}

pub(super) fn kind(construct: &Construct<Typed>) -> Kind {
    let first = construct.leaves.first();
    match first {
        Some(Leaf::Offload | Leaf::Kernels) => Kind::Offload,
        Some(Leaf::DataRegion | Leaf::HostData) => Kind::DataRegion,
        Some(Leaf::EnterData | Leaf::ExitData | Leaf::Update) => Kind::DataCall,
        Some(Leaf::Metadirective | Leaf::BeginMetadirective) => Kind::Choice,
        Some(Leaf::Dispatch) => Kind::Dispatch,
        _ => Kind::Host,
    }
}

/// What tools are told that a construct is.
pub(super) fn directive_of(construct: &Construct<Typed>) -> abi::call::Directive {
    use abi::call::Directive;
    match construct.leaves.first() {
        Some(Leaf::Kernels) => Directive::Kernels,
        Some(Leaf::Offload) if construct.leaves.len() == 1 => Directive::Serial,
        Some(Leaf::DataRegion) => Directive::Data,
        Some(Leaf::HostData) => Directive::HostData,
        Some(Leaf::EnterData) => Directive::EnterData,
        Some(Leaf::ExitData) => Directive::ExitData,
        Some(Leaf::Update) => Directive::Update,
        Some(Leaf::Declare) => Directive::Declare,
        Some(Leaf::Init) => Directive::Init,
        Some(Leaf::Shutdown) => Directive::Shutdown,
        Some(Leaf::Set) => Directive::Set,
        Some(Leaf::Wait) => Directive::Wait,
        _ => Directive::Parallel,
    }
}

/// Whether the host's compiler gets the directive as it stands.
pub(super) fn is_for_host_compiler(construct: &Construct<Typed>) -> bool {
    kind(construct) == Kind::Host && known::by_host(construct)
}

/// Declarations that the runtime, the kernels or nobody needs to hear of in the host's text.
pub(super) fn is_taken_out(construct: &Construct<Typed>) -> bool {
    construct.leaves.iter().any(|it| {
        matches!(
            it,
            Leaf::DeclareTarget
                | Leaf::BeginDeclareTarget
                | Leaf::EndDeclareTarget
                | Leaf::Declare
                | Leaf::DeclareMapper
                | Leaf::DeclareVariant
                | Leaf::BeginDeclareVariant
                | Leaf::Requires
                // What holds is for compilers that can use it; ours of the host cannot be told.
                | Leaf::Assumes
                | Leaf::BeginAssumes
                | Leaf::EndAssumes
                | Leaf::Groupprivate
                | Leaf::Routine
                // The same macro again for another preprocessor.
                | Leaf::Define
        )
    })
}
