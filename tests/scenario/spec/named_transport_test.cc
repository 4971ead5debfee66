// Transports that have a name: MRC to the letter of its documents is that, and nothing else.

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "endpoint/options/transport_choice.h"
#include "fabric/text/yaml.h"
#include "scenario/spec/contrast.h"
#include "scenario/spec/named_transport.h"
#include "scenario/spec/scenario.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

Scenario octet_run_of(const std::string& transport) {
  return parse_scenario(
      read_yaml_text("name: x\nfabric: octet\ntransport: " + transport +
                         "\nworkload:\n  - write: {from: h0, to: h4, size: 64KiB}\nend: 60us\n",
                     "f.yaml"));
}

endpoint::TransportProfile profile_under(const Scenario& scenario, std::string_view transport) {
  const Scenario under = under_transport(scenario, find_contrast(scenario, transport));
  return endpoint::make_profile(under.transport, under.topology);
}

}  // namespace

TEST_CASE("mrc-letter is MRC with these six rules of ours off, and differs in nothing else") {
  CHECK(endpoint::letter_options() ==
        "skip_holds: off, plane_shares: off, loss_guards: off, nscc_rules: uec, receive_shares: "
        "off, buffer_penalty: off");
  for (const char* transport :
       {"{profile: lab}", "{profile: production, active_evs: 16}",
        "{skip_holds: on, plane_shares: on, nscc_rules: even, receive_shares: on}"}) {
    const Scenario scenario = octet_run_of(transport);
    const endpoint::TransportProfile ours = profile_under(scenario, "mrc");
    const endpoint::TransportProfile letter = profile_under(scenario, "mrc-letter");
    for (const endpoint::TransportOption& option : endpoint::transport_options()) {
      CAPTURE(option.name);
      const std::string value = shown_value(option, letter);
      if (option.letter.empty()) {
        CHECK(value == shown_value(option, ours));
      } else {
        CHECK(value == option.letter);
        CHECK(value != shown_value(option, ours));
      }
    }
  }
}

TEST_CASE("a rule of ours in the table of options has a letter that it departs from") {
  // RoCE has no letter of MRC: its rows say so in their first word.
  for (const endpoint::TransportOption& option : endpoint::transport_options()) {
    CAPTURE(option.name);
    const bool rule = std::holds_alternative<endpoint::TransportOption::Switch>(option.kind) ||
                      std::holds_alternative<endpoint::TransportOption::Word>(option.kind);
    const bool ours = option.about.find("our choice") != std::string_view::npos;
    const bool roce = option.about.starts_with("RoCE:");
    CHECK((rule && ours && !roce) == !option.letter.empty());
  }
}

TEST_CASE("sprayers by uet-htsim's letter have no rule of ours either") {
  const Scenario scenario = octet_run_of("lab");
  for (const char* name : {"oblivious-htsim", "reps-htsim"}) {
    const endpoint::TransportProfile profile = profile_under(scenario, name);
    CHECK(profile.window_rule == endpoint::WindowRule::kFits);
    for (const endpoint::TransportOption& option : endpoint::transport_options()) {
      if (!option.letter.empty()) CHECK(shown_value(option, profile) == option.letter);
    }
  }
}
