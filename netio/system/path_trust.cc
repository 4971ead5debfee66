#include "netio/system/path_trust.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <array>
#include <string_view>

#include "netio/system/output_folder.h"

namespace mrclab::netio {
namespace {

constexpr size_t kEntryBytes = 16 << 10;  // of the group or user database

/// Is the owner the only member of the group? It then has the owner's name, and nobody is listed in it besides.
bool is_private_group(gid_t group, uid_t owner) {
  if (group == 0) return true;
  std::array<char, kEntryBytes> user_text, group_text;
  passwd user{}, *user_found = nullptr;
  ::group entry{}, *group_found = nullptr;
  if (::getpwuid_r(owner, &user, user_text.data(), user_text.size(), &user_found) != 0 ||
      ::getgrgid_r(group, &entry, group_text.data(), group_text.size(), &group_found) != 0 ||
      user_found == nullptr || group_found == nullptr) {
    return false;
  }
  const std::string_view name = user.pw_name;
  if (name != entry.gr_name) return false;
  for (char** member = entry.gr_mem; *member != nullptr; ++member) {
    if (name != *member) return false;
  }
  return true;
}

bool others_may_write(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return false;
  if ((info.st_mode & S_IWOTH) != 0) return true;
  if ((info.st_mode & S_IWGRP) == 0) return false;
  // With an access list the bits of the group are those of everybody in the list.
  const bool listed = ::getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
  return listed || !is_private_group(info.st_gid, info.st_uid);
}

bool is_sticky_folder(const std::filesystem::path& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0;
}

}  // namespace

bool others_may_have_written(const std::filesystem::path& file) {
  std::error_code none;
  std::filesystem::path path = std::filesystem::canonical(file, none);
  if (none) return false;
  if (!is_trusted_with(path) || others_may_write(path)) return true;
  while (path != path.parent_path()) {
    path = path.parent_path();
    if (!is_trusted_with(path)) return true;
    if (others_may_write(path) && !is_sticky_folder(path)) return true;
  }
  return false;
}

}  // namespace mrclab::netio
