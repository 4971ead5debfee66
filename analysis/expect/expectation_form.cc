#include "analysis/expect/expectation_form.h"

#include <utility>

#include "analysis/expect/expectation.h"
#include "analysis/expect/expectation_fields.h"
#include "analysis/expect/expectation_meanings.h"

namespace mrclab::analysis {
namespace {

using Form = ValueForm;
using Kind = ValueForm::Kind;
using Key = ValueForm::Key;

Form form_of(const FabricTime&) { return Form::of(Kind::kTime); }
Form form_of(const Probability&) { return Form::of(Kind::kShare); }
Form form_of(const uint64_t&) { return Form::integer(0, kMostCounted); }
Form form_of(const std::optional<uint32_t>&) { return Form::integer(0, kMostPlanes); }
Form form_of(const FairnessMeasure&) {
  return Form::word({kFairnessWords.begin(), kFairnessWords.end()});
}
Form form_of(const MapperWitness&) {
  return Form::word({kMapperWitnessWords.begin(), kMapperWitnessWords.end()});
}
Form form_of(const MessageTimeMeasure&) {
  return Form::word({kMessageTimeWords.begin(), kMessageTimeWords.end()});
}
Form form_of(const ServePart&) {
  return Form::word({kServePartWords.begin(), kServePartWords.end()});
}
Form form_of(const StepReference&) {
  return Form::word({kStepReferenceWords.begin(), kStepReferenceWords.end()});
}
Form form_of(const StepNumber&) { return Form::integer(0, kMostSteps); }
Form form_of(const TimeOrRatio&) {
  return Form::either({Form::of(Kind::kShare), Form::of(Kind::kMultiple), Form::of(Kind::kTime)});
}
Form form_of(const Ratio&) {
  return Form::either({Form::of(Kind::kShare), Form::of(Kind::kMultiple)});
}
Form form_of(const std::optional<Bytes>&) { return Form::of(Kind::kBytes); }
Form form_of(const GoodputReference&) {
  return Form::either({Form::word({"baseline", "line_rate"}), Form::of(Kind::kRate)});
}
Form form_of(const TenantNames&) {
  return Form::either({Form::of(Kind::kText), Form::list(Form::of(Kind::kText), 1)});
}
Form form_of(const std::string&) { return Form::of(Kind::kText); }

std::string text_of(Measure measure) {
  switch (measure) {
    case Measure::kShare: return "measured in percent";
    case Measure::kTime: return "measured in microseconds";
    case Measure::kRate: return "measured in Gb/s";
    case Measure::kCount: break;
  }
  return "counted";
}

template <class E>
Key key_of() {
  E e;
  std::vector<Key> fields;
  for_each_field(e, [&](std::string_view name, const auto& member, Need need) {
    const bool required = need == Need::kRequired || need == Need::kPositive;
    fields.push_back({std::string(name), form_of(member),
                      std::string(meaning_of_field(E::kWord.name, name)),
                      required ? Key::kRequired : Key::kOptional});
  });
  Form form = fields.empty() ? Form::of(Kind::kNothing) : Form::map(fields);
  if constexpr (requires { E::kAlone; }) form = Form::either({fields.front().form, form});
  std::string example(E::kWord.form);
  std::erase(example, '"');
  const std::string about = std::string(meaning_of_check(E::kWord.name)) + "; " +
                            text_of(E::kWord.measure) + (example.empty() ? "" : ": " + example);
  return {std::string(E::kWord.name), form, about, Key::kOneOf};
}

template <class... E>
std::vector<Key> keys_of(std::type_identity<std::variant<E...>>) {
  return {key_of<E>()...};
}

}  // namespace

std::vector<Key> expectation_kinds() { return keys_of(std::type_identity<ExpectationKind>{}); }

std::vector<std::string> plain_expectations() {
  std::vector<std::string> words;
  for (const ExpectationWord& word : kExpectationWords) {
    if (word.form.empty()) words.emplace_back(word.name);
  }
  return words;
}

std::vector<Key> published_keys() {
  const Form figure = Form::either({Form::of(Kind::kShare), Form::of(Kind::kTime),
                                    Form::of(Kind::kRate), Form::integer(0, kMostPublished)});
  return {{"published", figure, "what was measured elsewhere, in the unit of this check"},
          {"figure", Form::of(Kind::kText), "its source, with the place in it"}};
}

}  // namespace mrclab::analysis
