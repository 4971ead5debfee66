#pragma once
// What the places of a file may hold, as values: one table from which a reader refuses what is unknown, `mrclab schema`
// writes JSON Schema, and the reference of keys is made.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/text/yaml.h"

namespace mrclab {

class ValueForm {
 public:
  enum class Kind : uint8_t {
    kAnything,
    kNothing,    ///< no value behind the key; null in JSON
    kText,       ///< any scalar; a file may have at most 1 MiB
    kName,       ///< YamlValue::as_name()
    kWord,       ///< one of `words`
    kSwitch,     ///< on, off
    kInteger,    ///< from `min` to `max`
    kNumber,     ///< of JSON
    kTrueFalse,  ///< of JSON
    kTime,       ///< YamlValue::as_time()
    kBytes,      ///< YamlValue::as_bytes()
    kRate,       ///< YamlValue::as_rate()
    kShare,      ///< YamlValue::as_probability()
    kErrorRate,  ///< YamlValue::as_error_rate()
    kMultiple,   ///< such as 0.8: from 0.001 to 100 times the plane BDP
    kHex,        ///< digits of base 16, which YAML may take for a number
    kMap,        ///< with `keys`
    kMapOf,      ///< any keys; their values as parts[0]
    kList,       ///< of `least` to `most` values as parts[0]
    kEither,     ///< as one of `parts`
  };
  struct Key;

  Kind kind = Kind::kAnything;
  std::vector<std::string> words;
  int64_t min = 0, max = 0;
  std::vector<Key> keys;
  std::vector<ValueForm> parts;
  size_t least = 0, most = SIZE_MAX;
  bool read_elsewhere = false;  ///< by a table of its own: check_form() does not look below

  static ValueForm of(Kind kind);
  static ValueForm word(std::vector<std::string> words);
  static ValueForm integer(int64_t min, int64_t max);
  static ValueForm map(std::vector<Key> keys);
  static ValueForm map_of(ValueForm values);
  static ValueForm list(ValueForm items, size_t least = 0, size_t most = SIZE_MAX);
  static ValueForm either(std::vector<ValueForm> parts);
  ValueForm elsewhere() const;

  /// The form of a key of a map, or of the map among the parts of kEither. The key must be there.
  const ValueForm& at(std::string_view key) const;
};

struct ValueForm::Key {
  enum Need : uint8_t {
    kOptional,
    kRequired,
    kOneOf,  ///< exactly one of the keys so marked is there
  };
  std::string name;
  ValueForm form;
  std::string about;  ///< one line
  Need need = kOptional;
};

/// How far a form is looked at: what its own reader reads, or all, where no other reader will look at it.
enum class FormDepth : uint8_t { kOwn, kWhole };

/// Refuses what is not of this form, all of it at once: unknown keys, keys that lack, words, numbers and quantities. What
/// a kEither of several scalars, the length of a list and a kOneOf come to is left to the reader. Throws InputError.
void check_form(const YamlValue& value, const ValueForm& form, FormDepth depth = FormDepth::kOwn);

}  // namespace mrclab
