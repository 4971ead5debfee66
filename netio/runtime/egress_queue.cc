#include "netio/runtime/egress_queue.h"

#include "fabric/packet/bundle.h"
#include "fabric/packet/trailer.h"

namespace mrclab::netio {

FramePieces EgressQueue::Outgoing::pieces() { return pieces_of(frame, kTrailerBytes); }

EgressQueue::EgressQueue(GatePage& page, const Topology& topology, const ProcessMap& processes,
                         uint32_t incarnation, FramePool& frames)
    : page_(page),
      topology_(topology),
      processes_(processes),
      incarnation_(incarnation),
      frames_(frames),
      sequence_(topology.all_wires().size(), 0) {}

size_t EgressQueue::add_line() {
  lines_.emplace_back();
  return lines_.size() - 1;
}

void EgressQueue::resume(NodeId node) {
  for (const Port& port : topology_.node(node).ports) {
    sequence_[port.out.value] = page_.sent[port.out.value].load(std::memory_order_acquire);
  }
  to_processes_ = page_.slot(processes_.self).frames_sent.load(std::memory_order_acquire);
}

void EgressQueue::queue_transmission(size_t line, const Port& port, uint32_t ifindex,
                                     Transmission&& transmission) {
  const auto modelled = static_cast<uint32_t>(transmission.frame.modelled_size().value);
  const uint32_t damage = transmission.frame.damage();
  Frame frame = transmission.lost == DropCause::kNone
                    ? std::move(transmission.frame)
                    : make_void_frame(frames_, transmission.frame);
  const TimeTrailer trailer{page_.lab,
                            port.out,
                            incarnation_,
                            modelled,
                            take_sequence(port.out),
                            transmission.start,
                            transmission.end,
                            transmission.flight,
                            transmission.lost,
                            damage};
  // A frame that is held back leaves in a later tick, when its sender may have reused the lent payload.
  const bool held = processes_.of(port.peer.node) == kNoProcess;
  if (held) hold_payload(frame);
  write_trailer(trailer, frame.storage().subspan(end_in_storage(frame)).first<kTrailerBytes>());
  unpublished_.push_back(port.out);
  ++frames_numbered_;
  if (held) {
    lines_[line].held.push_back({transmission.end, {ifindex, port.out, std::move(frame), false}});
    return;
  }
  ++to_processes_;
  const bool bundled = may_be_bundled(frame.bytes());
  lines_[line].ready.push_back({ifindex, port.out, std::move(frame), bundled});
}

void EgressQueue::announce() {
  page_.slot(processes_.self).frames_sent.store(to_processes_, std::memory_order_release);
}

std::span<EgressQueue::Outgoing> EgressQueue::due(size_t index, FabricTime clock) {
  Line& line = lines_[index];
  std::erase_if(line.held, [&](Held& held) {
    if (held.end > clock) return false;
    line.ready.push_back(std::move(held.outgoing));
    return true;
  });
  return line.ready;
}

void EgressQueue::publish() {
  for (const WireId wire : unpublished_) {
    page_.sent[wire.value].store(sequence_[wire.value], std::memory_order_release);
  }
  unpublished_.clear();
}

}  // namespace mrclab::netio
