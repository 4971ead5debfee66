// One path through veths, with a generator in front and a sink behind, for bench_switch_path:
//
//   wire     host == veth == host                             what generator and sink cost alone
//   ours     host == T0 (== T1 == T0) == host                 SwitchNode behind AF_PACKET rings, at
//                                                             wall-clock speed, one child process
//   kernel   the same, seg6local End with next-csid and routes
//   bpf      the same, our program in the kernel, with a shaper at each port
//   outside  the same, somebody else forwards in the switches' namespaces (Open vSwitch)
//
//   switch_path MODE HOPS BYTES WINDOW SECONDS
//
//   switch_path why-no-bpf
//
// prints why there is no `bpf` here, or an empty line. Else it prints one JSON line with the namespaces and carriers, waits for a line of process ids whose CPU
// counts as the switches', then measures and prints the result. Every process is on core 0. The
// window bounds the frames under way, so nothing is lost unless a switch has no room for them.

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fabric/packet/headers.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/path.h"
#include "live/bringup/bring_up.h"
#include "live/external/bpf_switches.h"
#include "live/external/switch_impairment.h"
#include "netio/kernel/bpf_program.h"
#include "netio/kernel/route.h"
#include "netio/runtime/wall_driver.h"
#include "switchd/bpf/usid_switch_object.h"
#include "switchd/switch_node.h"

namespace {

using namespace mrclab;
using netio::LabTime;
using netio::NetworkNamespace;
using netio::PacketSocket;
using nlohmann::json;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kLostAfterNs = 200'000'000;
constexpr int64_t kWarmUpNs = 300'000'000;
constexpr size_t kBatch = 64;

struct Options {
  std::string mode;
  uint32_t hops = 1;
  size_t bytes = 4234;
  uint64_t window = 256;
  double seconds = 2;
};

/// Both hosts on one T0, or on two with one T1 between. So fast that the model's queues are no
/// limit: ECN and trimming are on and looked at, but never become necessary.
Topology path_of_hops(uint32_t hops, Forwarding forwarding) {
  FabricShape shape;
  shape.name = "path";
  shape.t0 = hops == 3 ? 2 : 1;
  shape.hosts_per_t0 = hops == 3 ? 1 : 2;
  shape.host_rate = shape.fabric_rate = BitRate::from_gbps(10'000);
  shape.forwarding = forwarding;
  return build_topology(shape);
}

double cpu_seconds(const std::string& pid) {
  double total = 0;
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + pid + "/task", gone)) {
    std::ifstream in(task.path() / "schedstat");
    double ns = 0;
    if (in >> ns) total += ns / 1e9;
  }
  return total;
}

std::vector<uint8_t> make_frame(const Topology& topology, size_t size) {
  std::vector<uint8_t> bytes(size);
  const Port& from = topology.port({topology.host(0), PortId{0}});
  const MacAddress& to = topology.port(from.peer).mac;
  std::copy(to.begin(), to.end(), bytes.begin());
  std::copy(from.mac.begin(), from.mac.end(), bytes.begin() + 6);
  bytes[12] = 0x86, bytes[13] = 0xDD;
  const auto ipv6 = [&](size_t at, uint8_t next_header) {
    const size_t length = size - at - 40;
    bytes[at] = 0x60, bytes[at + 1] = 0x20;  // ECT(0)
    bytes[at + 4] = static_cast<uint8_t>(length >> 8), bytes[at + 5] = static_cast<uint8_t>(length);
    bytes[at + 6] = next_header, bytes[at + 7] = 64;
    const Ipv6Address source = host_address(topology, 0);  // a kernel forwards none from ::
    std::copy(source.begin(), source.end(), bytes.begin() + at + 8);
  };
  ipv6(kOuterOffset, kNextHeaderIpv6);
  ipv6(kInnerOffset, 59);  // no next header
  bytes[kOuterOffset] |= kDscpTrimmable >> 2;
  const bool far = topology.host_row(1) != topology.host_row(0);
  const Ipv6Address carrier = make_carrier(topology, 0, 1, far ? Path{0, 0} : Path{0});
  std::copy(carrier.begin(), carrier.end(), bytes.begin() + kOuterOffset + 24);
  return bytes;
}

Ipv6Address carrier_of(const std::vector<uint8_t>& frame) {
  Ipv6Address carrier;
  std::copy_n(frame.begin() + kOuterOffset + 24, carrier.size(), carrier.begin());
  return carrier;
}

/// The facts that another forwarder needs: per switch on the path its namespace, its interfaces,
/// the prefix that it matches ("5f00:0:<own>:<next>::/64") and the interface where it goes.
json describe_path(const lab::LiveFabric& fabric, Ipv6Address carrier) {
  const Topology& topology = fabric.topology();
  json switches = json::array();
  NodeId at = topology.port({topology.host(0), PortId{0}}).peer.node;
  while (topology.node(at).role != NodeRole::kHost) {
    Ipv6Address match = carrier;
    std::fill(match.begin() + 8, match.end(), uint8_t{0});
    shift_carrier(carrier);
    const PortId out = *switchd::ForwardingTable(topology, at).next_hop(active_usid(carrier));
    json names = json::array();
    for (const Port& port : topology.node(at).ports) names.push_back(port.name());
    switches.push_back({{"namespace", fabric.namespace_name(at)},
                        {"interfaces", names},
                        {"match", to_string(match) + "/64"},
                        {"out", topology.port({at, out}).name()}});
    at = topology.port({at, out}).peer.node;
  }
  return switches;
}

/// Keeps `window` frames under way from one socket to the other.
class Traffic {
 public:
  Traffic(const NetworkNamespace& from, const NetworkNamespace& to, std::vector<uint8_t> frame,
          uint64_t window)
      : out_(from, roomy()), in_(to, roomy()), frame_(std::move(frame)), window_(window) {}

  void run_for(int64_t ns) {
    const int64_t end = LabTime::now().ns + ns;
    for (int64_t now = LabTime::now().ns; now < end; now = LabTime::now().ns) {
      const bool moved = step();
      if (moved) last_moved_ = now;
      if (now - last_moved_ > kLostAfterNs) {
        lost += under_way();
        last_moved_ = now;
      }
      if (moved) continue;
      pollfd readable{in_.fd(), POLLIN, 0};
      ::poll(&readable, 1, 5);
    }
  }

  uint64_t delivered = 0;
  uint64_t lost = 0;

 private:
  static netio::PacketSocketOptions roomy() {
    netio::PacketSocketOptions options;
    options.ring_bytes = 2 << 20;  // the window is 256 frames at most
    return options;
  }
  uint64_t under_way() const { return sent_ - std::min(sent_, delivered + lost); }

  bool step() {
    const uint64_t room = window_ - std::min(window_, under_way());
    const size_t count = std::min<size_t>(kBatch, room);
    for (size_t i = 0; i < count; ++i) {
      out_.queue(out_.interfaces().front().ifindex, frame_);
    }
    sent_ += count - out_.flush().size();
    const uint64_t before = delivered;
    in_.drain([this](uint32_t, std::span<const uint8_t> bytes, uint64_t) {
      delivered += bytes.size() == frame_.size();  // what was trimmed did not arrive
    });
    return count > 0 || delivered != before;
  }

  PacketSocket out_, in_;
  std::vector<uint8_t> frame_;
  uint64_t window_;
  uint64_t sent_ = 0;
  int64_t last_moved_ = LabTime::now().ns;
};

class Silence : public NodeObserver {
 public:
  void packet(const PacketRecord&) override {}
  void event(const EventRecord&) override {}
};

struct RunningSwitch {
  std::unique_ptr<switchd::SwitchNode> node;
  std::unique_ptr<netio::WallDriver> driver;
};

/// In the child: every switch of the path, woken by packets, until killed.
[[noreturn]] void run_switches(const lab::LiveFabric& fabric) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  FramePool frames;
  Silence silence;
  std::vector<RunningSwitch> switches;
  for (const NodeSite& site : fabric.topology().nodes) {
    if (site.role == NodeRole::kHost) continue;
    netio::WallDriver::Config config;
    config.self = site.id;
    for (const Port& port : site.ports) config.interfaces.push_back(port.name());
    const NodeEnvironment environment{fabric.topology(), site.id, 1, frames, silence};
    switches.push_back(
        {std::make_unique<switchd::SwitchNode>(environment),
         std::make_unique<netio::WallDriver>(fabric.network_namespace(site.id), config, frames)});
    switches.back().driver->run(*switches.back().node);
  }
  std::vector<pollfd> readable;
  for (const RunningSwitch& each : switches) readable.push_back({each.driver->fd(), POLLIN, 0});
  for (;;) {
    bool busy = false;
    for (const RunningSwitch& each : switches) {
      busy |= each.driver->poll() || each.node->next_event() != FabricTime::never();
    }
    if (!busy) ::poll(readable.data(), readable.size(), 100);
  }
}

json measure(Traffic& traffic, const Options& options, const std::vector<std::string>& pids) {
  traffic.run_for(kWarmUpNs);
  const auto cpu_of_switches = [&pids] {
    double total = 0;
    for (const std::string& pid : pids) total += cpu_seconds(pid);
    return total;
  };
  const double own = cpu_seconds("self"), others = cpu_of_switches();
  const uint64_t delivered = traffic.delivered, lost = traffic.lost;
  const int64_t start = LabTime::now().ns;
  traffic.run_for(static_cast<int64_t>(options.seconds * kSecond));
  return {{"seconds", static_cast<double>(LabTime::now().ns - start) / kSecond},
          {"delivered", traffic.delivered - delivered},
          {"lost", traffic.lost - lost},
          {"ends_cpu_s", cpu_seconds("self") - own},
          {"switches_cpu_s", cpu_of_switches() - others}};
}

/// Prints what was set up and reads the process ids of an outside forwarder.
std::vector<std::string> greet(const json& setup) {
  std::cout << setup.dump() << std::endl;
  std::string line, pid;
  std::getline(std::cin, line);
  std::istringstream words(line);
  std::vector<std::string> pids;
  while (words >> pid) pids.push_back(pid);
  return pids;
}

json over_wire(const Options& options, const Topology& topology) {
  const auto make = [](const char* name) {
    return NetworkNamespace::create(name, netio::host_sysctls(), true);
  };
  const NetworkNamespace a = make("mrclab-path-a"), b = make("mrclab-path-b");
  const Port& port = topology.port({topology.host(0), PortId{0}});
  const netio::VethPair pair{
      {&a, "p0", port.mac, ""}, {&b, "p0", topology.port(port.peer).mac, ""}, lab::port_mtu()};
  netio::create_veths({&pair, 1});
  for (const NetworkNamespace* ns : {&a, &b}) netio::NamespaceNetlink(*ns).set_up("p0");
  // As the hosts of a fabric have it: the kernel throws away what the sink reads, without a word.
  netio::NamespaceNetlink netlink(b);
  netio::RouteBatch batch(netlink);
  netio::Route blackhole;
  blackhole.destination = netio::parse_prefix("5f00::/32");
  blackhole.end = netio::RouteEnd::kBlackhole;
  batch.route(blackhole);
  batch.commit();
  Traffic traffic(a, b, make_frame(topology, options.bytes), options.window);
  greet({{"namespaces", {a.name(), b.name()}}});
  return measure(traffic, options, {});
}

Forwarding forwarding_of(const std::string& mode) {
  if (mode == "kernel") return Forwarding::kKernel;
  return mode == "bpf" ? Forwarding::kBpf : Forwarding::kSwitchd;
}

/// The kernel's shapers at all ports of the program's switches, and the program's account of them. A hundredth of the
/// modelled rate: the kernel reckons a shaper's bursts in nanoseconds, of which a frame takes 3 at 10 Tb/s. It is still more
/// than one core sends.
void shape(lab::LiveFabric& fabric, lab::BpfSwitches& switches) {
  for (const NodeSite& site : fabric.topology().nodes) {
    if (site.role == NodeRole::kHost) continue;
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      const PortRef port{site.id, PortId{i}};
      const netio::Shaper shaper = lab::shaper_of(fabric.topology(), port, {}, 100);
      fabric.queue_shaper(port, shaper);
      switches.set_port(port, {}, shaper);
    }
    fabric.netlink(site.id).flush();
  }
}

json over_switches(const Options& options) {
  const Topology topology = path_of_hops(options.hops, forwarding_of(options.mode));
  lab::LiveFabric fabric(topology, "path");
  std::optional<lab::BpfSwitches> in_kernel;
  if (options.mode == "bpf") shape(fabric, in_kernel.emplace(fabric));
  pid_t child = 0;
  if (options.mode == "ours") {
    child = netio::check_system_call("fork", ::fork());
    if (child == 0) run_switches(fabric);
  }
  const std::vector<uint8_t> frame = make_frame(topology, options.bytes);
  Traffic traffic(fabric.network_namespace(topology.host(0)),
                  fabric.network_namespace(topology.host(1)), frame, options.window);
  std::vector<std::string> pids = greet({{"switches", describe_path(fabric, carrier_of(frame))}});
  if (child > 0) pids.push_back(std::to_string(child));
  json result = measure(traffic, options, pids);
  if (child > 0) ::kill(child, SIGKILL);
  return result;
}

void pin_to_first_core() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(0, &cores);
  ::sched_setaffinity(0, sizeof cores, &cores);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "why-no-bpf") {
    std::puts(netio::why_no_bpf(switchd::usid_switch_object()).value_or("").c_str());
    return 0;
  }
  if (argc != 6) {
    std::fputs("usage: switch_path wire|ours|kernel|bpf|outside HOPS BYTES WINDOW SECONDS\n",
               stderr);
    return 2;
  }
  try {
    const Options options{argv[1], static_cast<uint32_t>(std::stoul(argv[2])), std::stoul(argv[3]),
                          std::stoul(argv[4]), std::stod(argv[5])};
    pin_to_first_core();
    const json result = options.mode == "wire"
                            ? over_wire(options, path_of_hops(1, Forwarding::kSwitchd))
                            : over_switches(options);
    std::cout << result.dump() << std::endl;
    return 0;
  } catch (const netio::SystemError& error) {
    std::fprintf(stderr, "switch_path: %s\n", netio::explain(error).c_str());
    return 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "switch_path: %s\n", error.what());
    return 2;
  }
}
