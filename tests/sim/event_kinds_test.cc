// What nodes write to the log of events has a name of the table.

#include "fabric/node/event_kind.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <string_view>

#include "lab/chaos/chaos_scenario.h"
#include "scenario/simulation/simulation.h"

namespace mrclab::lab {
namespace {

bool in_table(std::string_view kind) {
  return std::any_of(kEventKinds.begin(), kEventKinds.end(),
                     [&](const EventKindInfo& info) { return info.name == kind; });
}

class KindsSeen : public NodeObserver {
 public:
  explicit KindsSeen(std::set<std::string>& kinds) : kinds_(kinds) {}
  void packet(const PacketRecord&) override {}
  void event(const EventRecord& record) override { kinds_.insert(std::string(record.kind)); }

 private:
  std::set<std::string>& kinds_;
};

}  // namespace

TEST_CASE("every event of a node has a kind of the table, and each kind one row") {
  std::set<std::string_view> names;
  for (const EventKindInfo& info : kEventKinds) CHECK(names.insert(info.name).second);
  std::set<std::string> seen;
  for (const char* base : {"pair", "fare-planes"}) {
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      const Scenario scenario = chaos_scenario(load_chaos_base(base), seed).scenario;
      std::deque<KindsSeen> observers;
      Simulation simulation(scenario, 1,
                            [&](NodeId) -> NodeObserver& { return observers.emplace_back(seen); });
      simulation.run();
    }
  }
  CHECK(seen.size() >= 6);
  for (const std::string& kind : seen) CHECK_MESSAGE(in_table(kind), kind);
}

}  // namespace mrclab::lab
