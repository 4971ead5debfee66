// mrc-switchd: runs the switches of a plane (or one switch) in their namespaces.

#include <nlohmann/json.hpp>

#include "fabric/history/report_json.h"
#include "netio/runtime/daemon.h"
#include "switchd/switch_node.h"
#include "switchd/table_json.h"

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
    return switchd::table_json(dynamic_cast<const switchd::SwitchNode&>(node));
  }

  nlohmann::json pauses(const Node& node) const override {
    const auto pauses = dynamic_cast<const switchd::SwitchNode&>(node).pauses();
    return pauses ? report_to_json(*pauses) : nlohmann::json();
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
