#pragma once
// A program of the user: a command line for `sh -c` from the user's own file, run as the user who
// runs mrclab. Bounded in time and in output; it ends with its whole process group.

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "netio/system/child_process.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::lab {

inline constexpr size_t kMaxProgramOutput = size_t{4} << 20;  ///< kept in its log file

class UserProgram {
 public:
  using Clock = std::chrono::steady_clock;

  /// Between SIGTERM and SIGKILL when its time is up, or the run is over.
  static constexpr std::chrono::milliseconds kGrace{500};

  struct Options {
    std::string command;                      ///< for sh -c
    std::vector<std::string> arguments;       ///< $1, $2, ... of the command
    std::filesystem::path working_directory;  ///< empty: this process's
    std::filesystem::path log_file;           ///< stdout and stderr, as they come
    std::vector<std::pair<std::string, std::string>> environment;
    std::function<void()> before_exec;  ///< in the child: enters a node
    std::optional<std::chrono::milliseconds> timeout;
  };

  /// Starts it. Throws SystemError.
  explicit UserProgram(const Options& options);

  /// To be called every few milliseconds: takes its output, sees whether it has ended, ends it when
  /// its time is up. False when it is over.
  bool step();
  /// SIGTERM to its group, SIGKILL after `grace`; returns when it is over.
  void end(std::chrono::milliseconds grace);

  pid_t pid() const { return child_.pid(); }
  /// Empty while it runs.
  const std::optional<netio::ExitStatus>& status() const { return status_; }
  bool timed_out() const { return timed_out_; }
  bool was_ended() const { return was_ended_; }  ///< by end()
  /// The last line that has a word in it, at most 200 printable characters.
  const std::string& last_line() const { return last_line_; }
  uint64_t output_dropped() const { return dropped_; }  ///< bytes beyond kMaxProgramOutput

 private:
  struct Pipe {
    netio::FileDescriptor read_end, write_end;
  };
  UserProgram(const Options& options, Pipe pipe);
  static Pipe make_pipe();
  void take_output();
  void take(std::string_view chunk);
  void finish_line();
  void reap();

  netio::FileDescriptor output_;
  netio::FileDescriptor log_;
  std::filesystem::path log_path_;
  netio::ChildProcess child_;
  std::optional<Clock::time_point> deadline_;
  std::optional<netio::ExitStatus> status_;
  bool timed_out_ = false, was_ended_ = false;
  uint64_t kept_ = 0, dropped_ = 0;
  std::string line_, last_line_;
};

}  // namespace mrclab::lab
