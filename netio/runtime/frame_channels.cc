#include "netio/runtime/frame_channels.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "netio/packet/packet_port.h"
#include "netio/runtime/gate.h"

namespace mrclab::netio {
namespace {

/// As in a receive ring (rings_for): twice the full frames that may wait.
constexpr size_t kRoomPerWaiting = 2;

using ProcessPair = std::pair<uint32_t, uint32_t>;  // from, to

/// The processes at the ends of a wire, where they are two of ours.
std::optional<ProcessPair> processes_at(const Wire& wire,
                                        const std::vector<uint32_t>& process_of_node) {
  const ProcessPair ends{process_of_node[wire.from.node.value],
                         process_of_node[wire.to.node.value]};
  if (ends.first == ends.second || ends.first == kNoProcess || ends.second == kNoProcess) {
    return std::nullopt;
  }
  return ends;
}

/// Bytes of each channel, in the order in which they lie in the page.
std::map<ProcessPair, size_t> sizes_of_channels(const Topology& topology,
                                                const std::vector<uint32_t>& process_of_node,
                                                FrameRoom room) {
  std::map<ProcessPair, size_t> frames;
  if (topology.wires != WireMode::kFast) return {};
  for (const Wire& wire : topology.all_wires()) {
    const auto ends = processes_at(wire, process_of_node);
    if (!ends) continue;
    frames[*ends] +=
        kRoomPerWaiting * frames_waiting(topology, topology.port(wire.to), topology.pmtu);
  }
  const size_t most = FrameChannels::kMostBytes / std::max<size_t>(frames.size(), 1) /
                      FrameChannel::kAlignment * FrameChannel::kAlignment;
  for (auto& [ends, size] : frames) {
    size = std::min(FrameChannel::bytes_for(size, room.frame + room.trailer), most);
  }
  return frames;
}

}  // namespace

size_t FrameChannels::bytes_for(const Topology& topology,
                                const std::vector<uint32_t>& process_of_node, FrameRoom room) {
  size_t bytes = 0;
  for (const auto& [ends, size] : sizes_of_channels(topology, process_of_node, room)) bytes += size;
  return bytes;
}

FrameChannels::FrameChannels(SharedPage page, const Topology& topology, const ProcessMap& processes,
                             FrameRoom room)
    : page_(std::move(page)), out_(topology.all_wires().size(), nullptr) {
  std::map<uint32_t, FrameChannel*> to;  // by the process that reads
  size_t offset = 0;
  for (const auto& [ends, size] : sizes_of_channels(topology, processes.process_of_node, room)) {
    if (page_.size() < offset + size) throw SystemError("map the wires of the lab", EINVAL);
    const bool writes = ends.first == processes.self, reads = ends.second == processes.self;
    if (writes || reads) {
      channels_.push_back(std::make_unique<FrameChannel>(std::span(page_.data() + offset, size)));
      if (writes) to[ends.second] = channels_.back().get();
      if (reads) in_.push_back(channels_.back().get());
    }
    offset += size;
  }
  for (const Wire& wire : topology.all_wires()) {
    const auto ends = processes_at(wire, processes.process_of_node);
    if (ends && ends->first == processes.self) out_[wire.id.value] = to.at(ends->second);
  }
}

}  // namespace mrclab::netio
