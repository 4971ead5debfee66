#pragma once
// Twins as programs read them.

#include <nlohmann/json.hpp>
#include <vector>

#include "lab/twin/twin_report.h"

namespace mrclab::lab {

/// A list with an object for the scenario and for each of what it was varied over, null where a value is not known:
///
///   scenario, transport, seed, end_ps
///   over                       what differs, as in {"planes": "4"}; null: nothing
///   unit                       "ps": until the workload had ended; "bytes": that were not delivered by the end
///   conclusive, why_not        can it be said? and a sentence if not, else null
///   with, without              time, or bytes delivered, with all faults and with none
///   total, interaction         with minus without as a cost; that minus what the faults cost alone
///   faults: a list of
///     number, fault, kind      from 1, as the scenario lists them
///     marginal, alone, interaction, share     (attribution.h); share is null for more than four faults
///     lost, lost_answers, queue_pairs   packets that it took, SACKs, NACKs, ACKs and probes, and from how many queue pairs;
///                              in the run with all faults
///     most_lost                a list of from, to, qp, lost, lost_answers; the first 64
///     steps_hit                steps whose length it changed by 0.5 % or more
///     hits                     the first 64 of them: work, unit, step (from 1), without_ps, cost_ps, lost,
///                              lost_answers, queue_pairs
///     hidden                   of one that hit none: work, rank, held_back, by_ps, under, until_ps (twin_report.h)
///   runs: a list of
///     run, faults              its name, and the numbers of its faults
///     done_ps, delivered_bytes, qps_failed, died, history_sha256, folder
///     works                    a list of work, unit, begin_ps, ends_ps (of its steps)
/// With `--larger` the first has `real` as well (real_cost.h).
nlohmann::ordered_json to_json(const std::vector<TwinReport>& reports);

}  // namespace mrclab::lab
