// Which of its turns a value takes that is marked more often than its plane (`skip_holds`, our choice).
//
// To the letter of MRC a mark costs a value one turn (ev_set.h). Where all paths are full that takes turns
// from all alike, at random: the rotation of 32 hosts over 32 paths is even until marks disturb it, and with
// skips it carried 88 % of line rate in place of 94. And a path that is marked each time still has every other
// turn. So a mark is held against the marks of the plane:
//
//   marked    marks, trims and late answers of a value by its uses, over the last 16
//   usual     the same of the plane over the last 256, in which a value counts by its share; a quarter more, and
//             1/16 for chance
//   share     of the turns: falls by (marked - usual) x (1 - usual)^3, for a mark of a packet that was sent since the
//             share last fell, as a window of DCTCP falls by its marked part (RFC 8257, section 3.3); at least 1/128
//   growth    faster the longer ago the share fell: from the least to the whole in 60 base RTTs without a mark
//
// So a path that another sender fills while its plane is clean (MRC paper, figure 14) is left within a few round
// trips and tried ever more rarely. Where the rest of the plane is marked as well, as each plane of a few paths is
// that lost a part of one, turns are given up gently: a queue that stands is marked for round trips after the load has
// fallen, and full cuts would take all that the slow path can carry. Where all are marked alike nobody loses a
// turn. Turns not taken add up: a share of 1/3 takes each third.

#include <algorithm>

#include "endpoint/paths/ev_set.h"

namespace mrclab::endpoint {

namespace {

constexpr uint32_t kValueUses = 16;
constexpr uint32_t kPlaneUses = 256;
constexpr uint32_t kLeastTurns = EvSet::kWhole / 128;
/// In a period the share grows by its periods since the last cut over this: exp(60^2 / (2 x 371)) = 128.
constexpr int64_t kGrowthPeriods = 371;

}  // namespace

void EvSet::note_use(Plane& plane, uint32_t index) {
  Entry& used = entries_[index];
  used.marked = static_cast<uint16_t>(used.marked - used.marked / kValueUses);
  plane.marked -= plane.marked * turns(index) / kWhole / kPlaneUses;
}

void EvSet::cut_turns(uint32_t index, FabricTime now, std::optional<FabricTime> sent) {
  Entry& entry = entries_[index];
  Plane& plane = planes_[entry.plane];
  entry.marked = static_cast<uint16_t>(std::min(entry.marked + kWhole / kValueUses, kWhole));
  plane.marked = std::min(plane.marked + turns(index) / kPlaneUses, kWhole);
  const uint32_t usual = std::min(plane.marked + plane.marked / 4 + kWhole / 16, kWhole);
  if (entry.marked <= usual) return;
  if (entry.slowed) {
    const FabricTime cut = turns_of(index).cut;
    if (sent ? *sent < cut : now - cut < limits_.turn_period) return;
  }
  uint32_t part = entry.marked - usual;
  for (int factor = 0; factor < 3; ++factor) part = part * (kWhole - usual) / kWhole;
  scale_turns(index, kWhole - part, now);
}

void EvSet::scale_turns(uint32_t index, uint32_t part, FabricTime now) {
  Turns& turns = slowed_turns(index, now);
  turns.share = std::max(turns.share * part / kWhole, kLeastTurns);
  turns.cut = now;
}

/// The turns of a value that is slowed from now on, grown until now.
EvSet::Turns& EvSet::slowed_turns(uint32_t index, FabricTime now) {
  if (entries_[index].slowed) {
    Turns& turns = turns_of(index);
    grow_turns(turns, now);
    return turns;
  }
  entries_[index].slowed = true;
  Turns& turns = turns_[static_cast<Index>(index)];
  turns.grown = now;
  return turns;
}

/// At most once per half a period, in which the least share grows by two units and not by a fraction of one.
void EvSet::grow_turns(Turns& turns, FabricTime now) const {
  const FabricTime since = now - turns.grown;
  if (since < limits_.turn_period / 2) return;
  turns.grown = now;
  const __int128 growth =
      __int128{turns.share} * since.ps() * (now - turns.cut).ps() /
      (__int128{limits_.turn_period.ps()} * limits_.turn_period.ps() * kGrowthPeriods);
  turns.share = static_cast<uint32_t>(std::min<__int128>(turns.share + growth, kWhole));
}

/// It is a slowed value's turn in the rotation: does it take it?
bool EvSet::takes_turn(uint32_t index, FabricTime now) {
  Turns& turns = turns_of(index);
  grow_turns(turns, now);
  turns.saved += turns.share;
  const bool takes = turns.saved >= kWhole;
  if (takes) turns.saved -= kWhole;
  if (turns.share == kWhole) {
    entries_[index].slowed = false;
    turns_.erase(static_cast<Index>(index));
  }
  return takes;
}

/// Where a scan found nothing but slowed values: the one that has waited longest by its share.
uint32_t EvSet::slowed_value(const Plane& plane, const Scan& state) {
  uint32_t longest = kNoIndex;
  for (const uint32_t index : plane.rotation) {
    const Entry& entry = entries_[index];
    if (!entry.slowed || entry.state != EvState::kGood || !arrives(entry)) continue;
    if (index == state.avoid || index == state.restored) continue;
    if (longest == kNoIndex || turns_of(index).saved > turns_of(longest).saved) longest = index;
  }
  if (longest != kNoIndex) turns_of(longest).saved = 0;
  return longest;
}

}  // namespace mrclab::endpoint
