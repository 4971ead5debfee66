#include "lab/campaign/campaign_consent.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "console/consent.h"
#include "fabric/text/visible_text.h"
#include "fabric/text/yaml.h"
#include "lab/front/command_path.h"

namespace mrclab::lab {
namespace {

std::string joined(const std::vector<std::string>& words) {
  return visible(fmt::format("{}", fmt::join(words, " ")));
}

}  // namespace

std::string usual_program(const Campaign& campaign) {
  const bool elsewhere = !campaign.machines.empty() || campaign.engine == Engine::kKubernetes;
  return elsewhere ? "mrclab" : command_path().string();
}

Campaign consented(Campaign read, const CampaignChoice& choice) {
  std::vector<std::string> asks;
  if (!choice.machines.empty()) {
    read.machines = choice.machines;
  } else if (!read.machines.empty()) {
    asks.push_back("on the machines (ssh)  " + joined(read.machines));
  }
  if (!choice.program.empty()) {
    read.program = choice.program;
  } else if (read.program != usual_program(read)) {
    asks.push_back("the program            " + visible(read.program));
  }
  if (!choice.engine_options.empty()) {
    read.engine_options = choice.engine_options;
  } else if (!read.engine_options.empty()) {
    asks.push_back(fmt::format("{:<23}{}", fmt::format("words for {}", name_of(read.engine)),
                               joined(read.engine_options)));
  }
  if (asks.empty() || choice.allowed || read.engine == Engine::kKubernetes) return read;
  const std::string file = visible((read.folder / "campaign.json").string());
  fmt::print(stderr, "{} would run{}:\n", file, ::geteuid() == 0 ? ", as root" : "");
  for (const std::string& line : asks) fmt::print(stderr, "  {}\n", line);
  if (asked_and_allowed()) return read;
  throw InputError(file +
                   ": found words of its own to run: expected --programs, after a look at them, "
                   "or --program, --ssh and --engine-options in their place");
}

}  // namespace mrclab::lab
