#pragma once
// Consent to what a campaign.json would have this machine run. The folder of a campaign is data, as a run folder is: who
// got it from somebody, or shares it, has not chosen the words in it.

#include <filesystem>
#include <string>
#include <vector>

#include "lab/campaign/campaign.h"

namespace mrclab::lab {

/// Words of the command line in place of the file's; empty: the file's.
struct CampaignChoice {
  std::string program;
  std::vector<std::string> machines, engine_options;
  bool allowed = false;  ///< --programs: any of the file's
};

/// The program that runs shards where nobody chose another: this one, or mrclab in the PATH of other machines.
std::string usual_program(const Campaign& campaign);

/// The campaign with the choices of the command line. What the file alone names as a program, as machines to log in to,
/// or as words for the engine is printed to stderr, and on a terminal asked about, unless it is `allowed`. Throws
/// InputError where the answer is not yes. A manifest for Kubernetes runs nothing here, so nothing is asked.
Campaign consented(Campaign read, const CampaignChoice& choice);

}  // namespace mrclab::lab
