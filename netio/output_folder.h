#pragma once
// Where files are made. Root writes into folders that other users may have prepared: a link that
// one of them laid there would lead it anywhere. So every path is opened component by component,
// and what is made is made relative to a folder that is held open:
//
//   - A link counts only if somebody who is trusted made it: root, this process's user, the owner
//     of this program or of the root folder, who can do as they please anyway. One of the user who
//     called with sudo leads only into folders of that same user.
//   - Root makes nothing in a folder that somebody else owns, or that others may write to, unless
//     it is sticky (/tmp). Nor on the way there.
//   - A whole file replaces its predecessor by rename(2), a growing one is a new file (O_EXCL).
//     What belongs to somebody else is not replaced.
//   - What is made in a folder of the user who called with sudo is that user's at once.

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "netio/file_descriptor.h"

namespace mrclab::netio {

/// A place where this process cannot write or should not: the user has to choose another one.
class OutputError : public SystemError {
 public:
  using SystemError::SystemError;
};

struct Owner {
  uid_t user = 0;
  gid_t group = 0;
};

/// Who called root with sudo; empty for anybody else.
std::optional<Owner> calling_user();
/// Does the file or folder belong to one of those whom this process relies on: see above, and who
/// called with sudo? Of what is not there: no.
bool is_trusted_with(const std::filesystem::path& path);

/// A folder that is held open: who renames it or puts a link in its place changes nothing here.
/// Names are single components. Functions throw OutputError, and SystemError for a full disk.
class OutputFolder {
 public:
  static OutputFolder open(const std::filesystem::path& path);
  /// The same; what is missing of it is made, with mode 0755.
  static OutputFolder make(const std::filesystem::path& path);

  /// A new folder in it; empty if there is something of that name.
  std::optional<OutputFolder> make_new(const std::string& name) const;
  /// Replaces a file, whole or not at all.
  void write_file(const std::string& name, std::string_view text) const;
  /// A file to be written bit by bit; one that was there is removed.
  FileDescriptor create_file(const std::string& name) const;
  /// A file that is written at its end, for logs.
  FileDescriptor append_file(const std::string& name) const;
  /// A link to `target`, new or in place of a link; false if that cannot be.
  bool point_link(const std::string& name, const std::string& target) const;
  /// Gives to `owner` the folder and what is in it, as far as it is root's: not what links lead
  /// to, nor files with a second name, nor what is mounted there. The folder itself comes last, so
  /// that its new owner cannot change it meanwhile.
  void give_to(const Owner& owner) const;

  const std::filesystem::path& path() const { return path_; }
  /// A path to it whatever becomes of its name; good as long as this lives.
  std::filesystem::path held() const;

 private:
  friend class OutputPath;
  OutputFolder(FileDescriptor folder, std::filesystem::path path);
  FileDescriptor make_file(const std::string& name) const;
  void give_if_callers(int made) const;
  /// The mode of what would be replaced, if there is something.
  std::optional<mode_t> require_replaceable(const std::string& name) const;
  [[noreturn]] void refuse(const std::string& name, int error_number,
                           const std::string& why = {}) const;

  FileDescriptor fd_;
  std::filesystem::path path_;
  dev_t device_ = 0;
  uid_t owner_ = 0;
};

/// The same by path; devices (/dev/null) and what is open already (/dev/stdout) are written to.
/// Whole files are written by write_file of file_descriptor.h.
FileDescriptor create_file(const std::filesystem::path& path);
FileDescriptor append_file(const std::filesystem::path& path);
/// A name for an open file, for what wants names; good as long as `file` is open.
std::filesystem::path name_of_open(const FileDescriptor& file);

}  // namespace mrclab::netio
