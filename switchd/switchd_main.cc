// mrc-switchd: runs the switches of a plane (or one switch) in their namespaces.

#include <nlohmann/json.hpp>

#include "netio/record/report_json.h"
#include "netio/runtime/daemon.h"
#include "switchd/switch_node.h"

namespace {

using namespace mrclab;

class SwitchProgram : public netio::DaemonProgram {
 public:
  std::unique_ptr<Node> make_node(const NodeEnvironment& environment) override {
    return std::make_unique<switchd::SwitchNode>(environment);
  }

  nlohmann::json describe(const Node& node) const override {
    nlohmann::json counters = nlohmann::json::object();
    for (const auto& [name, value] :
         dynamic_cast<const switchd::SwitchNode&>(node).named_counters()) {
      counters[name] = value;
    }
    return counters;
  }

  nlohmann::json table(const Node& node) const override {
    const auto& of_node = dynamic_cast<const switchd::SwitchNode&>(node);
    nlohmann::json rows = nlohmann::json::array();
    for (const auto& [usid, counters] : of_node.usid_counters()) {
      rows.push_back({{"usid", usid},
                      {"packets", counters.packets},
                      {"bytes", counters.bytes},
                      {"errors", counters.errors}});
    }
    nlohmann::json routes = nlohmann::json::array();
    for (const auto& [usid, port] : of_node.table().routes()) {
      routes.push_back({{"usid", usid.value},
                        {"port", port.value},
                        {"adjacency", of_node.table().is_adjacency(usid)}});
    }
    nlohmann::json hosts = nlohmann::json::array();
    for (const std::vector<PortId>& ports : of_node.table().host_routes()) {
      nlohmann::json numbers = nlohmann::json::array();
      for (const PortId port : ports) numbers.push_back(port.value);
      hosts.push_back(std::move(numbers));
    }
    return {{"own", of_node.table().own().value},
            {"routes", routes},
            {"hosts", hosts},
            {"counters", rows}};
  }

  nlohmann::json pauses(const Node& node) const override {
    const auto pauses = dynamic_cast<const switchd::SwitchNode&>(node).pauses();
    return pauses ? netio::report_to_json(*pauses) : nlohmann::json();
  }

  void add_progress(const Node& node,
                    std::array<uint64_t, netio::kProgressCounters>& progress) const override {
    progress[static_cast<size_t>(netio::ProgressCounter::kTrimmed)] +=
        dynamic_cast<const switchd::SwitchNode&>(node).trimmed();
  }
};

}  // namespace

int main(int argc, char** argv) {
  return netio::daemon_main(argc, argv, [](const netio::DaemonConfig&, const Topology&) {
    return std::make_unique<SwitchProgram>();
  });
}
