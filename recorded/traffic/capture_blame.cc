#include "recorded/traffic/capture_blame.h"

#include <fmt/format.h>

#include <map>

#include "fabric/packet/drop_kind.h"
#include "fabric/text/counted_noun.h"
#include "recorded/traffic/traffic_names.h"

namespace mrclab::lab {
namespace {

using analysis::RoceFlow;
using analysis::RoceLossSign;
using analysis::Traffic;

std::string point_name(const Traffic& traffic, uint32_t point) {
  return point < traffic.points.size() ? traffic.points[point].name : "an unknown place";
}

/// Where packets of a flow were lost, by how that shows.
std::string part_of_way(const Traffic& traffic, const RoceFlow& f, RoceLossSign sign) {
  const std::string from = host_name(nullptr, f.source), to = host_name(nullptr, f.destination);
  switch (sign) {
    case RoceLossSign::kSkipped:
      return fmt::format("between {} and {}", from, point_name(traffic, f.sent_at));
    case RoceLossSign::kOvertaken:
    case RoceLossSign::kDropRecord:
      return fmt::format("between {} and {}", point_name(traffic, f.sent_at),
                         point_name(traffic, f.arrived_at));
    case RoceLossSign::kNak:
    case RoceLossSign::kTimer:
    case RoceLossSign::kGap: break;
  }
  return fmt::format("between {} and {}", point_name(traffic, f.sent_at), to);
}

void add_losses(const Traffic& traffic, std::vector<CaptureBlame>& out) {
  struct Part {
    uint64_t lost = 0, of = 0;
    std::map<uint32_t, bool> flows;
    FabricTime from = FabricTime::never(), until;
  };
  std::map<std::string, Part> parts;
  for (const analysis::RoceLoss& loss : traffic.roce.losses) {
    if (loss.sign == RoceLossSign::kGap) continue;  // it may have gone past this place
    const DropKind kind = drop_kind(loss.cause);
    if (loss.cause != DropCause::kNone && kind != DropKind::kBroken) continue;
    const RoceFlow& f = traffic.roce.flows[loss.flow];
    Part& part = parts[part_of_way(traffic, f, loss.sign)];
    part.lost += loss.count;
    if (part.flows.emplace(loss.flow, true).second) part.of += f.packets + f.resent;
    part.from = std::min(part.from, loss.t);
    part.until = std::max(part.until, loss.t);
  }
  for (const auto& [where, part] : parts) {
    out.push_back(
        {where, "loses packets",
         fmt::format("{} of {} packets of {} were lost, sent {:.3f} us to {:.3f} us", part.lost,
                     part.of, counted_noun(part.flows.size(), "flow"),
                     (part.from - traffic.origin).us(), (part.until - traffic.origin).us())});
  }
}

void add_hosts(const Traffic& traffic, std::vector<CaptureBlame>& out) {
  for (const RoceFlow& f : traffic.roce.flows) {
    const std::string flow = fmt::format("{}>{} {:#x}", host_name(nullptr, f.source),
                                         host_name(nullptr, f.destination), f.qp.value);
    if (f.not_ready > 0) {
      out.push_back({"host " + host_name(nullptr, f.destination), "has no receive buffers posted",
                     fmt::format("it answered {} with \"receiver not ready\" {}", flow,
                                 counted_noun(f.not_ready, "time"))});
    }
    if (f.refusals > 0) {
      out.push_back({"host " + host_name(nullptr, f.destination), "refuses requests",
                     fmt::format("{} of {}", counted_noun(f.refusals, "NAK"), flow)});
    }
    const auto by_timer = f.resent_by[static_cast<size_t>(analysis::RoceCause::kTimer)];
    if (f.needless > 0 && by_timer > 0) {
      out.push_back({"host " + host_name(nullptr, f.source), "retransmits too early",
                     fmt::format("{} of {} had been taken when its timer ended",
                                 counted_noun(f.needless, "packet"), flow)});
    }
  }
}

/// Who holds others back and is not held back: the roots of the tree of pauses.
void add_pauses(const Traffic& traffic, std::vector<CaptureBlame>& out) {
  for (const analysis::PausedNeighbour& place : traffic.paused) {
    if (place.above != analysis::PausedNeighbour::kRoot || place.asks == 0) continue;
    const std::string priority = place.priority == analysis::kAllPriorities
                                     ? "the whole link"
                                     : fmt::format("class {}", place.priority);
    out.push_back({place.asked_by, "holds its neighbour back",
                   fmt::format("it paused {} of {} {}, {:.3f} us together, and nobody paused it",
                               priority, place.paused.empty() ? "its neighbour" : place.paused,
                               counted_noun(place.times, "time"), place.stood.us())});
  }
}

void add_mrc(const Traffic& traffic, std::vector<CaptureBlame>& out) {
  struct Path {
    uint64_t lost = 0, packets = 0;
  };
  std::map<std::string, Path> paths;
  for (const analysis::FlowPath& p : traffic.paths) {
    Path& path = paths[lab::path_name(traffic, p.ev)];
    path.lost += p.lost;
    path.packets += p.packets + p.resent;
  }
  for (const auto& [name, path] : paths) {
    if (path.lost == 0) continue;
    out.push_back({"path " + name, "loses packets",
                   fmt::format("{} of {} packets over it were lost", path.lost, path.packets)});
  }
}

}  // namespace

std::vector<CaptureBlame> blame_of_captures(const Traffic& traffic) {
  std::vector<CaptureBlame> out;
  add_losses(traffic, out);
  add_mrc(traffic, out);
  add_hosts(traffic, out);
  add_pauses(traffic, out);
  return out;
}

nlohmann::ordered_json to_json(const CaptureBlame& blame) {
  return {{"component", blame.what}, {"symptom", blame.symptom}, {"evidence", blame.evidence}};
}

}  // namespace mrclab::lab
