#pragma once
// Which mrclab this is. packaging/version.cmake writes the definitions from git's tags and commits.

#include <string_view>

namespace mrclab::lab {

/// "0.3.0": the release that runs, chaos and pages record. Commits do not show in it.
std::string_view release_version();

/// "1a2b3c4d5e6f", with " and changes" where files were changed since; "unknown" in an unpacked archive.
std::string_view commit_text();

/// CMake's build type: "RelWithDebInfo".
std::string_view build_type();

/// "0.2.0+5.g1a2b3c4d5e6f (commit 1a2b3c4d5e6f, RelWithDebInfo)": the version that a package has,
/// the commit ("unknown" in an unpacked archive; "... and changes" where files were changed since),
/// and CMake's build type.
std::string_view version_text();

}  // namespace mrclab::lab
