#pragma once
// The seal at the end of a file of evidence (capture, packet records, events).
// It names the nodes that the file covers, from when to when nothing of them is
// missing, and the CRC-32 of every byte before. A file without a fitting seal
// was cut, damaged, or never closed, and does not prove that something did not happen.
//
//   sealed: nodes 0-7,12, from 0 ps until the end, 1234 records, crc32 89abcdef
//
// It is one line of text, so that every format can carry it: pcapng as a comment of the last block,
// events as the detail of the last line, packet records behind the last record.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"

namespace mrclab {

inline constexpr std::string_view kSealWord = "sealed: ";

struct EvidenceSeal {
  std::vector<NodeId> nodes;  ///< in order of their numbers
  FabricTime from;
  FabricTime until = FabricTime::never();  ///< never(): nothing is missing up to the run's end
  uint64_t records = 0;
  bool operator==(const EvidenceSeal&) const = default;
};

/// The CRC-32 of bytes that follow others whose CRC-32 is `before` (0 if there are none).
uint32_t checksum(uint32_t before, std::span<const uint8_t> bytes);
uint32_t checksum(uint32_t before, std::string_view text);

/// `before`: the checksum of all that stands before the text in its file.
std::string to_text(const EvidenceSeal& seal, uint32_t before);
/// Empty if the text is no seal, or the seal of other bytes.
std::optional<EvidenceSeal> parse_seal(std::string_view text, uint32_t before);

/// The seal as the last line of a log of events, in the format of its other lines.
std::string seal_line(const EvidenceSeal& seal, FabricTime last_event, uint32_t before);
bool is_seal_line(std::string_view line);
std::optional<EvidenceSeal> parse_seal_line(std::string_view line, uint32_t before);

/// Joins the seals of several files by node, because a process may be replaced and its successor
/// goes on in a file of its own.
class SealedSpans {
 public:
  void add_seal(const EvidenceSeal& seal, const std::string& file);
  /// The instant up to which nothing of the node is missing from time 0 on;
  /// zero() if it has no file.
  FabricTime complete_until(NodeId node) const;
  /// The file that reaches that instant; empty if there is none.
  std::string last_file(NodeId node) const;
  /// All nodes that some file names, in order.
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
