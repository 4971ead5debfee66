#pragma once
// Many tasks over some child processes. A task that ends its process (a failed assertion, an endless
// loop) is an answer like any other, and the next one gets a new process.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "netio/system/file_descriptor.h"

namespace mrclab::lab {

class TaskPool {
 public:
  /// Called in a child process, which is a copy of this one at the time of its first task. What it
  /// throws ends the task as a death, with what() as the reason.
  using Work = std::function<std::string(uint64_t task)>;
  struct Answer {
    uint64_t task = 0;
    std::string text;   ///< what Work returned
    std::string death;  ///< not empty: why there is none: "signal 6 (Aborted): ..."
  };
  /// CPU seconds after which a task counts as endless (our choice: a seed takes about one).
  static constexpr uint64_t kCpuSeconds = 300;

  /// The calling process must have no other threads.
  TaskPool(uint32_t processes, Work work);
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  /// Is there a process without a task?
  bool idle() const;
  size_t busy() const;
  /// Requires idle(). Throws SystemError.
  void start(uint64_t task);
  /// The next answer, or empty when none comes within `timeout` or none is awaited.
  std::optional<Answer> wait(std::chrono::milliseconds timeout);

 private:
  struct Worker {
    pid_t pid = -1;
    netio::FileDescriptor channel;  ///< tasks there, answers back
    netio::FileDescriptor stderr_file;
    std::optional<uint64_t> task;
  };
  void spawn(Worker& worker);
  void serve(const Worker& worker);
  Answer bury(Worker& worker);

  Work work_;
  std::vector<Worker> workers_;
};

}  // namespace mrclab::lab
