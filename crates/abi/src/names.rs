//! Names that generated code spells and the runtime or the linker answers.

/// Section of the [`crate::Entry`] rows; the linker gives it begin and end. Not LLVM's: objects of
/// clang in the same binary have images that know nothing of our kernels.
pub const ENTRY_SECTION: &str = "ferry_offload_entries";
/// First row of a binary's table.
pub const ENTRIES_START: &str = "__start_ferry_offload_entries";
/// One past its last row.
pub const ENTRIES_STOP: &str = "__stop_ferry_offload_entries";

/// Weak and hidden: the images of a binary, made when it is linked.
pub const IMAGES: &str = "__ferry_images";
/// Weak and hidden: how many they are.
pub const IMAGE_COUNT: &str = "__ferry_images_count";
/// Section of an object file with its device objects, each in a [`crate::image::Container`]. Linkers
/// leave it out of programs.
pub const DEVICE_SECTION: &str = ".ferry.device";
/// Section of a program or shared library with its images, likewise.
pub const IMAGE_SECTION: &str = ".ferry.images";
/// What the name of every kernel begins with.
pub const KERNEL_PREFIX: &str = "__ferry_k_";
/// What people call the region of a kernel of ours: `main:8` for `__ferry_k_0123456789abcdef_main_l8`, `main:8 (2)` for the
/// second one of that line. Other names are left as they are.
pub fn region_of(kernel: &str) -> String {
    let read = || {
        let (_, place) = kernel.strip_prefix(KERNEL_PREFIX)?.split_once('_')?;
        let (function, line) = place.rsplit_once("_l")?;
        let (line, number) =
            line.split_once('_').map_or((line, None), |(it, more)| (it, Some(more)));
        line.parse::<u32>().ok()?;
        Some(match number {
            None => format!("{function}:{line}"),
            Some(number) => format!("{function}:{line} ({})", number.parse::<u32>().ok()?),
        })
    };
    read().unwrap_or_else(|| kernel.to_owned())
}
/// What the name of a kernel begins with that tells where a variable of its image lies.
pub const ASKS_PREFIX: &str = "__ferry_at_";
/// The kernel that tells how much memory the variables of its image need.
pub const VARIABLES_SIZE: &str = "__ferry_vars_size";
/// The kernel that gives them their first values.
pub const VARIABLES_INIT: &str = "__ferry_vars_init";
/// What such a kernel is called in an image of several files: the number of a file is behind its name.
pub fn of_file(kernel: &str, file: &str) -> String {
    format!("{kernel}_{file}")
}
/// What the name of an `int` begins with that holds the number of the device its image is loaded to. Behind
/// it stands what stands in the names of the file's kernels too.
pub const DEVICE_NUMBER: &str = "__ferry_device_";
/// What the name of a word begins with that holds the address of the device's mailbox ([`crate::mailbox`]); behind it stands
/// the same.
pub const MAILBOX: &str = "__ferry_mailbox_";
/// What the name of a word begins with that says what fault a kernel of a grid has found in itself; behind it stands the
/// same.
pub const FAULT: &str = "__ferry_fault";
/// In that word: a call through a pointer that leads to no function of the device.
pub const FAULT_FUNCTION: u64 = 2;
/// In that word: no memory was left for an array whose length is computed.
pub const FAULT_MEMORY: u64 = 3;
/// In that word: `abort` was called.
pub const FAULT_ABORT: u64 = 4;
/// In that word: what was asserted does not hold.
pub const FAULT_ASSERT: u64 = 5;
/// In that word: a directive `error` was reached.
pub const FAULT_ERROR: u64 = 6;
/// What the name of the pointer to a `link` variable ends with, on both sides.
pub const LINK_SUFFIX: &str = "_decl_tgt_ref_ptr";

/// `void (const BinaryDescriptor *)`
pub const REGISTER: &str = "__tgt_register_lib";
/// `void (const BinaryDescriptor *)`
pub const UNREGISTER: &str = "__tgt_unregister_lib";
/// `int (Ident *, int64_t device, int32_t teams, int32_t limit, void *region, KernelArgs *)`
pub const KERNEL: &str = "__tgt_target_kernel";
/// `void (Ident *, int64_t device, void *region, KernelArgs *, const Split *)`: a region whose iterations host and devices
/// share.
pub const COEXECUTE: &str = "__ferry_coexecute";
/// `void (Ident *, int64_t device, int32_t count, void **bases, void **begins, int64_t *sizes,
/// int64_t *types, void **names, void **mappers)`
pub const DATA_BEGIN: &str = "__tgt_target_data_begin_mapper";
/// As [`DATA_BEGIN`].
pub const DATA_END: &str = "__tgt_target_data_end_mapper";
/// As [`DATA_BEGIN`].
pub const DATA_UPDATE: &str = "__tgt_target_data_update_mapper";
/// `void (Ident *, int32_t thread, void **object, int32_t kind, int32_t device, int32_t count,
/// void *dependences, int32_t nowait)`
pub const INTEROP_INIT: &str = "__tgt_interop_init";
/// As [`INTEROP_INIT`], without a kind.
pub const INTEROP_USE: &str = "__tgt_interop_use";
/// As [`INTEROP_USE`].
pub const INTEROP_DESTROY: &str = "__tgt_interop_destroy";
/// `void (void *handle, void *base, void *begin, int64_t size, int64_t type, void *name)`
pub const PUSH_COMPONENT: &str = "__tgt_push_mapper_component";
/// `int64_t (void *handle)`
pub const COMPONENT_COUNT: &str = "__tgt_mapper_num_components";
/// `int (int64_t device, int axis, const char *word)`: whether a device has a trait, when it is known
/// only at run time which device is meant. The axis is a [`crate::TraitAxis`].
pub const DEVICE_IS: &str = "__ferry_device_is";
/// `void *(const void *)`: where the default device has what lies there; the argument itself if it has
/// not.
pub const DEVICE_POINTER: &str = "__ferry_device_pointer";
/// `void *(void *host, void *first, const void *fresh, size_t size)`: which copy of a variable the calling
/// code has, of which every device has one: the host's, that of the first device, or one that begins as
/// `void *(const struct __ferry_kind *, void **slot)`: the calling thread's own of a variable with a memory kind. It is kept in the
/// slot, which is the thread's.
pub const INSTANCE: &str = "__ferry_instance";
/// The structure that describes such a variable: where its first value lies, size, alignment, kind, name, the name of the
/// data that persist, file, line, and whether what it points to lives there.
pub const KIND_STRUCT: &str = "struct __ferry_kind { const void *origin; unsigned long size, align; \
    const char *kind, *name, *file; unsigned int line, is_reference; };\n";
/// `fresh`.
pub const LOCAL_COPY: &str = "__ferry_local_copy";
/// `void (const Ident *, int64_t device, int64_t queue)`: until [`QUEUE_END`] the offload calls of this
/// thread are put into a queue instead of being made.
pub const QUEUE_BEGIN: &str = "__ferry_queue_begin";
/// `void (void)`
pub const QUEUE_END: &str = "__ferry_queue_end";
/// `void (const Ident *, int64_t device, int32_t count, const int64_t *queues, int64_t on_device, int64_t
/// on_queue)`: waits until what is in these queues is done, in all of the device if there are none. With
/// another `on_queue` than [`crate::queue::SYNC`] that queue waits, and the caller goes on.
pub const QUEUE_WAIT: &str = "__ferry_queue_wait";
/// `void (const Ident *, int32_t is_deferred, int32_t count, const Dependence *)`: until [`TASK_END`] the
/// offload calls of this thread are one task; if it is not deferred, what it depends on is waited for and
/// there is no end.
pub const TASK_BEGIN: &str = "__ferry_task_begin";
/// `void (void)`
pub const TASK_END: &str = "__ferry_task_end";
/// `void (Ident *, int action, const char *types, int64_t number, int64_t queue)`: a
/// [`crate::control::Action`]; types are words with commas or null, numbers may be unsaid.
pub const CONTROL: &str = "__ferry_control";

/// `void (int is_mandatory, const char *const *unread)`: called before a program starts. Offload must happen if the
/// environment does not say otherwise; regions at these places, up to a null, are compiled for the host alone.
pub const NOTES: &str = "__ferry_notes";

/// The routines of `ferry_cluster.h`: whoever runs device code has them.
pub const CLUSTER_ROUTINES: [&str; 5] =
    ["ferry_l1_malloc", "ferry_l1_free", "ferry_dma", "ferry_dma_2d", "ferry_dma_wait"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_called_by_function_and_line() {
        for (kernel, region) in [
            ("__ferry_k_0123456789abcdef_main_l8", "main:8"),
            ("__ferry_k_0123456789abcdef_a_l2_b_l12_3", "a_l2_b:12 (3)"),
            ("__ferry_k_a", "__ferry_k_a"),
            ("__ferry_k_00_f_lx", "__ferry_k_00_f_lx"),
            ("__omp_offloading_10_main_l8", "__omp_offloading_10_main_l8"),
        ] {
            assert_eq!(region_of(kernel), region);
        }
    }
}
