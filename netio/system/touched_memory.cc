#include "netio/system/touched_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "netio/system/file_descriptor.h"

namespace mrclab::netio {
namespace {

constexpr size_t kMapsBytesMax = size_t{16} << 20;
/// Larger ones are no buffers of ours: a sanitizer reserves terabytes.
constexpr uintptr_t kMappingMax = uintptr_t{16} << 30;
constexpr size_t kPagesAtOnce = 4096;

struct Mapping {
  uintptr_t first = 0, end = 0;
  bool shared = false;
};

/// A line "7f...000-7f...000 rw-s 00000000 00:09 4321 socket:[4321]". False unless it is that of writable memory that
/// is shared, or has neither file nor name.
bool read_buffer(const std::string& line, Mapping& mapping) {
  char rights[5] = "", name[2] = "";
  unsigned long first = 0, end = 0;
  const int read =
      std::sscanf(line.c_str(), "%lx-%lx %4s %*s %*s %*s %1s", &first, &end, rights, name);
  const std::string_view how = rights;
  mapping = {first, end, how == "rw-s"};
  return end - first <= kMappingMax && (mapping.shared || (how == "rw-p" && read == 3));
}

/// A sanitizer would report the write: it keeps the memory between two objects poisoned, and a page may begin there.
[[gnu::no_sanitize_address]] void touch_page(uintptr_t at) {
  __atomic_fetch_add(reinterpret_cast<uint32_t*>(at), 0, __ATOMIC_RELAXED);
}

void touch_mapping(const Mapping& mapping, uintptr_t page) {
  std::vector<unsigned char> present(kPagesAtOnce);
  for (uintptr_t at = mapping.first; at < mapping.end; at += kPagesAtOnce * page) {
    const uintptr_t bytes = std::min(kPagesAtOnce * page, mapping.end - at);
    // Memory that another thread has unmapped meanwhile is not there.
    if (!mapping.shared && ::mincore(reinterpret_cast<void*>(at), bytes, present.data()) != 0) {
      return;
    }
    for (uintptr_t i = 0; i < bytes / page; ++i) {
      if (mapping.shared || present[i] % 2 == 1) touch_page(at + i * page);
    }
  }
}

}  // namespace

void touch_buffers() {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  std::istringstream maps(read_file("/proc/self/maps", kMapsBytesMax));
  Mapping mapping;
  for (std::string line; std::getline(maps, line);) {
    if (read_buffer(line, mapping)) touch_mapping(mapping, page);
  }
}

}  // namespace mrclab::netio
