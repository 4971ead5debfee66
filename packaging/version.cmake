# Writes version.cc, the text of `mrclab --version`; only if that has changed, so that a commit costs one
# small file and the links. Called at every build with
#   -DSOURCE=the source tree -DFALLBACK=CMake's project version -DBUILD=build type -DOUT=file
# packaging/version computes the version; the wrapper calls it as well where nothing is built yet.

execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/version ${SOURCE} ${FALLBACK} OUTPUT_VARIABLE said
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" said "${said}")
list(GET said 0 release)
list(GET said 1 version)
list(GET said 2 commit)
if(NOT BUILD)
  set(BUILD "no build type")
endif()

set(text "// Made by packaging/version.cmake.
#include \"console/version.h\"

namespace mrclab::lab {

std::string_view release_version() { return \"${release}\"; }
std::string_view commit_text() { return \"${commit}\"; }
std::string_view build_type() { return \"${BUILD}\"; }
std::string_view version_text() { return \"${version} (commit ${commit}, ${BUILD})\"; }

}  // namespace mrclab::lab
")
set(before "")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUT} "${text}")
endif()
