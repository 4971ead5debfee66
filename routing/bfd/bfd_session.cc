#include "routing/bfd/bfd_session.h"

#include <algorithm>

namespace mrclab::routing {

namespace {

constexpr uint8_t kNextHeaderUdp = 17;
constexpr size_t kUdpOctets = 8, kBfdOctets = 24;
constexpr uint8_t kBfdHopLimit = 255;  // RFC 5881 section 5: anything less was forwarded
constexpr uint8_t kVersion = 1, kPoll = 0x20, kFinal = 0x10, kAuthentication = 0x04, kDemand = 0x02,
                  kMultipoint = 0x01;
constexpr uint8_t kNoDiagnostic = 0;
constexpr uint16_t kSourcePort = 49'152;  // RFC 5881 section 4: from here on

struct BfdPacket {
  BfdSession::State state = BfdSession::State::kDown;
  bool poll = false;
  uint8_t multiplier = 0;
  uint32_t mine = 0, yours = 0, desired_us = 0, required_us = 0;
};

/// RFC 5880 section 6.8.6; false for what is to be discarded.
bool read_bfd(OctetView octets, BfdPacket& to) {
  OctetReader reader(octets);
  const uint8_t first = reader.u8();
  const uint8_t flags = reader.u8();
  to.multiplier = reader.u8();
  const uint8_t length = reader.u8();
  to.mine = reader.u32();
  to.yours = reader.u32();
  to.desired_us = reader.u32();
  to.required_us = reader.u32();
  reader.u32();
  to.state = static_cast<BfdSession::State>(flags >> 6);
  to.poll = (flags & kPoll) != 0;
  const bool down = to.state <= BfdSession::State::kDown;
  return !reader.failed() && first >> 5 == kVersion && length == kBfdOctets &&
         (flags & (kAuthentication | kDemand | kMultipoint)) == 0 && to.multiplier != 0 &&
         to.mine != 0 && (to.yours != 0 || down);
}

}  // namespace

BfdSession::BfdSession(const BfdParameters& parameters, const TcpAddresses& addresses,
                       uint32_t discriminator, uint64_t jitter, FabricTime now)
    : parameters_(parameters),
      addresses_(addresses),
      discriminator_(discriminator),
      shorter_(FabricTime::from_ps((parameters.interval.ps() / 4 >> 8) *
                                   static_cast<int64_t>(jitter >> 56))),
      send_at_(now) {}

uint32_t BfdSession::interval_us() const {
  return static_cast<uint32_t>(std::max<int64_t>(1, parameters_.interval.ns() / 1'000));
}

bool BfdSession::on_packet(OctetView packet, FabricTime now) {
  OctetReader ip(packet);
  const uint32_t first = ip.u32();
  const size_t length = ip.u16();
  const uint8_t next_header = ip.u8();
  const uint8_t hop_limit = ip.u8();
  const auto source = ip.array<16>();
  const auto destination = ip.array<16>();
  const OctetView upper = ip.bytes(length);
  OctetReader udp(upper);
  udp.u16();
  const uint16_t port = udp.u16();
  if (ip.failed() || udp.failed() || first >> 28 != 6 || next_header != kNextHeaderUdp ||
      port != kBfdPort || source != addresses_.destination || destination != addresses_.source) {
    return false;
  }
  BfdPacket said;
  if (hop_limit != kBfdHopLimit || upper.size() < kUdpOctets ||
      upper_layer_checksum({source, destination}, kNextHeaderUdp, upper) != 0 ||
      !read_bfd(upper.subspan(kUdpOctets), said) ||
      (said.yours != 0 && said.yours != discriminator_)) {
    return true;
  }
  peer_discriminator_ = said.mine;
  peer_interval_ = FabricTime::from_us(said.required_us);
  final_due_ |= said.poll;
  const FabricTime each = std::max(parameters_.interval, FabricTime::from_us(said.desired_us));
  silent_at_ = now + each * said.multiplier;
  const State before = state_;
  switch (said.state) {  // section 6.8.6
    case State::kAdminDown: state_ = State::kDown; break;
    case State::kDown: state_ = state_ == State::kDown ? State::kInit : State::kDown; break;
    case State::kInit: state_ = State::kUp; break;
    case State::kUp: state_ = state_ == State::kDown ? State::kDown : State::kUp; break;
  }
  if (state_ != before) send_at_ = now;  // a change is sent at once
  return true;
}

void BfdSession::on_timer(FabricTime now) {
  if (now >= silent_at_) {
    silent_at_ = FabricTime::never();
    state_ = State::kDown;
    peer_discriminator_ = 0;
  }
  if (now >= send_at_) {
    due_ = true;
    send_at_ = now + std::max(parameters_.interval, peer_interval_) - shorter_;
  }
}

void BfdSession::write(std::vector<Octets>& packets, bool final) const {
  Octets packet;
  OctetWriter writer(packet);
  writer.u32(0x6000'0000u | uint32_t{parameters_.traffic_class} << 20);
  writer.u16(kUdpOctets + kBfdOctets).u8(kNextHeaderUdp).u8(kBfdHopLimit);
  writer.bytes(addresses_.source).bytes(addresses_.destination);
  writer.u16(kSourcePort).u16(kBfdPort).u16(kUdpOctets + kBfdOctets).u16(0);
  writer.u8(kVersion << 5 | kNoDiagnostic);
  writer.u8(static_cast<unsigned>(state_) << 6 | (final ? kFinal : 0u));
  writer.u8(parameters_.multiplier).u8(kBfdOctets).u32(discriminator_).u32(peer_discriminator_);
  writer.u32(interval_us()).u32(interval_us()).u32(0);
  const uint16_t sum = upper_layer_checksum(addresses_, kNextHeaderUdp,
                                            OctetView(packet).subspan(kIpv6HeaderOctets));
  writer.patch_u16(kIpv6HeaderOctets + 6, sum == 0 ? 0xFFFF : sum);
  packets.push_back(std::move(packet));
}

void BfdSession::output(std::vector<Octets>& packets) {
  if (final_due_) write(packets, true);
  if (due_ && !final_due_) write(packets, false);
  due_ = final_due_ = false;
}

}  // namespace mrclab::routing
