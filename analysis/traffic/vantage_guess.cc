#include "analysis/traffic/vantage_guess.h"

#include <algorithm>

namespace mrclab::analysis {
namespace {

constexpr uint8_t kTwoTiers = 3;  // switches on the longest way through leaf and spine

uint64_t way_number(uint32_t tap, uint8_t hops) { return uint64_t{tap} << 8 | hops; }

GuessedPlace between(uint8_t hops, PlaceReason reason) {
  return {hops <= 1 ? Stage::kSpineUp : Stage::kSpineDown, reason};
}

}  // namespace

const char* reason_text(PlaceReason reason) {
  switch (reason) {
    case PlaceReason::kGiven: return "given by --captured-at";
    case PlaceReason::kNoSwitchPassed: return "hop limits are as hosts send them";
    case PlaceReason::kAnswersLeaveHere: return "the other direction leaves its host here";
    case PlaceReason::kCarrierUsedUp: return "one uSID is left of each carrier";
    case PlaceReason::kCarrierNotUsedUp: return "switches passed, and uSIDs left for more";
    case PlaceReason::kFewerSwitches: return "another place shows them behind more switches";
    case PlaceReason::kDirection: return "the capture has the direction of frames";
    case PlaceReason::kShorterCarrier: return "carriers are shorter than elsewhere";
    case PlaceReason::kOrder: return "order of PSNs, marks and trims; hop limits do not show it";
    case PlaceReason::kThreeSwitches: return "three switches passed: the end of two tiers";
    case PlaceReason::kNothing: return "unknown: counted as sent; see --captured-at";
  }
  return "";
}

Known GuessedPlace::known() const {
  switch (reason) {
    case PlaceReason::kGiven: return Known::kGiven;
    case PlaceReason::kOrder:
    case PlaceReason::kThreeSwitches:
    case PlaceReason::kNothing: return Known::kAssumed;
    default: return Known::kSeen;
  }
}

void VantageGuess::add_sample(const Seen& seen) {
  const PacketFacts& facts = seen.facts;
  const uint64_t number = way_number(facts.tap, facts.hops);
  const auto next = static_cast<uint32_t>(ways_.size());
  const uint32_t index =
      way_index_.find_or_add(pair_key(facts.source, facts.destination, number), next);
  if (index == FlatIndex::kNone) return;
  if (index == next) {
    CapturedWay& added = ways_.emplace_back();
    added.source = facts.source;
    added.destination = facts.destination;
    added.tap = facts.tap;
    added.hops = facts.hops;
  }
  CapturedWay& way = ways_[index];
  ++(seen.data ? way.data : way.control);
  way.leaving += facts.end == WireEnd::kLeaving ? 1 : 0;
  way.arriving += facts.end == WireEnd::kArriving ? 1 : 0;
  way.changed += seen.changed ? 1 : 0;
  way.carried |= facts.encapsulated;
  if (facts.encapsulated) way.most_left = std::max(way.most_left, hextets_used(facts.carrier));
  if (!seen.first) return;
  const auto fresh = static_cast<uint32_t>(highest_.size());
  const uint32_t order =
      order_index_.find_or_add(pair_key(facts.source, facts.destination,
                                        mixed(number) + uint64_t{seen.qp.value} * 0x1'0000'0001),
                               fresh);
  if (order == FlatIndex::kNone) return;
  if (order == fresh) {
    highest_.push_back(seen.psn.value());
  } else if (seen.psn.before(Psn{highest_[order]})) {
    ++way.disorder;
  } else {
    highest_[order] = seen.psn.value();
  }
}

const CapturedWay* VantageGuess::way(const Ipv6Address& source, const Ipv6Address& destination,
                                     uint32_t tap, uint8_t hops) const {
  const uint32_t index = way_index_.find(pair_key(source, destination, way_number(tap, hops)));
  return index == FlatIndex::kNone ? nullptr : &ways_[index];
}

void VantageGuess::learn(const CarrierFormat& format, std::optional<GivenPlace> given) {
  given_ = given;
  for (const CapturedWay& way : ways_) {
    const auto next = static_cast<uint32_t>(pairs_.size());
    const uint32_t index = pair_index_.find_or_add(pair_key(way.source, way.destination, 0), next);
    if (index == FlatIndex::kNone) continue;
    if (index == next) pairs_.emplace_back();
    Pair& pair = pairs_[index];
    if (way.hops != PacketFacts::kUnknownHops) {
      pair.most_hops = std::max(pair.most_hops, way.hops);
      if (way.hops == 0) host_links_.find_or_add(pair_key(way.source, {}, way.tap), 0);
      if (way.hops > 0 && way.leaving > 0) forwarding_taps_.find_or_add(way.tap, 0);
    }
    pair.most_left = std::max(pair.most_left, way.most_left);
    pair.carried |= way.carried;
  }
  for (CapturedWay& way : ways_) {
    way.place = given ? as_given(way.source, way.destination, way.hops) : judged(way, format);
  }
}

GuessedPlace VantageGuess::as_given(const Ipv6Address& source, const Ipv6Address& destination,
                                    uint8_t hops) const {
  switch (given_->where) {
    case GivenPlace::Where::kSender: return {Stage::kHostUp, PlaceReason::kGiven};
    case GivenPlace::Where::kReceiver: return {Stage::kHostDown, PlaceReason::kGiven};
    case GivenPlace::Where::kSwitch: break;
    case GivenPlace::Where::kHost:
      if (source == given_->host) return {Stage::kHostUp, PlaceReason::kGiven};
      if (destination == given_->host) return {Stage::kHostDown, PlaceReason::kGiven};
  }
  return between(hops, PlaceReason::kGiven);
}

GuessedPlace VantageGuess::judged(const CapturedWay& w, const CarrierFormat& format) const {
  const Pair& pair = pairs_[pair_index_.find(pair_key(w.source, w.destination, 0))];
  if (w.hops == PacketFacts::kUnknownHops) return without_hops(w, format);
  const CapturedWay* other = way(w.destination, w.source, w.tap, 0);
  if (w.hops == 0) {
    // If no switch seems passed in either direction, switches do not decrement the hop limit here.
    if (other != nullptr && pair.most_hops == 0) return without_hops(w, format);
    if (pair.most_hops == 0 && w.most_left < pair.most_left) return without_hops(w, format);
    if (pair.most_hops == 0 && w.changed > 0) return without_hops(w, format);
    return {Stage::kHostUp, PlaceReason::kNoSwitchPassed};
  }
  if (w.hops < pair.most_hops) return between(w.hops, PlaceReason::kFewerSwitches);
  if (other != nullptr) return {Stage::kHostDown, PlaceReason::kAnswersLeaveHere};
  if (w.carried) {
    const size_t one_left = (format.block_bits + format.usid_bits) / 16u;
    if (w.most_left <= one_left) return {Stage::kHostDown, PlaceReason::kCarrierUsedUp};
    // One more hextet may be the other half of a longer uSID, or the end of a longer block.
    const bool sure = format.known != Known::kAssumed || w.most_left > one_left + 1;
    if (sure) return between(w.hops, PlaceReason::kCarrierNotUsedUp);
    if (w.hops >= kTwoTiers) return {Stage::kHostDown, PlaceReason::kThreeSwitches};
    return between(w.hops, PlaceReason::kNothing);
  }
  if (pair.carried) return {Stage::kHostDown, PlaceReason::kCarrierUsedUp};
  const bool forwards = forwarding_taps_.find(w.tap) != FlatIndex::kNone;
  if (w.arriving > 0 && !forwards) return {Stage::kHostDown, PlaceReason::kDirection};
  if (w.hops >= kTwoTiers) return {Stage::kHostDown, PlaceReason::kThreeSwitches};
  if (forwards) return between(w.hops, PlaceReason::kDirection);
  return between(w.hops, PlaceReason::kNothing);
}

/// The guess where hop limits do not show it: programs that write captures, and
/// emulated switches, may leave them as they are.
GuessedPlace VantageGuess::without_hops(const CapturedWay& w, const CarrierFormat& format) const {
  const Pair& pair = pairs_[pair_index_.find(pair_key(w.source, w.destination, 0))];
  if (w.carried && w.most_left < pair.most_left) {
    const size_t one_left = (format.block_bits + format.usid_bits) / 16;
    if (w.most_left <= one_left) return {Stage::kHostDown, PlaceReason::kShorterCarrier};
    return between(2, PlaceReason::kShorterCarrier);
  }
  if (w.leaving > 0 && w.arriving == 0) return {Stage::kHostUp, PlaceReason::kDirection};
  if (w.arriving > 0 && w.leaving == 0) return {Stage::kHostDown, PlaceReason::kDirection};
  const CapturedWay* other = way(w.destination, w.source, w.tap, w.hops);
  const auto used_by_switches = [](const CapturedWay& x) { return x.changed + x.disorder > 0; };
  if (w.data > 0) {
    if (used_by_switches(w)) return {Stage::kHostDown, PlaceReason::kOrder};
    if (other == nullptr || other->data == 0) return {Stage::kHostUp, PlaceReason::kOrder};
    return {Stage::kHostUp, used_by_switches(*other) ? PlaceReason::kOrder : PlaceReason::kNothing};
  }
  // This way has only answers. They leave their host where the data that they answer arrives.
  if (other == nullptr || other->data == 0) return {Stage::kHostUp, PlaceReason::kNothing};
  return {used_by_switches(*other) ? Stage::kHostUp : Stage::kHostDown, PlaceReason::kOrder};
}

GuessedPlace VantageGuess::place_of(const PacketFacts& facts) const {
  const CapturedWay* known = way(facts.source, facts.destination, facts.tap, facts.hops);
  if (known != nullptr) return known->place;
  if (given_) return as_given(facts.source, facts.destination, facts.hops);
  if (facts.hops == 0 || facts.hops == PacketFacts::kUnknownHops) {
    return {Stage::kHostUp, PlaceReason::kNoSwitchPassed};
  }
  const uint64_t link = pair_key(facts.destination, {}, facts.tap);
  if (host_links_.find(link) != FlatIndex::kNone) {
    return {Stage::kHostDown, PlaceReason::kAnswersLeaveHere};
  }
  return between(facts.hops, PlaceReason::kNothing);
}

}  // namespace mrclab::analysis
