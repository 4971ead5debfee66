#pragma once
// The keys of a map in a file as a table: a row for each key, with what it may hold, what it means, how its value is read
// and how it is written. A reader, a writer, the JSON Schema and the reference of keys are made from the same rows.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "fabric/text/mistakes.h"
#include "fabric/text/value_form.h"
#include "fabric/text/yaml_write.h"

namespace mrclab {

/// A kind of value: its form, read(value) or read(value, with...), which returns it, and write(in), which returns its
/// text, an empty one for a value that is left out of the file.
template <class Read, class Write>
struct ValueKind {
  ValueForm form;
  Read read;
  Write write;
};
template <class Read, class Write>
ValueKind(ValueForm, Read, Write) -> ValueKind<Read, Write>;

/// The kind that a type alone says: a duration, a rate, a size, a share, on or off.
template <class T>
auto kind_of() {
  using Kind = ValueForm::Kind;
  const auto quantity = [](Kind kind, T (YamlValue::*read)() const) {
    return ValueKind{ValueForm::of(kind), read, [](const auto& in) { return exact(in); }};
  };
  if constexpr (std::is_same_v<T, FabricTime>) return quantity(Kind::kTime, &YamlValue::as_time);
  if constexpr (std::is_same_v<T, BitRate>) return quantity(Kind::kRate, &YamlValue::as_rate);
  if constexpr (std::is_same_v<T, Bytes>) return quantity(Kind::kBytes, &YamlValue::as_bytes);
  if constexpr (std::is_same_v<T, Probability>) {
    return quantity(Kind::kShare, &YamlValue::as_probability);
  }
  if constexpr (std::is_same_v<T, bool>) {
    return ValueKind{ValueForm::of(Kind::kSwitch), &YamlValue::as_bool,
                     [](bool in) { return std::string(in ? "on" : "off"); }};
  }
}

/// A name that may become part of paths; any text.
inline auto name_kind() {
  return ValueKind{ValueForm::of(ValueForm::Kind::kName), &YamlValue::as_name, yaml_word};
}
inline auto text_kind() {
  return ValueKind{
      ValueForm::of(ValueForm::Kind::kText), &YamlValue::as_string,
      [](const std::string& in) { return in.empty() ? std::string() : yaml_string(in); }};
}

/// A whole number of whatever integer type.
inline auto integer_kind(int64_t min, int64_t max) {
  return ValueKind{ValueForm::integer(min, max),
                   [=](const YamlValue& value) { return value.as_integer(min, max); },
                   [](const auto& in) { return std::to_string(in); }};
}

/// A word for each value of an enum, or of a bool, in the order of the values. An optional without a value is left out.
template <class E>
auto word_kind(std::vector<std::string> words) {
  return ValueKind{ValueForm::word(words),
                   [=](const YamlValue& value) { return static_cast<E>(value.as_word(words)); },
                   [=](const std::optional<E>& in) {
                     return in ? words[static_cast<size_t>(*in)] : std::string();
                   }};
}

/// How a row is used. Rows are read, and written, pass by pass, and within a pass in their order.
struct KeyUse {
  ValueForm::Key::Need need = ValueForm::Key::kOptional;
  bool if_unusual = false;  ///< written only where it differs from what an Of has of its own
  uint8_t read_pass = 1, write_pass = 1;
};
inline constexpr KeyUse kRequiredKey{.need = ValueForm::Key::kRequired};
inline constexpr KeyUse kIfUnusual{.if_unusual = true};

/// A key of a map that says an `Of`. `With` is what readers need besides.
template <class Of, class... With>
struct KeyRow {
  std::string name;
  ValueForm form;
  std::string about;
  std::function<void(const YamlValue&, Of&, With&...)> read;  ///< empty: by the reader of the map
  std::function<std::string(const Of&)> write = {};           ///< empty: never written
  KeyUse use = {};

  /// A row for `member`: a pointer to a member, or a function from an Of to what is read into and written from.
  template <class Member, class Kind>
  requires requires(Kind kind) { kind.form; }
  static KeyRow of(std::string name, Member member, const Kind& kind, std::string about,
                   KeyUse use = {}) {
    return {std::move(name),
            kind.form,
            std::move(about),
            [member, read = kind.read](const YamlValue& value, Of& of, With&... with) {
              auto& out = std::invoke(member, of);
              using T = std::remove_reference_t<decltype(out)>;
              if constexpr (std::is_invocable_v<decltype(read), const YamlValue&>) {
                out = static_cast<T>(std::invoke(read, value));
              } else {
                out = static_cast<T>(std::invoke(read, value, with...));
              }
            },
            [member, write = kind.write](const Of& of) { return write(std::invoke(member, of)); },
            use};
  }
  template <class Member>
  static KeyRow of(std::string name, Member member, std::string about, KeyUse use = {}) {
    using T = std::remove_reference_t<std::invoke_result_t<Member, Of&>>;
    return of(std::move(name), member, kind_of<T>(), std::move(about), use);
  }
};

template <class Of, class... With>
class KeyTable {
 public:
  using Row = KeyRow<Of, With...>;
  static constexpr uint8_t kLastPass = 3;

  explicit KeyTable(std::vector<Row> rows) : rows_(std::move(rows)) {
    form_.kind = ValueForm::Kind::kMap;
    for (const Row& row : rows_) {
      form_.keys.push_back({row.name, row.form, row.about, row.use.need});
      usual_.push_back(row.use.if_unusual ? row.write(Of{}) : std::string());
    }
  }

  const std::vector<Row>& rows() const { return rows_; }
  /// A map with these keys.
  const ValueForm& form() const { return form_; }

  /// Reads the keys that are there, of all passes or of one. Throws InputError, also where a required key lacks;
  /// unknown keys are left to check_form().
  void read(const YamlValue& map, Of& out, With&... with) const {
    for (uint8_t pass = 0; pass <= kLastPass; ++pass) read_pass(pass, map, out, with...);
  }
  /// Goes on behind a key that cannot be read; throws when all have been looked at.
  void read_pass(uint8_t pass, const YamlValue& map, Of& out, With&... with) const {
    Mistakes mistakes;
    for (const Row& row : rows_) {
      if (row.use.read_pass != pass || !row.read) continue;
      mistakes.go_on([&] {
        const bool required = row.use.need == ValueForm::Key::kRequired;
        const auto value = required ? map.require(row.name) : map.get(row.name);
        if (value) row.read(*value, out, with...);
      });
    }
    mistakes.report();
  }

  /// "{size: 1MiB, until: end}"
  std::string written(const Of& of) const {
    std::string text;
    each_written(of, [&](const std::string& key, const std::string& value) {
      text += (text.empty() ? "" : ", ") + key + ": " + value;
    });
    return "{" + text + "}";
  }
  /// A line for each key, with `margin` before it. A value that begins with a line break stands below its key.
  std::string written_lines(const Of& of, const std::string& margin) const {
    std::string text;
    each_written(of, [&](const std::string& key, const std::string& value) {
      text += margin + key + (value[0] == '\n' ? ":" : ": ") + value + "\n";
    });
    return text;
  }

 private:
  template <class Use>
  void each_written(const Of& of, Use&& use) const {
    for (uint8_t pass = 0; pass <= kLastPass; ++pass) {
      for (size_t i = 0; i < rows_.size(); ++i) {
        const Row& row = rows_[i];
        if (row.use.write_pass != pass || !row.write) continue;
        const std::string text = row.write(of);
        if (!text.empty() && text != usual_[i]) use(row.name, text);
      }
    }
  }

  std::vector<Row> rows_;
  std::vector<std::string> usual_;  ///< by row
  ValueForm form_;
};

}  // namespace mrclab
