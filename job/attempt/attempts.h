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
  std::vector<uint32_t> slots;               ///< by rank: its place among the ranks of its host
};

/// Those beside the first: of a restart `attempts` with the same ranks, those of a host together on it or on a spare; of a
/// job that shrinks the one that lost one replica, two, and so on (replicas_together() at once). Empty where the job does
/// not go on. Throws InputError for a job that cannot.
std::vector<Attempt> attempts_of(const JobSpec& spec);

/// The ranks that stay, in their order, when these replicas (places in dp) have left: the i-th becomes rank i.
std::vector<uint32_t> ranks_without(const JobSpec& spec, const std::set<uint32_t>& replicas);
/// Of a job that shrinks: how many replicas leave together, as ranks of them are on one host: those from 0 on, as many
/// behind them, and so on. Throws InputError where such neighbours lie on their hosts unlike others: which ranks share a
/// host would then be known only when some have left.
uint32_t replicas_together(const JobSpec& spec);
/// Whose replica a rank is in.
uint32_t replica_of(const JobSpec& spec, uint32_t rank);

}  // namespace mrclab::job
