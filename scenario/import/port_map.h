#pragma once
// Maps the port names of a log to ports of a fabric of ours. A YAML map, or CSV lines
// "device,port,name" or "port,name":
//
//   leaf-07 Ethernet1/3: p0.t0-0:d2
//   leaf-0* Ethernet*: p0.t0-{1}:d{2/4}     # {1}: what the first * stands for
//
// A * is any run of characters but blanks. In braces stands its number, with + - * / and a number
// behind it as often as needed, from left to right: leaf-07's Ethernet12 is p0.t0-7:d3 above. An
// entry without a * goes before the patterns, which are tried in the order of the file.

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/text/yaml.h"
#include "fabric/topology/topology.h"

namespace mrclab::lab {

inline constexpr size_t kMaxMapEntries = 65'536;
inline constexpr size_t kMaxMapPatterns = 1024;

class PortMap {
 public:
  /// A file: CSV if its name ends so, else YAML. Throws InputError with the position.
  static PortMap read(const std::filesystem::path& path, const Topology& topology);
  static PortMap parse_yaml(const YamlValue& map, const Topology& topology);
  static PortMap parse_csv(std::string_view text, const std::string& file,
                           const Topology& topology);

  /// Empty: no entry is about it. Throws InputError if the entry names no port of the fabric.
  std::optional<PortRef> find(const std::string& logged) const;

 private:
  /// Refuses the entry where it stands in its file.
  using Refuse = std::function<void(const std::string& found, const std::string& expected)>;
  struct Entry {
    std::string name;  ///< with braces, if it is a pattern's
    Refuse refuse;
  };

  explicit PortMap(const Topology& topology) : topology_(&topology) {}
  void add(const std::string& logged, Entry entry);
  PortRef port_of(const Entry& entry, const std::string& name) const;

  const Topology* topology_;
  std::map<std::string, Entry> exact_;
  std::vector<std::pair<std::string, Entry>> patterns_;
};

}  // namespace mrclab::lab
