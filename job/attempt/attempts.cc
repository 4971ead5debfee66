#include "job/attempt/attempts.h"

#include <algorithm>
#include <map>

#include "fabric/text/input_error.h"
#include "job/plan/job_groups.h"

namespace mrclab::job {
namespace {

/// By rank: how many ranks before it are on its host.
std::vector<uint32_t> slots_of(const std::vector<uint32_t>& hosts) {
  std::map<uint32_t, uint32_t> ranks;
  std::vector<uint32_t> slots;
  slots.reserve(hosts.size());
  for (const uint32_t host : hosts) slots.push_back(ranks[host]++);
  return slots;
}

/// The same ranks, each on its own host or on a spare.
Attempt restarted(const JobSpec& spec) {
  Attempt attempt{spec, {}, slots_of(spec.hosts)};
  for (const uint32_t host : spec.hosts) {
    std::vector<uint32_t>& hosts = attempt.hosts.emplace_back(spec.on_error->spares);
    hosts.push_back(host);
    std::sort(hosts.begin(), hosts.end());
  }
  return attempt;
}

/// Without `lost` replicas, whichever they are; `together` of them leave at once.
Attempt shrunk(const JobSpec& spec, uint32_t replicas, uint32_t lost, uint32_t together) {
  Attempt attempt{spec, {}, {}};
  attempt.spec.slow.clear();  // its ranks have other numbers
  for (GroupKind& kind : attempt.spec.groups) {
    if (kind.name == "dp") kind.size = replicas - lost;
  }
  // A rank of the i-th replica was one of the i-th to the (i + lost)-th.
  std::vector<std::set<uint32_t>> found;
  for (uint32_t below = 0; below <= lost; below += together) {
    std::set<uint32_t> left;
    for (uint32_t i = 0; i < below; ++i) left.insert(i);
    for (uint32_t i = replicas - (lost - below); i < replicas; ++i) left.insert(i);
    const std::vector<uint32_t> ranks = ranks_without(spec, left);
    found.resize(ranks.size());
    for (size_t i = 0; i < ranks.size(); ++i) found[i].insert(spec.hosts[ranks[i]]);
    if (below > 0) continue;
    attempt.spec.hosts.clear();  // whichever leave, the same ranks share a host
    for (const uint32_t rank : ranks) attempt.spec.hosts.push_back(spec.hosts[rank]);
  }
  for (const std::set<uint32_t>& hosts : found)
    attempt.hosts.emplace_back(hosts.begin(), hosts.end());
  attempt.slots = slots_of(attempt.spec.hosts);
  return attempt;
}

/// Of the ranks of these replicas, in their order: the first of them that is on the same host.
std::vector<size_t> shared_hosts(const JobSpec& spec, const JobGroups& groups, uint32_t first,
                                 uint32_t replicas) {
  std::map<uint32_t, size_t> first_on;
  std::vector<size_t> shared;
  for (uint32_t rank = 0; rank < spec.ranks(); ++rank) {
    const uint32_t replica = groups.place_in("dp", rank);
    if (replica < first || replica >= first + replicas) continue;
    shared.push_back(first_on.try_emplace(spec.hosts[rank], shared.size()).first->second);
  }
  return shared;
}

}  // namespace

uint32_t replicas_together(const JobSpec& spec) {
  if (!spec.shares_hosts()) return 1;
  const JobGroups groups(spec);
  const uint32_t replicas = groups.size_of("dp");
  // The last replica that has a rank on a host of one before it, and so on, is where the first of them end.
  std::map<uint32_t, uint32_t> last_on;
  for (uint32_t rank = 0; rank < spec.ranks(); ++rank) {
    uint32_t& last = last_on[spec.hosts[rank]];
    last = std::max(last, groups.place_in("dp", rank));
  }
  uint32_t together = 1;
  for (uint32_t replica = 0; replica < together; ++replica) {
    for (uint32_t rank = 0; rank < spec.ranks(); ++rank) {
      if (groups.place_in("dp", rank) != replica) continue;
      together = std::max(together, last_on[spec.hosts[rank]] + 1);
    }
  }
  const std::vector<size_t> shared = shared_hosts(spec, groups, 0, together);
  bool alike = replicas % together == 0;
  std::map<uint32_t, uint32_t> found_on;  // by host: which of the parts
  for (uint32_t rank = 0; rank < spec.ranks(); ++rank) {
    const uint32_t part = groups.place_in("dp", rank) / together;
    alike = alike && found_on.try_emplace(spec.hosts[rank], part).first->second == part;
  }
  for (uint32_t first = 0; alike && first < replicas; first += together) {
    alike = shared_hosts(spec, groups, first, together) == shared;
  }
  if (!alike) throw InputError("replicas that share hosts, some in another way than others");
  return together;
}

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
  const uint32_t together = replicas_together(spec);
  if (replicas == together) throw InputError("replicas that are all on the same hosts");
  const uint32_t most = std::min(spec.on_error->attempts, replicas / together - 1);
  for (uint32_t times = 1; times <= most; ++times) {
    Attempt attempt = shrunk(spec, replicas, times * together, together);
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
