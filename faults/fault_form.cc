#include "faults/fault_form.h"

#include "faults/fault.h"

namespace mrclab::faults {
namespace {

using Form = ValueForm;
using Kind = ValueForm::Kind;
using Key = ValueForm::Key;

/// One name, or a list of them; patterns among them.
Form names_form() {
  return Form::either({Form::of(Kind::kText), Form::list(Form::of(Kind::kText))});
}

Form parameter_form(const ParameterInfo& parameter) {
  switch (parameter.quantity) {
    case Quantity::kTime: return Form::of(Kind::kTime);
    case Quantity::kShare: return Form::of(Kind::kShare);
    case Quantity::kErrorRate: return Form::of(Kind::kErrorRate);
    case Quantity::kBitRate: return Form::of(Kind::kRate);
    case Quantity::kBytes: return Form::of(Kind::kBytes);
    case Quantity::kCount: return Form::integer(parameter.min, parameter.max);
    case Quantity::kCarrierWord: return Form::word(carrier_words());
    case Quantity::kFecWord: return Form::word(fec_words());
    case Quantity::kAttackWord: return Form::word(attack_words());
    case Quantity::kStatusWord: return Form::word(status_words());
  }
  return {};
}

/// Must an entry have this key? Not where another key may name the target in its place.
bool is_needed(TargetForm form, std::string_view key) {
  if (form == TargetForm::kWires || form == TargetForm::kWiresOrSwitches ||
      form == TargetForm::kOutOfUse) {
    return false;
  }
  return key != "toward";
}

Form body_form(const FaultInfo& fault) {
  std::vector<Key> keys;
  for (const std::string_view key : keys_of(fault.targets)) {
    const Form form = key == "direction" ? Form::word(direction_words()) : names_form();
    const Key::Need need = is_needed(fault.targets, key) ? Key::kRequired : Key::kOptional;
    keys.push_back({std::string(key), form, "the target", need});
  }
  for (const ParameterUse& use : fault.parameters) {
    const ParameterInfo& parameter = info(use.parameter);
    keys.push_back({std::string(parameter.name), parameter_form(parameter),
                    std::string(parameter.about), use.required ? Key::kRequired : Key::kOptional});
  }
  if (fault.takes(Parameter::kFor)) {
    keys.push_back({"until", Form::of(Kind::kTime), "an instant, in place of for"});
  }
  return Form::map(std::move(keys));
}

std::vector<Key> kinds_of_fault() {
  std::vector<Key> keys;
  for (const FaultInfo& fault : all_faults()) {
    keys.push_back(
        {std::string(fault.name), body_form(fault), std::string(fault.about), Key::kOneOf});
  }
  return keys;
}

}  // namespace

ValueForm faults_form() {
  std::vector<Key> keys = kinds_of_fault();
  const Form together = Form::list(Form::map(kinds_of_fault()), 1);
  keys.push_back({"parallel", together, "several faults at once", Key::kOneOf});
  const Form time = Form::of(Kind::kTime);
  keys.push_back({"at", time, "when it begins", Key::kRequired});
  keys.push_back({"every", time, "again after this, until `until` or `times`"});
  keys.push_back({"until", time, "no repetition begins from here on"});
  keys.push_back({"times", Form::integer(1, int64_t{kMaxFaults}), "repetitions at most"});
  keys.push_back({"healed", time, "when somebody ended it, before its own end"});
  return Form::list(Form::map(std::move(keys)));
}

}  // namespace mrclab::faults
