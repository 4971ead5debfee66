#pragma once
// Joins the sightings of one part (sighting_order.h): one pair of hosts' packets never meet those of another.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "analysis/frame/known_ports.h"
#include "analysis/history/answer_joiner.h"
#include "analysis/history/flow_table.h"
#include "analysis/history/joined_parts.h"
#include "analysis/history/sighting.h"
#include "analysis/history/sighting_order.h"

namespace mrclab::analysis {

/// Joins one part.
class PartJoiner {
 public:
  /// `seen` outlives it.
  PartJoiner(const Topology& topology, const Sightings& seen)
      : topology_(topology), seen_(seen), answers_(topology, seen.answers, flows_, tables_) {}
  PartJoiner(const PartJoiner&) = delete;
  PartJoiner& operator=(const PartJoiner&) = delete;
  /// `last`: the time of the last sighting of all parts. `alone`: there are no other parts, so
  /// JoinedPart::made_by stays empty.
  void join_all(const SightingPart& part, FabricTime last, bool alone);
  size_t slots_in_use() const { return flows_.slots_in_use(); }
  JoinedPart take();

 private:
  static constexpr uint32_t kMostPsnsOfRead = 1 << 20;  ///< of 4 GiB, in packets of 4 KiB
  static constexpr uint32_t kNone = Attempt::kNone;
  static constexpr size_t kAhead = 8;  // prefetch distance, in sightings
  using Kind = Sighting::Kind;

  void note_turn(uint32_t turn);
  void remove_undone();
  void give_up_on_silent(FabricTime last);
  void count_fates();

  void join(const Sighting& s);
  void leaves(const Sighting& s);
  void is_trimmed(const Sighting& s);
  void arrives(const Sighting& s);
  void arrives_first(const Sighting& s, Attempt& attempt);
  void arrives_again(const Sighting& s, Attempt& attempt);
  void is_dropped(const Sighting& s);

  std::optional<uint32_t> examined_by(const Sighting& s, uint32_t packet) const;
  std::optional<uint32_t> last_to_queue(const Sighting& s, uint32_t packet) const;
  FabricTime shortest_way_to(const Sighting& s) const;
  bool arrival_stands(const Sighting& refused, uint32_t attempt);
  void undo_arrival(uint32_t attempt);
  void keep_spare(const Sighting& s, uint32_t packet);
  std::optional<uint32_t> take_spare(uint32_t packet, FabricTime from, FabricTime until);
  void take_psns_of_answer(uint32_t flow, const Sighting& s, uint32_t packet);
  void compare_placement(const Sighting& s, Packet& packet, Attempt& attempt) const;
  uint32_t packet_of(const Sighting& s);
  uint32_t add_attempt(const Sighting& s, uint32_t packet);
  AttemptChoice<uint32_t> attempts_of(const Sighting& s, uint32_t packet) const;
  bool is_copy(const Sighting& s, uint32_t packet) const;

  const Topology& topology_;
  const Sightings& seen_;
  PacketTables tables_;
  JoinedPart::MadeBy made_by_;
  KnownPorts known_ports_{topology_};
  FlowTable flows_;
  AnswerJoiner answers_;
  /// A delivery by an attempt that arrived behind another one of its packet: it counts if the NIC refuses that one.
  struct Spare {
    uint32_t delivery, packet;
  };
  std::vector<Spare> spares_;
};

}  // namespace mrclab::analysis
