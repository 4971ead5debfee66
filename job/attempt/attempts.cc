#include "job/attempt/attempts.h"

#include <algorithm>

#include "fabric/text/input_error.h"
#include "job/plan/job_groups.h"

namespace mrclab::job {
namespace {

/// The same ranks, each on its own host or on a spare.
Attempt restarted(const JobSpec& spec) {
  Attempt attempt{spec, {}};
  for (const uint32_t host : spec.hosts) {
    std::vector<uint32_t>& hosts = attempt.hosts.emplace_back(spec.on_error->spares);
    hosts.push_back(host);
    std::sort(hosts.begin(), hosts.end());
  }
  return attempt;
}

/// Without `lost` replicas, whichever they are.
Attempt shrunk(const JobSpec& spec, uint32_t replicas, uint32_t lost) {
  Attempt attempt{spec, {}};
  attempt.spec.slow.clear();  // its ranks have other numbers
  for (GroupKind& kind : attempt.spec.groups) {
    if (kind.name == "dp") kind.size = replicas - lost;
  }
  // A rank of the i-th replica was one of the i-th to the (i + lost)-th.
  std::vector<std::set<uint32_t>> found;
  for (uint32_t below = 0; below <= lost; ++below) {
    std::set<uint32_t> left;
    for (uint32_t i = 0; i < below; ++i) left.insert(i);
    for (uint32_t i = replicas - (lost - below); i < replicas; ++i) left.insert(i);
    const std::vector<uint32_t> ranks = ranks_without(spec, left);
    found.resize(ranks.size());
    for (size_t i = 0; i < ranks.size(); ++i) found[i].insert(spec.hosts[ranks[i]]);
  }
  for (const std::set<uint32_t>& hosts : found)
    attempt.hosts.emplace_back(hosts.begin(), hosts.end());
  attempt.spec.hosts.resize(attempt.hosts.size());
  return attempt;
}

}  // namespace

uint32_t replica_of(const JobSpec& spec, uint32_t rank) {
  return JobGroups(spec).place_in("dp", rank);
}

std::vector<uint32_t> ranks_without(const JobSpec& spec, const std::set<uint32_t>& replicas) {
  const JobGroups groups(spec);
  std::vector<uint32_t> ranks;
  for (uint32_t rank = 0; rank < spec.ranks(); ++rank) {
    if (!replicas.contains(groups.place_in("dp", rank))) ranks.push_back(rank);
  }
  return ranks;
}

std::vector<Attempt> attempts_of(const JobSpec& spec) {
  std::vector<Attempt> attempts;
  if (!spec.on_error || !spec.on_error->goes_on()) return attempts;
  if (spec.on_error->action == OnError::Action::kRestart) {
    attempts.assign(spec.on_error->attempts, restarted(spec));
    return attempts;
  }
  if (spec.trace) throw InputError("a trace has the same ranks for ever");
  const bool lists = std::any_of(spec.groups.begin(), spec.groups.end(),
                                 [](const GroupKind& kind) { return kind.size == 0; });
  if (lists) throw InputError("groups as lists of ranks, which do not shrink");
  const uint32_t replicas = JobGroups(spec).size_of("dp");
  if (replicas < 2) throw InputError("no group dp, whose replicas could leave");
  const uint32_t most = std::min(spec.on_error->attempts, replicas - 1);
  for (uint32_t lost = 1; lost <= most; ++lost) {
    Attempt attempt = shrunk(spec, replicas, lost);
    if (attempt.hosts.size() < 2) break;
    if (spec.nodes && attempt.hosts.size() % spec.nodes->size != 0) {
      throw InputError("nodes, which lose some of their ranks with a replica");
    }
    attempts.push_back(std::move(attempt));
  }
  if (attempts.empty()) throw InputError("two ranks, which cannot lose one");
  return attempts;
}

}  // namespace mrclab::job
