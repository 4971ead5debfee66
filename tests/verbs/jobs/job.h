#pragma once
// Programs of a test as child processes that end with it, whatever happens to it.

#include <string>
#include <vector>

namespace mrclab::test {

/// Descriptors of a child process and what it has written; killed by the destructor if it runs still.
class Job {
 public:
  /// `environment` entries ("NAME=value") are added to this process's. Throws std::runtime_error.
  Job(std::vector<std::string> command, const std::vector<std::string>& environment);
  ~Job();
  Job(Job&& other) noexcept : process_(other.process_), output_(other.output_) {
    other.process_ = other.output_ = -1;
  }
  Job& operator=(Job&&) = delete;

  /// Waits at most `seconds`: its exit code, 128 + signal, or -1: it runs still, and is killed now.
  int wait(int seconds);
  /// Ends it as a machine that loses its power does.
  void kill();
  /// Standard output and error.
  std::string output() const;
  int process() const { return process_; }

 private:
  int process_ = -1;
  int output_ = -1;
};

}  // namespace mrclab::test
