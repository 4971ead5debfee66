#include "job/import/trace_bytes.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <string_view>
#include <utility>

#include "fabric/text/input_error.h"
#include "fabric/text/input_file.h"

namespace mrclab::job {
namespace {

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

}  // namespace

std::string unpack_gzip(std::string packed, const std::string& name) {
  if (!is_gzip(packed)) return packed;
  if (packed.size() > kMaxGzipBytes) throw InputError(name + ": more than 64 MiB of gzip");
  // The last four bytes hold the length, modulo 2^32; what is longer than a job may be is refused with it.
  uint32_t length = 0;
  if (packed.size() < 18) throw InputError(name + ": a gzip file that is cut");
  std::memcpy(&length, packed.data() + packed.size() - sizeof length, sizeof length);
  if (length > kMaxUnpackedBytes) throw InputError(name + ": more than 1 GiB unpacked");
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> unpacker(
      ::libdeflate_alloc_decompressor(), ::libdeflate_free_decompressor);
  std::string text(length, '\0');
  size_t found = 0;
  if (unpacker == nullptr ||
      ::libdeflate_gzip_decompress(unpacker.get(), packed.data(), packed.size(), text.data(),
                                   text.size(), &found) != LIBDEFLATE_SUCCESS ||
      found != text.size()) {
    throw InputError(name + ": gzip that is damaged, or of several pieces");
  }
  return text;
}

std::string read_trace_bytes(const std::filesystem::path& path) {
  require_input_file(path);
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError(fmt::format("{}: cannot be read", path.string()));
  std::string bytes = read_at_most(in, kMaxTraceBytes + 1);
  if (bytes.size() > kMaxTraceBytes) {
    throw InputError(fmt::format("{}: more than 256 MiB", path.string()));
  }
  return unpack_gzip(std::move(bytes), path.string());
}

}  // namespace mrclab::job
