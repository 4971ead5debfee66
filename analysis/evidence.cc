#include "analysis/evidence.h"

#include <stdexcept>

#include "analysis/history_file.h"
#include "fabric/yaml.h"

namespace mrclab::analysis {

Evidence::Evidence(const Topology& topology, std::span<const ScheduledEffect> schedule,
                   FabricTime end)
    : topology_(topology),
      end_(end),
      packets_(topology),
      events_(topology),
      conservation_(topology, schedule, end) {}

NodeObserver& Evidence::observer(NodeId node) {
  if (watchers_.empty()) {
    for (const NodeSite& site : topology_.nodes) watchers_.emplace_back(*this, site.id);
    conservation_.complete();
    events_.listen();
  }
  return watchers_[node.value];
}

void Evidence::Watcher::packet(const PacketRecord& record) {
  if (record.t > evidence_.end_) return;
  evidence_.conservation_.add(node_, record.port, record.direction, record.event, record.cause,
                              record.t, name_of_frame(record.frame));
  evidence_.packets_.add(node_, record);
}

void Evidence::Watcher::event(const EventRecord& record) {
  if (record.t <= evidence_.end_) evidence_.events_.add(node_, record);
}

void Evidence::add_capture(const std::filesystem::path& path) {
  try {
    packets_.add_file(path);
  } catch (const CaptureError& error) {
    notes_.emplace_back(error.what());
  }
}

void Evidence::add_events(const std::filesystem::path& path) {
  try {
    events_.add_file(path);
  } catch (const std::runtime_error& error) {
    notes_.emplace_back(error.what());
  }
}

void Evidence::add_records(std::span<const std::filesystem::path> paths) {
  std::vector<std::pair<NodeId, PortId>> port_of_stream;  // in, then out, of every port
  for (const NodeSite& site : topology_.nodes) {
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      port_of_stream.insert(port_of_stream.end(), 2, {site.id, PortId{i}});
    }
  }
  bool whole = !paths.empty();
  try {
    for (const std::filesystem::path& path : paths) {
      HistoryReader reader = HistoryReader::open(path);
      whole = whole && reader.header().streams == port_of_stream.size() &&
              reader.header().complete >= end_;
      if (!whole) return;  // a bounded file ran full: the balances would be wrong
      while (const auto record = reader.next()) {
        const auto [node, port] = port_of_stream[record->stream];
        const bool out = record->stream % 2 == 1;
        conservation_.add(node, port, out ? Direction::kEgress : Direction::kIngress, record->event,
                          record->cause, record->t,
                          record->opcode == 0
                              ? 0
                              : name_of_frame(static_cast<Opcode>(record->opcode), record->qpn,
                                              record->psn, record->ev, record->peers));
      }
    }
  } catch (const InputError& error) {
    notes_.emplace_back(error.what());
    return;
  }
  if (whole) conservation_.complete();
}

void Evidence::finish() {
  packets_.finish();
  events_.finish();
  notes_.insert(notes_.end(), packets_.notes().begin(), packets_.notes().end());
}

}  // namespace mrclab::analysis
