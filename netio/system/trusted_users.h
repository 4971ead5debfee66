#pragma once
// Whom this process relies on, where others may have laid a link or a file: output_folder.h has the rules that follow.

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <vector>

namespace mrclab::netio {

struct Owner {
  uid_t user = 0;
  gid_t group = 0;
};

/// The user that started this process by sudo; empty if this process is not root or sudo was not
/// used.
std::optional<Owner> calling_user();
/// Does the file or folder belong to a trusted user (Trust) or to the user of sudo? False if it
/// does not exist.
bool is_trusted_with(const std::filesystem::path& path);

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

}  // namespace mrclab::netio
