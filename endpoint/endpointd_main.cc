// mrc-endpointd: runs the MRC endpoints of a few hosts in their namespaces.

#include <nlohmann/json.hpp>

#include "endpoint/host_node.h"
#include "endpoint/transport_choice.h"
#include "fabric/pattern.h"
#include "fabric/yaml.h"
#include "netio/daemon.h"

namespace {

using namespace mrclab;

class EndpointProgram : public netio::DaemonProgram {
 public:
  EndpointProgram(const netio::DaemonConfig& config, const Topology& topology) {
    config_.transport = endpoint::make_profile(
        endpoint::parse_transport(read_yaml_text(config.transport, "transport"), topology),
        topology);
    NameResolver names(topology, config.seed);
    if (!config.workload.empty()) {
      config_.workloads =
          endpoint::parse_workloads(read_yaml_text(config.workload, "workload"), names);
    }
    config_.end = config.work_end;
  }

  std::unique_ptr<Node> make_node(const NodeEnvironment& environment) override {
    return std::make_unique<endpoint::HostNode>(environment, config_);
  }

  nlohmann::json describe(const Node& node) const override {
    nlohmann::json counters = nlohmann::json::object();
    for (const auto& [name, value] : stats_of(node).named()) counters[name] = value;
    counters["work"] = nlohmann::json::array();
    for (const endpoint::WorkReport& work : dynamic_cast<const endpoint::HostNode&>(node).work()) {
      counters["work"].push_back(to_json(work));
    }
    counters["queues"] = nlohmann::json::array();
    for (const auto& q : dynamic_cast<const endpoint::HostNode&>(node).queues()) {
      counters["queues"].push_back({{"qp", q.local.value},
                                    {"remote", q.remote.value},
                                    {"peer", q.peer},
                                    {"posted", q.posted},
                                    {"completed", q.completed},
                                    {"failed", q.failed},
                                    {"out_of_order", q.out_of_order},
                                    {"in_error", q.in_error}});
    }
    return counters;
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
  /// Read by lab/perf_run.cc.
  static nlohmann::json to_json(const endpoint::WorkReport& work) {
    nlohmann::json samples = nlohmann::json::array();
    for (const endpoint::WorkSample& sample : work.samples) {
      samples.push_back({sample.from.ps(), sample.to.ps()});
    }
    return {{"workload", work.workload},   {"from", work.from},         {"to", work.to},
            {"queue", work.queue},         {"unit", work.unit.value},   {"done", work.done},
            {"first_ps", work.first.ps()}, {"last_ps", work.last.ps()}, {"samples_ps", samples}};
  }
  static endpoint::HostStats stats_of(const Node& node) {
    return dynamic_cast<const endpoint::HostNode&>(node).stats();
  }

  endpoint::HostConfig config_;
};

}  // namespace

int main(int argc, char** argv) {
  return netio::daemon_main(argc, argv,
                            [](const netio::DaemonConfig& config, const Topology& topology) {
                              return std::make_unique<EndpointProgram>(config, topology);
                            });
}
