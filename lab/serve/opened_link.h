#pragma once
// The page's link, opened in the desktop's browser.

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace mrclab::lab {

/// Opens the link, where there is a desktop. The link's token must not stand in the arguments of a process, which every
/// user can read, so a file that this user alone may read leads there: in XDG_RUNTIME_DIR, gone with this object. Where
/// the file cannot be written nothing is opened, and stderr has the reason.
class OpenedLink {
 public:
  explicit OpenedLink(const std::string& link);
  ~OpenedLink();
  OpenedLink(const OpenedLink&) = delete;
  OpenedLink& operator=(const OpenedLink&) = delete;

 private:
  std::string path_;
  pid_t pid_ = -1;
};

/// Writes that file for the process `pid`, and takes away those of processes that were killed. Throws SystemError.
std::filesystem::path write_link_file(const std::filesystem::path& folder, pid_t pid,
                                      const std::string& link);

}  // namespace mrclab::lab
