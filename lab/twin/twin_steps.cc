#include "lab/twin/twin_steps.h"

#include <algorithm>
#include <variant>

namespace mrclab::lab {

std::vector<WorkSteps> steps_of(const std::vector<endpoint::WorkloadSpec>& workload,
                                const std::vector<endpoint::WorkReport>& reports) {
  std::vector<WorkSteps> works;
  size_t room = kMaxTwinSteps;
  for (size_t i = 0; i < workload.size(); ++i) {
    const auto* collective = std::get_if<endpoint::CollectiveSpec>(&workload[i]);
    if (collective == nullptr) continue;
    WorkSteps work{std::string(name_of(workload[i])), "iteration", collective->at, {}};
    std::vector<const endpoint::WorkReport*> hosts;
    for (const endpoint::WorkReport& report : reports) {
      if (report.workload == i) hosts.push_back(&report);
    }
    // A host that has not reported has finished none.
    size_t finished = hosts.size() < collective->hosts.size() ? 0 : room;
    for (const endpoint::WorkReport* host : hosts) {
      finished = std::min(finished, host->samples.size());
    }
    for (size_t step = 0; step < finished; ++step) {
      FabricTime end = work.begin;
      for (const endpoint::WorkReport* host : hosts) end = std::max(end, host->samples[step].to);
      work.ends.push_back(end);
    }
    room -= finished;
    works.push_back(std::move(work));
  }
  return works;
}

}  // namespace mrclab::lab
