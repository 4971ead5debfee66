#pragma once
// YAML with positions: every value carries its file, line and column, so that bad input gets an exact
// error (what was found, what would be right) and nothing is started.

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/base/units.h"
#include "fabric/text/input_error.h"

namespace mrclab {

/// What a duration in "rtt" means; zero where rtt is not allowed.
struct YamlContext {
  std::string file;
  FabricTime rtt;
};

/// Text from outside for an error line: in double quotes, control characters escaped, cut to 60.
std::string in_quotes(std::string_view text);

/// The candidate with the smallest edit distance, the first of equals; empty if there is none, or
/// if the word is too far from all of them.
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);

/// For "expected": the nearest of the known words, quoted, or all of them.
std::string one_of(std::string_view word, const std::vector<std::string>& known);

/// Exact text of a value, which reads back as the same: "1500ns", "8MiB", "100Gb/s", "95%".
std::string exact(FabricTime time);
std::string exact(Bytes size);
std::string exact(BitRate rate);
std::string exact(Probability probability);
std::string exact(BitErrorRate rate);

/// A value in a document. Cheap to copy. All as_* throw InputError with the position.
class YamlValue {
 public:
  struct Impl;
  explicit YamlValue(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  const Impl& impl() const {
    return *impl_;
  }  ///< for those that compose documents (yaml_compose.h)

  bool is_map() const;
  bool is_list() const;
  bool is_scalar() const;
  std::string as_string() const;
  /// A name that may become part of namespace names and paths: at most 32 of a-z, 0-9 and dash.
  std::string as_name() const;
  /// One of `words`; returns its place.
  size_t as_word(const std::vector<std::string>& words) const;
  bool as_bool() const;
  int64_t as_integer(int64_t min, int64_t max) const;
  FabricTime as_time() const;            ///< "300us", "20ns", "1.5ms", "6rtt"
  Bytes as_bytes() const;                ///< "8MiB", "4096B", "1MB"
  BitRate as_rate() const;               ///< "100Gb/s"
  Probability as_probability() const;    ///< "20%", "0.1"
  BitErrorRate as_error_rate() const;    ///< "1e-6", "2.5e-9"
  std::vector<YamlValue> items() const;  ///< the values of a list
  /// The keys and values of a map, in file order.
  std::vector<std::pair<std::string, YamlValue>> members() const;
  std::optional<YamlValue> get(std::string_view key) const;
  YamlValue require(std::string_view key) const;
  /// The file where it stands: of a document that includes others, perhaps one of these.
  const std::string& file() const;
  /// Refuses keys outside `known`, all of them at once, suggesting the nearest.
  void only_keys(std::span<const std::string_view> known) const;
  void only_keys(std::initializer_list<std::string_view> known) const {
    only_keys(std::span<const std::string_view>(known.begin(), known.size()));
  }
  /// Refuses this value. `found` is taken as it is; quote text with in_quotes().
  [[noreturn]] void fail(const std::string& found, const std::string& expected) const;
  /// Refuses this value as it stands in the file.
  [[noreturn]] void fail_expecting(const std::string& expected) const;
  /// Refuses a member because of its key; the position is the key's.
  [[noreturn]] void fail_at_key(std::string_view key, const std::string& found,
                                const std::string& expected) const;
  FabricTime rtt() const;
  /// For durations in "rtt": the same value read with another context.
  YamlValue with_rtt(FabricTime rtt) const;

 private:
  std::shared_ptr<const Impl> impl_;  // shared: values of one document share its parsed tree
};

/// The text of such a file, of at most one byte more than it may have. Throws InputError where it cannot be read.
std::string read_yaml_bytes(const std::filesystem::path& path);
/// Reads a file of at most 1 MiB. Throws InputError.
YamlValue read_yaml_file(const std::filesystem::path& path);
YamlValue read_yaml_text(std::string_view text, const std::string& file_name);

}  // namespace mrclab
