#include "fabric/node/wire_model.h"

#include <algorithm>
#include <cassert>

#include "fabric/base/byte_order.h"
#include "fabric/node/fec_code.h"
#include "fabric/packet/headers.h"

namespace mrclab {
namespace {

FabricTime longest_sending(BitRate rate) {
  return serialization_time(wire_length({kFrameCapacity}), rate);
}

}  // namespace

IngressWire::IngressWire(const Wire& wire, FabricTime ingress_latency)
    : memory_(longest_sending(wire.rate) + wire.propagation + ingress_latency + kMaxWireDelay) {}

void IngressWire::set(const WireRate& rate) {
  if (rate.rate.bps == 0 || memory_ == FabricTime::never()) return;
  // Longer than needed by what the frame took at the link's rate: that is next to nothing.
  memory_ = std::max(memory_, longest_sending(rate.rate) + kMaxWireDelay * 2);
}

void IngressWire::go_down(FabricTime at) {
  if (!up()) return;
  if (!outages_) outages_ = std::make_unique<std::vector<Outage>>();
  if (memory_ != FabricTime::never()) forget_before(at - memory_);
  outages_->push_back({at, FabricTime::never()});
}

void IngressWire::come_up(FabricTime at) {
  if (!up()) outages_->back().until = at;
}

bool IngressWire::overlaps_outage(FabricTime start, FabricTime arrival) const {
  for (auto outage = outages_->rbegin(); outage != outages_->rend(); ++outage) {
    if (outage->until <= start) return false;  // this one and all earlier ones had ended
    if (outage->from <= arrival) return true;
  }
  return false;
}

void IngressWire::forget_before(FabricTime horizon) {
  const auto kept = std::find_if(outages_->begin(), outages_->end(),
                                 [&](const Outage& outage) { return outage.until > horizon; });
  outages_->erase(outages_->begin(), kept);
}

EgressWire::EgressWire(const Site& site)
    : propagation_(site.propagation),
      seed_(site.seed),
      from_(site.from.node),
      from_port_(static_cast<uint16_t>(site.from.port.value)),
      plane_(static_cast<uint16_t>(site.plane)),
      dscps_(site.dscps) {
  assert(site.rate.bps > 0);
  take_rate(site.rate);
}

void EgressWire::take_rate(BitRate rate) {
  rate_ = rate;
  byte_time_ = kBytePs % rate.bps == 0 ? serialization_time({1}, rate) : FabricTime::zero();
}

EgressWire::Trouble& EgressWire::trouble() {
  if (trouble_ == nullptr) {
    trouble_ = std::make_unique<Trouble>();
    trouble_->built = rate_;
  }
  return *trouble_;
}

void EgressWire::set(const WireLoss& loss) {
  std::vector<Trouble::Loss>& losses = trouble().losses;
  const auto target = [](const WireLoss& l) { return std::pair{l.one_ev, l.ev}; };
  const auto at = std::find_if(losses.begin(), losses.end(), [&](const Trouble::Loss& known) {
    return target(known.what) >= target(loss);
  });
  const bool known = at != losses.end() && target(at->what) == target(loss);
  if (loss.kind == LossKind::kNone) {
    if (known) losses.erase(at);
  } else if (!known) {
    losses.insert(at, Trouble::Loss{loss});
  } else if (at->what != loss) {
    *at = Trouble::Loss{loss};
  }
}

void EgressWire::set(const WireCodewords& codewords) {
  trouble().codewords = codewords;
  trouble().codeword_loss = codeword_loss(codewords);
}

void EgressWire::set(const WireRate& rate) {
  const BitRate built = trouble().built;
  take_rate(rate.rate.bps == 0 ? built : std::min(rate.rate, built));
}

uint64_t EgressWire::random(DrawPurpose purpose, uint64_t number) const {
  return draw(seed_, from_, PortId{from_port_}, purpose, number);
}

bool EgressWire::happens(DrawPurpose purpose, uint64_t number, Probability p) const {
  return p.ppb > 0 && chance(random(purpose, number), p);
}

WireFate EgressWire::decide(const Frame& frame, FabricTime end, bool is_copy) {
  Trouble& t = *trouble_;
  WireFate fate{DropCause::kNone, propagation_, false};
  if (t.dark) {
    fate.lost = DropCause::kWireDown;
    return fate;
  }
  const bool spoilt = !t.losses.empty() || t.errors.rate.per_quadrillion > 0 ||
                      t.delay.share.ppb > 0 || t.duplicates.share.ppb > 0;
  const uint64_t number = spoilt ? t.frames++ : 0;
  if (spoilt) {
    fate.again = !is_copy && happens(DrawPurpose::kWireDuplicate, number, t.duplicates.share);
    if (loses(frame, number)) {
      fate.lost = DropCause::kWireLoss;
      return fate;
    }
    const uint64_t bits = (frame.wire_length().value - kInterFrameBytes) * 8;
    if (t.errors.rate.per_quadrillion > 0 &&
        hit_by_error(random(DrawPurpose::kWireErrors, number), t.errors.rate, bits)) {
      fate.lost = DropCause::kFrameCheck;
      return fate;
    }
    fate.flight += extra_flight(number);
  }
  if (t.codeword_loss > 0 && in_lost_codeword(frame, end)) {
    fate.lost = DropCause::kFrameCheck;
    return fate;
  }
  // Also right after a delay has ended: what is under way is not overtaken.
  if (!t.delay.overtaken) {
    t.last_arrival = std::max(t.last_arrival, end + fate.flight);
    fate.flight = t.last_arrival - end;
  }
  return fate;
}

bool EgressWire::loses(const Frame& frame, uint64_t number) {
  std::vector<Trouble::Loss>& losses = trouble_->losses;
  if (losses.empty()) return false;
  const std::optional<EntropyValue> ev =
      losses.back().what.one_ev ? ev_of_data_frame(frame.bytes(), plane_, dscps_) : std::nullopt;
  for (Trouble::Loss& loss : losses) {
    if ((!loss.what.one_ev || ev == loss.what.ev) && takes(loss, number)) return true;
  }
  return false;
}

bool EgressWire::takes(Trouble::Loss& loss, uint64_t number) const {
  const WireLoss& what = loss.what;
  const bool one_ev = what.one_ev;
  const DrawPurpose purpose = one_ev ? DrawPurpose::kWireEvLoss : DrawPurpose::kWireLoss;
  if (what.kind == LossKind::kEveryNth) {
    return what.every > 0 && ++loss.concerned % what.every == 0;
  }
  if (what.kind == LossKind::kBursty) {
    const DrawPurpose turn = one_ev ? DrawPurpose::kWireEvBurst : DrawPurpose::kWireBurst;
    if (happens(turn, number, loss.bad_state ? what.leave_bad : what.enter_bad)) {
      loss.bad_state = !loss.bad_state;
    }
    if (!loss.bad_state) return false;
  }
  return happens(purpose, number, what.loss);
}

/// The gap behind a frame is none of its bits. The code goes on at the link's own rate where a fault slows frames.
bool EgressWire::in_lost_codeword(const Frame& frame, FabricTime end) const {
  constexpr Bytes kGap{12};
  const CodewordClock clock(trouble_->built, trouble_->codewords.code);
  const Bytes length = frame.wire_length();
  const FabricTime start = end - serialization_time(length, rate_);
  const FabricTime last = start + serialization_time({length.value - kGap.value}, rate_);
  const uint64_t behind = clock.number_at(last - FabricTime::from_ps(1));
  for (uint64_t number = clock.number_at(start); number <= behind; ++number) {
    if (codeword_is_lost(trouble_->codewords, trouble_->codeword_loss, number)) return true;
  }
  return false;
}

FabricTime EgressWire::extra_flight(uint64_t number) const {
  const WireDelay& delay = trouble_->delay;
  if (!happens(DrawPurpose::kWireDelay, number, delay.share)) return {};
  if (delay.jitter == FabricTime::zero()) return delay.fixed;
  const auto width = static_cast<uint64_t>(delay.jitter.ps()) + 1;
  const uint64_t jitter = below(random(DrawPurpose::kWireJitter, number), width);
  return delay.fixed + FabricTime::from_ps(static_cast<int64_t>(jitter));
}

std::optional<EntropyValue> ev_of_data_frame(std::span<const uint8_t> frame, uint32_t plane,
                                             const DscpMap& dscps) {
  const std::optional<Encapsulation> kind = encapsulation_of(frame);
  if (!kind) return std::nullopt;
  const uint8_t* const ip = &frame[kEthernetBytes];
  const bool ipv4 = *kind == Encapsulation::kIpv4;
  const auto dscp = static_cast<uint8_t>(ipv4 ? ip[1] >> 2 : load_be<uint16_t>(ip) >> 6 & 0x3F);
  if (!dscps.is_data(dscp)) return std::nullopt;
  // A switch may have rewritten the label of the header with a carrier, so the plane is the wire's.
  if (*kind == Encapsulation::kSrv6) {
    return EntropyValue{plane << 16 | load_be<uint16_t>(&frame[kUdpOffset])};
  }
  return entropy_of(frame, *kind);
}

/// 1 - (1 - p)^bits by squaring; each step rounds down, which is off by less than 2^-45 for a
/// frame.
bool hit_by_error(uint64_t draw, BitErrorRate rate, uint64_t bits) {
  const uint64_t errors = std::min(rate.per_quadrillion, BitErrorRate::kOne);
  const auto scaled = static_cast<unsigned __int128>(errors) << 63;
  uint64_t intact = kCertain - static_cast<uint64_t>(scaled / BitErrorRate::kOne);
  uint64_t survives = kCertain;
  for (uint64_t n = bits; n > 0; n >>= 1) {
    if ((n & 1) != 0) survives = product_of_shares(survives, intact);
    intact = product_of_shares(intact, intact);
  }
  return draw >> 1 >= survives;
}

}  // namespace mrclab
