// capture.

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <deque>
#include <map>
#include <memory>

#include "console/interrupt.h"
#include "console/root_rights.h"
#include "fabric/text/counted_noun.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/pattern.h"
#include "lab/persistent/lab_choice.h"
#include "lab/verbs/cli.h"
#include "live/bringup/node_plan.h"
#include "netio/runtime/veth_tap.h"
#include "netio/system/output_folder.h"

namespace mrclab::lab {
namespace {

struct CaptureOptions {
  std::vector<std::string> words;  ///< perhaps a lab, and ports
  std::optional<std::string> lab;
  std::string out = "-";
  uint64_t count = UINT64_MAX;
  double seconds = 0;  ///< 0: until it is ended
};

/// `capture octet h0:p0` names the lab as `down octet` does.
void take_lab(CaptureOptions& options) {
  if (options.words.size() < 2 || options.words.front().find(':') != std::string::npos) return;
  if (options.lab) return;
  options.lab = options.words.front();
  options.words.erase(options.words.begin());
}

/// Somebody who stops reading (head, a Wireshark that is closed) ends it; nothing else is wrong then.
netio::FileDescriptor open_output(const std::string& out) {
  if (out != "-") return netio::create_file(out);
  if (::isatty(STDOUT_FILENO) == 1) {
    throw InputError(
        "-w: found a terminal: expected a file, or a pipe such as "
        "`mrclab capture h0:p0 -w - | wireshark -k -i -`");
  }
  return netio::FileDescriptor(
      netio::check_system_call("dup standard output", ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)));
}

/// Waits until the reader of the pipe has gone (a pipe without packets would not show it), a signal arrives, or it is
/// time to look how many packets there are. -1: there is no pipe. Has the reader gone?
bool wait_for_reader(int descriptor) {
  constexpr int kLookMs = 20;
  pollfd pipe{descriptor, 0, 0};
  return ::poll(&pipe, 1, kLookMs) > 0 && (pipe.revents & POLLERR) != 0;
}

std::vector<PortRef> ports_named(const Topology& topology, const std::vector<std::string>& words) {
  std::vector<PortRef> ports;
  NameResolver names(topology, 0);
  for (const std::string& word : words) {
    for (const PortRef port : names.ports(std::string_view(word))) {
      if (std::find(ports.begin(), ports.end(), port) == ports.end()) ports.push_back(port);
    }
  }
  if (ports.size() > netio::VethTaps::kMaxPorts) {
    throw InputError(fmt::format("found {} ports: expected at most {}", ports.size(),
                                 netio::VethTaps::kMaxPorts));
  }
  for (const PortRef port : ports) {
    const bool inside = topology.wires == WireMode::kFast &&
                        topology.node(port.node).role != NodeRole::kHost &&
                        topology.node(topology.port(port).peer.node).role != NodeRole::kHost;
    if (inside) {
      throw InputError(topology.port_name(port) +
                       ": found a fast wire, which is inside a process: expected a port of a host, "
                       "or a fabric with \"wires: veth\"");
    }
  }
  return ports;
}

int capture_command(CaptureOptions options) {
  take_lab(options);
  if (options.words.empty()) throw InputError("name a port such as h0:p0 or p0.t0-0:u1");
  require_root("capture");
  const LabRecord record = choose_lab(options.lab);
  const Topology topology = read_fabric_file(LabPaths{}.lab_directory(record.lab) / "fabric.yaml");
  const std::vector<PortRef> ports = ports_named(topology, options.words);
  std::map<NodeId, netio::NetworkNamespace> namespaces;  // outlive the taps
  std::vector<netio::TapPort> taps;
  for (const PortRef ref : ports) {
    const NodeSite& site = topology.node(ref.node);
    const auto where = namespaces.try_emplace(
        ref.node, netio::NetworkNamespace::open(namespace_name(record.lab, site.name)));
    taps.push_back({topology.port_name(ref), &where.first->second, device_of(topology, ref),
                    topology.port(ref).out});
  }
  netio::FileDescriptor output = open_output(options.out);
  const int pipe = options.out == "-" ? STDOUT_FILENO : -1;
  ::signal(SIGPIPE, SIG_IGN);
  InterruptGuard guard;
  netio::VethTaps reading(taps, std::move(output), options.out, options.count);
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                       std::chrono::duration<double>(options.seconds));
  const auto is_over = [&] {
    return guard.interrupted() || reading.packets() >= options.count ||
           (options.seconds > 0 && std::chrono::steady_clock::now() >= end) ||
           reading.rounds_done() == UINT64_MAX;
  };
  while (!is_over() && !wait_for_reader(pipe)) continue;
  try {
    const netio::TapReport report = reading.finish();
    fmt::print(
        stderr, "{} on {}{}\n", counted_noun(report.packets, "packet"),
        counted_noun(report.interfaces, "port"),
        report.dropped == 0 ? "" : fmt::format("; the kernel dropped {} more", report.dropped));
  } catch (const netio::SystemError& error) {
    if (error.error_number() != EPIPE) throw;
  }
  return 0;
}

}  // namespace

void add_capture_verb(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<CaptureOptions>();  // shared with the callback
  CLI::App* capture = add_verb(app, "capture");
  capture
      ->add_option("NODE:PORT", options->words,
                   "ports, or patterns of them, behind the lab's name where there are several")
      ->required();
  capture->add_option("--lab", options->lab, "which lab (default: the only one)");
  capture->add_option("-w,--write", options->out, "a pcapng file; -: standard output, a pipe")
      ->capture_default_str();
  capture->add_option("-c,--count", options->count, "end after so many packets")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 48))
      ->default_str("");
  capture->add_option("--for", options->seconds, "end after so many seconds")
      ->check(CLI::Range(0.001, 1e7))
      ->default_str("");
  capture->footer(
      "Packets are written as they come, with this machine's time; fabric time is in the\n"
      "trailer of each. Ctrl-C, or the end of the reader, ends it.\n"
      "Example: sudo mrclab capture octet h0:p0 -w - | wireshark -k -i -\n"
      "         sudo mrclab capture 'h0:p*' -w h0.pcapng -c 1000");
  capture->callback([options, &result] { result.code = capture_command(*options); });
}

}  // namespace mrclab::lab
