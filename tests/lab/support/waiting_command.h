#pragma once
// A command that runs while the test looks on: waits for its output, sends it signals.

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "netio/system/child_process.h"
#include "netio/system/file_descriptor.h"
#include "tests/lab/support/sandbox.h"
#include "tests/lab/support/temporary_runs.h"

namespace mrclab::test {

class WaitingCommand {
 public:
  explicit WaitingCommand(std::vector<std::string> words)
      : child_(netio::ChildProcess::spawn(options(folder_.path(), std::move(words)))) {}

  std::string out() const { return netio::read_file(folder_.path() / "out", 64 << 20); }
  std::string err() const { return netio::read_file(folder_.path() / "err", 64 << 20); }

  /// Waits until its stderr holds the text; false if it ends before, or never writes it.
  bool says(const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + lab::kTestPatience;
    while (std::chrono::steady_clock::now() < deadline) {
      if (err().find(text) != std::string::npos) return true;
      if (child_.wait(std::chrono::milliseconds(20))) return false;
    }
    return false;
  }
  void signal(int number) { child_.signal(number); }
  /// Its exit code, or 128 + the signal that ended it; -1 if it goes on for ever.
  int ends() {
    const auto status = child_.wait(lab::kTestPatience);
    if (!status) return -1;
    return status->signal_number != 0 ? 128 + status->signal_number : status->code;
  }

 private:
  static netio::ChildOptions options(const std::filesystem::path& folder,
                                     std::vector<std::string> words) {
    words.insert(words.begin(), lab::program("mrclab-cli"));
    netio::ChildOptions options;
    options.argv = std::move(words);
    options.stdout_file = folder / "out";
    options.stderr_file = folder / "err";
    return options;
  }

  TemporaryRuns folder_;
  netio::ChildProcess child_;
};

}  // namespace mrclab::test
