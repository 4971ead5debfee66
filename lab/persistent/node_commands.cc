#include "lab/persistent/node_commands.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <list>
#include <optional>
#include <set>

#include "console/interrupt.h"
#include "fabric/text/name_pattern.h"
#include "fabric/text/yaml.h"
#include "live/bringup/node_container_files.h"
#include "netio/kernel/node_container.h"
#include "netio/system/child_process.h"

namespace mrclab::lab {
namespace {

using netio::check_system_call;
using netio::FileDescriptor;

constexpr size_t kLongestOutputLine =
    1 << 16;  // of output that ends no line; then it is broken there
constexpr std::chrono::milliseconds kOutputLook{50}, kEndGrace{1000};

/// One end of a command's output, of which lines are printed when they are whole.
class NamedOutput {
 public:
  NamedOutput(FileDescriptor pipe, std::string node, std::FILE* to)
      : pipe_(std::move(pipe)), node_(std::move(node)), to_(to) {}

  int descriptor() const { return pipe_.get(); }

  void read() {
    char bytes[4096];
    const ssize_t got = ::read(pipe_.get(), bytes, sizeof bytes);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return close();
    for (ssize_t i = 0; i < got; ++i) {
      if (bytes[i] == '\n' || line_.size() == kLongestOutputLine) print();
      if (bytes[i] != '\n') line_ += bytes[i];
    }
  }
  void close() {
    if (!line_.empty()) print();
    pipe_.reset();
  }

 private:
  void print() {
    fmt::print(to_, "{}: {}\n", node_, line_);
    std::fflush(to_);
    line_.clear();
  }

  FileDescriptor pipe_;
  std::string node_, line_;
  std::FILE* to_;
};

struct Running {
  std::string node;
  netio::ChildProcess child;
  NamedOutput out, error;
};

int code_of(const netio::ExitStatus& status) {
  return status.signal_number != 0 ? 128 + status.signal_number : status.code;
}

struct Pipe {
  FileDescriptor read, write;
};

Pipe make_pipe() {
  int ends[2];
  check_system_call("pipe2", ::pipe2(ends, O_CLOEXEC));
  check_system_call("fcntl", ::fcntl(ends[0], F_SETFL, O_NONBLOCK));
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

class NodeCommands {
 public:
  NodeCommands(const LabRecord& record, const std::vector<std::string>& command,
               const RdmaHosts& rdma)
      : record_(record), command_(command), rdma_(rdma) {}

  void start(const std::string& node) {
    Pipe out = make_pipe(), error = make_pipe();
    const auto ns = netio::NetworkNamespace::open(namespace_name(record_.lab, node));
    netio::NodeContainer container = node_container(LabPaths{}.lab_directory(record_.lab), node);
    const NodeSurroundings surroundings = rdma_.at(node);
    container.class_directory = surroundings.class_directory;
    netio::ChildOptions options;
    options.argv = command_;
    options.stdout_fd = out.write.get();
    options.environment = surroundings.environment;
    options.before_exec = [&, to = error.write.get()] {
      check_system_call("dup2", ::dup2(to, 2));
      netio::enter_node(container, ns);
    };
    try {
      running_.push_back({node, netio::ChildProcess::spawn(options),
                          NamedOutput(std::move(out.read), node, stdout),
                          NamedOutput(std::move(error.read), node, stderr)});
    } catch (const netio::SystemError& problem) {
      fmt::print(stderr, "{}: {}\n", node, problem.what());
      failed(node, problem.error_number() == ENOENT ? 127 : 126);
    }
  }

  /// Prints what has come, and takes those that have ended.
  void look() {
    std::vector<pollfd> waiting;
    for (const Running& each : running_) {
      for (const NamedOutput* output : {&each.out, &each.error}) {
        waiting.push_back({output->descriptor(), POLLIN, 0});  // a closed one is below 0
      }
      waiting.push_back({each.child.pidfd(), POLLIN, 0});
    }
    ::poll(waiting.data(), waiting.size(), static_cast<int>(kOutputLook.count()));
    auto ready = waiting.begin();
    for (auto each = running_.begin(); each != running_.end(); ready += 3) {
      if (ready[0].revents != 0) each->out.read();
      if (ready[1].revents != 0) each->error.read();
      each = take_ended(*each) ? running_.erase(each) : std::next(each);
    }
  }

  void stop() {
    for (Running& each : running_) each.child.signal_group(SIGTERM);
    for (Running& each : running_) each.child.stop(kEndGrace);
    running_.clear();
  }

  size_t running() const { return running_.size(); }
  const std::vector<std::pair<std::string, int>>& failures() const { return failures_; }

 private:
  /// False if it has not ended.
  bool take_ended(Running& ended) {
    if (ended.child.running()) return false;
    const auto status = ended.child.wait(std::chrono::milliseconds(0));
    // What it wrote is in the pipes; a process that it left behind may hold them open, which nobody waits for.
    for (NamedOutput* output : {&ended.out, &ended.error}) {
      for (pollfd more{output->descriptor(), POLLIN, 0};
           output->descriptor() >= 0 && ::poll(&more, 1, 0) > 0;) {
        output->read();
        more.fd = output->descriptor();
      }
      output->close();
    }
    if (status && !status->clean()) failed(ended.node, code_of(*status));
    return true;
  }
  void failed(const std::string& node, int code) { failures_.emplace_back(node, code); }

  const LabRecord& record_;
  const std::vector<std::string>& command_;
  const RdmaHosts& rdma_;
  std::list<Running> running_;
  std::vector<std::pair<std::string, int>> failures_;
};

}  // namespace

std::vector<std::string> nodes_named(const LabRecord& record, const std::string& text) {
  std::set<uint32_t> places;
  for (const std::string_view part : split_names(text)) {
    if (part == "all") {
      for (uint32_t i = 0; i < record.nodes.size(); ++i) places.insert(i);
      continue;
    }
    const NamesFound found = find_named(part, record.nodes);
    const auto mistake =
        mistake_in(found, part, "node",
                   fmt::format("a node of lab {} or a pattern: they are {} to {}", record.lab,
                               record.nodes.front(), record.nodes.back()));
    if (mistake) throw InputError("found " + mistake->found + ": expected " + mistake->expected);
    places.insert(found.places.begin(), found.places.end());
  }
  std::vector<std::string> nodes;
  for (const uint32_t place : places) nodes.push_back(record.nodes[place]);
  return nodes;
}

int run_in_nodes(const LabRecord& record, const std::vector<std::string>& nodes,
                 const std::vector<std::string>& command, size_t jobs, const RdmaHosts& rdma) {
  InterruptGuard guard;
  NodeCommands commands(record, command, rdma);
  size_t next = 0;
  while (!guard.interrupted() && (next < nodes.size() || commands.running() > 0)) {
    while (next < nodes.size() && commands.running() < jobs) commands.start(nodes[next++]);
    commands.look();
  }
  if (guard.interrupted()) {
    commands.stop();
    fmt::print(stderr, "mrclab: interrupted\n");
    return 130;
  }
  int worst = 0;
  std::string failed;
  for (const auto& [node, code] : commands.failures()) {
    worst = std::max(worst, code);
    failed += fmt::format("{}{} ({})", failed.empty() ? "" : ", ", node, code);
  }
  if (worst != 0) {
    fmt::print(stderr, "mrclab: {} of {} nodes failed: {}\n", commands.failures().size(),
               nodes.size(), failed);
  }
  return worst;
}

}  // namespace mrclab::lab
