#pragma once
// Resolves names and patterns in files and on command lines: patterns ("p*.t1-0", "h[8-11]:p2",
// fabric/text/name_pattern.h), lists ("h0, h3"), "all", and "random(3, p*.t0-*:u*)".

#include <string>
#include <string_view>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/base/random.h"
#include "fabric/text/name_pattern.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// A name that matches nothing or cannot be read: what was found, what would be right.
class NameError : public InputError {
 public:
  NameError(std::string what_found, std::string what_expected);
  const std::string& found() const { return found_; }
  const std::string& expected() const { return expected_; }

 private:
  std::string found_;
  std::string expected_;
};

/// Turns text into parts of a topology. Results are sorted by id and hold nothing twice. Text that
/// matches nothing, or less than it names, is an error that suggests what is there: NameError for bare
/// text, InputError with the position for a YamlValue (a scalar, or a list of scalars).
class NameResolver {
 public:
  static constexpr size_t kMaxTextBytes = NamePattern::kMaxBytes;

  /// `topology` must outlive the resolver. Each random() takes the next draw of the seed.
  NameResolver(const Topology& topology, uint64_t seed) : topology_(topology), seed_(seed) {}

  const Topology& topology() const { return topology_; }
  uint64_t seed() const { return seed_; }

  std::vector<NodeId> nodes(std::string_view text);
  std::vector<NodeId> hosts(std::string_view text);
  std::vector<NodeId> switches(std::string_view text);
  std::vector<PortRef> ports(std::string_view text);
  std::vector<LinkId> links(std::string_view text);  ///< by either port, or both: "a--b"
  std::vector<OpticId> optics(std::string_view text);
  std::vector<WireId> wires(std::string_view text);        ///< "h3:p2->p2.t0-1:d3"
  std::vector<uint32_t> planes(std::string_view text);     ///< "p2", "p[0-3]"
  std::vector<PortRef> line_cards(std::string_view text);  ///< "p2.t1-0:c1", each by its first port
  std::vector<uint32_t> power_zones(std::string_view text);  ///< "rack-0", by their numbers

  std::vector<NodeId> nodes(const YamlValue& value);
  std::vector<NodeId> hosts(const YamlValue& value);
  std::vector<NodeId> switches(const YamlValue& value);
  std::vector<PortRef> ports(const YamlValue& value);
  std::vector<LinkId> links(const YamlValue& value);
  std::vector<OpticId> optics(const YamlValue& value);
  std::vector<WireId> wires(const YamlValue& value);
  std::vector<uint32_t> planes(const YamlValue& value);
  std::vector<PortRef> line_cards(const YamlValue& value);
  std::vector<uint32_t> power_zones(const YamlValue& value);

  /// The next draw of the seed, uniform in [0, bound).
  int64_t draw_below(uint64_t bound) { return static_cast<int64_t>(below(next_draw(), bound)); }

 private:
  uint64_t next_draw();
  template <class Id, class MakePopulation>
  std::vector<Id> select(std::string_view text, MakePopulation make_population);

  const Topology& topology_;
  uint64_t seed_;
  uint64_t draws_ = 0;  // a resolver never repeats a draw
};

}  // namespace mrclab
