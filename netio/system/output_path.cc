// A path to write to, followed component by component, and what output_folder.h opens by path. The rules stand there.

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <array>
#include <deque>
#include <string>

#include "netio/system/output_folder.h"

namespace mrclab::netio {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel
constexpr int kLook = O_PATH | O_NOFOLLOW | O_CLOEXEC;

struct stat stat_of(const FileDescriptor& file, const std::filesystem::path& path) {
  struct stat info {};
  check_system_call("look at " + path.string(), ::fstat(file.get(), &info));
  return info;
}

}  // namespace

class OutputPath {
 public:
  explicit OutputPath(const std::filesystem::path& path) : path_(path), trust_(Trust::now()) {}

  /// The folder that the whole path names. Both throw OutputError.
  OutputFolder folder(bool make_missing);
  /// The folder of the file that the path names; name() is then the file's name in it. Empty if the
  /// path leads to a device or an open file; then opened() is that, to be written at its end.
  std::optional<OutputFolder> folder_of_file();
  const std::string& name() const { return name_; }
  FileDescriptor& opened() { return opened_; }

 private:
  void begin();
  void walk_to(const std::filesystem::path& target);
  void step(const std::string& component, bool make_missing);
  void enter(FileDescriptor folder, const std::filesystem::path& path);
  void follow(const FileDescriptor& link, const struct stat& info, const std::string& name);
  bool open_special(const struct stat& info);
  void require_callers_own() const;
  FileDescriptor look_up(const std::string& component) const;
  OutputFolder here();
  [[noreturn]] void refuse(int error_number, const std::string& why = {}) const;

  std::filesystem::path path_;
  Trust trust_;
  FileDescriptor at_;
  std::filesystem::path at_path_;
  uid_t at_owner_ = 0;
  std::deque<std::string> left_;
  std::string name_;
  FileDescriptor opened_;
  int links_ = 0;
  bool by_caller_ = false;  ///< the path led over a link of the user of sudo
};

void OutputPath::refuse(int error_number, const std::string& why) const {
  throw OutputError("write " + path_.string(), error_number,
                    why.empty() ? "choose another place, such as --out gives" : why);
}

void OutputPath::enter(FileDescriptor folder, const std::filesystem::path& path) {
  const struct stat info = stat_of(folder, path);
  const std::string place = path.empty() ? "." : path.string();
  if (trust_.root) {
    const bool callers = trust_.caller && trust_.caller->user == info.st_uid;
    if (!callers && !trust_.user(info.st_uid)) {
      refuse(EPERM, place + " belongs to user " + std::to_string(info.st_uid) +
                        "; root writes into folders of its own, choose one with --out");
    }
    const bool others = (info.st_mode & S_IWOTH) != 0 ||
                        ((info.st_mode & S_IWGRP) != 0 && !trust_.group(info.st_gid));
    if (others && (info.st_mode & S_ISVTX) == 0) {
      refuse(EPERM, "others may write to " + place +
                        " and could exchange what root makes there; choose another with --out");
    }
  }
  at_ = std::move(folder);
  at_path_ = path;
  at_owner_ = info.st_uid;
}

/// If the path led over a link of the user of sudo, root makes only what that user could have made:
/// the path must end in a folder of theirs.
void OutputPath::require_callers_own() const {
  if (!by_caller_ || at_owner_ == trust_.caller->user) return;
  refuse(ELOOP, "a link of user " + std::to_string(trust_.caller->user) + " leads to " +
                    at_path_.string() + ", which is not that user's");
}

void OutputPath::begin() {
  if (path_.empty()) refuse(ENOENT);
  at_path_.clear();
  walk_to(path_);
}

/// Puts the components of `target` in front of those that are left. An absolute path starts at the
/// root folder, any other one here.
void OutputPath::walk_to(const std::filesystem::path& target) {
  if (target.is_absolute() || !at_) {
    const char* start = target.is_absolute() ? "/" : ".";
    const int folder = ::open(start, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) refuse(errno);
    enter(FileDescriptor(folder), target.is_absolute() ? "/" : "");
  }
  const std::filesystem::path relative = target.relative_path();
  std::vector<std::string> components(relative.begin(), relative.end());
  left_.insert(left_.begin(), components.begin(), components.end());
}

FileDescriptor OutputPath::look_up(const std::string& component) const {
  return FileDescriptor(::openat(at_.get(), component.c_str(), kLook));
}

void OutputPath::follow(const FileDescriptor& link, const struct stat& info,
                        const std::string& name) {
  const std::filesystem::path place = at_path_ / name;
  const bool callers = trust_.caller && trust_.caller->user == info.st_uid;
  const bool as_folder = !trust_.root && info.st_uid == at_owner_;
  if (!callers && !as_folder && !trust_.user(info.st_uid)) {
    refuse(ELOOP, place.string() + " is a link of user " + std::to_string(info.st_uid));
  }
  by_caller_ = by_caller_ || (callers && !trust_.user(info.st_uid));
  if (++links_ > kMaxLinks) refuse(ELOOP);
  std::array<char, 4096> target;
  const ssize_t length = ::readlinkat(link.get(), "", target.data(), target.size());
  if (length <= 0 || length == static_cast<ssize_t>(target.size())) refuse(ELOOP);
  walk_to(std::string(target.data(), static_cast<size_t>(length)));
}

void OutputPath::step(const std::string& component, bool make_missing) {
  if (component.empty() || component == ".") return;
  FileDescriptor next = look_up(component);
  if (!next && errno == ENOENT && make_missing) {
    require_callers_own();
    if (const auto made = here().make_new(component)) here().give_if_callers(made->fd_.get());
    next = look_up(component);  // it may be that of another process that was faster
  }
  if (!next) refuse(errno);
  const std::filesystem::path place = at_path_ / component;
  const struct stat info = stat_of(next, place);
  if (S_ISLNK(info.st_mode)) return follow(next, info, component);
  if (!S_ISDIR(info.st_mode)) refuse(ENOTDIR);
  enter(std::move(next), place);
}

OutputFolder OutputPath::here() {
  return OutputFolder(at_.duplicate(), at_path_.empty() ? "." : at_path_);
}

OutputFolder OutputPath::folder(bool make_missing) {
  begin();
  while (!left_.empty()) {
    const std::string component = left_.front();
    left_.pop_front();
    step(component, make_missing);
  }
  require_callers_own();
  return here();
}

/// Opens what the kernel itself names: an open file under /proc, or a device.
/// False for anything else.
bool OutputPath::open_special(const struct stat& info) {
  struct statfs system {};
  const bool open_file = ::fstatfs(at_.get(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC &&
                         S_ISLNK(info.st_mode);
  if (!open_file && !S_ISCHR(info.st_mode)) return false;
  const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | (open_file ? 0 : O_NOFOLLOW);
  opened_ = FileDescriptor(::openat(at_.get(), name_.c_str(), flags));
  if (!opened_) refuse(errno);
  return true;
}

std::optional<OutputFolder> OutputPath::folder_of_file() {
  begin();
  while (!left_.empty()) {
    name_ = left_.front();
    left_.pop_front();
    if (!left_.empty() || name_ == "." || name_ == "..") {
      step(name_, false);
      name_.clear();
      continue;
    }
    const FileDescriptor file = look_up(name_);
    if (!file) break;  // the file is missing, and will be made
    const struct stat info = stat_of(file, at_path_ / name_);
    if (open_special(info)) return std::nullopt;
    if (S_ISLNK(info.st_mode)) follow(file, info, name_);
  }
  if (name_.empty()) refuse(EISDIR);
  require_callers_own();
  return here();
}

OutputFolder OutputFolder::open(const std::filesystem::path& path) {
  return OutputPath(path).folder(false);
}

OutputFolder OutputFolder::make(const std::filesystem::path& path) {
  return OutputPath(path).folder(true);
}

FileDescriptor create_file(const std::filesystem::path& path) {
  OutputPath way(path);
  const auto folder = way.folder_of_file();
  return folder ? folder->create_file(way.name()) : std::move(way.opened());
}

FileDescriptor append_file(const std::filesystem::path& path) {
  OutputPath way(path);
  const auto folder = way.folder_of_file();
  return folder ? folder->append_file(way.name()) : std::move(way.opened());
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  OutputPath way(path);
  if (const auto folder = way.folder_of_file()) return folder->write_file(way.name(), text);
  way.opened().write_all(path.string(),
                         {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

}  // namespace mrclab::netio
