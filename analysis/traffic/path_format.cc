#include "analysis/traffic/path_format.h"

#include <algorithm>
#include <map>
#include <set>

namespace mrclab::analysis {
namespace {

constexpr uint32_t kLabelMask = 0xFFFF;  // 16 of the label's 20 bits belong to an entropy value

uint64_t block_of(const Ipv6Address& carrier, uint8_t bits) {
  uint64_t front = 0;
  for (size_t i = 0; i < 8; ++i) front = front << 8 | carrier[i];
  return bits >= 64 ? front : front >> (64 - bits);
}

/// Bits `from` to `to` of an address, counted from its front; at most 32 of them.
uint32_t bits_of(const Ipv6Address& address, uint8_t from, uint8_t to) {
  uint32_t value = 0;
  for (unsigned bit = from; bit <= to; ++bit) {
    value = value << 1 | (address[bit / 8] >> (7 - bit % 8) & 1u);
  }
  return value;
}

/// The uSID at `place`, counted from the last one in use; each has `width` hextets.
std::optional<uint32_t> from_last(const Ipv6Address& carrier, size_t place, size_t width) {
  constexpr size_t kF3216Hextets = 2;
  const size_t used = hextets_used(carrier);
  if (used <= kF3216Hextets) return std::nullopt;
  const size_t usids = (used - kF3216Hextets + width - 1) / width;
  if (place >= usids) return std::nullopt;
  uint32_t value = 0;
  for (size_t i = 0; i < width; ++i) {
    value = value << 16 | hextet_of(carrier, kF3216Hextets + (usids - 1 - place) * width + i);
  }
  return value;
}

}  // namespace

const char* name_of(EvReading reading) {
  switch (reading) {
    case EvReading::kLabelPort: return "flow label, source port";
    case EvReading::kPortLabel: return "source port, flow label";
    case EvReading::kPort: return "source port";
    case EvReading::kLabel: return "flow label";
  }
  return "";
}

const char* name_of(PlaneBy plane_by) {
  switch (plane_by) {
    case PlaneBy::kNothing: return "nothing";
    case PlaneBy::kBlock: return "the carrier's block";
    case PlaneBy::kCarrier: return "the carrier's last uSIDs";
    case PlaneBy::kPort: return "the host's port";
    case PlaneBy::kBits: return "the bits that were given";
  }
  return "";
}

uint32_t read_entropy(EvReading reading, const PacketFacts& facts) {
  const uint32_t label = facts.flow_label & kLabelMask, port = facts.source_port;
  switch (reading) {
    case EvReading::kLabelPort: return label << 16 | port;
    case EvReading::kPortLabel: return port << 16 | label;
    case EvReading::kPort: return port;
    case EvReading::kLabel: return label;
  }
  return 0;
}

uint32_t PathFormat::plane_of(const PacketFacts& facts, Stage stage) const {
  const auto in_order = [this](uint64_t value) {
    const auto found = std::lower_bound(plane_values.begin(), plane_values.end(), value);
    if (found == plane_values.end() || *found != value) return kNoPlane;
    return kFirstClass + static_cast<uint32_t>(found - plane_values.begin());
  };
  switch (plane_by) {
    case PlaneBy::kNothing: return kNoPlane;
    case PlaneBy::kBlock:
      return facts.encapsulated ? in_order(block_of(facts.carrier, 32)) : kNoPlane;
    case PlaneBy::kCarrier: {
      if (!facts.encapsulated) return kNoPlane;
      const auto usid = from_last(facts.carrier, plane_place, plane_width);
      return usid ? in_order(*usid & plane_mask) : kNoPlane;
    }
    case PlaneBy::kPort: {
      if (stage != Stage::kHostUp && stage != Stage::kHostDown) return kNoPlane;
      const auto found = class_of_port.find(facts.port_at(stage == Stage::kHostUp));
      return found == class_of_port.end() ? kNoPlane : found->second;
    }
    case PlaneBy::kBits: {
      if (path_by == PathBy::kCarrier) {
        if (!facts.encapsulated || stage != Stage::kHostUp) return kNoPlane;
        const uint32_t plane = bits_of(facts.carrier, first_bit, last_bit);
        return plane < kNoPlane ? plane : kNoPlane;
      }
      const uint64_t mask = (uint64_t{1} << (last_bit - first_bit + 1)) - 1;
      const uint64_t plane = read_entropy(reading, facts) >> first_bit & mask;
      return plane < kNoPlane ? static_cast<uint32_t>(plane) : kNoPlane;
    }
  }
  return kNoPlane;
}

void PathLearner::add_data(const PacketFacts& facts, uint64_t identity) {
  ++packets_;
  const uint64_t pair = pair_key(facts.source, facts.destination, 0);
  const uint64_t ports = mixed(facts.source_mac) + 3 * mixed(facts.destination_mac) + facts.tap;
  const uint64_t key =
      pair_key(facts.carrier, facts.source, pair ^ mixed(ports)) ^
      mixed(uint64_t{facts.flow_label} << 32 | facts.source_port | uint64_t{facts.hops} << 24);
  const auto next = static_cast<uint32_t>(seen_.size());
  const uint32_t index = index_.find_or_add(key, next);
  if (index == FlatIndex::kNone) return;
  if (index == next) seen_.push_back({facts, pair});
  // One packet at its sender and at its receiver has the ports of one plane at both ends.
  std::vector<uint32_t>& places = same_packet_[identity];
  constexpr size_t kMostPlaces = 4, kMaxPackets = 1u << 16;
  if (places.size() < kMostPlaces && same_packet_.size() <= kMaxPackets) places.push_back(index);
}

void PathLearner::add_reflected(EntropyValue reflected) {
  const auto next = static_cast<uint32_t>(reflected_.size());
  if (reflected_index_.find_or_add(reflected.value, next) == next) {
    reflected_.push_back(reflected.value);
  }
}

void PathLearner::learn_reading(PathFormat& format) const {
  std::set<uint32_t> ports, labels;
  bool same = true;
  for (const Seen& seen : seen_) {
    ports.insert(seen.facts.source_port);
    labels.insert(seen.facts.flow_label & kLabelMask);
    same = same && seen.facts.source_port == (seen.facts.flow_label & kLabelMask);
  }
  size_t best = 0;
  for (size_t i = 0; i < kEvReadings && !reflected_.empty(); ++i) {
    const auto reading = static_cast<EvReading>(i);
    std::set<uint32_t> of_data;
    for (const Seen& seen : seen_) of_data.insert(read_entropy(reading, seen.facts));
    const auto hits = static_cast<size_t>(std::count_if(
        reflected_.begin(), reflected_.end(), [&](uint32_t ev) { return of_data.contains(ev); }));
    // If data has a single value, answers that reflect it (a zero, mostly) prove nothing.
    if (of_data.size() > 1 && hits > best) {
      best = hits;
      format.reflected = reading;
    }
  }
  if (same || (labels.size() <= 1 && ports.size() > 1)) {
    format.reading = EvReading::kPort;
  } else if (ports.size() <= 1 && labels.size() > 1) {
    format.reading = EvReading::kLabel;
  } else if (format.reflected == EvReading::kPortLabel) {
    format.reading = EvReading::kPortLabel;
  }
}

void PathLearner::learn_path(PathFormat& format, const CarrierFormat& carriers) const {
  // Only carriers as long as the longest of their pair count: a switch takes the front off a
  // carrier, and what is left no longer names the whole path.
  std::map<uint64_t, size_t> longest;
  for (const Seen& seen : seen_) {
    size_t& most = longest[seen.pair];
    if (seen.facts.encapsulated) most = std::max(most, hextets_used(seen.facts.carrier));
  }
  std::set<std::pair<uint64_t, Ipv6Address>> ways;
  std::set<std::pair<uint64_t, uint32_t>> values;
  std::set<std::tuple<uint64_t, uint32_t, Ipv6Address>> both;
  bool carried = false;
  for (const Seen& seen : seen_) {
    values.insert({seen.pair, seen.facts.wire_entropy().value});
    if (!seen.facts.encapsulated || hextets_used(seen.facts.carrier) < longest[seen.pair]) continue;
    carried = true;
    const bool passed = seen.facts.hops > 0 && seen.facts.hops != PacketFacts::kUnknownHops;
    if (passed || carriers.usids_left(seen.facts.carrier) <= 1) continue;
    ways.insert({seen.pair, seen.facts.carrier});
    both.insert({seen.pair, seen.facts.wire_entropy().value, seen.facts.carrier});
  }
  std::set<std::pair<uint64_t, uint32_t>> of_whole;
  for (const auto& [pair, ev, carrier] : both) of_whole.insert({pair, ev});
  const bool one_value = values.size() == longest.size();
  // Entropy values name paths if each goes with one carrier, and either each carrier goes with one
  // value or values come back. Values that never come back are drawn anew for each packet.
  constexpr uint64_t kComesBack = 4;
  const bool comes_back = packets_ >= kComesBack * values.size();
  const bool names_it =
      of_whole.size() == both.size() && (ways.size() == both.size() || comes_back);
  if (ways.empty()) {
    format.path_by = carried && one_value ? PathBy::kCarrier : PathBy::kEntropy;
  } else {
    format.path_by = names_it && !one_value ? PathBy::kEntropy : PathBy::kCarrier;
  }
  format.path_known = one_value && !carried ? Known::kAssumed : Known::kSeen;
}

bool PathLearner::learn_plane_in_block(PathFormat& format, const CarrierFormat& carriers) const {
  std::map<uint64_t, std::set<uint64_t>> of_pair;
  std::set<uint64_t> all;
  const uint8_t bits = std::min<uint8_t>(carriers.block_bits, 32);
  for (const Seen& seen : seen_) {
    if (!seen.facts.encapsulated) continue;
    of_pair[seen.pair].insert(block_of(seen.facts.carrier, bits));
    all.insert(block_of(seen.facts.carrier, 32));
  }
  const bool varies = std::any_of(of_pair.begin(), of_pair.end(),
                                  [](const auto& entry) { return entry.second.size() > 1; });
  if (!varies || all.size() > kMaxClasses) return false;
  format.plane_by = PlaneBy::kBlock;
  format.plane_values.assign(all.begin(), all.end());
  return true;
}

/// The plane is what varies in the last uSID between packets of the same two
/// hosts. If the last uSID is the same for all (a function that decapsulates),
/// the plane is in the one before it, provided that another uSID decides the
/// plane as well and more: that of an uplink names plane and uplink.
bool PathLearner::learn_plane_in_carrier(PathFormat& format, const CarrierFormat& carriers) const {
  const auto width = static_cast<uint8_t>(carriers.usid_bits / 16);
  if (try_plane_at(format, 0, width)) return true;
  if (carriers.known == Known::kAssumed && try_plane_at(format, 0, 2)) return true;
  return try_plane_at(format, 1, width) && is_said_elsewhere(format);
}

bool PathLearner::try_plane_at(PathFormat& format, uint8_t place, uint8_t width) const {
  std::map<uint64_t, std::set<uint32_t>> of_pair;
  for (const Seen& seen : seen_) {
    if (!seen.facts.encapsulated) continue;
    const std::optional<uint32_t> usid = from_last(seen.facts.carrier, place, width);
    if (usid) of_pair[seen.pair].insert(*usid);
  }
  uint32_t mask = 0;
  for (const auto& [pair, values] : of_pair) {
    for (const uint32_t value : values) mask |= value ^ *values.begin();
  }
  std::set<uint64_t> all;
  for (const auto& [pair, values] : of_pair) {
    for (const uint32_t value : values) all.insert(value & mask);
  }
  if (mask == 0 || all.size() > kMaxClasses) return false;
  format.plane_by = PlaneBy::kCarrier;
  format.plane_place = place;
  format.plane_width = width;
  format.plane_mask = mask;
  format.plane_values.assign(all.begin(), all.end());
  return true;
}

bool PathLearner::is_said_elsewhere(PathFormat& format) const {
  constexpr size_t kPlaces = 6;
  for (size_t other = format.plane_place + 1u; other < kPlaces; ++other) {
    std::map<std::pair<uint64_t, uint32_t>, std::set<uint32_t>> planes_of_value;
    std::set<std::pair<uint64_t, uint32_t>> planes;
    for (const Seen& seen : seen_) {
      if (!seen.facts.encapsulated) continue;
      const auto value = from_last(seen.facts.carrier, other, format.plane_width);
      const auto plane = from_last(seen.facts.carrier, format.plane_place, format.plane_width);
      if (!value || !plane) continue;
      planes_of_value[{seen.pair, *value}].insert(*plane & format.plane_mask);
      planes.insert({seen.pair, *plane & format.plane_mask});
    }
    const bool decides = std::all_of(planes_of_value.begin(), planes_of_value.end(),
                                     [](const auto& entry) { return entry.second.size() == 1; });
    if (decides && planes_of_value.size() > planes.size()) return true;
  }
  format.plane_by = PlaneBy::kNothing;
  format.plane_values.clear();
  return false;
}

/// Puts NIC ports into classes: the ports at both ends of one packet belong to the same plane.
bool PathLearner::learn_plane_by_port(PathFormat& format, const VantageGuess& places) const {
  std::map<uint64_t, std::set<uint64_t>> ports_of_host;
  std::map<uint64_t, uint64_t> parent;
  const auto root = [&parent](uint64_t port) {
    while (parent[port] != port) port = parent[port];
    return port;
  };
  const auto port_of = [&](const Seen& seen) -> std::optional<uint64_t> {
    const Stage stage = places.place_of(seen.facts).stage;
    if (stage != Stage::kHostUp && stage != Stage::kHostDown) return std::nullopt;
    const bool sender = stage == Stage::kHostUp;
    const uint64_t port = seen.facts.port_at(sender);
    const Ipv6Address& host = sender ? seen.facts.source : seen.facts.destination;
    ports_of_host[pair_key(host, {}, 0)].insert(port);
    parent.try_emplace(port, port);
    return port;
  };
  std::vector<std::optional<uint64_t>> ports;
  ports.reserve(seen_.size());
  for (const Seen& seen : seen_) ports.push_back(port_of(seen));
  const bool several = std::any_of(ports_of_host.begin(), ports_of_host.end(),
                                   [](const auto& entry) { return entry.second.size() > 1; });
  if (!several) return false;
  for (const auto& [identity, sightings] : same_packet_) {
    for (const uint32_t index : sightings) {
      if (!ports[index] || !ports[sightings[0]]) continue;
      parent[root(*ports[index])] = root(*ports[sightings[0]]);
    }
  }
  std::map<uint64_t, uint32_t> number_of_root;
  for (const auto& [port, unused] : parent) {
    const auto next = static_cast<uint32_t>(number_of_root.size());
    const uint32_t number = number_of_root.try_emplace(root(port), next).first->second;
    if (number >= kMaxClasses) return false;
    format.class_of_port[port] = kFirstClass + number;
  }
  format.plane_by = PlaneBy::kPort;
  format.classes = number_of_root.size();
  return true;
}

PathFormat PathLearner::learned(const CarrierFormat& carriers, const VantageGuess& places,
                                const std::optional<GivenEv>& given) const {
  PathFormat format;
  learn_reading(format);
  learn_path(format, carriers);
  if (given) {
    format.path_by = given->path_by;
    format.path_known = Known::kGiven;
    if (given->path_by == PathBy::kEntropy) format.reading = given->reading;
    if (given->plane_bits) {
      format.plane_by = PlaneBy::kBits;
      std::tie(format.first_bit, format.last_bit) = *given->plane_bits;
      return format;
    }
  }
  if (learn_plane_in_block(format, carriers) || learn_plane_in_carrier(format, carriers)) {
    format.classes = format.plane_values.size();
  } else {
    learn_plane_by_port(format, places);
  }
  return format;
}

}  // namespace mrclab::analysis
