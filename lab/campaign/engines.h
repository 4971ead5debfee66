#pragma once
// The shards of a campaign by engines that people have. Each starts those that are missing, and joins what there is.

#include <chrono>
#include <string>

#include "lab/campaign/campaign.h"

namespace mrclab::lab {

/// What is missing when all shards have ended is run again, in so many rounds at most.
inline constexpr int kRounds = 3;

/// Slurm: an array job, and a job after it that joins. Nodes share the folder. A task that loses its node is requeued.
/// `wait`: until all is joined, in kRounds rounds; else this ends when the jobs are submitted. Throws InputError
/// without sbatch, or where it refuses.
int run_on_slurm(const Campaign& campaign, bool wait);

/// GNU parallel, here or by ssh; ends with the last shard, in kRounds rounds, and joins.
int run_on_parallel(const Campaign& campaign);

/// The manifest: an Indexed Job (Kubernetes 1.24), and a Job that waits for its files and joins them. A base that is
/// a file goes along as a ConfigMap.
std::string kubernetes_manifest(const Campaign& campaign);
/// Writes manifest.yaml into the folder; nothing is submitted.
int write_kubernetes_manifest(const Campaign& campaign);

}  // namespace mrclab::lab
