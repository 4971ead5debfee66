#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "lab/chaos/chaos.h"

namespace mrclab::lab {

/// Options of `chaos` about other machines and about time.
struct CampaignWords {
  std::string engine, resume, summary, folder, engine_options, machines, budget, program, image,
      claim;
  uint32_t shards = 0;
  bool wait = false;
};

void add_campaign_options(CLI::App& chaos, CampaignWords& words);
/// The exit code, if these words ask for a campaign. Throws InputError.
std::optional<int> campaign_command(const CampaignWords& words, const ChaosOptions& options);

}  // namespace mrclab::lab
