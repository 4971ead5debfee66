// One row of bench_sim: a permutation across the T1s (every data packet crosses three switches) on a
// fabric of eight planes, no captures, every packet digested at every port. Prints JSON.
//
// Memory of a host or a switch is what its own allocations come to when the run ends (its digest
// included), frames apart; RSS is the process's peak. It is printed only where the word "memory" asks for it, because
// whose code runs must then be noted at every frame.

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "endpoint/host/host_node.h"
#include "endpoint/options/profile_maker.h"
#include "fabric/history/history.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/build_topology.h"
#include "lab/front/huge_pages.h"
#include "sim/sim_world.h"
#include "sim/window_barrier.h"
#include "switchd/switch_node.h"
#include "tests/bench/cpu_time.h"

namespace {

enum class Owner : uint8_t { kOther, kHost, kSwitch };
thread_local Owner t_owner = Owner::kOther;
thread_local int64_t t_held[3];  // bytes by owner, of this thread; the sum over threads counts

/// Whose code runs, for as long as it lives.
struct Running {
  explicit Running(Owner owner) : before(t_owner) { t_owner = owner; }
  ~Running() { t_owner = before; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  Owner before;
};

}  // namespace

void* operator new(size_t size) {
  void* const p = std::malloc(size);
  if (p == nullptr) throw std::bad_alloc();
  t_held[static_cast<size_t>(t_owner)] += static_cast<int64_t>(::malloc_usable_size(p));
  return p;
}
void operator delete(void* p) noexcept {
  t_held[static_cast<size_t>(t_owner)] -= static_cast<int64_t>(::malloc_usable_size(p));
  std::free(p);
}
void operator delete(void* p, size_t) noexcept { operator delete(p); }
// Ports are aligned to cache lines, and count. Slabs of frames are aligned arrays, and do not: frames count apart.
void* operator new[](size_t size, std::align_val_t alignment) {
  void* const p = std::aligned_alloc(static_cast<size_t>(alignment), size);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void* operator new(size_t size, std::align_val_t alignment) {
  void* const p = operator new[](size, alignment);
  t_held[static_cast<size_t>(t_owner)] += static_cast<int64_t>(::malloc_usable_size(p));
  return p;
}
void operator delete(void* p, std::align_val_t) noexcept { operator delete(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { operator delete(p); }

namespace mrclab {
namespace {

struct Case {
  uint32_t t0, t1, hosts_per_t0;
  FabricTime end;
  bool elided;
  uint32_t threads;
  bool memory;
  uint32_t hosts() const { return t0 * hosts_per_t0; }
};

/// What is written down of each packet: its record in the node's digest, nothing else.
class Digest : public NodeObserver {
 public:
  Digest(const Topology& topology, NodeId node) : digest(topology, node, FabricTime::never()) {}
  void packet(const PacketRecord& record) override { digest.packet(record); }
  void fetch() const override { digest.fetch(); }
  void event(const EventRecord&) override {}
  HistoryDigest digest;
};

/// A node whose allocations count as its own.
class Metered : public Node {
 public:
  Metered(std::unique_ptr<Node> node, Owner owner) : node_(std::move(node)), owner_(owner) {}
  void receive(PortId port, Arrival&& arrival) override {
    const Running running(owner_);
    node_->receive(port, std::move(arrival));
  }
  void apply(const ScheduledEffect& effect) override { node_->apply(effect); }
  FabricTime next_event() const override { return node_->next_event(); }
  void run_until(FabricTime committed, FrameSink& out) override {
    const Running running(owner_);
    node_->run_until(committed, out);
  }

 private:
  std::unique_ptr<Node> node_;
  Owner owner_;
};

/// The host of a virtual machine may take memory back that lies free for some seconds, and gives it again page by page when
/// it is touched: 4 ms for 2 MiB were measured, which would count as the simulator's time. So as much as a run needs is
/// touched before, by a process of its own, because this one's peak is reported.
void have_memory_backed(const Case& c) {
  const size_t size = c.hosts() * (c.elided ? size_t{1} << 18 : size_t{10} << 20);
  const pid_t child = ::fork();
  if (child < 0) return;
  if (child > 0) {
    ::waitpid(child, nullptr, 0);
    return;
  }
  void* const memory =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) {
    ::madvise(memory, size, MADV_HUGEPAGE);
    std::memset(memory, 1, size);
  }
  ::_exit(0);
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds that so many threads take to meet twice, as they do in each window.
double meeting_seconds(uint32_t threads) {
  constexpr int kMeetings = 2000;
  lab::WindowBarrier window_barrier(threads, []() noexcept {});
  const double begin = wall_seconds();
  {
    std::vector<std::jthread> meeting;
    for (uint32_t i = 0; i < threads; ++i) {
      meeting.emplace_back([&window_barrier] {
        for (int n = 0; n < 2 * kMeetings; ++n) window_barrier.arrive_and_wait();
      });
    }
  }
  return (wall_seconds() - begin) / kMeetings;
}

/// One row, measured in this process.
nlohmann::ordered_json measure(const Case& c) {
  have_memory_backed(c);
  double wall = wall_seconds();
  FabricShape shape;
  shape.name = "bench";
  shape.planes = 8;
  shape.t0 = c.t0;
  shape.t1 = c.t1;
  shape.hosts_per_t0 = c.hosts_per_t0;
  const Topology topology = build_topology(shape);
  endpoint::PermutationSpec permutation;
  for (uint32_t host = 0; host < c.hosts(); ++host) permutation.hosts.push_back(host);
  permutation.shift = c.hosts_per_t0;
  permutation.load = Probability{900'000'000};
  permutation.message = {1 << 20};
  endpoint::HostConfig config;
  config.transport = endpoint::make_profile("lab", topology);
  config.workloads = {permutation};
  config.end = c.end;
  config.payload_elided = c.elided;
  config.payload_lent = true;  // as in a run without captures, here and below
  endpoint::StreamContents contents;
  config.contents = &contents;
  const auto connections = endpoint::plan_connections(topology, config.workloads, 1);
  const endpoint::OwnConnections by_host(connections, topology.host_count());
  config.connections = &by_host;
  std::vector<std::unique_ptr<Digest>> digests;
  std::vector<const endpoint::HostNode*> hosts;
  const auto owner_of = [&](NodeId node) {
    return topology.node(node).role == NodeRole::kHost ? Owner::kHost : Owner::kSwitch;
  };
  for (const NodeSite& site : topology.nodes) {
    const Running running(owner_of(site.id));
    digests.push_back(std::make_unique<Digest>(topology, site.id));
  }
  std::set<const FramePool*> pools;
  lab::SimWorld world(
      topology, {.seed = 1, .room = c.elided ? kHeaderRoom : FrameRoom{}, .threads = c.threads},
      [&](const NodeEnvironment& environment) -> std::unique_ptr<Node> {
        pools.insert(&environment.frames);
        const Owner owner = owner_of(environment.self);
        const Running running(owner);
        std::unique_ptr<Node> node;
        if (owner == Owner::kSwitch) {
          node = std::make_unique<switchd::SwitchNode>(environment);
        } else {
          auto host = std::make_unique<endpoint::HostNode>(environment, config);
          hosts.push_back(host.get());
          node = std::move(host);
        }
        return c.memory ? std::make_unique<Metered>(std::move(node), owner) : std::move(node);
      },
      [&](NodeId node) -> NodeObserver& { return *digests[node.value]; });
  const double build = wall_seconds() - wall;
  wall = wall_seconds();
  const double cpu = cpu_seconds();
  world.run_until(c.end);
  const double ran = wall_seconds() - wall;
  const double worked = cpu_seconds() - cpu;

  uint64_t bytes = 0, wrong = 0;
  for (const endpoint::HostNode* host : hosts) {
    const endpoint::HostStats stats = host->stats();
    wrong += stats.bytes_mismatched;
    for (const auto& plane : stats.planes) bytes += plane.rx_payload_bytes;
  }
  if (wrong != 0) throw std::runtime_error("wrong bytes arrived");
  std::vector<HistoryStream> history;
  for (const auto& digest : digests) {
    const auto streams = digest->digest.streams();
    history.insert(history.end(), streams.begin(), streams.end());
  }
  const size_t switches = topology.nodes.size() - hosts.size();
  const auto delivered = bytes / topology.pmtu;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  nlohmann::ordered_json row{{"hosts", hosts.size()},
                             {"switches", switches},
                             {"payload", c.elided ? "elided" : "real"},
                             {"threads", c.threads},
                             {"fabric_us", static_cast<double>(c.end.ps()) / 1e6},
                             {"delivered", delivered},
                             {"build_s", build},
                             {"run_s", ran},
                             {"cpu_s", worked},
                             {"packets_per_s", static_cast<double>(delivered) / ran},
                             {"packets_per_cpu_s", static_cast<double>(delivered) / worked}};
  if (c.memory) {
    row["host_kib"] = static_cast<double>(t_held[1]) / 1024 / static_cast<double>(hosts.size());
    row["switch_kib"] = static_cast<double>(t_held[2]) / 1024 / static_cast<double>(switches);
  }
  if (c.threads > 1) {
    row["windows"] = world.balance().windows;
    row["busy_s"] = world.balance().busy;
    row["longest_s"] = world.balance().longest;
    row["meeting_us"] = meeting_seconds(c.threads) * 1e6;
  }
  Bytes frames;
  for (const FramePool* pool : pools) frames += pool->memory();
  row["frames_mib"] = static_cast<double>(frames.value) / (1 << 20);
  row["rss_mib"] = static_cast<double>(usage.ru_maxrss) / 1024;
  row["history_sha256"] = history_sha256(std::move(history));
  return row;
}

/// The number that a whole word is, at least 1; 0 if it is none.
uint32_t number(const char* word) {
  char* end = nullptr;
  const unsigned long value = std::strtoul(word, &end, 10);
  return *word == 0 || *end != 0 || value > 1'000'000 ? 0 : static_cast<uint32_t>(value);
}

int print_row(int argc, char** argv) {
  const bool memory = argc == 8 && std::string_view(argv[7]) == "memory";
  if (argc == 7 || memory) {
    const std::string payload = argv[5];
    const Case c{
        number(argv[1]),     number(argv[2]), number(argv[3]), FabricTime::from_us(number(argv[4])),
        payload == "elided", number(argv[6]), memory};
    const bool one_thread = !memory || c.threads == 1;  // allocations are counted by thread
    if (one_thread && c.t0 >= 2 && c.t1 > 0 && c.hosts_per_t0 > 0 && c.end > FabricTime::zero() &&
        c.threads > 0 && (c.elided || payload == "real")) {
      std::printf("%s\n", measure(c).dump().c_str());
      return 0;
    }
  }
  std::fprintf(stderr, "usage: sim_speed T0 T1 HOSTS_PER_T0 END_US real|elided THREADS [memory]\n");
  return 2;
}

}  // namespace
}  // namespace mrclab

int main(int argc, char** argv) {
  mrclab::lab::start_with_huge_pages(argv);  // as the command does
  try {
    return mrclab::print_row(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sim_speed: %s\n", error.what());
    return 1;
  }
}
