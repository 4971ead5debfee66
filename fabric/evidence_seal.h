#pragma once
// The last words of a file of evidence (capture, packet records, events): whose words it holds, from
// when to when nothing of them is missing, and a CRC-32 of every byte before. A file without a seal
// that fits was cut, damaged, or never closed, and cannot tell what did not happen.
//
//   sealed: nodes 0-7,12, from 0 ps until the end, 1234 records, crc32 89abcdef
//
// One line of text, so that every format can carry it: pcapng as a comment of the last block, events
// as the detail of the last line, packet records as what stands behind the last record.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/ids.h"
#include "fabric/units.h"

namespace mrclab {

inline constexpr std::string_view kSealWord = "sealed: ";

struct EvidenceSeal {
  std::vector<NodeId> nodes;  ///< in order of their numbers
  FabricTime from;
  FabricTime until = FabricTime::never();  ///< never(): to the end of what there is to tell
  uint64_t records = 0;
  bool operator==(const EvidenceSeal&) const = default;
};

/// CRC-32 of `bytes` behind others whose CRC-32 is `before`; 0 for none.
uint32_t checksum(uint32_t before, std::span<const uint8_t> bytes);
uint32_t checksum(uint32_t before, std::string_view text);

/// `before`: the checksum of all that stands before the text in its file.
std::string to_text(const EvidenceSeal& seal, uint32_t before);
/// Empty if this is no seal, or not the one of these bytes.
std::optional<EvidenceSeal> parse_seal(std::string_view text, uint32_t before);

/// The last line of a log of events: like any other of its lines, so that others can read it.
std::string seal_line(const EvidenceSeal& seal, FabricTime last_event, uint32_t before);
bool is_seal_line(std::string_view line);
std::optional<EvidenceSeal> parse_seal_line(std::string_view line, uint32_t before);

/// What several sealed files say about each node: a process may be replaced, and its successor goes
/// on in a file of its own.
class SealedSpans {
 public:
  void add(const EvidenceSeal& seal, const std::string& file);
  /// Of this node everything before is there, from the start of time on; zero() if it has no file.
  FabricTime complete_until(NodeId node) const;
  /// The file that goes furthest without a gap; empty if there is none.
  std::string last_file(NodeId node) const;
  /// All that a file names, in order.
  std::vector<NodeId> nodes() const;

 private:
  struct Span {
    FabricTime from, until;
    std::string file;
  };
  const Span* last(NodeId node) const;
  std::map<NodeId, std::vector<Span>> spans_;
};

}  // namespace mrclab
