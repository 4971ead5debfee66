#include "lab/twin/twin.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "console/progress.h"
#include "lab/chaos/task_pool.h"
#include "lab/twin/twin_run.h"
#include "lab/twin/twin_set.h"

namespace mrclab::lab {
namespace {

uint32_t processes_for(const TwinOptions& options, size_t runs) {
  const uint32_t wanted =
      options.jobs != 0 ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
  return static_cast<uint32_t>(std::min<size_t>(wanted, runs));
}

}  // namespace

TwinReport run_twins(const TwinCase& of, const TwinOptions& options) {
  check_twins(of);
  const size_t faults = of.faults();
  const std::vector<FaultSet> sets = sets_to_run(faults);
  const std::vector<FabricTime> cuts = cuts_of(of, sets);
  TaskPool pool(processes_for(options, sets.size()), [&](uint64_t task) {
    return to_text(options.out.empty() ? run_twin(of, sets[task], cuts)
                                       : run_kept_twin(of, sets[task], cuts, options.out));
  });
  Progress progress("twins");
  std::vector<TwinMeasure> runs;
  size_t next = 0;
  while (next < sets.size() || pool.busy() > 0) {
    if (options.interrupted && options.interrupted()) throw Interrupted("interrupted");
    while (next < sets.size() && pool.idle()) pool.start(next++);
    const auto answer = pool.wait(std::chrono::milliseconds(100));
    if (!answer) continue;
    if (!answer->death.empty()) {
      throw std::runtime_error(fmt::format("{}, the run \"{}\": {}", of.scenario.name,
                                           twin_name(sets[answer->task], faults), answer->death));
    }
    runs.push_back(measure_of_text(answer->text));
    progress.show(static_cast<double>(runs.size()) / static_cast<double>(sets.size()),
                  fmt::format("{} of {} runs", runs.size(), sets.size()));
  }
  return report_of(of, std::move(runs));
}

}  // namespace mrclab::lab
