#include "lab/run/user_program.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "netio/rpc/heartbeat.h"
#include "netio/system/output_folder.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

using netio::check_system_call;
using netio::FileDescriptor;
using std::chrono::milliseconds;

constexpr size_t kMaxLine = 200;

netio::ChildOptions child_options(const UserProgram::Options& options, int output) {
  netio::ChildOptions child;
  child.argv = {"/bin/sh", "-c", options.command, "sh"};
  child.argv.insert(child.argv.end(), options.arguments.begin(), options.arguments.end());
  child.stdout_fd = output;
  child.environment = options.environment;
  child.working_directory = options.working_directory;
  child.before_exec = options.before_exec;
  return child;
}

}  // namespace

UserProgram::Pipe UserProgram::make_pipe() {
  int ends[2];
  check_system_call("make a pipe", ::pipe2(ends, O_CLOEXEC));
  Pipe pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
  check_system_call("read a pipe without waiting", ::fcntl(ends[0], F_SETFL, O_NONBLOCK));
  return pipe;
}

UserProgram::UserProgram(const Options& options) : UserProgram(options, make_pipe()) {}

UserProgram::UserProgram(const Options& options, Pipe pipe)
    : output_(std::move(pipe.read_end)),
      log_(netio::create_file(options.log_file)),
      log_path_(options.log_file),
      child_(netio::ChildProcess::spawn(child_options(options, pipe.write_end.get()))) {
  if (options.timeout) deadline_ = Clock::now() + *options.timeout;
}

void UserProgram::finish_line() {
  // A rule of dashes, as perftest draws one below its figures, has none.
  const bool has_word = std::any_of(line_.begin(), line_.end(), [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c >= 0x80;
  });
  if (has_word) last_line_ = line_;
  line_.clear();
}

void UserProgram::take(std::string_view chunk) {
  const size_t keep = std::min<size_t>(chunk.size(), kMaxProgramOutput - kept_);
  log_.write_all(log_path_.string(), {reinterpret_cast<const uint8_t*>(chunk.data()), keep});
  kept_ += keep;
  dropped_ += chunk.size() - keep;
  for (const char c : chunk) {
    if (c == '\n') {
      finish_line();
    } else if (line_.size() < kMaxLine) {
      const bool printable = c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f');
      line_ += c == '\t' || !printable ? ' ' : c;
    }
  }
}

/// Reads a bounded amount at a time, so that a program that only writes cannot keep the lab from
/// its work.
void UserProgram::take_output() {
  constexpr int kMaxChunks = 32;
  char chunk[16'384];
  for (int i = 0; i < kMaxChunks; ++i) {
    const ssize_t n = ::read(output_.get(), chunk, sizeof chunk);
    if (n <= 0) return;
    take({chunk, static_cast<size_t>(n)});
  }
}

/// What it started and left behind goes with it.
void UserProgram::reap() {
  child_.signal_group(SIGKILL);
  status_ = child_.wait(milliseconds(0));
  take_output();
  finish_line();
}

bool UserProgram::step() {
  if (status_) return false;
  take_output();
  if (child_.ended()) {
    reap();
  } else if (deadline_ && Clock::now() >= *deadline_) {
    timed_out_ = true;
    end(kGrace);
    was_ended_ = false;
  }
  return !status_;
}

void UserProgram::end(milliseconds grace) {
  constexpr milliseconds kStep{2};
  if (status_) return;
  was_ended_ = !child_.ended();
  child_.signal_group(SIGTERM);
  child_.signal_group(SIGCONT);
  const auto kill_at = Clock::now() + grace;
  bool killed = false;
  netio::keep_looking([&]() -> netio::Heartbeat::Next {
    if (child_.ended()) return std::nullopt;
    take_output();  // a full pipe would keep it from ending
    if (!killed && Clock::now() >= kill_at) {
      child_.signal_group(SIGKILL);
      killed = true;
    }
    return kStep;
  });
  reap();
}

}  // namespace mrclab::lab
