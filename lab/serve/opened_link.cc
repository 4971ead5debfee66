#include "lab/serve/opened_link.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "netio/system/file_descriptor.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBefore = "mrclab-", kBehind = ".html";

/// The process that a file of ours is of.
std::optional<pid_t> pid_of(std::string_view name) {
  if (!name.starts_with(kBefore) || !name.ends_with(kBehind)) return std::nullopt;
  name.remove_prefix(kBefore.size());
  name.remove_suffix(kBehind.size());
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc{} || end != name.data() + name.size() || pid <= 0) return std::nullopt;
  return pid;
}

/// A server that was killed could not remove its file.
void sweep(const fs::path& folder, pid_t own) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto pid = pid_of(entry.path().filename().native());
    const bool lives = pid && *pid != own && (::kill(*pid, 0) == 0 || errno != ESRCH);
    if (!pid || lives) continue;
    struct stat info {};
    const bool ours = ::lstat(entry.path().c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
                      info.st_uid == ::geteuid();
    if (ours) fs::remove(entry.path(), ignored);
  }
}

}  // namespace

fs::path write_link_file(const fs::path& folder, pid_t pid, const std::string& link) {
  sweep(folder, pid);
  fs::path path = folder / fmt::format("{}{}{}", kBefore, pid, kBehind);
  // Never through somebody else's file or link, and ours alone from its first instant.
  const netio::FileDescriptor file(netio::check_system_call(
      "make " + path.string(),
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)));
  const std::string text = "<meta http-equiv=refresh content=\"0;url=" + link + "\">\n";
  file.write_all(path.string(), {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  return path;
}

OpenedLink::OpenedLink(const std::string& link) {
  const char* folder = std::getenv("XDG_RUNTIME_DIR");
  if (folder == nullptr || (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY"))) return;
  try {
    path_ = write_link_file(folder, ::getpid(), link);
  } catch (const netio::SystemError& error) {
    fmt::print(stderr, "mrclab serve: no browser was opened: {}\n", error.what());
    return;
  }
  std::array<char*, 3> words{const_cast<char*>("xdg-open"), path_.data(), nullptr};
  ::posix_spawnp(&pid_, words[0], nullptr, nullptr, words.data(), environ);
}

OpenedLink::~OpenedLink() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove(path_, ignored);
  if (pid_ > 0) ::waitpid(pid_, nullptr, WNOHANG);
}

}  // namespace mrclab::lab
