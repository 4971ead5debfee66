#include "analysis/traffic/format_sample.h"

namespace mrclab::analysis {

void FormatSample::sample_packet(const MrcPacket& packet, uint32_t tap, WireEnd end, bool ours) {
  ours = ours || looks_like_ours(packet);
  const auto next = static_cast<uint32_t>(sources_.size());
  const uint32_t source = source_index_.find_or_add(pair_key(packet.inner.source, {}, 0), next);
  if (source == next) sources_.emplace_back();
  if (source >= sources_.size()) return;
  ++(ours ? sources_[source].ours : sources_[source].foreign);
  // A packet of another implementation may look like ours by chance, so once a source has sent
  // foreign packets all of its packets count for the format.
  if (ours && sources_[source].foreign == 0) return;
  format_.foreign = true;
  ++format_.packets;
  const PacketFacts facts = facts_of(packet, tap, end);
  const Bth& bth = packet.bth;
  const bool data = is_write(bth.opcode);
  const uint64_t kind = static_cast<uint64_t>(bth.opcode) << 1 | (bth.retransmission ? 1 : 0);
  const uint64_t identity =
      pair_key(facts.source, facts.destination,
               mixed(uint64_t{bth.destination_qp.value} << 24 | bth.psn.value()) + kind);
  if (facts.encapsulated) carriers_.sample_carrier(facts.carrier, identity, facts.hops);
  const bool changed = packet.trimmed || packet.outer.ecn() == kEcnCe;
  format_.places.add_sample(
      {facts, bth.destination_qp, bth.psn, data, data && !bth.retransmission, changed});
  if (data) paths_.add_data(facts, identity);
  if (const auto* sack = std::get_if<Seth>(&packet.extension)) paths_.add_reflected(sack->entropy);
  if (const auto* nack = std::get_if<Neth>(&packet.extension)) paths_.add_reflected(nack->entropy);
}

LearnedFormat FormatSample::learned(const GivenFormat& given) {
  format_.carriers_seen = carriers_.any();
  format_.carriers = carriers_.learned(given.carriers.value_or(CarrierFormat{}));
  format_.places.learn(format_.carriers, given.place);
  format_.paths = paths_.learned(format_.carriers, format_.places, given.ev);
  format_.blocks = carriers_.blocks(format_.carriers);
  return std::move(format_);
}

std::optional<bool> FormatSample::is_ours(const Ipv6Address& source) const {
  const uint32_t index = source_index_.find(pair_key(source, {}, 0));
  if (index == FlatIndex::kNone) return std::nullopt;
  return sources_[index].ours >= sources_[index].foreign;
}

}  // namespace mrclab::analysis
