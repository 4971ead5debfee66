#pragma once
// The files of the page, embedded in the program at build time (CMakeLists.txt) from page/ and lessons/.

#include <span>
#include <string_view>

namespace mrclab::lab {

inline constexpr std::string_view kLessonFolder = "/lessons/";

struct PageFile {
  std::string_view path;  ///< "/main.js"; lessons: "/lessons/one-packet.md"
  std::string_view bytes;
};
/// All of them, by path.
std::span<const PageFile> page_files();
/// The media type by the ending of a path.
std::string_view media_type(std::string_view path);

}  // namespace mrclab::lab
