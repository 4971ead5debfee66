#pragma once
// Workloads as values: what a scenario file's `workload:` list says. Parsed here, run by the hosts.
//
//   workload:
//     - all_reduce: {hosts: all, size: 8MiB, until: end}       # or iterations: 3
//     - permutation: {hosts: all, load: 90%, message: 256KiB, shift: 4}
//     - write: {from: h0, to: h1, size: 1MiB, count: 10}

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fabric/pattern.h"
#include "fabric/units.h"
#include "fabric/yaml.h"

namespace mrclab::endpoint {

inline constexpr uint64_t kReduceElementBytes = 4;
inline constexpr size_t kMaxWorkloads = 64;

/// A ring all-reduce over `size` bytes of 32-bit elements: rank i is hosts[i] and sends to
/// hosts[i + 1]. `size` is a multiple of 4 and at least 4 bytes per host.
struct AllReduceSpec {
  std::vector<uint32_t> hosts;  ///< host numbers, ascending, at least 2
  Bytes size;
  uint32_t iterations = 0;  ///< 0: again and again until the run's end
  bool operator==(const AllReduceSpec&) const = default;
};

/// Which part of the vector chunk `index` of the ring is. Chunks differ by at most one element.
struct ReduceChunk {
  uint64_t offset = 0;  ///< bytes
  uint64_t length = 0;  ///< bytes
};
constexpr ReduceChunk reduce_chunk(Bytes size, size_t hosts, size_t index) {
  const uint64_t elements = size.value / kReduceElementBytes;
  const uint64_t begin = elements * index / hosts;
  const uint64_t end = elements * (index + 1) / hosts;
  return {begin * kReduceElementBytes, (end - begin) * kReduceElementBytes};
}

/// hosts[i] writes messages of `message` bytes to hosts[(i + shift) mod n], offered at `load` of
/// the sum of its port rates, until the run's end.
struct PermutationSpec {
  std::vector<uint32_t> hosts;  ///< host numbers, ascending, at least 2
  Probability load;             ///< share of the host's total line rate, above 0
  Bytes message;                ///< at least 1
  uint32_t shift = 1;           ///< 1 .. n-1
  bool operator==(const PermutationSpec&) const = default;
};

/// `count` writes of `size` bytes, one after the other.
struct WriteSpec {
  uint32_t from = 0;  ///< host numbers, different
  uint32_t to = 0;
  Bytes size;          ///< at least 1
  uint32_t count = 1;  ///< at least 1
  bool operator==(const WriteSpec&) const = default;
};

using WorkloadSpec = std::variant<AllReduceSpec, PermutationSpec, WriteSpec>;

/// "all_reduce", "permutation", "write": the key in the file.
std::string_view name_of(const WorkloadSpec& spec);
/// One line: "all_reduce of 8MiB over 8 hosts until the end".
std::string describe(const WorkloadSpec& spec);

/// Reads a `workload:` list. Throws InputError with the position.
std::vector<WorkloadSpec> parse_workloads(const YamlValue& list, NameResolver& names);

/// The entry as it would stand in a file, names resolved: "all_reduce: {hosts: ...}".
std::string to_yaml(const WorkloadSpec& spec);

}  // namespace mrclab::endpoint
