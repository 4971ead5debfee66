#include "fabric/text/value_form.h"

#include <algorithm>
#include <stdexcept>

#include "fabric/text/mistakes.h"

namespace mrclab {
namespace {

using Kind = ValueForm::Kind;

enum class Shape : uint8_t { kScalar, kMap, kList };

Shape shape_of(const ValueForm& form) {
  if (form.kind == Kind::kMap || form.kind == Kind::kMapOf) return Shape::kMap;
  return form.kind == Kind::kList ? Shape::kList : Shape::kScalar;
}

/// Every key and item is looked at, whatever is wrong with others.
class FormCheck {
 public:
  explicit FormCheck(FormDepth depth) : depth_(depth) {}

  void check(const YamlValue& value, const ValueForm& form);
  void report() const { mistakes_.report(); }

 private:
  bool is_read_elsewhere(const ValueForm& form) const {
    return form.read_elsewhere && depth_ == FormDepth::kOwn;
  }
  void check_scalar(const YamlValue& value, const ValueForm& form);
  void check_map(const YamlValue& value, const ValueForm& form);
  void check_either(const YamlValue& value, const ValueForm& form);

  FormDepth depth_;
  Mistakes mistakes_;
};

void FormCheck::check_map(const YamlValue& value, const ValueForm& form) {
  std::vector<std::string_view> known;
  for (const ValueForm::Key& key : form.keys) known.emplace_back(key.name);
  const bool all_known = mistakes_.go_on([&] { value.only_keys(known); });
  if (!value.is_map()) return;
  for (const ValueForm::Key& key : form.keys) {
    if (const auto member = value.get(key.name)) check(*member, key.form);
  }
  if (!all_known) return;  // the key that lacks may be one that is misspelt
  for (const ValueForm::Key& key : form.keys) {
    const bool required = key.need == ValueForm::Key::kRequired;
    if (!required || is_read_elsewhere(key.form)) continue;
    mistakes_.go_on([&] { value.require(key.name); });
  }
}

/// Where a value's shape leaves one form only, it has to be that.
void FormCheck::check_either(const YamlValue& value, const ValueForm& form) {
  const Shape shape = value.is_map()    ? Shape::kMap
                      : value.is_list() ? Shape::kList
                                        : Shape::kScalar;
  const auto fits = [shape](const ValueForm& part) { return shape_of(part) == shape; };
  const auto first = std::find_if(form.parts.begin(), form.parts.end(), fits);
  if (depth_ == FormDepth::kWhole &&
      first != form.parts.end()) {  // no reader of its own chooses among them
    FormCheck last(depth_);
    for (const ValueForm& part : form.parts) {
      if (!fits(part)) continue;
      FormCheck one(depth_);
      one.check(value, part);
      if (!one.mistakes_.any()) return;
      last = std::move(one);
    }
    mistakes_.go_on([&] { last.report(); });
    return;
  }
  if (first == form.parts.end() || std::any_of(first + 1, form.parts.end(), fits)) return;
  check(value, *first);
}

void FormCheck::check_scalar(const YamlValue& value, const ValueForm& form) {
  switch (form.kind) {
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
    default: break;
  }
}

void FormCheck::check(const YamlValue& value, const ValueForm& form) {
  if (is_read_elsewhere(form)) return;
  switch (form.kind) {
    case Kind::kMap: return check_map(value, form);
    case Kind::kEither: return check_either(value, form);
    case Kind::kMapOf:
      mistakes_.go_on([&] {
        for (const auto& [key, member] : value.members()) check(member, form.parts[0]);
      });
      return;
    case Kind::kList:
      mistakes_.go_on([&] {
        for (const YamlValue& item : value.items()) check(item, form.parts[0]);
      });
      return;
    default: mistakes_.go_on([&] { check_scalar(value, form); });
  }
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

void check_form(const YamlValue& value, const ValueForm& form, FormDepth depth) {
  FormCheck check(depth);
  check.check(value, form);
  check.report();
}

}  // namespace mrclab
