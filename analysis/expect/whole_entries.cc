// Rules over several fields of an entry.

#include "analysis/expect/expect_goodput.h"
#include "analysis/expect/expect_jobs.h"
#include "analysis/expect/expect_losses.h"
#include "analysis/expect/expect_times.h"
#include "analysis/history/counter_names.h"
#include "fabric/text/yaml.h"

namespace mrclab::analysis {

void ExpectGap::check_whole(const YamlValue& body) const {
  if (every > at_most) body.require("every").fail_expecting("at most \"at_most\"");
}

void ExpectCounter::check_whole(const YamlValue& body) const {
  body.require("name").as_word({kCounterNames.begin(), kCounterNames.end()});
}

void ExpectStepTime::check_whole(const YamlValue& body) const {
  if (!body.get("at_least") && !body.get("at_most")) body.require("at_most");
  if (const auto floor = body.get("at_least"); floor && body.get("at_most")) {
    floor->fail("\"at_least\" beside \"at_most\"", "one of them, each in an entry of its own");
  }
  if (const auto of_what = body.get("of"); of_what && std::holds_alternative<FabricTime>(bound())) {
    of_what->fail("\"of\" beside a time", "a multiple such as 105%, or no \"of\"");
  }
}

void ExpectInterference::check_whole(const YamlValue& body) const {
  if (!body.get("at_least") && !body.get("at_most")) body.require("at_most");
  if (at_most != Ratio{} && at_most < at_least) {
    body.require("at_most").fail_expecting("no less than \"at_least\"");
  }
}

void ExpectMessageTime::check_whole(const YamlValue& body) const {
  if (min_size && max_size && *max_size < *min_size) {
    body.require("max_size").fail_expecting("at least \"min_size\"");
  }
}

}  // namespace mrclab::analysis
