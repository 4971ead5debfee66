# Writes version.cc, which says what `mrclab --version` says; only if that has changed, so that a commit costs one
# small file and the links. Called at every build with
#   -DSOURCE=the source tree -DFALLBACK=CMake's project version -DBUILD=build type -DOUT=file
#
# With a tag such as v0.3.0 behind it, a commit's version is 0.3.0 or 0.3.0+5.g1a2b3c4d5e6f, five commits later.
# Without any tag it is 0.3.0~57.g1a2b3c4d5e6f, which Debian sorts before the release that it leads to. In an
# unpacked archive, which has no history, it is the project's version alone.

function(git_says result)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env GIT_OPTIONAL_LOCKS=0 git -C ${SOURCE} ${ARGN}
                  OUTPUT_VARIABLE said ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(${result} "${said}" PARENT_SCOPE)
endfunction()

set(release ${FALLBACK})
set(version ${FALLBACK})
set(commit "")
git_says(root rev-parse --show-toplevel)
get_filename_component(source "${SOURCE}" REALPATH)
if(root STREQUAL source)  # otherwise this is an archive inside somebody else's checkout
  git_says(commit rev-parse --short=12 HEAD)
  git_says(described describe --tags --long --abbrev=12 --match "v[0-9]*")
  git_says(changed status --porcelain --untracked-files=no)
  if(described MATCHES "^v([0-9][0-9.]*)-([0-9]+)-(g[0-9a-f]+)$")
    set(release ${CMAKE_MATCH_1})
    set(version ${release})
    if(NOT CMAKE_MATCH_2 EQUAL 0)
      string(APPEND version "+${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
    endif()
  elseif(commit)
    git_says(count rev-list --count HEAD)
    string(APPEND version "~${count}.g${commit}")
  endif()
  if(commit AND changed)
    string(APPEND version ".changed")
    string(APPEND commit " and changes")
  endif()
endif()
if(NOT commit)
  set(commit unknown)
endif()
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
