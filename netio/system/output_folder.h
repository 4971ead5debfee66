#pragma once
// Where files are made. Root writes into folders that other users may have prepared: a link that
// one of them laid there would lead it anywhere. So every path is opened component by component,
// and files are made relative to a folder that is held open:
//
//   - A link is followed only if a trusted user made it: root, this process's user, or the owner of
//     this program or of the root folder, who can do as they please anyway. A link of the user who
//     called with sudo may lead only into folders of that same user.
//   - Root makes nothing in a folder that another user owns, or that others may write to, unless
//     it is sticky (/tmp). The same holds for every folder on the way there.
//   - A whole file replaces its predecessor by rename(2), a growing one is a new file (O_EXCL).
//     A file of another user is not replaced.
//   - Files that root makes in a folder of the user of sudo belong to that user at once.

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "netio/system/file_descriptor.h"
#include "netio/system/trusted_users.h"

namespace mrclab::netio {

/// This process cannot write at this place, or should not: the user has to choose another one.
class OutputError : public SystemError {
 public:
  using SystemError::SystemError;
};

/// A folder that is held open, so that renaming it or putting a link in its place changes nothing.
/// Names are single components. Functions throw OutputError, and SystemError for a full disk.
class OutputFolder {
 public:
  static OutputFolder open(const std::filesystem::path& path);
  /// The same, but makes missing folders with mode 0755.
  static OutputFolder make(const std::filesystem::path& path);

  /// Makes a folder inside this one; empty if the name is taken.
  std::optional<OutputFolder> make_new(const std::string& name) const;
  /// Replaces a file, whole or not at all.
  void write_file(const std::string& name, std::string_view text) const;
  /// Makes a file to be written bit by bit; removes an older one of that name first.
  FileDescriptor create_file(const std::string& name) const;
  /// Opens or makes a file that is written at its end, as logs are.
  FileDescriptor append_file(const std::string& name) const;
  /// Gives a file another name in this folder and replaces what had that name.
  void move_file(const std::string& from, const std::string& to) const;
  /// Makes a link to `target`, also in place of another link; false if that fails.
  bool point_link(const std::string& name, const std::string& target) const;
  /// Gives the folder and what root has in it to `owner`. Left out are the targets of links, files
  /// with a second name, and what is mounted there. The folder itself comes last, so that its new
  /// owner cannot change it meanwhile.
  void give_to(const Owner& owner) const;

  const std::filesystem::path& path() const { return path_; }
  /// A path to the open folder, whatever becomes of its name; valid as long as this lives.
  std::filesystem::path held() const;

 private:
  friend class OutputPath;
  OutputFolder(FileDescriptor folder, std::filesystem::path path);
  FileDescriptor make_file(const std::string& name) const;
  void give_if_callers(int made) const;
  /// The mode of the file that would be replaced; empty if there is none. Throws if it must not be.
  std::optional<mode_t> require_replaceable(const std::string& name) const;
  [[noreturn]] void refuse(const std::string& name, int error_number,
                           const std::string& why = {}) const;

  FileDescriptor fd_;
  std::filesystem::path path_;
  dev_t device_ = 0;
  uid_t owner_ = 0;
};

/// As the members, but by path. Devices (/dev/null) and files that are open already (/dev/stdout)
/// are written to. write_file() of file_descriptor.h does the same for whole files.
FileDescriptor create_file(const std::filesystem::path& path);
FileDescriptor append_file(const std::filesystem::path& path);
/// A path that names an open file, for libraries that take only paths; valid while `file` is open.
std::filesystem::path name_of_open(const FileDescriptor& file);

}  // namespace mrclab::netio
