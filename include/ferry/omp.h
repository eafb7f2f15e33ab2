/* The OpenMP 5.2 API for C, with the additions of 6.0 that programs use already.
 *
 * The layout of lock types is that of GCC's runtime library, which serves host-only regions. */
#ifndef FERRY_OMP_H
#define FERRY_OMP_H 1

/* Found by -I, before other compilers' headers of the same name; what is said of it is not for its users. */
#pragma GCC system_header

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types ---- */

typedef struct omp_lock_t {
  unsigned char opaque[4] __attribute__((__aligned__(4)));
} omp_lock_t;

typedef struct omp_nest_lock_t {
  unsigned char opaque[16] __attribute__((__aligned__(8)));
} omp_nest_lock_t;

typedef enum omp_sync_hint_t {
  omp_sync_hint_none = 0,
  omp_lock_hint_none = omp_sync_hint_none,
  omp_sync_hint_uncontended = 1,
  omp_lock_hint_uncontended = omp_sync_hint_uncontended,
  omp_sync_hint_contended = 2,
  omp_lock_hint_contended = omp_sync_hint_contended,
  omp_sync_hint_nonspeculative = 4,
  omp_lock_hint_nonspeculative = omp_sync_hint_nonspeculative,
  omp_sync_hint_speculative = 8,
  omp_lock_hint_speculative = omp_sync_hint_speculative
} omp_sync_hint_t;
typedef omp_sync_hint_t omp_lock_hint_t;

typedef enum omp_sched_t {
  omp_sched_static = 1,
  omp_sched_dynamic = 2,
  omp_sched_guided = 3,
  omp_sched_auto = 4,
  omp_sched_monotonic = (int)0x80000000u
} omp_sched_t;

typedef enum omp_proc_bind_t {
  omp_proc_bind_false = 0,
  omp_proc_bind_true = 1,
  omp_proc_bind_primary = 2,
  omp_proc_bind_master = omp_proc_bind_primary,
  omp_proc_bind_close = 3,
  omp_proc_bind_spread = 4
} omp_proc_bind_t;

typedef enum omp_pause_resource_t {
  omp_pause_soft = 1,
  omp_pause_hard = 2,
  omp_pause_stop_tool = 3
} omp_pause_resource_t;

typedef enum omp_event_handle_t {
  omp_event_handle_is_opaque_ = (int)0x7fffffff,
  omp_event_handle_is_wide_ = UINTPTR_MAX
} omp_event_handle_t;

typedef struct omp_depend_t {
  char opaque[2 * sizeof(void *)] __attribute__((__aligned__(sizeof(void *))));
} omp_depend_t;

typedef enum omp_impex_t {
  omp_not_impex = 0,
  omp_import = 1,
  omp_export = 2,
  omp_impex = 3
} omp_impex_t;

enum {
  omp_initial_device = -1,
  omp_invalid_device = -4,
  omp_unassigned_thread = -5
};

/* ---- threads and teams ---- */

extern void omp_set_num_threads(int num_threads);
extern int omp_get_num_threads(void);
extern int omp_get_max_threads(void);
extern int omp_get_thread_num(void);
extern int omp_in_parallel(void);
extern void omp_set_dynamic(int dynamic_threads);
extern int omp_get_dynamic(void);
extern int omp_get_cancellation(void);
extern void omp_set_nested(int nested);
extern int omp_get_nested(void);
extern void omp_set_schedule(omp_sched_t kind, int chunk_size);
extern void omp_get_schedule(omp_sched_t *kind, int *chunk_size);
extern int omp_get_thread_limit(void);
extern int omp_get_supported_active_levels(void);
extern void omp_set_max_active_levels(int max_levels);
extern int omp_get_max_active_levels(void);
extern int omp_get_level(void);
extern int omp_get_ancestor_thread_num(int level);
extern int omp_get_team_size(int level);
extern int omp_get_active_level(void);
extern int omp_in_final(void);

extern int omp_get_num_teams(void);
extern int omp_get_team_num(void);
extern void omp_set_num_teams(int num_teams);
extern int omp_get_max_teams(void);
extern void omp_set_teams_thread_limit(int thread_limit);
extern int omp_get_teams_thread_limit(void);

extern omp_proc_bind_t omp_get_proc_bind(void);
extern int omp_get_num_places(void);
extern int omp_get_place_num_procs(int place_num);
extern void omp_get_place_proc_ids(int place_num, int *ids);
extern int omp_get_place_num(void);
extern int omp_get_partition_num_places(void);
extern void omp_get_partition_place_nums(int *place_nums);
extern void omp_set_affinity_format(const char *format);
extern size_t omp_get_affinity_format(char *buffer, size_t size);
extern void omp_display_affinity(const char *format);
extern size_t omp_capture_affinity(char *buffer, size_t size, const char *format);

/* ---- tasks ---- */

extern int omp_get_max_task_priority(void);
extern int omp_in_explicit_task(void);
extern int omp_is_free_agent(void);
extern int omp_ancestor_is_free_agent(int level);
extern void omp_fulfill_event(omp_event_handle_t event);

/* ---- resources, environment ---- */

extern int omp_pause_resource(omp_pause_resource_t kind, int device_num);
extern int omp_pause_resource_all(omp_pause_resource_t kind);
extern void omp_display_env(int verbose);
extern double omp_get_wtime(void);
extern double omp_get_wtick(void);
extern int omp_get_num_procs(void);

/* ---- devices ---- */

extern void omp_set_default_device(int device_num);
extern int omp_get_default_device(void);
extern int omp_get_num_devices(void);
extern int omp_get_device_num(void);
extern int omp_is_initial_device(void);
extern int omp_get_initial_device(void);
extern const char *omp_get_uid_from_device(int device_num);
extern int omp_get_device_from_uid(const char *uid);
extern int omp_get_device_num_teams(int device_num);
extern void omp_set_device_num_teams(int num_teams, int device_num);
extern int omp_get_device_teams_thread_limit(int device_num);
extern void omp_set_device_teams_thread_limit(int thread_limit, int device_num);

extern void *omp_target_alloc(size_t size, int device_num);
extern void omp_target_free(void *device_ptr, int device_num);
extern int omp_target_is_present(const void *ptr, int device_num);
extern int omp_target_is_accessible(const void *ptr, size_t size, int device_num);
extern int omp_target_memcpy(void *dst, const void *src, size_t length, size_t dst_offset,
                             size_t src_offset, int dst_device_num, int src_device_num);
extern int omp_target_memcpy_rect(void *dst, const void *src, size_t element_size, int num_dims,
                                  const size_t *volume, const size_t *dst_offsets,
                                  const size_t *src_offsets, const size_t *dst_dimensions,
                                  const size_t *src_dimensions, int dst_device_num,
                                  int src_device_num);
extern int omp_target_memcpy_async(void *dst, const void *src, size_t length, size_t dst_offset,
                                   size_t src_offset, int dst_device_num, int src_device_num,
                                   int depobj_count, omp_depend_t *depobj_list);
extern int omp_target_memcpy_rect_async(void *dst, const void *src, size_t element_size,
                                        int num_dims, const size_t *volume,
                                        const size_t *dst_offsets, const size_t *src_offsets,
                                        const size_t *dst_dimensions,
                                        const size_t *src_dimensions, int dst_device_num,
                                        int src_device_num, int depobj_count,
                                        omp_depend_t *depobj_list);
extern void *omp_target_memset(void *ptr, int value, size_t count, int device_num);
extern void *omp_target_memset_async(void *ptr, int value, size_t count, int device_num,
                                     int depobj_count, omp_depend_t *depobj_list);
extern int omp_target_associate_ptr(const void *host_ptr, const void *device_ptr, size_t size,
                                    size_t device_offset, int device_num);
extern int omp_target_disassociate_ptr(const void *ptr, int device_num);
extern void *omp_get_mapped_ptr(const void *ptr, int device_num);

/* ---- locks ---- */

extern void omp_init_lock(omp_lock_t *lock);
extern void omp_init_lock_with_hint(omp_lock_t *lock, omp_sync_hint_t hint);
extern void omp_destroy_lock(omp_lock_t *lock);
extern void omp_set_lock(omp_lock_t *lock);
extern void omp_unset_lock(omp_lock_t *lock);
extern int omp_test_lock(omp_lock_t *lock);
extern void omp_init_nest_lock(omp_nest_lock_t *lock);
extern void omp_init_nest_lock_with_hint(omp_nest_lock_t *lock, omp_sync_hint_t hint);
extern void omp_destroy_nest_lock(omp_nest_lock_t *lock);
extern void omp_set_nest_lock(omp_nest_lock_t *lock);
extern void omp_unset_nest_lock(omp_nest_lock_t *lock);
extern int omp_test_nest_lock(omp_nest_lock_t *lock);

/* ---- memory ---- */

typedef uintptr_t omp_uintptr_t;
typedef intptr_t omp_intptr_t;

typedef enum omp_memspace_handle_t {
  omp_default_mem_space = 0,
  omp_large_cap_mem_space = 1,
  omp_const_mem_space = 2,
  omp_high_bw_mem_space = 3,
  omp_low_lat_mem_space = 4,
  omp_null_mem_space = UINTPTR_MAX
} omp_memspace_handle_t;

typedef enum omp_allocator_handle_t {
  omp_null_allocator = 0,
  omp_default_mem_alloc = 1,
  omp_large_cap_mem_alloc = 2,
  omp_const_mem_alloc = 3,
  omp_high_bw_mem_alloc = 4,
  omp_low_lat_mem_alloc = 5,
  omp_cgroup_mem_alloc = 6,
  omp_pteam_mem_alloc = 7,
  omp_thread_mem_alloc = 8,
  omp_allocator_handle_is_wide_ = UINTPTR_MAX
} omp_allocator_handle_t;

typedef enum omp_alloctrait_key_t {
  omp_atk_sync_hint = 1,
  omp_atk_alignment = 2,
  omp_atk_access = 3,
  omp_atk_pool_size = 4,
  omp_atk_fallback = 5,
  omp_atk_fb_data = 6,
  omp_atk_pinned = 7,
  omp_atk_partition = 8,
  omp_atk_pin_device = 9,
  omp_atk_preferred_device = 10,
  omp_atk_device_access = 11,
  omp_atk_target_access = 12,
  omp_atk_atomic_scope = 13,
  omp_atk_part_size = 14,
  omp_atk_partitioner = 15,
  omp_atk_partitioner_arg = 16
} omp_alloctrait_key_t;
typedef omp_alloctrait_key_t omp_alloctrait_key;

typedef enum omp_alloctrait_value_t {
  omp_atv_default = (int)0xffffffffu,
  omp_atv_false = 0,
  omp_atv_true = 1,
  omp_atv_contended = 3,
  omp_atv_uncontended = 4,
  omp_atv_serialized = 5,
  omp_atv_sequential = omp_atv_serialized,
  omp_atv_private = 6,
  omp_atv_all = 7,
  omp_atv_thread = 8,
  omp_atv_pteam = 9,
  omp_atv_cgroup = 10,
  omp_atv_default_mem_fb = 11,
  omp_atv_null_fb = 12,
  omp_atv_abort_fb = 13,
  omp_atv_allocator_fb = 14,
  omp_atv_environment = 15,
  omp_atv_nearest = 16,
  omp_atv_blocked = 17,
  omp_atv_interleaved = 18,
  omp_atv_device = 19,
  omp_atv_single = 20,
  omp_atv_multiple = 21,
  omp_atv_memspace = 22,
  omp_atv_partitioner = 23
} omp_alloctrait_value_t;

typedef omp_uintptr_t omp_alloctrait_val_t;

typedef struct omp_alloctrait_t {
  omp_alloctrait_key_t key;
  omp_alloctrait_val_t value;
} omp_alloctrait_t;

/* Parts of one block of memory, and who says which there are. */
typedef struct omp_mempartition_t {
  void *opaque[4];
} omp_mempartition_t;

typedef struct omp_mempartitioner_t {
  void *opaque[4];
} omp_mempartitioner_t;

typedef enum omp_mempartitioner_lifetime_t {
  omp_static_mempartition = 1,
  omp_allocator_mempartition = 2,
  omp_dynamic_mempartition = 3
} omp_mempartitioner_lifetime_t;

typedef void (*omp_mempartitioner_compute_proc_t)(omp_memspace_handle_t memspace,
                                                  size_t allocation_size,
                                                  omp_alloctrait_val_t partitioner_arg,
                                                  omp_mempartition_t *partition);
typedef void (*omp_mempartitioner_release_proc_t)(omp_mempartition_t *partition);

extern omp_allocator_handle_t omp_init_allocator(omp_memspace_handle_t memspace, int ntraits,
                                                 const omp_alloctrait_t traits[]);
extern void omp_destroy_allocator(omp_allocator_handle_t allocator);
extern void omp_set_default_allocator(omp_allocator_handle_t allocator);
extern omp_allocator_handle_t omp_get_default_allocator(void);
extern omp_memspace_handle_t omp_get_device_memspace(int device_num,
                                                     omp_memspace_handle_t memspace);
extern omp_memspace_handle_t omp_get_devices_memspace(int ndevs, const int *devs,
                                                      omp_memspace_handle_t memspace);
extern omp_allocator_handle_t omp_get_device_allocator(int device_num,
                                                       omp_memspace_handle_t memspace);
extern omp_allocator_handle_t omp_get_devices_allocator(int ndevs, const int *devs,
                                                        omp_memspace_handle_t memspace);
extern omp_memspace_handle_t omp_get_device_and_host_memspace(int device_num,
                                                              omp_memspace_handle_t memspace);
extern omp_memspace_handle_t omp_get_devices_and_host_memspace(int ndevs, const int *devs,
                                                               omp_memspace_handle_t memspace);
extern omp_memspace_handle_t omp_get_devices_all_memspace(omp_memspace_handle_t memspace);
extern omp_allocator_handle_t omp_get_device_and_host_allocator(int device_num,
                                                                omp_memspace_handle_t memspace);
extern omp_allocator_handle_t omp_get_devices_and_host_allocator(int ndevs, const int *devs,
                                                                 omp_memspace_handle_t memspace);
extern omp_allocator_handle_t omp_get_devices_all_allocator(omp_memspace_handle_t memspace);
extern size_t omp_get_memspace_pagesize(omp_memspace_handle_t memspace);
extern int omp_get_memspace_num_resources(omp_memspace_handle_t memspace);
extern omp_memspace_handle_t omp_get_submemspace(omp_memspace_handle_t memspace, int num_resources,
                                                 const int *resources);

extern void omp_init_mempartitioner(omp_mempartitioner_t *partitioner,
                                    omp_mempartitioner_lifetime_t lifetime,
                                    omp_mempartitioner_compute_proc_t compute_proc,
                                    omp_mempartitioner_release_proc_t release_proc);
extern void omp_destroy_mempartitioner(const omp_mempartitioner_t *partitioner);
extern void omp_init_mempartition(omp_mempartition_t *partition, size_t nparts,
                                  const void *user_data);
extern void omp_destroy_mempartition(const omp_mempartition_t *partition);
extern int omp_mempartition_set_part(omp_mempartition_t *partition, size_t part, int resource,
                                     size_t size);
extern void *omp_mempartition_get_user_data(const omp_mempartition_t *partition);

extern void *omp_alloc(size_t size, omp_allocator_handle_t allocator);
extern void *omp_aligned_alloc(size_t alignment, size_t size, omp_allocator_handle_t allocator);
extern void *omp_calloc(size_t nmemb, size_t size, omp_allocator_handle_t allocator);
extern void *omp_aligned_calloc(size_t alignment, size_t nmemb, size_t size,
                                omp_allocator_handle_t allocator);
extern void *omp_realloc(void *ptr, size_t size, omp_allocator_handle_t allocator,
                         omp_allocator_handle_t free_allocator);
extern void omp_free(void *ptr, omp_allocator_handle_t allocator);

/* ---- interoperability ---- */

typedef void *omp_interop_t;
#define omp_interop_none ((omp_interop_t)0)

typedef enum omp_interop_property_t {
  omp_ipr_fr_id = -1,
  omp_ipr_fr_name = -2,
  omp_ipr_vendor = -3,
  omp_ipr_vendor_name = -4,
  omp_ipr_device_num = -5,
  omp_ipr_platform = -6,
  omp_ipr_device = -7,
  omp_ipr_device_context = -8,
  omp_ipr_targetsync = -9,
  omp_ipr_first = -9
} omp_interop_property_t;

typedef enum omp_interop_rc_t {
  omp_irc_no_value = 1,
  omp_irc_success = 0,
  omp_irc_empty = -1,
  omp_irc_out_of_range = -2,
  omp_irc_type_int = -3,
  omp_irc_type_ptr = -4,
  omp_irc_type_str = -5,
  omp_irc_other = -6
} omp_interop_rc_t;

typedef enum omp_interop_fr_t {
  omp_ifr_cuda = 1,
  omp_ifr_cuda_driver = 2,
  omp_ifr_opencl = 3,
  omp_ifr_sycl = 4,
  omp_ifr_hip = 5,
  omp_ifr_level_zero = 6,
  omp_ifr_hsa = 7,
  omp_ifr_last = 7
} omp_interop_fr_t;

extern int omp_get_num_interop_properties(const omp_interop_t interop);
extern omp_intptr_t omp_get_interop_int(const omp_interop_t interop,
                                        omp_interop_property_t property, int *ret_code);
extern void *omp_get_interop_ptr(const omp_interop_t interop, omp_interop_property_t property,
                                 int *ret_code);
extern const char *omp_get_interop_str(const omp_interop_t interop,
                                       omp_interop_property_t property, int *ret_code);
extern const char *omp_get_interop_name(const omp_interop_t interop,
                                        omp_interop_property_t property);
extern const char *omp_get_interop_type_desc(const omp_interop_t interop,
                                             omp_interop_property_t property);
extern const char *omp_get_interop_rc_desc(const omp_interop_t interop,
                                           omp_interop_rc_t ret_code);

/* ---- tools ---- */

typedef enum omp_control_tool_t {
  omp_control_tool_start = 1,
  omp_control_tool_pause = 2,
  omp_control_tool_flush = 3,
  omp_control_tool_end = 4
} omp_control_tool_t;

typedef enum omp_control_tool_result_t {
  omp_control_tool_notool = -2,
  omp_control_tool_nocallback = -1,
  omp_control_tool_success = 0,
  omp_control_tool_ignored = 1
} omp_control_tool_result_t;

extern int omp_control_tool(int command, int modifier, void *arg);

#ifdef __cplusplus
}
#endif

#endif
