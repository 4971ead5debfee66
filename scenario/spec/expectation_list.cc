#include "scenario/spec/expectation_list.h"

#include "analysis/expect/expectation_form.h"
#include "fabric/text/mistakes.h"
#include "scenario/spec/expectation_check.h"
#include "scenario/spec/program_keys.h"

namespace mrclab::lab {

ValueForm expectation_list_form(bool with_programs, size_t least) {
  using Form = ValueForm;
  std::vector<Form::Key> keys = analysis::expectation_kinds();
  if (with_programs) {
    keys.push_back({"program", check_program_keys().form(),
                    "a program of yours; it passes by exit code 0", Form::Key::kOneOf});
  }
  for (Form::Key& key : analysis::published_keys()) keys.push_back(std::move(key));
  return Form::list(
             Form::either({Form::word(analysis::plain_expectations()), Form::map(std::move(keys))}),
             least, analysis::kMaxExpectations)
      .elsewhere();
}

std::optional<YamlValue> only_member(const YamlValue& entry, std::string_view key) {
  if (!entry.is_map() || entry.members().size() != 1) return std::nullopt;
  return entry.get(key);
}

std::vector<analysis::Expectation> read_expectations(const YamlValue& list,
                                                     const Scenario& scenario, bool ask) {
  std::vector<analysis::Expectation> expectations;
  const ExpectationCheck check(scenario);
  size_t entries = 0;
  Mistakes mistakes;
  for (const YamlValue& entry : list.items()) {
    if (entries++ == analysis::kMaxExpectations) {
      entry.fail("more expectations", "at most " + std::to_string(analysis::kMaxExpectations));
    }
    if (only_member(entry, "program")) continue;
    mistakes.go_on([&] {
      expectations.push_back(analysis::parse_expectation(entry));
      if (ask) check.require_possible(expectations.back(), entry);
    });
  }
  mistakes.report();
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
