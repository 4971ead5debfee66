#include "netio/runtime/arrival_reader.h"

#include <algorithm>

namespace mrclab::netio {

ArrivalReader::ArrivalReader(GatePage& page, const Topology& topology, uint32_t process,
                             FramePool& frames, IngressLedger& ledger)
    : page_(page),
      topology_(topology),
      slot_(page.slot(process)),
      frames_(frames),
      ledger_(ledger),
      untaken_time_(topology),
      last_foreign_(topology.all_wires().size()) {}

void ArrivalReader::begin_tick(LabTime now, FabricTime clock, FabricTime committed) {
  now_ = now;
  clock_ = clock;
  committed_ = committed;
  earliest_need_ = FabricTime::never();
}

std::optional<Arrival> ArrivalReader::read(PortRef at, std::span<const uint8_t> bytes,
                                           LabTime received) {
  const Port& port = topology_.port(at);
  const std::optional<size_t> offset = trailer_offset(bytes);
  if (!offset) return read_foreign(port, bytes, received);
  const std::optional<TimeTrailer> trailer = parse_trailer(bytes.subspan(*offset));
  if (!trailer) return read_foreign(port, bytes, received);
  // A neighbour that is not ours (Open vSwitch) passes on the trailer of
  // the frame's first wire: its time is over.
  if (ledger_.sender(port.in) == kNoProcess) {
    return read_foreign(port, bytes.first(*offset), received);
  }
  if (!is_accepted(port, *trailer)) {
    ++counts_.unknown;
    return std::nullopt;
  }
  return read_carried(at.node, *trailer, bytes.first(*offset));
}

std::optional<Arrival> ArrivalReader::read_bundled(PortRef at, std::span<const uint8_t> bytes) {
  const std::optional<size_t> offset = trailer_offset(bytes);
  const std::optional<TimeTrailer> trailer =
      offset ? parse_trailer(bytes.subspan(*offset)) : std::nullopt;
  if (!trailer || !is_accepted(topology_.port(at), *trailer)) {
    ++counts_.unknown;
    return std::nullopt;
  }
  return read_carried(at.node, *trailer, bytes.first(*offset));
}

/// A process that was taken out of the gate has fallen silent: what it still sends is not news.
bool ArrivalReader::is_accepted(const Port& port, const TimeTrailer& trailer) const {
  const uint32_t sender = ledger_.sender(port.in);
  return sender != kNoProcess && trailer.lab == page_.lab && trailer.wire == port.in &&
         in_gate(page_.state(sender));
}

std::optional<Arrival> ArrivalReader::read_carried(NodeId node, const TimeTrailer& trailer,
                                                   std::span<const uint8_t> bytes) {
  ++counts_.carried;
  if (!ledger_.count_frame(trailer.wire, trailer.sequence)) {
    ++counts_.unknown;  // a duplicate: it was replayed
    return std::nullopt;
  }
  Arrival arrival;
  arrival.start = trailer.start;
  arrival.arrival = trailer.end + trailer.flight;
  arrival.sequence = trailer.sequence;
  arrival.lost = trailer.lost;
  arrival.frame =
      trailer.lost == DropCause::kNone ? frames_.copy(bytes) : unwrap_void_frame(frames_, bytes);
  if (!arrival.frame) {
    ++counts_.unknown;
    return std::nullopt;
  }
  arrival.frame.set_modelled_size({trailer.modelled_size});
  arrival.frame.set_damage(trailer.damage);
  FabricTime need = arrival.arrival + topology_.ingress_latency(node);
  if (arrival.lost == DropCause::kNone) {
    need -= topology_.lookup_lead(topology_.wire(trailer.wire), arrival.frame.wire_length());
  }
  if (need <= committed_) {
    ++counts_.late;
    slot_.late_frames.fetch_add(1, std::memory_order_relaxed);
  }
  earliest_need_ = std::min(earliest_need_, need);
  return arrival;
}

std::optional<Arrival> ArrivalReader::read_foreign(const Port& port, std::span<const uint8_t> bytes,
                                                   LabTime received) {
  ++counts_.foreign;
  Arrival arrival;
  arrival.foreign = true;
  arrival.frame = frames_.copy(bytes);
  if (!arrival.frame) return std::nullopt;
  // The kernel's timestamp is the instant at which the frame came, not when this process woke up to read it.
  const FabricTime came = std::min(page_.clock.fabric_at(std::min(received, now_)), clock_);
  const FabricTime stamped = came + untaken_time_.latency_of(port, bytes);
  FabricTime& last = last_foreign_[port.in.value];
  last = std::max({stamped, committed_, last});
  arrival.arrival = arrival.start = last;
  arrival.sequence = (uint64_t{1} << 63) | foreign_sequence_++;
  return arrival;
}

}  // namespace mrclab::netio
