#pragma once
// All that a run leaves for the judge, from either of two feeds: files (captures, records, events),
// or nodes that are watched while they run. Both end in the same three histories, so there is one
// way to judge.
//
//   Evidence evidence(topology, schedule, end);
//   SimWorld world(..., [&](NodeId node) -> NodeObserver& { return evidence.observer(node); });
//   ... run ...
//   evidence.finish();
//   analysis::judge(inputs, evidence)
//
// Watching costs a parse of the headers for every frame at a host, and some counting at switches.

#include <deque>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/capture/side_by_side.h"
#include "analysis/history/conservation.h"
#include "analysis/history/coverage.h"
#include "analysis/history/event_history.h"
#include "analysis/history/followed_senders.h"
#include "analysis/history/lossless_turns.h"
#include "analysis/history/packet_history.h"
#include "analysis/history/sighting_reader.h"
#include "fabric/history/evidence_seal.h"
#include "fabric/node/effect.h"
#include "fabric/node/node.h"

namespace mrclab::analysis {

class Evidence {
 public:
  /// What is recorded of packets at a watched switch: drops, or also that it
  /// trimmed one to its header. kDrops is as much as captures of hosts show,
  /// which show a trimmed packet when its header arrives.
  enum class AtSwitches : uint8_t { kDrops, kDropsAndTrims };

  /// `topology` outlives it. What happens after `end` is not looked at. `watch` limits what watched
  /// nodes report; files are read whole.
  Evidence(const Topology& topology, std::span<const ScheduledEffect> schedule, FabricTime end,
           AtSwitches watch = AtSwitches::kDropsAndTrims);
  Evidence(const Evidence&) = delete;
  Evidence& operator=(const Evidence&) = delete;

  /// The joiner keeps packets that these hosts send, and of all others counts frames only. To be called before the first
  /// observer().
  void follow(FollowedSenders followed) { followed_ = std::move(followed); }
  const FollowedSenders& followed() const { return followed_; }

  /// Records what this node does. The packets add up only if every node of the topology is observed.
  /// Nodes of different parts, numbered from 0, may be observed by threads at once, nodes of one part by one thread.
  /// Several parts are for fabrics that pause nothing and have no RoCE, because those are matched across nodes while
  /// they are observed. Lives as long as the Evidence.
  NodeObserver& observer(NodeId node, uint32_t part = 0);

  // A file that cannot be read, or is not complete, shortens the coverage.
  /// It is read `side_by_side` with what is kept of it.
  void add_capture(const std::filesystem::path& path, const SideBySide& side_by_side = {});
  /// The captures of one run, of which each has the ports of other nodes. They may be read at once.
  void add_captures(std::span<const std::filesystem::path> paths, const SideBySide& side_by_side);
  void add_events(const std::filesystem::path& path);
  /// All the record files (fabric/history/history_record.h) of one run.
  void add_records(std::span<const std::filesystem::path> paths);

  /// The user chose to have no source of this kind; `why` is the note of the checks that need it.
  void absent(Witness witness, const std::string& why) { coverage_.absent(witness, why); }

  /// The watched nodes ended at `end`, before the planned end, so no observer has reported anything later.
  /// Frames on the wire at `end` stay unaccounted for: their arrivals were expected up to the planned end.
  void end_early(FabricTime end, const std::string& why);

  /// After everything was added, once.
  void finish(const SideBySide& side_by_side = {});

  /// Empty until finish().
  const PacketHistory& packets() const { return packets_; }
  const SenderTally& senders() const { return senders_; }
  const EventHistory& events() const { return events_; }
  const Conservation& conservation() const { return conservation_; }
  /// Empty where nothing is paused.
  const LosslessTurns& turns() const { return turns_; }
  /// What packets, records and events cover. The hosts' reports reach judge() another way.
  const Coverage& coverage() const { return coverage_; }
  bool watched() const { return !watchers_.empty(); }

 private:
  /// What the nodes of one part leave.
  struct Part {
    explicit Part(const Topology& topology) : frames(topology), events(topology) {}
    SightingReader frames;
    EventHistory events;
    SenderTally senders;
  };
  /// One node's.
  class Watcher : public NodeObserver {
   public:
    Watcher(Evidence& evidence, NodeId node, bool is_host)
        : evidence_(evidence), node_(node), is_host_(is_host) {}
    void set_part(Part& part) { part_ = &part; }
    void packet(const PacketRecord& record) override;
    void event(const EventRecord& record) override;
    void window(const WindowRecord& record) override;
    void fetch() const override { evidence_.conservation_.fetch(node_); }

   private:
    Evidence& evidence_;
    NodeId node_;
    bool is_host_;
    Part* part_ = nullptr;  // set before anything is observed
  };

  /// What the judge finds out about a frame once and notes with it (Frame::note). A kOtherFrame, which is no packet of MRC
  /// with a carrier, is looked at anew at each port.
  enum Noted : uint8_t { kNotYet, kOtherFrame, kPacket, kFollowedPacket };
  Noted look_at(const Frame& frame) const;
  void count(SenderTally& senders, NodeId node, bool is_host, PortId port, Direction direction,
             PacketEvent event, DropCause cause, QueueClass queue, FabricTime t,
             uint64_t frame_name);
  void join_parts();
  void take(SealedSpans& spans, const std::optional<EvidenceSeal>& seal,
            const std::filesystem::path& path, Witness witness);
  void check_spans(const SealedSpans& spans, Witness witness);

  const Topology& topology_;
  FabricTime end_;
  AtSwitches watch_;
  SightingReader frames_;
  PacketHistory packets_;  // joined by finish()
  SenderTally senders_;    // likewise
  EventHistory events_;
  Conservation conservation_;
  LosslessTurns turns_;
  FollowedSenders followed_;
  std::deque<Part> parts_;
  std::deque<Watcher> watchers_;  // by node
  SealedSpans captures_, records_, event_logs_;
  Coverage coverage_;
};

}  // namespace mrclab::analysis
