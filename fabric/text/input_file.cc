#include "fabric/text/input_file.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <istream>

#include "fabric/text/input_error.h"
#include "fabric/text/visible_text.h"

namespace mrclab {
namespace {

/// Was the pipe made by pipe(2)? Then it has a writer, or reading it ends at once.
bool has_no_name(const std::filesystem::path& pipe) {
  struct statfs system {};
  return ::statfs(pipe.c_str(), &system) == 0 && system.f_type == PIPEFS_MAGIC;
}

bool is_harmless(dev_t device) {
  constexpr unsigned kMemory = 1, kNull = 3, kTerminals = 4, kOwnTerminal = 5;
  constexpr unsigned kFirstPty = 136, kLastPty = 143;
  const unsigned number = major(device);
  return (number == kMemory && minor(device) == kNull) || number == kTerminals ||
         number == kOwnTerminal || (number >= kFirstPty && number <= kLastPty);
}

}  // namespace

void require_input_file(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) return;
  const auto refuse = [&](const char* found) {
    throw InputError(visible(path.string()) + ": found " + found + ": expected a file");
  };
  if (S_ISFIFO(info.st_mode) && !has_no_name(path)) refuse("a named pipe");
  if (S_ISCHR(info.st_mode) && !is_harmless(info.st_rdev)) refuse("a device");
  if (S_ISBLK(info.st_mode)) refuse("a device");
  if (S_ISSOCK(info.st_mode)) refuse("a socket");
}

std::string read_at_most(std::istream& stream, size_t most) {
  constexpr size_t kChunk = size_t{1} << 14;
  std::string text;
  while (stream && text.size() < most) {
    const size_t known = text.size();
    text.resize(std::min(known + kChunk, most));
    stream.read(text.data() + known, static_cast<std::streamsize>(text.size() - known));
    text.resize(known + static_cast<size_t>(stream.gcount()));
  }
  return text;
}

}  // namespace mrclab
