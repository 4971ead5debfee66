#include "netio/system/trusted_users.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace mrclab::netio {
namespace {

/// The id of a user or group, if the whole text is one.
std::optional<uint32_t> id_in(const char* text) {
  if (text == nullptr) return std::nullopt;
  uint32_t id = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, id);
  if (error != std::errc() || stop != end || text == end || id == UINT32_MAX) return std::nullopt;
  return id;
}

}  // namespace

std::optional<Owner> calling_user() {
  if (::geteuid() != 0) return std::nullopt;
  const auto user = id_in(std::getenv("SUDO_UID")), group = id_in(std::getenv("SUDO_GID"));
  if (!user || !group || *user == 0) return std::nullopt;
  return Owner{*user, *group};
}

Trust Trust::now() {
  Trust trust;
  trust.root = ::geteuid() == 0;
  trust.users = {0, ::geteuid()};
  trust.groups = {0, ::getegid()};
  for (const char* path : {"/", "/proc/self/exe"}) {
    struct stat info {};
    if (::stat(path, &info) != 0) continue;
    trust.users.push_back(info.st_uid);
    trust.groups.push_back(info.st_gid);
  }
  trust.caller = calling_user();
  if (trust.caller) trust.groups.push_back(trust.caller->group);
  return trust;
}

bool Trust::user(uid_t user) const {
  return std::find(users.begin(), users.end(), user) != users.end();
}

bool Trust::group(gid_t group) const {
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

bool is_trusted_with(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return false;
  const Trust trust = Trust::now();
  return trust.user(info.st_uid) || (trust.caller && trust.caller->user == info.st_uid);
}

}  // namespace mrclab::netio
