#include "analysis/history/evidence.h"

#include <set>
#include <stdexcept>

#include "analysis/history/history_file.h"
#include "analysis/history/packet_joiner.h"
#include "fabric/text/yaml.h"

namespace mrclab::analysis {

Evidence::Evidence(const Topology& topology, std::span<const ScheduledEffect> schedule,
                   FabricTime end, AtSwitches watch)
    : topology_(topology),
      end_(end),
      watch_(watch),
      frames_(topology),
      events_(topology),
      conservation_(topology, schedule, end) {}

NodeObserver& Evidence::observer(NodeId node, uint32_t part) {
  if (watchers_.empty()) {
    for (const NodeSite& site : topology_.nodes) {
      watchers_.emplace_back(*this, site.id, site.role == NodeRole::kHost);
    }
    conservation_.complete();
    events_.listen();
  }
  while (parts_.size() <= part) parts_.emplace_back(topology_);
  watchers_[node.value].set_part(parts_[part]);
  return watchers_[node.value];
}

/// Inline, because nodes are watched at each hop of each frame.
inline void Evidence::count(SenderTally& senders, NodeId node, bool is_host, PortId port,
                            Direction direction, PacketEvent event, DropCause cause,
                            QueueClass queue, FabricTime t, uint64_t frame_name) {
  conservation_.count_record(node, port, direction, event, cause, queue, t, frame_name);
  if (frame_name == 0 && direction == Direction::kEgress && event == PacketEvent::kPassed) {
    ++senders.crossings;
    if (is_host) ++senders.counted;
  }
  if (topology_.lossless.pfc && !is_host) {
    turns_.count_record(node, port, direction, event, queue, frame_name);
  }
}

/// The packets of MRC with a carrier, whose content the digest has hashed, are nearly all frames.
Evidence::Noted Evidence::look_at(const Frame& frame) const {
  if (!frame) return kOtherFrame;
  if (frame.note() == kNotYet) {
    const bool packet = frame.content() != 0 && is_carried_packet(frame.bytes());
    frame.set_note(!packet                               ? kOtherFrame
                   : followed_.follows(topology_, frame) ? kFollowedPacket
                                                         : kPacket);
  }
  return static_cast<Noted>(frame.note());
}

void Evidence::Watcher::packet(const PacketRecord& record) {
  if (record.t > evidence_.end_) return;
  const Noted noted = evidence_.look_at(record.frame);
  const uint64_t name =
      noted == kOtherFrame ? name_of_frame(record.frame) : name_of_content(record.frame.content());
  evidence_.count(part_->senders, node_, is_host_, record.port, record.direction, record.event,
                  record.cause, record.queue, record.t, name);
  const bool header_on_its_way = record.event == PacketEvent::kTrimmed && !is_host_;
  if (header_on_its_way && evidence_.watch_ == AtSwitches::kDrops) return;
  if (noted == kPacket) return;
  const FollowedSenders& followed = evidence_.followed_;
  if (noted == kOtherFrame && !followed.follows(evidence_.topology_, record.frame)) return;
  part_->frames.add(node_, is_host_, record);
}

void Evidence::Watcher::event(const EventRecord& record) {
  if (record.t <= evidence_.end_) part_->events.add(node_, record);
}

void Evidence::Watcher::window(const WindowRecord& record) {
  if (record.t <= evidence_.end_) part_->events.add(node_, record);
}

void Evidence::add_capture(const std::filesystem::path& path, const SideBySide& side_by_side) {
  try {
    take(captures_, frames_.add_file(path, side_by_side), path, Witness::kPackets);
  } catch (const CaptureError& error) {
    coverage_.ends(Witness::kPackets, FabricTime::zero(), error.what());
  }
}

void Evidence::add_captures(std::span<const std::filesystem::path> paths,
                            const SideBySide& side_by_side) {
  struct ReadCapture {
    std::optional<SightingReader> reader;
    std::optional<EvidenceSeal> seal;
    std::string problem;
  };
  std::vector<ReadCapture> captures(paths.size());
  side_by_side(paths.size(), [&](size_t i) {
    captures[i].reader.emplace(topology_);
    try {
      captures[i].seal = captures[i].reader->add_file(paths[i]);
    } catch (const CaptureError& error) {
      captures[i].problem = error.what();
    }
  });
  for (size_t i = 0; i < paths.size(); ++i) {
    if (captures[i].problem.empty()) {
      take(captures_, captures[i].seal, paths[i], Witness::kPackets);
    } else {
      coverage_.ends(Witness::kPackets, FabricTime::zero(), captures[i].problem);
    }
    frames_.add(captures[i].reader->take());
    captures[i].reader.reset();  // its memory is given back before the next is copied
  }
}

void Evidence::add_events(const std::filesystem::path& path) {
  try {
    take(event_logs_, events_.add_file(path), path, Witness::kEvents);
    if (events_.malformed() > 0) {
      coverage_.ends(Witness::kEvents, FabricTime::zero(),
                     path.filename().string() + ": " + std::to_string(events_.malformed()) +
                         " events cannot be read");
    }
  } catch (const InputError& error) {
    coverage_.ends(Witness::kEvents, FabricTime::zero(), error.what());
  }
}

void Evidence::add_records(std::span<const std::filesystem::path> paths) {
  if (paths.empty()) return absent(Witness::kRecords, "no packet records were kept");
  std::vector<std::pair<NodeId, PortId>> port_of_stream;  // in, then out, of every port
  for (const NodeSite& site : topology_.nodes) {
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      port_of_stream.insert(port_of_stream.end(), 2, {site.id, PortId{i}});
    }
  }
  for (const std::filesystem::path& path : paths) {
    try {
      HistoryReader reader = HistoryReader::open(path);
      if (reader.header().streams != port_of_stream.size()) {
        throw InputError(path.string() + ": these are records of another fabric");
      }
      while (const auto record = reader.next()) {
        const auto [node, port] = port_of_stream[record->stream];
        const bool out = record->stream % 2 == 1;
        const bool pause = record->queue == QueueClass::kPause;
        if (pause && !out && record->event == PacketEvent::kPassed) {
          frames_.add_pause({record->t, {node, port}, static_cast<uint16_t>(record->ev.value)});
        }
        count(senders_, node, topology_.node(node).role == NodeRole::kHost, port,
              out ? Direction::kEgress : Direction::kIngress, record->event, record->cause,
              record->queue, record->t,
              pause || is_from_speaker(record->opcode != 0, record->traffic_class) ? kLinkLocalFrame
              : record->opcode == 0
                  ? 0
                  : name_of_frame(static_cast<Opcode>(record->opcode), record->qpn, record->psn,
                                  record->ev, record->peers));
      }
      take(records_, reader.seal(), path, Witness::kRecords);
    } catch (const InputError& error) {
      coverage_.ends(Witness::kRecords, FabricTime::zero(), error.what());
    }
  }
}

void Evidence::take(SealedSpans& spans, const std::optional<EvidenceSeal>& seal,
                    const std::filesystem::path& path, Witness witness) {
  const std::string file = path.filename().string();
  if (seal) return spans.add_seal(*seal, file);
  coverage_.ends(
      witness, FabricTime::zero(),
      file +
          " is not as its writer closed it: cut, damaged, or never closed; it covers no instant");
}

/// Are the records of each node that runs in a process of ours complete, to the end? Nodes that others
/// forward for write no evidence, so nothing of theirs can be missing.
void Evidence::check_spans(const SealedSpans& spans, Witness witness) {
  if (watched() || coverage_.until(witness) == FabricTime::zero()) return;
  std::set<std::string> told;
  for (const NodeSite& site : topology_.nodes) {
    if (site.role != NodeRole::kHost && site.forwarding != Forwarding::kSwitchd) continue;
    const FabricTime until = spans.complete_until(site.id);
    if (until == FabricTime::never() || until > end_) continue;
    const std::string file = spans.last_file(site.id);
    const std::string why = (file.empty() ? "no file" : file + " ends early, and no other") +
                            " has the " + std::string(kWitnessNames[static_cast<size_t>(witness)]) +
                            " of " + site.name;
    // All nodes of a process end at one instant, so one line stands for all of them.
    const std::string like = file + to_string(until);
    if (told.insert(file.empty() ? "" : like).second) coverage_.ends(witness, until, why);
  }
}

void Evidence::end_early(FabricTime end, const std::string& why) {
  end_ = end;
  conservation_.incomplete();
  absent(Witness::kRecords, why);
}

/// In the order of their numbers, so that the result does not depend on which ended first.
void Evidence::join_parts() {
  for (Part& part : parts_) {
    frames_.add(part.frames.take());
    events_.add(std::move(part.events));
    senders_.add(part.senders);
  }
  parts_.clear();
}

void Evidence::finish(const SideBySide& side_by_side) {
  join_parts();
  Sightings seen = frames_.take();
  senders_.add(seen.senders);
  packets_ = join_sightings(topology_, std::move(seen), side_by_side);
  events_.finish();
  check_spans(captures_, Witness::kPackets);
  check_spans(records_, Witness::kRecords);
  check_spans(event_logs_, Witness::kEvents);
  if (coverage_.whole(Witness::kRecords)) conservation_.complete();
  for (const std::string& note : packets_.notes()) {
    coverage_.ends(Witness::kPackets, FabricTime::zero(), note);
  }
  if (packets_.complete_until() != FabricTime::never()) {
    coverage_.ends(Witness::kPackets, packets_.complete_until(),
                   "more packets than the judge keeps in memory");
  }
  if (events_.complete_until() != FabricTime::never()) {
    coverage_.ends(Witness::kEvents, events_.complete_until(),
                   "more events than the judge keeps in memory");
  }
}

}  // namespace mrclab::analysis
