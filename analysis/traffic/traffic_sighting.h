#pragma once
// What the analyzer of traffic needs of a capture record (frame_decoder.h makes it): which packet,
// how far on its way, when. Nothing of a fabric need be known: how far a frame has come is in its
// carrier, which loses one uSID at every switch (RFC 9800 §4.1.1).
//
//   host --kHostUp--> T0 --kSpineUp--> T1 --kSpineDown--> T0 --kHostDown--> host
//   uSIDs left:  4            3               2                 1            (cross-T1)
//                2                                              1            (T0-local, by its EV)

#include <optional>
#include <string>
#include <vector>

#include "analysis/capture/flat_index.h"
#include "analysis/capture/link_layer.h"
#include "analysis/frame/seen_headers.h"
#include "analysis/traffic/path_format.h"
#include "fabric/base/byte_order.h"
#include "fabric/base/ids.h"
#include "fabric/node/node.h"
#include "fabric/topology/path.h"
#include "fabric/topology/same_address.h"

namespace mrclab::analysis {

Stage stage_of(const Ipv6Address& carrier, EntropyValue ev);

struct TrafficSighting : SeenHeaders {
  FabricTime t;
  uint32_t conversation = 0;  ///< index into ConversationTable
  uint32_t point = 0;         ///< capture interface, numbered over all files
  EntropyValue path;          ///< its `ev`, or a number of ForeignPaths
  uint32_t frame_bytes = 0;   ///< as captured on the wire, without trailer
  SeenAnswer answer;
  PacketEvent event = PacketEvent::kPassed;  ///< where it was seen
  Stage stage = Stage::kUnknown;
  WireEnd end = WireEnd::kUnknown;
  DropCause cause = DropCause::kNone;
  uint16_t feed = 0;          ///< which file
  uint16_t ended = 0;         ///< so many files had been read to their ends by then
  uint16_t plane = kNoPlane;  ///< set if it is foreign
  bool foreign = false;       ///< in the format of another implementation
};

/// Traffic of one direction to one QP: the data sent to it, and what is answered to its own data.
struct Conversation {
  Ipv6Address source{}, destination{};
  Qpn qp;
  bool foreign = false;  ///< its source sends in the format of another implementation
  /// How near to sender and receiver the frames were seen: only the nearest point counts.
  struct Vantage {
    uint8_t sent = 255;   ///< lower is nearer to the sender
    uint8_t arrived = 0;  ///< higher is nearer to the receiver; 0: never seen there
  };
  Vantage data, answers;
};

/// A 64-bit hash of source, destination and QP: collisions are so rare that
/// it serves as their name.
inline uint64_t conversation_key(const Ipv6Address& source, const Ipv6Address& destination,
                                 Qpn qp) {
  return pair_key(source, destination, qp.value);
}

/// How near to the sender (lower) or the receiver (higher, 0 for not there) this sighting was.
uint8_t sent_rank(const TrafficSighting& s);
uint8_t arrived_rank(const TrafficSighting& s);

/// All conversations of a capture, numbered as they turn up.
class ConversationTable {
 public:
  static constexpr size_t kMax = 1u << 16;
  static constexpr uint32_t kNone = FlatIndex::kNone;
  /// kNone if there is no room for a new one.
  uint32_t find_or_add(const Ipv6Address& source, const Ipv6Address& destination, Qpn qp) {
    uint32_t& recent = recent_[recent_place(source, destination, qp)];
    if (recent < all_.size() && is_between(all_[recent], source, destination, qp)) return recent;
    return recent = find_or_add_by_key(source, destination, qp);
  }
  /// kNone if there is none.
  uint32_t find(const Ipv6Address& source, const Ipv6Address& destination, Qpn qp) const;
  const std::vector<Conversation>& all() const { return all_; }
  Conversation& operator[](uint32_t index) { return all_[index]; }

 private:
  static constexpr unsigned kRecentBits = 10;

  static bool is_between(const Conversation& c, const Ipv6Address& source,
                         const Ipv6Address& destination, Qpn qp) {
    return same_address(c.source, source) && same_address(c.destination, destination) && c.qp == qp;
  }
  /// Hosts differ in the lower halves of their addresses as a rule; those of which that is not so only look longer.
  static size_t recent_place(const Ipv6Address& source, const Ipv6Address& destination, Qpn qp) {
    const uint64_t spread = load_be<uint64_t>(source.data() + 8) * 0x9E37'79B9'7F4A'7C15u +
                            load_be<uint64_t>(destination.data() + 8) * 0xC2B2'AE3D'27D4'EB4Fu +
                            qp.value * 0x1656'67B1'9E37'79F9u;
    return spread >> (64 - kRecentBits);
  }
  [[gnu::noinline]] uint32_t find_or_add_by_key(const Ipv6Address& source,
                                                const Ipv6Address& destination, Qpn qp);

  std::vector<Conversation> all_;
  FlatIndex index_{kMax};
  /// The one found last at each recent_place(), or kNone: comparing it takes less than hashing all 36 bytes.
  std::vector<uint32_t> recent_ = std::vector<uint32_t>(size_t{1} << kRecentBits, kNone);
};

}  // namespace mrclab::analysis
