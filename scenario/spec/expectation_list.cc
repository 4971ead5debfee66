#include "scenario/spec/expectation_list.h"

#include "scenario/spec/expectation_check.h"

namespace mrclab::lab {

/// The value of an entry that has this key alone.
std::optional<YamlValue> only_member(const YamlValue& entry, std::string_view key) {
  if (!entry.is_map() || entry.members().size() != 1) return std::nullopt;
  return entry.get(key);
}

std::vector<analysis::Expectation> read_expectations(const YamlValue& list,
                                                     const Scenario& scenario) {
  std::vector<analysis::Expectation> expectations;
  const ExpectationCheck check(scenario);
  size_t entries = 0;
  for (const YamlValue& entry : list.items()) {
    if (entries++ == analysis::kMaxExpectations) {
      entry.fail("more expectations", "at most " + std::to_string(analysis::kMaxExpectations));
    }
    if (only_member(entry, "program")) continue;
    expectations.push_back(analysis::parse_expectation(entry));
    check.require_possible(expectations.back(), entry);
  }
  return expectations;
}

std::vector<CheckProgram> read_check_programs(const YamlValue& list,
                                              const std::filesystem::path& base) {
  std::vector<CheckProgram> programs;
  for (const YamlValue& entry : list.items()) {
    if (const auto body = only_member(entry, "program")) {
      programs.push_back(parse_check_program(*body, base));
    }
  }
  return programs;
}

}  // namespace mrclab::lab
