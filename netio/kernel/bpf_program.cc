// Compiled where the build found libbpf; elsewhere bpf_absent.cc is, in its place.

#include "netio/kernel/bpf_program.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/bpf.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <deque>
#include <string_view>

#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

/// The place of our program among the filters of an interface, by which it is replaced and found.
constexpr uint32_t kFilterHandle = 1, kFilterPriority = 1;

/// Bytes. Of longer messages keep_log() keeps the end, because the verifier gives its reason there.
constexpr size_t kMaxLog = 4096;
constexpr size_t kMaxLastWords = 1000;
constexpr size_t kMaxLastLines = 8;

// ---- libbpf's log ------------------------------------------------------------------------------

/// What libbpf logged in this thread since clear_log(), the verifier's log included. By itself it prints to stderr.
thread_local std::string libbpf_log;

int keep_log(libbpf_print_level level, const char* format, va_list arguments) {
  if (level == LIBBPF_DEBUG) return 0;
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (length < 0) return 0;
  std::string text(static_cast<size_t>(length) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, arguments);
  text.pop_back();
  libbpf_log += text;
  if (libbpf_log.size() > kMaxLog) libbpf_log.erase(0, libbpf_log.size() - kMaxLog);
  return 0;
}

void clear_log() {
  static const auto printed_before = ::libbpf_set_print(&keep_log);
  static_cast<void>(printed_before);
  libbpf_log.clear();
}

/// The end of the log as one line, without libbpf's marks around the verifier's log.
std::string libbpf_log_end() {
  std::deque<std::string> lines;
  for (size_t at = 0; at < libbpf_log.size();) {
    const size_t end = std::min(libbpf_log.find('\n', at), libbpf_log.size());
    std::string_view line = std::string_view(libbpf_log).substr(at, end - at);
    at = end + 1;
    if (line.starts_with("libbpf: ")) line.remove_prefix(8);
    if (line.empty() || line.find("PROG LOAD LOG --") != std::string_view::npos) continue;
    lines.emplace_back(line);
    if (lines.size() > kMaxLastLines) lines.pop_front();
  }
  std::string words;
  for (const std::string& line : lines) words += (words.empty() ? "" : "; ") + line;
  return words.size() > kMaxLastWords ? words.substr(words.size() - kMaxLastWords) : words;
}

/// libbpf returns error numbers as negative ones.
void require_ok(const std::string& attempted, int status) {
  if (status < 0) throw SystemError(attempted, -status, libbpf_log_end());
}

// ---- programs -----------------------------------------------------------------------------------

/// `name` is what the kernel calls data of the object that have no name of their own.
BpfObject load_object(std::span<const uint8_t> bytes, const std::string& name) {
  const std::string attempted = "load the BPF program " + name;
  if (bytes.empty()) throw SystemError(attempted, EOPNOTSUPP, "this build has none");
  clear_log();
  bpf_object_open_opts options{};
  options.sz = sizeof options;
  options.object_name = name.c_str();
  BpfObject object(::bpf_object__open_mem(bytes.data(), bytes.size(), &options));
  if (!object) throw SystemError(attempted, errno, libbpf_log_end());
  int status = ::bpf_object__load(object.get());
  // The verifier's EACCES is about the program's rights to memory, not about the user's.
  const bool by_verifier = libbpf_log.find("END PROG LOAD LOG") != std::string::npos;
  if (status == -EACCES && by_verifier) status = -EINVAL;
  require_ok(attempted, status);
  return object;
}

/// The descriptor of a program in a loaded object. It belongs to `object`, whose deleter closes it.
int descriptor_of(const BpfObject& object, const std::string& name) {
  const bpf_program* program = ::bpf_object__find_program_by_name(object.get(), name.c_str());
  if (program == nullptr) throw SystemError("find the BPF program " + name, ENOENT);
  return ::bpf_program__fd(program);
}

bpf_tc_hook ingress_of(int ifindex) {
  bpf_tc_hook hook{};
  hook.sz = sizeof hook;
  hook.ifindex = ifindex;
  hook.attach_point = BPF_TC_INGRESS;
  return hook;
}

bpf_tc_opts our_filter() {
  bpf_tc_opts filter{};
  filter.sz = sizeof filter;
  filter.handle = kFilterHandle;
  filter.priority = kFilterPriority;
  return filter;
}

/// The program at the interface's ingress; no descriptor if there is none.
FileDescriptor attached_program(int ifindex) {
  const std::string attempted = "find the BPF program of interface " + std::to_string(ifindex);
  clear_log();
  const bpf_tc_hook hook = ingress_of(ifindex);
  bpf_tc_opts filter = our_filter();
  const int status = ::bpf_tc_query(&hook, &filter);
  // EINVAL is an interface without a place for programs, or with a filter of another kind.
  if (status == -ENOENT || status == -EINVAL) return {};
  require_ok(attempted, status);
  const int fd = ::bpf_prog_get_fd_by_id(filter.prog_id);
  if (fd == -ENOENT) return {};  // detached meanwhile
  require_ok(attempted, fd);
  return FileDescriptor(fd);
}

std::vector<uint32_t> map_ids_of(const FileDescriptor& program) {
  const std::string attempted = "list the maps of a BPF program";
  bpf_prog_info info{};
  uint32_t size = sizeof info;
  require_ok(attempted, ::bpf_obj_get_info_by_fd(program.get(), &info, &size));
  std::vector<uint32_t> ids(info.nr_map_ids);
  info = {};
  info.nr_map_ids = static_cast<uint32_t>(ids.size());
  info.map_ids = reinterpret_cast<uintptr_t>(ids.data());
  size = sizeof info;
  require_ok(attempted, ::bpf_obj_get_info_by_fd(program.get(), &info, &size));
  return ids;
}

/// Whether there is such an entry in the map of this name, by what libbpf returned.
bool found(const char* attempted, const std::string& map, int status) {
  if (status == -ENOENT) return false;
  if (status < 0) throw SystemError(std::string(attempted) + " of the BPF map " + map, -status);
  return true;
}

bool has_value_per_processor(uint32_t type) {
  return type == BPF_MAP_TYPE_PERCPU_HASH || type == BPF_MAP_TYPE_PERCPU_ARRAY ||
         type == BPF_MAP_TYPE_LRU_PERCPU_HASH || type == BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE;
}

}  // namespace

// ---- maps ---------------------------------------------------------------------------------------

BpfMap::BpfMap(FileDescriptor fd) : fd_(std::move(fd)) {
  bpf_map_info info{};
  uint32_t size = sizeof info;
  const int status = ::bpf_obj_get_info_by_fd(fd_.get(), &info, &size);
  if (status < 0) throw SystemError("look at a BPF map", -status);
  name_ = info.name;
  key_size_ = info.key_size;
  value_size_ = info.value_size;
  max_entries_ = info.max_entries;
  per_processor_ = has_value_per_processor(info.type);
}

void BpfMap::require_key(Bytes key) const {
  if (key.size() == key_size_) return;
  throw SystemError(
      "use the BPF map " + name_, EINVAL,
      "its keys have " + std::to_string(key_size_) + " bytes, not " + std::to_string(key.size()));
}

void BpfMap::require_value(Bytes value) const {
  const std::string attempted = "use the BPF map " + name_;
  // The kernel would read or write as many values as there are processors.
  if (per_processor_) throw SystemError(attempted, EINVAL, "it has a value per processor");
  if (value.size() == value_size_) return;
  throw SystemError(attempted, EINVAL,
                    "its values have " + std::to_string(value_size_) + " bytes, not " +
                        std::to_string(value.size()));
}

void BpfMap::set_bytes(Bytes key, Bytes value) {
  require_key(key);
  require_value(value);
  const int status = ::bpf_map_update_elem(fd_.get(), key.data(), value.data(), BPF_ANY);
  if (status < 0) throw SystemError("write an entry of the BPF map " + name_, -status);
}

bool BpfMap::get_bytes(Bytes key, std::span<uint8_t> value) const {
  require_key(key);
  require_value(value);
  return found("read an entry", name_, ::bpf_map_lookup_elem(fd_.get(), key.data(), value.data()));
}

bool BpfMap::erase_bytes(Bytes key) {
  require_key(key);
  return found("erase an entry", name_, ::bpf_map_delete_elem(fd_.get(), key.data()));
}

bool BpfMap::next_key(std::span<uint8_t> key, bool first) const {
  require_key(key);
  const void* const before = first ? nullptr : key.data();
  return found("list the keys", name_, ::bpf_map_get_next_key(fd_.get(), before, key.data()));
}

// ---- interface ----------------------------------------------------------------------------------

void BpfObjectDeleter::operator()(bpf_object* object) const { ::bpf_object__close(object); }

BpfProgram BpfProgram::load(std::span<const uint8_t> object, const std::string& program_name) {
  BpfProgram program(load_object(object, program_name), program_name);
  descriptor_of(program.object_, program_name);
  return program;
}

BpfMap BpfProgram::map(const std::string& name) const {
  const int fd = ::bpf_object__find_map_fd_by_name(object_.get(), name.c_str());
  if (fd < 0) throw SystemError("find the map " + name + " of the BPF program " + name_, ENOENT);
  return BpfMap(
      FileDescriptor(check_system_call("duplicate a descriptor", ::fcntl(fd, F_DUPFD_CLOEXEC, 3))));
}

void BpfProgram::attach_to_ingress(int ifindex) const {
  const std::string attempted =
      "put the BPF program " + name_ + " at interface " + std::to_string(ifindex);
  clear_log();
  bpf_tc_hook hook = ingress_of(ifindex);
  if (const int status = ::bpf_tc_hook_create(&hook); status != -EEXIST)
    require_ok(attempted, status);
  bpf_tc_opts filter = our_filter();
  filter.prog_fd = descriptor_of(object_, name_);
  filter.flags = BPF_TC_F_REPLACE;
  require_ok(attempted, ::bpf_tc_attach(&hook, &filter));
}

std::optional<BpfMap> attached_map(int ifindex, const std::string& map_name) {
  const FileDescriptor program = attached_program(ifindex);
  if (!program) return std::nullopt;
  const std::string name = map_name.substr(0, BPF_OBJ_NAME_LEN - 1);
  for (const uint32_t id : map_ids_of(program)) {
    const int fd = ::bpf_map_get_fd_by_id(id);
    require_ok("open a map of a BPF program", fd);
    if (BpfMap map{FileDescriptor(fd)}; map.name() == name) return map;
  }
  return std::nullopt;
}

std::optional<std::string> why_no_bpf(std::span<const uint8_t> object) {
  if (object.empty()) {
    return "this build has no BPF program, as clang was not there: apt-get install clang, and "
           "build again";
  }
  try {
    load_object(object, "trial");
    return std::nullopt;
  } catch (const SystemError& error) {
    if (error.kind() == ErrorKind::kMissingRights) return explain(error);
    return std::string(error.what()) +
           "; it takes a kernel with CONFIG_BPF_SYSCALL (Debian 12 and Ubuntu 24.04 have it)";
  } catch (const std::runtime_error& error) {  // lazy/
    return std::string(error.what()) + ": apt-get install libbpf1";
  }
}

}  // namespace mrclab::netio
