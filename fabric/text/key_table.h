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

#include "fabric/text/value_form.h"
#include "fabric/text/yaml_write.h"

namespace mrclab {

/// A kind of value: its form, read(value, out) or read(value, out, with...), and write(in), which returns an empty
/// text for a value that is left out of the file.
template <class Read, class Write>
struct ValueKind {
  ValueForm form;
  Read read;
  Write write;
};
template <class Read, class Write>
ValueKind(ValueForm, Read, Write) -> ValueKind<Read, Write>;

/// A kind whose values have a unit or a word of their own.
template <class T>
auto plain_kind(ValueForm::Kind kind, T (YamlValue::*as)() const) {
  return ValueKind{ValueForm::of(kind),
                   [as](const YamlValue& value, T& out) { out = (value.*as)(); },
                   [](const T& in) {
                     if constexpr (std::is_same_v<T, bool>) {
                       return std::string(in ? "on" : "off");
                     } else {
                       return exact(in);
                     }
                   }};
}

/// The kind that a type alone says: a duration, a rate, a size, a share, on or off.
template <class T>
auto kind_of() {
  using Kind = ValueForm::Kind;
  if constexpr (std::is_same_v<T, FabricTime>) return plain_kind(Kind::kTime, &YamlValue::as_time);
  if constexpr (std::is_same_v<T, BitRate>) return plain_kind(Kind::kRate, &YamlValue::as_rate);
  if constexpr (std::is_same_v<T, Bytes>) return plain_kind(Kind::kBytes, &YamlValue::as_bytes);
  if constexpr (std::is_same_v<T, bool>) return plain_kind(Kind::kSwitch, &YamlValue::as_bool);
  if constexpr (std::is_same_v<T, Probability>) {
    return plain_kind(Kind::kShare, &YamlValue::as_probability);
  }
}

/// A name that may become part of paths; any text, in quotes where it is written.
inline auto name_kind() {
  return ValueKind{ValueForm::of(ValueForm::Kind::kName),
                   [](const YamlValue& value, std::string& out) { out = value.as_name(); },
                   [](const std::string& in) { return yaml_word(in); }};
}
inline auto text_kind() {
  return ValueKind{
      ValueForm::of(ValueForm::Kind::kText),
      [](const YamlValue& value, std::string& out) { out = value.as_string(); },
      [](const std::string& in) { return in.empty() ? std::string() : yaml_string(in); }};
}

/// A whole number of whatever integer type.
inline auto integer_kind(int64_t min, int64_t max) {
  return ValueKind{
      ValueForm::integer(min, max),
      [=](const YamlValue& value, auto& out) {
        out = static_cast<std::remove_reference_t<decltype(out)>>(value.as_integer(min, max));
      },
      [](const auto& in) { return std::to_string(in); }};
}

/// A word for each value of an enum, or of a bool, in the order of the values. An optional without a value is left out.
template <class E>
auto word_kind(std::vector<std::string> words) {
  return ValueKind{
      ValueForm::word(words),
      [=](const YamlValue& value, auto& out) { out = static_cast<E>(value.as_word(words)); },
      [=](const std::optional<E>& in) {
        return in ? words[static_cast<size_t>(*in)] : std::string();
      }};
}

/// What a file says, and what stands in the file: a key of an `Of`. `With` is what readers need besides.
template <class Of, class... With>
struct KeyRow {
  std::string name;
  ValueForm form;
  std::string about;
  std::function<void(const YamlValue&, Of&, With&...)> read;  ///< empty: read by the map's reader
  std::function<std::string(const Of&)> write = {};           ///< empty: never written
  ValueForm::Key::Need need = ValueForm::Key::kOptional;
  /// In which pass over the rows it is read and written, where that is not their order.
  uint8_t read_pass = 1, write_pass = 1;

  /// A row for `member`: a pointer to a member, or a function from an Of to what is read into and written from.
  template <class Member, class Kind>
  static KeyRow of(std::string name, Member member, const Kind& kind, std::string about) {
    return {std::move(name), kind.form, std::move(about),
            [member, read = kind.read](const YamlValue& value, Of& of, With&... with) {
              auto& out = std::invoke(member, of);
              if constexpr (std::is_invocable_v<decltype(read), const YamlValue&, decltype(out)>) {
                read(value, out);
              } else {
                read(value, out, with...);
              }
            },
            [member, write = kind.write](const Of& of) { return write(std::invoke(member, of)); }};
  }
  template <class Member>
  static KeyRow of(std::string name, Member member, std::string about) {
    using T = std::remove_reference_t<std::invoke_result_t<Member, Of&>>;
    return of(std::move(name), member, kind_of<T>(), std::move(about));
  }

  KeyRow required() const { return with(&KeyRow::need, ValueForm::Key::kRequired); }
  KeyRow read_in(uint8_t pass) const { return with(&KeyRow::read_pass, pass); }
  KeyRow written_in(uint8_t pass) const { return with(&KeyRow::write_pass, pass); }
  /// Written only where it differs from what an Of has of its own.
  KeyRow if_unusual() const {
    return with(&KeyRow::write, [write = write, usual = write(Of{})](const Of& of) {
      std::string text = write(of);
      return text == usual ? std::string() : text;
    });
  }

 private:
  KeyRow with(auto KeyRow::*member, auto value) const {
    KeyRow row = *this;
    row.*member = std::move(value);
    return row;
  }
};

template <class Of, class... With>
class KeyTable {
 public:
  using Row = KeyRow<Of, With...>;
  static constexpr uint8_t kLastPass = 3;

  explicit KeyTable(std::vector<Row> rows) : rows_(std::move(rows)) {
    form_.kind = ValueForm::Kind::kMap;
    for (const Row& row : rows_) form_.keys.push_back({row.name, row.form, row.about, row.need});
  }

  const std::vector<Row>& rows() const { return rows_; }
  /// A map with these keys.
  const ValueForm& form() const { return form_; }

  /// Reads the keys that are there, of the passes from `first` to `last`. Throws InputError, also where a required key
  /// lacks; unknown keys are left to check_form().
  void read(const YamlValue& map, Of& out, With&... with) const {
    for (uint8_t pass = 0; pass <= kLastPass; ++pass) read_pass(pass, map, out, with...);
  }
  void read_pass(uint8_t pass, const YamlValue& map, Of& out, With&... with) const {
    for (const Row& row : rows_) {
      if (row.read_pass != pass || !row.read) continue;
      const bool required = row.need == ValueForm::Key::kRequired;
      const auto value = required ? map.require(row.name) : map.get(row.name);
      if (value) row.read(*value, out, with...);
    }
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
      for (const Row& row : rows_) {
        if (row.write_pass != pass || !row.write) continue;
        const std::string text = row.write(of);
        if (!text.empty()) use(row.name, text);
      }
    }
  }

  std::vector<Row> rows_;
  ValueForm form_;
};

/// A map with a table of its own, which has the same Of.
template <class Of, class... With>
auto map_kind(KeyTable<Of, With...> table) {
  return ValueKind{
      table.form(),
      [=](const YamlValue& value, Of& out, With&... with) { table.read(value, out, with...); },
      [=](const Of& in) { return table.written(in); }};
}

}  // namespace mrclab
