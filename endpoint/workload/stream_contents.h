#pragma once
// The contents of a stream's messages where both ends are in one process and nobody looks at the bytes in between: a
// message is a ramp, so what a packet carries is known from where in the sender's memory its payload lies. The sender
// notes the ramp instead of writing it, the receiver notes which part of which ramp came to which place instead of
// copying it, and compares that with what belongs there. What lies in the wrong place, is stale or is missing shows as
// it does with bytes; a part of a message that is not one packet's turns the whole region into bytes.
//
// Who reads the sender's memory itself finds zeros there. Packets in flight refer to StreamSource, so it outlives all hosts.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "endpoint/base/memory.h"
#include "endpoint/base/region_access.h"
#include "endpoint/workload/ramp.h"
#include "endpoint/workload/stream_addresses.h"
#include "endpoint/workload/stream_layout.h"

namespace mrclab::endpoint {

/// Consecutive bytes of one ramp.
struct RampPart {
  Ramp ramp;
  uint64_t first = 0;  ///< number of the first byte
  uint64_t size = 0;   ///< bytes; 0: zeros, to which nothing was written
  bool operator==(const RampPart&) const = default;
  /// Writes them; `out` has `size` bytes.
  void write(std::span<uint8_t> out) const;
};

/// A stream's memory at its sender.
class StreamSource {
 public:
  /// `addresses`: region_size() of them, of their own, as long as this exists.
  StreamSource(const StreamLayout& layout, uint8_t* addresses)
      : layout_(layout), addresses_(addresses), ramps_(layout.slots()) {}
  /// region_size() bytes to send from.
  Memory memory() const { return {addresses_, layout_.region_size().value}; }
  /// From now on message `number` is this ramp, from its first byte on.
  void put(uint64_t number, Ramp ramp) { ramps_[number % layout_.slots()] = ramp; }
  /// What lies there; empty if that is not inside one message of this memory.
  std::optional<RampPart> part_at(std::span<const uint8_t> bytes) const;

 private:
  StreamLayout layout_;
  uint8_t* addresses_;
  std::vector<Ramp> ramps_;  ///< by slot
};

/// A stream's memory at its receiver.
class StreamInbox : public RegionAccess {
 public:
  /// `pmtu`: bytes of payload of all packets of a message but the last. `source` outlives it.
  StreamInbox(const StreamLayout& layout, uint32_t pmtu, const StreamSource& source);
  void write(uint64_t offset, std::span<const uint8_t> bytes, bool last) override;
  void read(uint64_t offset, std::span<uint8_t> bytes) override;
  /// Bytes of the slot of message `number` that are in elements which differ from the ramp.
  uint64_t count_mismatched_bytes(uint64_t number, Ramp ramp) const;

 private:
  uint64_t size_of(uint64_t packet) const;  ///< of the packet of that number in its message
  /// The packet that begins there and has that size, as its number in the region; empty: there is none.
  std::optional<uint64_t> packet_at(uint64_t offset, uint64_t size) const;
  std::vector<uint8_t> slot_bytes(uint64_t slot) const;
  void become_bytes();

  StreamLayout layout_;
  uint32_t pmtu_;
  uint64_t packets_;  ///< of a message
  const StreamSource& source_;
  std::vector<RampPart> parts_;  ///< by slot and packet; what lies there while `bytes_` is empty
  std::vector<uint8_t> bytes_;   ///< of the whole region
};

/// The sources of a run's streams, by the number of their connection. For one thread; a source is made by whichever end
/// is made first, and both are before time starts.
class StreamContents {
 public:
  StreamSource& source(uint32_t connection, const StreamLayout& layout) {
    const auto known = sources_.find(connection);
    if (known != sources_.end()) return known->second;
    uint8_t* const addresses = addresses_.take(layout.region_size().value);
    return sources_.try_emplace(connection, layout, addresses).first->second;
  }

 private:
  StreamAddresses addresses_;
  std::map<uint32_t, StreamSource> sources_;
};

}  // namespace mrclab::endpoint
