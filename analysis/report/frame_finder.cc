#include "analysis/report/frame_finder.h"

#include <algorithm>

#include "analysis/capture/cut_frame.h"
#include "analysis/capture/open_capture.h"
#include "fabric/topology/path.h"

namespace mrclab::analysis {
namespace {

using Wanted = std::vector<PacketToLookAt*>;

bool shows(const Topology& topology, const FrameView& packet, const PacketToLookAt& wanted) {
  if (!is_write(packet.opcode())) return false;
  if (packet.destination_qp() != wanted.qp || packet.psn() != wanted.psn) return false;
  const auto source = host_of_address(topology, packet.source());
  const auto destination = host_of_address(topology, packet.destination());
  const auto name = [&](uint32_t host) { return topology.node(topology.host(host)).name; };
  return source && destination && name(*source) == wanted.source &&
         name(*destination) == wanted.destination;
}

/// Reads one file until all of `wanted` have a frame; those that got one are removed.
void look_through(const Topology& topology, const std::filesystem::path& path, Wanted& wanted) {
  const std::unique_ptr<CaptureReader> reader = open_capture(path);
  CaptureRecord record;
  while (!wanted.empty() && reader->next(record)) {
    const std::string& interface = reader->interfaces()[record.interface].name;
    const std::string host = interface.substr(0, interface.find(':'));
    const bool may_be = record.direction != CaptureDirection::kInbound &&
                        std::any_of(wanted.begin(), wanted.end(),
                                    [&](const PacketToLookAt* w) { return w->source == host; });
    CutFrame kept;
    if (!may_be || kept.open(record.bytes) != ParseError::kNone) continue;
    std::erase_if(wanted, [&](PacketToLookAt* w) {
      if (w->source != host || !shows(topology, kept.view(), *w)) return false;
      w->file = path.filename().string();
      w->frame = reader->counters().records + reader->counters().skipped();
      return true;
    });
  }
}

}  // namespace

void name_frames(const Topology& topology, std::span<const std::filesystem::path> captures,
                 std::span<CheckResult> checks) {
  Wanted wanted;
  for (CheckResult& check : checks) {
    if (check.result == Result::kFail && check.where && check.where->packet) {
      wanted.push_back(&*check.where->packet);
    }
  }
  for (const std::filesystem::path& path : captures) {
    if (wanted.empty()) return;
    try {
      look_through(topology, path, wanted);
    } catch (const CaptureError&) {
      // The verdict's notes name it already.
    }
  }
}

}  // namespace mrclab::analysis
