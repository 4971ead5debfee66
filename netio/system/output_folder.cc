#include "netio/system/output_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "netio/system/fresh_file.h"

namespace mrclab::netio {
namespace {

constexpr int kMaxDepth = 8;  // levels below the folder of a run: captures/, ...
constexpr int kNewFile = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

/// Errors of the machine itself, which no other place would avoid.
bool is_of_the_machine(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case EIO:
    case ENOMEM:
    case EMFILE:
    case ENFILE: return true;
    default: return false;
  }
}

std::vector<std::string> names_in(int folder) {
  const int readable = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (readable < 0) return {};
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::fdopendir(readable), ::closedir);
  std::vector<std::string> names;
  if (!open) return names;
  while (const dirent* entry = ::readdir(open.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  return names;
}

/// Gives a file, or a folder with its content, to `owner`. This is a convenience: entries that
/// cannot be given away stay root's.
void give_to_owner(int file, const Owner& owner, dev_t device, int depth) {
  struct stat info {};
  if (::fstat(file, &info) != 0 || info.st_uid != 0 || info.st_dev != device || depth == 0) return;
  if (S_ISDIR(info.st_mode)) {
    for (const std::string& name : names_in(file)) {
      const FileDescriptor entry(::openat(file, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
      if (entry) give_to_owner(entry.get(), owner, device, depth - 1);
    }
  } else if (!S_ISLNK(info.st_mode) && !(S_ISREG(info.st_mode) && info.st_nlink == 1)) {
    return;
  }
  [[maybe_unused]] const int done =
      ::fchownat(file, "", owner.user, owner.group, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW);
}

/// A random name for a new file. Other users must not be able to guess it and take it first.
std::string fresh_name() {
  std::random_device random;
  return std::string(kFreshFilePrefix) + std::to_string(::getpid()) + "-" +
         std::to_string(random()) + std::to_string(random());
}

}  // namespace

OutputFolder::OutputFolder(FileDescriptor folder, std::filesystem::path path)
    : fd_(std::move(folder)), path_(std::move(path)) {
  struct stat info {};
  check_system_call("look at " + path_.string(), ::fstat(fd_.get(), &info));
  device_ = info.st_dev;
  owner_ = info.st_uid;
}

std::filesystem::path OutputFolder::held() const { return name_of_open(fd_); }

void OutputFolder::refuse(const std::string& name, int error_number, const std::string& why) const {
  const std::string attempted = "write " + (path_ / name).string();
  if (is_of_the_machine(error_number)) throw SystemError(attempted, error_number);
  throw OutputError(attempted, error_number,
                    why.empty() ? "choose another place, such as --out gives" : why);
}

void OutputFolder::give_if_callers(int made) const {
  const auto caller = calling_user();
  if (!caller || caller->user != owner_) return;
  [[maybe_unused]] const int done =
      ::fchownat(made, "", caller->user, caller->group, AT_EMPTY_PATH);
}

std::optional<OutputFolder> OutputFolder::make_new(const std::string& name) const {
  if (::mkdirat(fd_.get(), name.c_str(), 0755) != 0) {
    if (errno == EEXIST) return std::nullopt;
    refuse(name, errno);
  }
  FileDescriptor made(
      ::openat(fd_.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made) refuse(name, errno);
  return OutputFolder(std::move(made), path_ / name);
}

std::optional<mode_t> OutputFolder::require_replaceable(const std::string& name) const {
  struct stat info {};
  if (::fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return std::nullopt;
    refuse(name, errno);
  }
  if (S_ISDIR(info.st_mode)) refuse(name, EISDIR);
  if (!S_ISREG(info.st_mode)) refuse(name, EEXIST, "it is no ordinary file");
  const Trust trust = Trust::now();
  const bool callers = trust.caller && trust.caller->user == info.st_uid;
  if (trust.root && !callers && !trust.user(info.st_uid)) {
    refuse(name, EPERM, "it belongs to user " + std::to_string(info.st_uid));
  }
  return info.st_mode & 0777;
}

FileDescriptor OutputFolder::make_file(const std::string& name) const {
  FileDescriptor file(::openat(fd_.get(), name.c_str(), kNewFile, 0644));
  if (!file) refuse(name, errno);
  give_if_callers(file.get());
  return file;
}

void OutputFolder::write_file(const std::string& name, std::string_view text) const {
  const std::optional<mode_t> mode = require_replaceable(name);
  const std::string fresh = fresh_name();
  const FileDescriptor file = make_file(fresh);
  try {
    file.write_all((path_ / name).string(),
                   {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    if (mode) check_system_call("set the mode of " + name, ::fchmod(file.get(), *mode));
    if (::renameat(fd_.get(), fresh.c_str(), fd_.get(), name.c_str()) != 0) refuse(name, errno);
  } catch (...) {
    ::unlinkat(fd_.get(), fresh.c_str(), 0);
    throw;
  }
}

FileDescriptor OutputFolder::create_file(const std::string& name) const {
  if (require_replaceable(name) && ::unlinkat(fd_.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
    refuse(name, errno);
  }
  return make_file(name);
}

FileDescriptor OutputFolder::append_file(const std::string& name) const {
  constexpr int kAppend = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const bool there = require_replaceable(name).has_value();
  const int flags = there ? kAppend : kAppend | O_CREAT | O_EXCL;
  FileDescriptor file(::openat(fd_.get(), name.c_str(), flags, 0644));
  if (!file) refuse(name, errno);
  if (!there) give_if_callers(file.get());
  return file;
}

void OutputFolder::move_file(const std::string& from, const std::string& to) const {
  require_replaceable(from);
  require_replaceable(to);
  if (::renameat(fd_.get(), from.c_str(), fd_.get(), to.c_str()) != 0) refuse(to, errno);
}

bool OutputFolder::point_link(const std::string& name, const std::string& target) const {
  struct stat info {};
  const bool there = ::fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (there && !S_ISLNK(info.st_mode)) return false;
  const std::string fresh = fresh_name();
  if (::symlinkat(target.c_str(), fd_.get(), fresh.c_str()) != 0) return false;
  const FileDescriptor link(::openat(fd_.get(), fresh.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (link) give_if_callers(link.get());
  if (::renameat(fd_.get(), fresh.c_str(), fd_.get(), name.c_str()) == 0) return true;
  ::unlinkat(fd_.get(), fresh.c_str(), 0);
  return false;
}

void OutputFolder::give_to(const Owner& owner) const {
  if (::geteuid() == 0) give_to_owner(fd_.get(), owner, device_, kMaxDepth);
}

std::filesystem::path name_of_open(const FileDescriptor& file) {
  return "/proc/self/fd/" + std::to_string(file.get());
}

}  // namespace mrclab::netio
