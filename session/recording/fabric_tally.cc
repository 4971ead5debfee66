#include "session/recording/fabric_tally.h"

#include <algorithm>
#include <cmath>

namespace mrclab::lab {
namespace {

uint64_t more(uint64_t now, uint64_t before) { return now >= before ? now - before : now; }

uint16_t bounded(uint64_t count) {
  return static_cast<uint16_t>(std::min<uint64_t>(count, UINT16_MAX));
}

uint8_t part_of(double share, double scale) {
  return static_cast<uint8_t>(std::clamp(std::lround(share * scale), 0L, 255L));
}

}  // namespace

FabricTally::FabricTally(const Topology& topology, FabricTime window)
    : topology_(topology),
      window_(window),
      switches_(topology.nodes.size() - topology.host_count()),
      full_(switches_),
      before_(switches_),
      received_before_(topology.planes),
      new_cells_(switches_),
      new_planes_(topology.planes),
      new_received_(topology.planes) {
  for (size_t i = 0; i < switches_; ++i) {
    for (const Port& port : topology.nodes[topology.host_count() + i].ports) {
      full_[i] += static_cast<double>(bytes_in(topology.wire(port.out).rate, window).value);
    }
  }
}

void FabricTally::count_switch(NodeId node, const SwitchCount& now) {
  const size_t at = node.value - topology_.host_count();
  SwitchCount& before = before_[at];
  const uint64_t lost = more(now.lost, before.lost), trimmed = more(now.trimmed, before.trimmed),
                 marked = more(now.marked, before.marked);
  const auto sent = static_cast<double>(more(now.sent_bytes, before.sent_bytes));
  new_cells_[at] = {part_of(full_[at] > 0 ? sent / full_[at] : 0, kFullLoad),
                    part_of(now.queue, kTrimQueue), bounded(lost), bounded(trimmed),
                    bounded(marked)};
  PlaneCount& plane = new_planes_[topology_.node(node).plane];
  plane.lost += lost;
  plane.trimmed += trimmed;
  plane.marked += marked;
  before = now;
}

void FabricTally::count_host(std::span<const uint64_t> received, uint64_t retransmitted) {
  for (size_t plane = 0; plane < std::min(received.size(), new_received_.size()); ++plane) {
    new_received_[plane] += received[plane];
  }
  new_again_ += retransmitted;
}

void FabricTally::close_window() {
  for (size_t plane = 0; plane < new_planes_.size(); ++plane) {
    new_planes_[plane].received = more(new_received_[plane], received_before_[plane]);
  }
  received_before_ = new_received_;
  cells_.insert(cells_.end(), new_cells_.begin(), new_cells_.end());
  planes_.insert(planes_.end(), new_planes_.begin(), new_planes_.end());
  again_.push_back(more(new_again_, again_before_));
  again_before_ = new_again_;
  std::fill(new_cells_.begin(), new_cells_.end(), Cell{});
  std::fill(new_planes_.begin(), new_planes_.end(), PlaneCount{});
  std::fill(new_received_.begin(), new_received_.end(), 0);
  new_again_ = 0;
}

}  // namespace mrclab::lab
