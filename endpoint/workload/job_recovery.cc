#include "endpoint/workload/job_recovery.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "job/attempt/attempts.h"
#include "job/plan/plan_job.h"

namespace mrclab::endpoint {
namespace {

std::vector<JobPair> host_pairs(const JobPlan& plan, const job::Attempt& attempt) {
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, JobPair> found;
  for (const JobPair& ranks : plan.pairs) {
    for (const uint32_t from : attempt.hosts[ranks.from]) {
      for (const uint32_t to : attempt.hosts[ranks.to]) {
        if (from == to) continue;
        const uint32_t slot = attempt.slots[ranks.from];
        JobPair& pair = found[{from, slot, to}];
        pair.from = from;
        pair.to = to;
        pair.slot = slot;
        pair.largest = std::max(pair.largest, ranks.largest);
        pair.messages += ranks.messages;
      }
    }
  }
  std::vector<JobPair> pairs;
  pairs.reserve(found.size());
  for (const auto& [hosts, pair] : found) pairs.push_back(pair);
  return pairs;
}

}  // namespace

std::shared_ptr<const JobRecovery> make_recovery(const job::JobSpec& spec, uint64_t seed,
                                                 const std::shared_ptr<const JobPlan>& first) {
  if (!spec.on_error || !spec.on_error->ends_all()) return nullptr;
  auto recovery = std::make_shared<JobRecovery>();
  recovery->spec = std::make_shared<const job::JobSpec>(spec);
  recovery->launcher = spec.on_error->launcher.value_or(spec.hosts.front());
  recovery->hosts = spec.hosts;
  recovery->hosts.insert(recovery->hosts.end(), spec.on_error->spares.begin(),
                         spec.on_error->spares.end());
  recovery->hosts.push_back(recovery->launcher);
  std::sort(recovery->hosts.begin(), recovery->hosts.end());
  recovery->hosts.erase(std::unique(recovery->hosts.begin(), recovery->hosts.end()),
                        recovery->hosts.end());
  for (const job::Attempt& attempt : job::attempts_of(spec)) {
    const bool same = attempt.spec.ranks() == spec.ranks();
    JobAttempt& made = recovery->later.emplace_back();
    made.plan = same ? first : std::make_shared<const JobPlan>(job::plan_job(attempt.spec, seed));
    made.pairs = host_pairs(*made.plan, attempt);
    made.slots = std::make_shared<const std::vector<uint32_t>>(attempt.slots);
    made.most_on_a_host = 1 + *std::max_element(attempt.slots.begin(), attempt.slots.end());
  }
  return recovery;
}

}  // namespace mrclab::endpoint
