// What the programs that `up` starts load before they begin: each library more takes 0.1 to 0.6 ms in each of four
// programs, one after the other in two of them.

#include <doctest/doctest.h>

#include <cstdio>
#include <string>

namespace {

/// What the dynamic loader would load, by its own listing, a line for each library.
std::string libraries_of(const std::string& program) {
  FILE* pipe = ::popen(
      ("LD_TRACE_LOADED_OBJECTS=1 " MRCLAB_BINARY_DIR "/" + program + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  char chunk[4096];
  while (const size_t count = std::fread(chunk, 1, sizeof chunk, pipe)) text.append(chunk, count);
  REQUIRE(::pclose(pipe) == 0);
  return text;
}

}  // namespace

TEST_SUITE("bring-up") {
  TEST_CASE("what up starts loads no library that it may never call") {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
    return;  // such a build links all libraries as they are
#endif
#endif
    for (const char* program :
         {"mrclab-cli", "mrclab-labs", "mrclab-labd", "mrc-switchd", "mrc-endpointd"}) {
      CAPTURE(program);
      const std::string libraries = libraries_of(program);
      CAPTURE(libraries);
      CHECK(libraries.find("libc.so") != std::string::npos);
      for (const char* late : {"libcrypto", "libnftables", "libpcap", "libfmt", "libspdlog"}) {
        CHECK(libraries.find(late) == std::string::npos);
      }
    }
  }
}
