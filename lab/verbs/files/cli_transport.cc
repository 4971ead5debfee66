// `transport`: the keys of a scenario's `transport:`, with the values that a fabric gives.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "console/json_print.h"
#include "endpoint/options/profile_maker.h"
#include "endpoint/options/transport_choice.h"
#include "fabric/text/text_wrap.h"
#include "fabric/topology/fabric_file.h"
#include "lab/verbs/cli.h"
#include "scenario/spec/shipped_files.h"

namespace mrclab::lab {
namespace {

struct TransportOptions {
  std::string fabric = "octet";
  bool json = false;
};

int transport_command(const TransportOptions& options) {
  const Topology topology = read_fabric_file(find_fabric(options.fabric));
  const endpoint::TransportProfile lab = endpoint::make_profile("lab", topology);
  const endpoint::TransportProfile production = endpoint::make_profile("production", topology);
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  if (!options.json) {
    fmt::print("transport: {{profile: lab | production, ...}} on {}, base RTT {}\n\n",
               topology.name, to_string(topology.base_rtt));
    fmt::print("{:<22} {:<12} {:<12}\n", "option", "lab", "production");
  }
  for (const endpoint::TransportOption& option : endpoint::transport_options()) {
    const std::string in_lab = shown_value(option, lab);
    const std::string in_production = shown_value(option, production);
    const std::string letter =
        option.letter.empty() ? "" : "; mrc-letter: " + std::string(option.letter);
    if (options.json) {
      all.push_back({{"name", option.name},
                     {"lab", in_lab},
                     {"production", in_production},
                     {"about", option.about}});
      if (!option.letter.empty()) all.back()["letter"] = option.letter;
    } else {
      fmt::print("{:<22} {:<12} {:<12}\n{}", option.name, in_lab, in_production,
                 wrapped_text("    " + std::string(option.about) + letter, 78, 4));
    }
  }
  if (options.json) fmt::print("{}\n", printed(all, "transport-options"));
  return 0;
}

}  // namespace

void add_transport_verb(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<TransportOptions>();  // shared with the callback
  CLI::App* transport = add_verb(app, "transport");
  transport->add_option("FABRIC", options->fabric, "a fabric's name or file; default octet");
  transport->add_flag("--json", options->json, "as JSON");
  transport->footer("Example: mrclab transport hall");
  transport->callback([options, &result] { result.code = transport_command(*options); });
}

}  // namespace mrclab::lab
