#include "lab/chaos/task_pool.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <stdexcept>

#include "netio/system/child_process.h"
#include "netio/system/forked_process.h"
#include "netio/system/socket_bytes.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

/// The longest answer is that of a twin: 50,000 operations and 10,000 steps take up to 3 MB.
constexpr size_t kAnswerMax = 8 << 20;
constexpr size_t kLastWords = 200;  // bytes of a dead worker's stderr

/// Answers: length u32 (the top bit set: it is the what() of an exception), text.
constexpr uint32_t kThrown = 1u << 31;

void allow_cpu_seconds(uint64_t seconds) {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  rlimit limit{};
  ::getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur = std::min<rlim_t>(
      limit.rlim_max, static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + seconds);
  ::setrlimit(RLIMIT_CPU, &limit);
}

/// The last line that a worker wrote.
std::string last_words(int fd) {
  std::array<char, 4096> buffer{};
  const off_t size = ::lseek(fd, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, size - static_cast<off_t>(buffer.size()));
  const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), from);
  std::string text(buffer.data(), got > 0 ? static_cast<size_t>(got) : 0);
  while (text.ends_with('\n')) text.pop_back();
  const size_t line = text.rfind('\n');
  if (line != std::string::npos) text = text.substr(line + 1);
  return text.substr(0, kLastWords);
}

}  // namespace

TaskPool::TaskPool(uint32_t processes, Work work) : work_(std::move(work)), workers_(processes) {}

TaskPool::~TaskPool() {
  for (Worker& worker : workers_) {
    if (worker.pid < 0) continue;
    ::kill(worker.pid, SIGKILL);
    ::waitpid(worker.pid, nullptr, 0);
  }
}

bool TaskPool::idle() const { return busy() < workers_.size(); }

size_t TaskPool::busy() const {
  return static_cast<size_t>(
      std::count_if(workers_.begin(), workers_.end(), [](const Worker& w) { return w.task; }));
}

void TaskPool::start(uint64_t task) {
  const auto worker =
      std::find_if(workers_.begin(), workers_.end(), [](const Worker& w) { return !w.task; });
  if (worker->pid < 0) spawn(*worker);
  worker->task = task;
  // A process that is gone already is noticed when its answer is awaited.
  netio::send_all(worker->channel.get(), &task, sizeof task);
}

void TaskPool::spawn(Worker& worker) {
  using netio::check_system_call;
  int pair[2];
  check_system_call("socketpair", ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
  worker.channel = netio::FileDescriptor(pair[0]);
  netio::FileDescriptor theirs(pair[1]);
  worker.stderr_file = netio::FileDescriptor(
      check_system_call("memfd_create", ::memfd_create("stderr", MFD_CLOEXEC)));
  worker.pid = netio::fork_worker([&] {
    ::dup2(worker.stderr_file.get(), STDERR_FILENO);
    for (Worker& other : workers_) other.channel.reset();  // or their deaths would go unnoticed
    worker.channel = std::move(theirs);
    serve(worker);
  });
}

void TaskPool::serve(const Worker& worker) {
  uint64_t task = 0;
  while (netio::receive_all(worker.channel.get(), &task, sizeof task)) {
    allow_cpu_seconds(kCpuSeconds);
    std::string text;
    uint32_t length = 0;
    try {
      text = work_(task);
      if (text.size() > kAnswerMax) {
        throw std::runtime_error("an answer of " + std::to_string(text.size()) +
                                 " bytes: expected at most " + std::to_string(kAnswerMax));
      }
    } catch (const std::exception& error) {
      text = error.what();
      length = kThrown;
    }
    text.resize(std::min(text.size(), kAnswerMax));
    length |= static_cast<uint32_t>(text.size());
    if (!netio::send_all(worker.channel.get(), &length, sizeof length)) break;
    if (!netio::send_all(worker.channel.get(), text.data(), text.size())) break;
  }
}

std::optional<TaskPool::Answer> TaskPool::wait(std::chrono::milliseconds timeout) {
  std::vector<pollfd> fds;
  std::vector<Worker*> of;
  for (Worker& worker : workers_) {
    if (!worker.task) continue;
    fds.push_back({worker.channel.get(), POLLIN, 0});
    of.push_back(&worker);
  }
  if (fds.empty()) return std::nullopt;
  if (::poll(fds.data(), fds.size(), static_cast<int>(timeout.count())) <= 0) return std::nullopt;
  for (size_t i = 0; i < fds.size(); ++i) {
    if (fds[i].revents == 0) continue;
    Worker& worker = *of[i];
    uint32_t length = 0;
    if (!netio::receive_all(worker.channel.get(), &length, sizeof length)) return bury(worker);
    Answer answer{*worker.task, std::string(length & ~kThrown, '\0'), ""};
    if (!netio::receive_all(worker.channel.get(), answer.text.data(), answer.text.size())) {
      return bury(worker);
    }
    if ((length & kThrown) != 0) answer.death.swap(answer.text);
    worker.task.reset();
    return answer;
  }
  return std::nullopt;
}

/// Its process has ended in the middle of a task.
TaskPool::Answer TaskPool::bury(Worker& worker) {
  int status = 0;
  ::kill(worker.pid, SIGKILL);  // it has closed its end; whatever is left of it goes too
  ::waitpid(worker.pid, &status, 0);
  netio::ExitStatus end;
  if (WIFSIGNALED(status)) {
    end.signal_number = WTERMSIG(status);
  } else {
    end.code = WEXITSTATUS(status);
  }
  Answer answer{*worker.task, "", netio::to_string(end)};
  if (end.signal_number == SIGXCPU) {
    answer.death = "no end after " + std::to_string(kCpuSeconds) + " CPU seconds";
  } else if (const std::string words = last_words(worker.stderr_file.get()); !words.empty()) {
    answer.death += ": " + words;
  }
  worker = {};
  return answer;
}

}  // namespace mrclab::lab
