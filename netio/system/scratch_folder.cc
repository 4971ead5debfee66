#include "netio/system/scratch_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

namespace fs = std::filesystem;

/// mkdtemp's own letters.
constexpr size_t kLetters = 6;

FileDescriptor opened(const fs::path& path) {
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// Folders of this kind and of this user that no process holds. One that is just made is empty, and its owner has perhaps
/// not locked it yet: it stays.
void remove_abandoned(std::string_view prefix) {
  std::error_code none;
  for (fs::directory_iterator entry(fs::temp_directory_path(), none), end; entry != end;
       entry.increment(none)) {
    const std::string name = entry->path().filename().string();
    if (name.size() != prefix.size() + kLetters || !name.starts_with(prefix)) continue;
    const FileDescriptor folder = opened(entry->path());
    struct stat status {};
    if (!folder || ::fstat(folder.get(), &status) != 0 || status.st_uid != ::geteuid()) continue;
    if (fs::is_empty(entry->path(), none) || ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0)
      continue;
    fs::remove_all(entry->path(), none);
  }
}

}  // namespace

ScratchFolder::ScratchFolder(std::string_view prefix) {
  remove_abandoned(prefix);
  std::string name = (fs::temp_directory_path() / prefix).string() + std::string(kLetters, 'X');
  if (::mkdtemp(name.data()) == nullptr) throw SystemError("make folder " + name, errno);
  path_ = name;
  lock_ = opened(path_);
  check_system_call("lock folder " + name, ::flock(lock_.get(), LOCK_EX));
}

ScratchFolder::~ScratchFolder() {
  std::error_code none;
  fs::remove_all(path_, none);
}

}  // namespace mrclab::netio
