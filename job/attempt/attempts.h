#pragma once
// The attempts in which a job may go on after an error, as far as they are known before it happens: what the ranks of each
// do, and which hosts each rank may be on. Which it is, the launcher finds out in the run.

#include <cstdint>
#include <set>
#include <vector>

#include "job/plan/job_spec.h"

namespace mrclab::job {

struct Attempt {
  JobSpec spec;  ///< its hosts are some that it may have; a rank's number is its place among them
  std::vector<std::vector<uint32_t>> hosts;  ///< by rank: host numbers, ascending
};

/// Those beside the first: of a restart `attempts` with the same ranks, each on its host or on a spare; of a job that
/// shrinks the one that lost one replica, two, and so on. Empty where the job does not go on. Throws InputError for a
/// job that cannot.
std::vector<Attempt> attempts_of(const JobSpec& spec);

/// The ranks that stay, in their order, when these replicas (places in dp) have left: the i-th becomes rank i.
std::vector<uint32_t> ranks_without(const JobSpec& spec, const std::set<uint32_t>& replicas);
/// Whose replica a rank is in.
uint32_t replica_of(const JobSpec& spec, uint32_t rank);

}  // namespace mrclab::job
