#pragma once
// Fields of packets by tshark with the generated dissector, and by our own decoder.

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "tests/support/capture_writer.h"

namespace mrclab::test {

/// How many packets and fields were compared, and what was not the same.
struct Agreement {
  uint64_t packets = 0, mrc = 0, trailers = 0, fields = 0, wrong = 0;
  std::map<std::string, uint64_t> kinds;
  std::string first_wrong;
};

class Tshark {
 public:
  explicit Tshark(const std::string& dissector) : script_("dissector.lua") {
    std::ofstream(script_.path()) << dissector;
  }
  std::string command(const std::filesystem::path& capture, const std::string& options) const {
    return "HOME=/nonexistent tshark -n -X lua_script:" + script_.path().string() + " -r " +
           capture.string() + " " + options;
  }
  /// Calls f(line) for each line of its output.
  template <class F>
  void lines(const std::filesystem::path& capture, const std::string& options, F&& f) const {
    FILE* pipe = ::popen((command(capture, options) + " 2>&1").c_str(), "r");
    REQUIRE(pipe != nullptr);
    char* line = nullptr;
    size_t room = 0;
    for (ssize_t n; (n = ::getline(&line, &room, pipe)) > 0;) {
      std::string text(line, static_cast<size_t>(n));
      if (text.ends_with('\n')) text.pop_back();
      if (!text.starts_with("Running as user")) f(text);
    }
    std::free(line);
    CHECK(::pclose(pipe) == 0);
  }

 private:
  ScratchFile script_;
};

/// Compares every field of every packet of a capture.
void compare(const Tshark& tshark, const std::filesystem::path& capture, Agreement& agreement);

}  // namespace mrclab::test
