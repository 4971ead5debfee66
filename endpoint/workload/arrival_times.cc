#include "endpoint/workload/arrival_times.h"

#include <algorithm>

#include "endpoint/base/packet_overhead.h"
#include "fabric/base/random.h"

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

FabricTime exponential_time(FabricTime mean, uint64_t seed, uint64_t number) {
  uint64_t state = mix64(mix64(seed) ^ (number << 1 | 1));
  const auto uniform = [&] { return state = mix64(state); };
  // A run of falling numbers of odd length is taken, with its first number as the fraction; else one more whole mean.
  for (int64_t whole = 0;; ++whole) {
    const uint64_t first = uniform();
    uint64_t last = first;
    int length = 1;
    for (uint64_t next = uniform(); next < last; next = uniform()) {
      last = next;
      ++length;
    }
    constexpr int64_t kMostMeans = 44;  // e^-44 of all are longer: less than one in 2^63
    if (length % 2 == 0 && whole < kMostMeans) continue;
    const auto fraction = static_cast<int64_t>(
        static_cast<unsigned __int128>(first) * static_cast<uint64_t>(mean.ps()) >> 64);
    return mean * whole + FabricTime::from_ps(fraction);
  }
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
