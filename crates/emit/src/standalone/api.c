
/* ---- Routines of the standards about devices ---- */

int omp_get_num_devices(void) { return 1; }
int omp_get_initial_device(void) { return 1; }
int omp_get_device_num(void) { return 1; }
int omp_is_initial_device(void) { return 1; }
int omp_get_default_device(void) { return default_device; }
void omp_set_default_device(int number) { default_device = number; }

void *omp_target_alloc(size_t size, int device) {
  void *at = begins("omp_target_alloc", device) ? (void *)device_alloc(size) : malloc(size);
  ends();
  return at;
}
void omp_target_free(void *at, int device) {
  if (!begins("omp_target_free", device)) free(at);
  else if (at) device_free((ferry_word)at);
  ends();
}
void *omp_get_mapped_ptr(const void *at, int device) {
  enum fit fit;
  void *found = (void *)at;
  if (begins("omp_get_mapped_ptr", device)) {
    struct range *range = find(at, 1, &fit);
    found = range ? (void *)on_device(range, at) : 0;
  }
  ends();
  return found;
}
int omp_target_is_present(const void *at, int device) { return omp_get_mapped_ptr(at, device) != 0; }
int omp_target_memcpy(void *to, const void *from, size_t size, size_t to_offset, size_t from_offset, int to_device,
                      int from_device) {
  char *target = (char *)to + to_offset, *between = 0;
  const char *source = (const char *)from + from_offset;
  int is_to = begins("omp_target_memcpy", to_device);
  ends();
  int is_from = begins("omp_target_memcpy", from_device);
  if (is_to && is_from && !(between = malloc(size))) fail("out of memory");
  if (is_from) device_read(is_to ? between : target, (ferry_word)source, size), device_wait();
  if (is_to) device_write((ferry_word)target, is_from ? between : source, size), device_wait();
  if (!is_to && !is_from) memmove(target, source, size);
  free(between);
  ends();
  return 0;
}

/* 0: none, 1: the default, 2: the host, from 4 on: others. */
int acc_get_num_devices(int type) { return type == 1 || type == 2 || type == 4; }
int acc_get_device_num(int type) { return (void)type, 0; }
int acc_get_device_type(void) { return default_device == 1 ? 2 : 4; }
int acc_on_device(int type) { return type == 2; }
void acc_set_device_type(int type) { default_device = type == 2; }
void acc_set_device_num(int number, int type) {
  place = "acc_set_device_num";
  if (number != 0) fail("there is no device %d: 0 is the device", number);
  acc_set_device_type(type);
}
void acc_init(int type) { (void)type; }
void acc_shutdown(int type) { (void)type; }
/* What could be queued is done at once. */
void acc_wait(int queue) { (void)queue; }
void acc_wait_all(void) {}
int acc_async_test(int queue) { return (void)queue, 1; }
int acc_async_test_all(void) { return 1; }
void *acc_malloc(size_t size) { return omp_target_alloc(size, FERRY_DEVICE); }
void acc_free(void *at) { omp_target_free(at, FERRY_DEVICE); }
void *acc_deviceptr(void *at) { return omp_get_mapped_ptr(at, FERRY_DEVICE); }

static void *entered(const char *where, void *at, size_t size, ferry_i64 how) {
  struct ferry_item item = { at, at, size, how, 0 };
  ferry_enter_data(where, FERRY_DEVICE, &item, 1);
  return acc_deviceptr(at);
}
void *acc_copyin(void *at, size_t size) { return entered("acc_copyin", at, size, FERRY_TO); }
void *acc_create(void *at, size_t size) { return entered("acc_create", at, size, FERRY_ALLOC); }

void acc_copyin_async(void *at, size_t size, int queue) { (void)queue, acc_copyin(at, size); }
void acc_create_async(void *at, size_t size, int queue) { (void)queue, acc_create(at, size); }

static void left(const char *where, void *at, size_t size, ferry_i64 how) {
  struct ferry_item item = { at, at, size, how | FERRY_PRESENT, 0 };
  ferry_exit_data(where, FERRY_DEVICE, &item, 1);
}
void acc_copyout(void *at, size_t size) { left("acc_copyout", at, size, FERRY_FROM); }
void acc_delete(void *at, size_t size) { left("acc_delete", at, size, FERRY_ALLOC); }

void acc_copyout_async(void *at, size_t size, int queue) { (void)queue, acc_copyout(at, size); }
void acc_delete_async(void *at, size_t size, int queue) { (void)queue, acc_delete(at, size); }

/* The copy of a pointer points to the copy of its data, or to the data again. */
void acc_attach(void **pointer) {
  struct ferry_item item = { pointer, *pointer, 0, FERRY_POINTEE | FERRY_UNCOUNTED, 0 };
  ferry_enter_data("acc_attach", FERRY_DEVICE, &item, 1);
}
void acc_detach(void **pointer) {
  struct ferry_item item = { pointer, *pointer, 0, FERRY_POINTEE | FERRY_UNCOUNTED, 0 };
  ferry_exit_data("acc_detach", FERRY_DEVICE, &item, 1);
}

static void moved(const char *where, void *at, size_t size, ferry_i64 how) {
  struct ferry_item item = { at, at, size, how | FERRY_PRESENT, 0 };
  ferry_update(where, FERRY_DEVICE, &item, 1);
}
void acc_update_device(void *at, size_t size) { moved("acc_update_device", at, size, FERRY_TO); }
void acc_update_self(void *at, size_t size) { moved("acc_update_self", at, size, FERRY_FROM); }
void acc_update_device_async(void *at, size_t size, int queue) { (void)queue, acc_update_device(at, size); }
void acc_update_self_async(void *at, size_t size, int queue) { (void)queue, acc_update_self(at, size); }

int acc_is_present(void *at, size_t size) {
  enum fit fit = WHOLE;
  int is_there = 1;
  if (begins("acc_is_present", FERRY_DEVICE)) is_there = find(at, size, &fit) && fit == WHOLE;
  ends();
  return is_there;
}
void acc_memcpy_to_device(void *to, void *from, size_t size) { omp_target_memcpy(to, from, size, 0, 0, FERRY_DEVICE, 1); }
void acc_memcpy_from_device(void *to, void *from, size_t size) {
  omp_target_memcpy(to, from, size, 0, 0, 1, FERRY_DEVICE);
}
