#include "fabric/text/value_form.h"

#include <algorithm>
#include <stdexcept>

namespace mrclab {
namespace {

using Kind = ValueForm::Kind;

enum class Shape : uint8_t { kScalar, kMap, kList };

Shape shape_of(const ValueForm& form) {
  if (form.kind == Kind::kMap || form.kind == Kind::kMapOf) return Shape::kMap;
  return form.kind == Kind::kList ? Shape::kList : Shape::kScalar;
}

void check_map(const YamlValue& value, const ValueForm& form) {
  std::vector<std::string_view> known;
  for (const ValueForm::Key& key : form.keys) known.emplace_back(key.name);
  value.only_keys(known);
  // A wrong value is reported before a missing one.
  for (const ValueForm::Key& key : form.keys) {
    if (const auto member = value.get(key.name)) check_form(*member, key.form);
  }
  for (const ValueForm::Key& key : form.keys) {
    const bool required = key.need == ValueForm::Key::kRequired;
    if (required && !key.form.read_elsewhere) value.require(key.name);
  }
}

/// Where a value's shape leaves one form only, it has to be that.
void check_either(const YamlValue& value, const ValueForm& form) {
  const Shape shape = value.is_map()    ? Shape::kMap
                      : value.is_list() ? Shape::kList
                                        : Shape::kScalar;
  const auto fits = [shape](const ValueForm& part) { return shape_of(part) == shape; };
  const auto first = std::find_if(form.parts.begin(), form.parts.end(), fits);
  if (first == form.parts.end() || std::any_of(first + 1, form.parts.end(), fits)) return;
  check_form(value, *first);
}

}  // namespace

ValueForm ValueForm::of(Kind kind) {
  ValueForm form;
  form.kind = kind;
  return form;
}

ValueForm ValueForm::word(std::vector<std::string> words) {
  ValueForm form = of(Kind::kWord);
  form.words = std::move(words);
  return form;
}

ValueForm ValueForm::integer(int64_t min, int64_t max) {
  ValueForm form = of(Kind::kInteger);
  form.min = min;
  form.max = max;
  return form;
}

ValueForm ValueForm::map(std::vector<Key> keys) {
  ValueForm form = of(Kind::kMap);
  form.keys = std::move(keys);
  return form;
}

ValueForm ValueForm::map_of(ValueForm values) {
  ValueForm form = of(Kind::kMapOf);
  form.parts.push_back(std::move(values));
  return form;
}

ValueForm ValueForm::list(ValueForm items, size_t least, size_t most) {
  ValueForm form = of(Kind::kList);
  form.parts.push_back(std::move(items));
  form.least = least;
  form.most = most;
  return form;
}

ValueForm ValueForm::either(std::vector<ValueForm> parts) {
  ValueForm form = of(Kind::kEither);
  form.parts = std::move(parts);
  return form;
}

ValueForm ValueForm::elsewhere() const {
  ValueForm form = *this;
  form.read_elsewhere = true;
  return form;
}

const ValueForm& ValueForm::at(std::string_view key) const {
  for (const Key& each : keys) {
    if (each.name == key) return each.form;
  }
  for (const ValueForm& part : parts) {
    if (part.kind == Kind::kMap) return part.at(key);
  }
  throw std::logic_error("no form of the key " + std::string(key));
}

void check_form(const YamlValue& value, const ValueForm& form) {
  if (form.read_elsewhere) return;
  switch (form.kind) {
    case Kind::kAnything:
    case Kind::kNothing:
    case Kind::kNumber:
    case Kind::kTrueFalse:
    case Kind::kMultiple:
    case Kind::kHex: break;
    case Kind::kText: value.as_string(); break;
    case Kind::kName: value.as_name(); break;
    case Kind::kWord: value.as_word(form.words); break;
    case Kind::kSwitch: value.as_bool(); break;
    case Kind::kInteger: value.as_integer(form.min, form.max); break;
    case Kind::kTime: value.as_time(); break;
    case Kind::kBytes: value.as_bytes(); break;
    case Kind::kRate: value.as_rate(); break;
    case Kind::kShare: value.as_probability(); break;
    case Kind::kErrorRate: value.as_error_rate(); break;
    case Kind::kMap: check_map(value, form); break;
    case Kind::kMapOf:
      for (const auto& [key, member] : value.members()) check_form(member, form.parts[0]);
      break;
    case Kind::kList:
      for (const YamlValue& item : value.items()) check_form(item, form.parts[0]);
      break;
    case Kind::kEither: check_either(value, form); break;
  }
}

}  // namespace mrclab
