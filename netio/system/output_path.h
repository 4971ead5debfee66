#pragma once
// A path to write to, followed component by component. The rules are in output_folder.h.

#include <sys/stat.h>

#include <deque>
#include <string>
#include <vector>

#include "netio/system/output_folder.h"

namespace mrclab::netio {

/// The users and groups whose links and folders this process relies on.
struct Trust {
  static Trust now();
  bool user(uid_t user) const;
  bool group(gid_t group) const;

  bool root = false;  ///< this process is root: then the owners of folders matter, too
  std::vector<uid_t> users;
  std::vector<gid_t> groups;
  std::optional<Owner> caller;
};

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

}  // namespace mrclab::netio
