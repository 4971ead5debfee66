#pragma once
// What the workloads of a scenario send, as far as its file shows it: who writes data to whom, and from when on.

#include <cstdint>
#include <vector>

#include "analysis/expect/expect_jobs.h"
#include "analysis/expect/expect_serve.h"
#include "fabric/text/yaml.h"
#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {

/// The data of one workload from one host to another.
struct PlannedFlow {
  uint32_t from = 0;
  uint32_t to = 0;
  FabricTime start;
};

/// All of them, a pair of hosts once for each workload. Empty: a workload cannot be planned.
std::vector<PlannedFlow> planned_flows(const Scenario& scenario);

/// Does a workload's data name its paths itself? Not where the hash of switches or FARE chooses them.
bool names_paths(const Scenario& scenario);

/// Refuses work of which nothing happens before `end`: it begins later, or its load is too low to send anything by then.
/// `entry` is where it stands. Throws InputError.
void require_possible_work(const YamlValue& entry, const endpoint::WorkloadSpec& spec,
                           const Topology& topology, FabricTime end);

/// Of all expectations of jobs, what they name; what a kind has not is empty.
struct AskedOfJob {
  std::string_view word;
  std::string job;  ///< empty: every one
  analysis::StepNumber from_step = {};
  std::string group = {};
  uint32_t steps = 0;      ///< that have to be done
  bool serves = false;     ///< it is about services
  bool objective = false;  ///< which need one
};

template <class E>
AskedOfJob asked_of_job(const E& expect) {
  AskedOfJob asked{E::kWord.name, expect.job};
  if constexpr (requires { expect.from_step; }) asked.from_step = expect.from_step;
  if constexpr (requires { expect.group; }) asked.group = expect.group;
  if constexpr (std::is_same_v<E, analysis::ExpectStepsDone>) {
    asked.steps = expect.at_least.value.value_or(1);
  }
  asked.objective = std::is_same_v<E, analysis::ExpectSlo>;
  asked.serves = asked.objective || requires { expect.part; };
  return asked;
}

/// Refuses what no job of the scenario has: the name, the step, the group, so many steps. `body` is what stands behind the
/// word in `entry`. Throws InputError.
void require_possible(const Scenario& scenario, const AskedOfJob& asked, const YamlValue& entry,
                      const YamlValue& body);

}  // namespace mrclab::lab
