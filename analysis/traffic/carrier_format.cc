#include "analysis/traffic/carrier_format.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "fabric/base/byte_order.h"

namespace mrclab::analysis {
namespace {

constexpr size_t kHextets = 8, kBlockHextets = 2;

}  // namespace

size_t hextets_used(const Ipv6Address& address) {
  size_t used = kHextets;
  while (used > 0 && hextet_of(address, used - 1) == 0) --used;
  return used;
}

uint16_t hextet_of(const Ipv6Address& address, size_t place) {
  return load_be<uint16_t>(&address[2 * place]);
}

size_t CarrierFormat::usids_left(const Ipv6Address& carrier) const {
  const size_t used_bits = hextets_used(carrier) * 16;
  return used_bits <= block_bits ? 0 : (used_bits - block_bits + usid_bits - 1) / usid_bits;
}

bool CarrierFormat::may_become(const Ipv6Address& earlier, const Ipv6Address& later) const {
  const size_t before = usids_left(earlier), after = usids_left(later);
  const size_t block = block_bits / 8, usid = usid_bits / 8;
  if (after > before || !std::equal(later.begin(), later.begin() + block, earlier.begin())) {
    return false;
  }
  const size_t from = block + (before - after) * usid, bytes = after * usid;
  if (from + bytes > earlier.size() || block + bytes > later.size()) return false;
  return std::equal(later.begin() + block, later.begin() + block + bytes, earlier.begin() + from);
}

void CarrierLearner::sample_carrier(const Ipv6Address& carrier, uint64_t identity, uint8_t hops) {
  any_ = true;
  const size_t used = hextets_used(carrier);
  for (size_t i = kBlockHextets; i < used; ++i) inner_zero_ |= hextet_of(carrier, i) == 0;
  odd_ |= used % 2 == 1;
  const auto next = static_cast<uint32_t>(first_.size());
  const uint32_t known = identities_.find_or_add(identity, next);
  if (known == FlatIndex::kNone) return;
  if (known == next) {
    first_.push_back({carrier, hops});
    return;
  }
  const First& first = first_[known];
  if (first.carrier == carrier) return;
  for (size_t i = 0; i < kTried.size(); ++i) {
    const CarrierFormat tried{kTried[i].block_bits, kTried[i].usid_bits};
    const bool shifts =
        tried.may_become(first.carrier, carrier) || tried.may_become(carrier, first.carrier);
    if (!shifts) continue;
    ++votes_[i];
    const auto taken = static_cast<int>(hextets_used(first.carrier)) - static_cast<int>(used);
    const int passed = std::abs(int{hops} - int{first.hops});
    long_ |= passed > 0 && std::abs(taken) > passed;
  }
}

CarrierFormat CarrierLearner::learned(CarrierFormat given) const {
  if (given.known == Known::kGiven) return given;
  auto best = static_cast<size_t>(std::max_element(votes_.begin(), votes_.end()) - votes_.begin());
  if (votes_[best] == 0) return inner_zero_ ? CarrierFormat{32, 32, Known::kSeen} : given;
  // A carrier that loses two uSIDs of 16 bits looks like one that loses a uSID of 32 bits, so the
  // longer length is taken where it explains every packet as well.
  Known known = Known::kSeen;
  for (size_t i = best + 1; i < kTried.size() && !odd_; ++i) {
    const bool longer =
        kTried[i].block_bits == kTried[best].block_bits && kTried[i].usid_bits == 32;
    if (!longer || votes_[i] < votes_[best]) continue;
    best = i;
    known = long_ || inner_zero_ ? Known::kSeen : Known::kAssumed;
    break;
  }
  return {kTried[best].block_bits, kTried[best].usid_bits, known};
}

std::vector<Ipv6Address> CarrierLearner::blocks(const CarrierFormat& format) const {
  std::set<Ipv6Address> blocks;
  for (const First& first : first_) {
    Ipv6Address block{};
    std::copy_n(first.carrier.begin(), format.block_bits / 8, block.begin());
    if (blocks.size() < kMaxBlocks) blocks.insert(block);
  }
  return {blocks.begin(), blocks.end()};
}

}  // namespace mrclab::analysis
