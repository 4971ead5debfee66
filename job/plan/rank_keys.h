#pragma once
// The keys of a `job:` entry that say which host each rank is on: `hosts`, or `ranks` where a host has several, and `place`.

#include "fabric/text/key_table.h"
#include "fabric/topology/pattern.h"
#include "job/plan/job_spec.h"

namespace mrclab::job {

KeyRow<JobSpec, NameResolver> hosts_row();
KeyRow<JobSpec, NameResolver> ranks_row();
/// Puts the ranks in another order; a file that is written has them in the one that comes of it.
KeyRow<JobSpec, NameResolver> place_row();
/// Throws InputError where there is none of the first two, or both, or `local` with nobody to copy to.
void check_ranks(const YamlValue& body, const JobSpec& spec);

}  // namespace mrclab::job
