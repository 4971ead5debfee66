#include "endpoint/workload/arrival_times.h"

#include <algorithm>

#include "endpoint/base/packet_overhead.h"
#include "fabric/base/exponential_time.h"

namespace mrclab::endpoint {

FabricTime message_interval(Bytes size, uint32_t pmtu, BitRate port_rate, uint32_t ports,
                            Probability load) {
  const uint64_t packets = (size.value + pmtu - 1) / pmtu;
  const uint64_t wire_bytes = size.value + packets * kPacketOverhead.value;
  const auto ps = static_cast<unsigned __int128>(wire_bytes) * 8u * 1'000'000'000'000u;
  const unsigned __int128 rate = static_cast<unsigned __int128>(port_rate.bps) * ports * load.ppb;
  if (rate == 0) return FabricTime::never();
  return FabricTime::from_ps(static_cast<int64_t>((ps * Probability::kOne + rate - 1) / rate));
}

FabricTime message_interval(Bytes size, BitRate rate) {
  const auto ps = static_cast<unsigned __int128>(size.value) * 8u * 1'000'000'000'000u;
  const unsigned __int128 interval = (ps + rate.bps - 1) / rate.bps;
  return FabricTime::from_ps(static_cast<int64_t>(
      std::min<unsigned __int128>(interval, FabricTime::from_ms(3'600'000).ps())));
}

FabricTime ArrivalTimes::due() const {
  if (!rule_.poisson) return rule_.first + rule_.interval * static_cast<int64_t>(passed_);
  return rule_.first + waited_ + exponential_time(rule_.interval, rule_.seed, passed_);
}

void ArrivalTimes::pass() {
  waited_ = due() - rule_.first;
  ++passed_;
}

}  // namespace mrclab::endpoint
