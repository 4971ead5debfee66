// libbpf: the program of switches whose forwarding is `bpf`, and its maps. Compiled where the build found it.

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lazy/lazy_library.h"

namespace {

template <auto Function, class... Arguments>
auto call_bpf(const char* name, Arguments... arguments) {
  return mrclab::late::call_late<Function>(MRCLAB_LIBBPF, name, arguments...);
}

}  // namespace

libbpf_print_fn_t libbpf_set_print(libbpf_print_fn_t print) {
  return call_bpf<&libbpf_set_print>("libbpf_set_print", print);
}

bpf_object* bpf_object__open_mem(const void* bytes, size_t count, const bpf_object_open_opts* how) {
  return call_bpf<&bpf_object__open_mem>("bpf_object__open_mem", bytes, count, how);
}
int bpf_object__load(bpf_object* object) {
  return call_bpf<&bpf_object__load>("bpf_object__load", object);
}
void bpf_object__close(bpf_object* object) {
  call_bpf<&bpf_object__close>("bpf_object__close", object);
}
bpf_program* bpf_object__find_program_by_name(const bpf_object* object, const char* name) {
  return call_bpf<&bpf_object__find_program_by_name>("bpf_object__find_program_by_name", object,
                                                     name);
}
int bpf_object__find_map_fd_by_name(const bpf_object* object, const char* name) {
  return call_bpf<&bpf_object__find_map_fd_by_name>("bpf_object__find_map_fd_by_name", object,
                                                    name);
}
int bpf_program__fd(const bpf_program* program) {
  return call_bpf<&bpf_program__fd>("bpf_program__fd", program);
}

int bpf_tc_hook_create(bpf_tc_hook* hook) {
  return call_bpf<&bpf_tc_hook_create>("bpf_tc_hook_create", hook);
}
int bpf_tc_attach(const bpf_tc_hook* hook, bpf_tc_opts* filter) {
  return call_bpf<&bpf_tc_attach>("bpf_tc_attach", hook, filter);
}
int bpf_tc_query(const bpf_tc_hook* hook, bpf_tc_opts* filter) {
  return call_bpf<&bpf_tc_query>("bpf_tc_query", hook, filter);
}

int bpf_prog_get_fd_by_id(__u32 id) {
  return call_bpf<&bpf_prog_get_fd_by_id>("bpf_prog_get_fd_by_id", id);
}
int bpf_map_get_fd_by_id(__u32 id) {
  return call_bpf<&bpf_map_get_fd_by_id>("bpf_map_get_fd_by_id", id);
}
int bpf_obj_get_info_by_fd(int fd, void* info, __u32* size) {
  return call_bpf<&bpf_obj_get_info_by_fd>("bpf_obj_get_info_by_fd", fd, info, size);
}

int bpf_map_update_elem(int fd, const void* key, const void* value, __u64 flags) {
  return call_bpf<&bpf_map_update_elem>("bpf_map_update_elem", fd, key, value, flags);
}
int bpf_map_lookup_elem(int fd, const void* key, void* value) {
  return call_bpf<&bpf_map_lookup_elem>("bpf_map_lookup_elem", fd, key, value);
}
int bpf_map_delete_elem(int fd, const void* key) {
  return call_bpf<&bpf_map_delete_elem>("bpf_map_delete_elem", fd, key);
}
int bpf_map_get_next_key(int fd, const void* key, void* next_key) {
  return call_bpf<&bpf_map_get_next_key>("bpf_map_get_next_key", fd, key, next_key);
}
