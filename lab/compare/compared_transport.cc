#include "lab/compare/compared_transport.h"

#include <algorithm>
#include <array>
#include <vector>

#include "fabric/pattern.h"
#include "fabric/yaml.h"

namespace mrclab::lab {

std::span<const ComparedTransport> compared_transports() {
  static constexpr std::array kTransports{
      ComparedTransport{"mrc", "as the scenario says", ""},
      ComparedTransport{"oblivious", "sprays over all paths, whatever their packets tell (htsim)",
                        "{path_choice: oblivious}"},
      ComparedTransport{"reps", "uses paths again whose packets came back unmarked (REPS)",
                        "{path_choice: reps}"},
      ComparedTransport{"one-path", "one path for each queue pair, drawn from the seed",
                        "{spray: off}"},
  };
  return kTransports;
}

std::vector<std::string> transport_names() {
  std::vector<std::string> names;
  for (const ComparedTransport& transport : compared_transports()) {
    names.emplace_back(transport.name);
  }
  return names;
}

const ComparedTransport& find_transport(std::string_view name) {
  const auto all = compared_transports();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const ComparedTransport& t) { return t.name == name; });
  if (found != all.end()) return *found;
  throw NameError(in_quotes(name) + ", which names no transport", one_of(name, transport_names()));
}

Scenario under_transport(const Scenario& scenario, const ComparedTransport& transport) {
  Scenario result = scenario;
  if (transport.options.empty()) return result;
  const YamlValue options = read_yaml_text(transport.options, "the transport to compare with");
  endpoint::replace_options(result.transport,
                            endpoint::parse_transport(options, scenario.topology));
  return result;
}

}  // namespace mrclab::lab
