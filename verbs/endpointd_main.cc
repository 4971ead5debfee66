// mrc-endpointd: runs the MRC endpoints of a few hosts in their namespaces, and serves the verbs of programs in them.

#include <nlohmann/json.hpp>

#include "endpoint/host/host_node.h"
#include "endpoint/host/host_table.h"
#include "endpoint/options/transport_choice.h"
#include "endpoint/workload/workload_entry.h"
#include "fabric/history/report_json.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/pattern.h"
#include "netio/runtime/daemon.h"
#include "verbs/protocol/messages.h"
#include "verbs/server/door.h"
#include "verbs/server/held/held_hosts.h"
#include "verbs/server/held/held_reports.h"

namespace {

using namespace mrclab;

class EndpointProgram : public netio::DaemonProgram {
 public:
  EndpointProgram(const netio::DaemonConfig& config, const Topology& topology)
      : topology_(topology), nodes_folder_(config.nodes_folder) {
    config_.transport = endpoint::make_profile(
        endpoint::parse_transport(read_yaml_text(config.transport, "transport"), topology),
        topology);
    NameResolver names(topology, config.seed);
    if (!config.workload.empty()) {
      config_.workloads =
          endpoint::parse_workloads(read_yaml_text(config.workload, "workload"), names);
    }
    config_.end = config.work_end;
    config_.payload_elided = config.payload_elided;
    if (!config.held_programs.empty()) declared_ = verbs::read_declared(config.held_programs);
    config_.payload_lent = true;  // the driver gathers a frame when it leaves, in the same tick
  }

  std::unique_ptr<Node> make_node(const NodeEnvironment& environment) override {
    auto node = std::make_unique<endpoint::HostNode>(environment, config_);
    hosts_.push_back({environment.self, node.get()});
    return node;
  }

  /// Where no payload is sent, a program's bytes would not arrive.
  void open() override {
    if (!declared_.empty()) return open_held();
    if (nodes_folder_.empty() || config_.payload_elided) return;
    for (const Hosted& host : hosts_) {
      const NodeSite& site = topology_.node(host.id);
      doors_.open(verbs::door_of(nodes_folder_, site.name), host.node->device(),
                  verbs::host_facts(topology_, site.index, config_.transport.transport));
    }
  }

  bool serve(const netio::ClockPage& clock) override { return doors_.serve(rate_of(clock)); }
  void close() override {
    doors_.close();
    if (held_) held_->close();
  }
  void set_beat(std::function<bool()> beat) override { beat_ = std::move(beat); }
  std::string programs() const override {
    return held_ ? verbs::reports_text(held_->reports()) : std::string();
  }

  nlohmann::json describe(const Node& node) const override {
    return report_to_json(dynamic_cast<const endpoint::HostNode&>(node).account());
  }

  nlohmann::json table(const Node& node) const override {
    return endpoint::table_json(topology_, dynamic_cast<const endpoint::HostNode&>(node));
  }

  nlohmann::json pauses(const Node& node) const override {
    const auto pauses = dynamic_cast<const endpoint::HostNode&>(node).pauses();
    return pauses ? report_to_json(*pauses) : nlohmann::json();
  }

  void add_progress(const Node& node,
                    std::array<uint64_t, netio::kProgressCounters>& progress) const override {
    using netio::ProgressCounter;
    const endpoint::HostStats stats = stats_of(node);
    const auto add = [&](ProgressCounter counter, uint64_t value, size_t offset = 0) {
      progress[static_cast<size_t>(counter) + offset] += value;
    };
    add(ProgressCounter::kEvsLost, stats.evs_lost);
    add(ProgressCounter::kEvsRegained, stats.evs_regained);
    add(ProgressCounter::kRetransmitted, stats.retransmissions);
    add(ProgressCounter::kQpsInError, stats.qps_in_error);
    add(ProgressCounter::kCollectives, stats.collectives_completed);
    add(ProgressCounter::kBytesVerified, stats.bytes_verified);
    add(ProgressCounter::kBytesWrong, stats.bytes_mismatched);
    for (size_t plane = 0; plane < stats.planes.size() && plane < netio::kMaxPlanes; ++plane) {
      add(ProgressCounter::kPlaneBytes, stats.planes[plane].rx_payload_bytes, plane);
    }
  }

 private:
  static endpoint::HostStats stats_of(const Node& node) {
    return dynamic_cast<const endpoint::HostNode&>(node).stats();
  }

  /// Fabric picoseconds per 1,000 ns of this machine.
  uint64_t rate_of(const netio::ClockPage& clock) const {
    if (!doors_.anybody()) return 0;
    constexpr int64_t kSpanNs = 1'000'000;
    const netio::LabTime now = netio::LabTime::now();
    const FabricTime passed = clock.fabric_at(now + kSpanNs) - clock.fabric_at(now);
    return static_cast<uint64_t>(std::max<int64_t>(passed.ps(), 0) / (kSpanNs / 1000));
  }

  /// Where programs are held, all that use verbs are: no host has a door.
  void open_held() {
    held_ = std::make_unique<verbs::HeldHosts>(topology_.host_count());
    held_->world().set_while_waiting(beat_);
    for (const Hosted& host : hosts_) {
      held_->add(host.node->device(), verbs::host_facts(topology_, topology_.node(host.id).index,
                                                        config_.transport.transport));
    }
    for (const verbs::DeclaredProgram& program : declared_) held_->declare(program);
  }

  struct Hosted {
    NodeId id;
    endpoint::HostNode* node = nullptr;
  };
  const Topology& topology_;
  std::filesystem::path nodes_folder_;
  endpoint::HostConfig config_;
  std::vector<Hosted> hosts_;
  verbs::Doors doors_;
  std::vector<verbs::DeclaredProgram> declared_;
  std::unique_ptr<verbs::HeldHosts> held_;
  std::function<bool()> beat_;
};

}  // namespace

int main(int argc, char** argv) {
  return netio::daemon_main(argc, argv,
                            [](const netio::DaemonConfig& config, const Topology& topology) {
                              return std::make_unique<EndpointProgram>(config, topology);
                            });
}
