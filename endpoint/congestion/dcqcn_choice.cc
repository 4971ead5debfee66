#include "endpoint/congestion/dcqcn_choice.h"

#include <algorithm>

namespace mrclab::endpoint {
namespace {

using Wide = unsigned __int128;

/// The HPCC simulator's: its RED thresholds go with them (alibaba-edu/High-Precision-Congestion-Control,
/// `dcqcn`): g = 1/256, alpha each 1 us, looks for CNPs each 4 us, the timer alone increases the rate. At
/// 100 Gb/s: C/5 and 2C Mb/s for C in Gb/s.
DcqcnParameters dcqcn_hpcc() {
  DcqcnParameters p = dcqcn_firmware();
  p.alpha_keep = 255;
  p.alpha_of = 256;
  p.increase_bytes = {0};
  p.additive = {20'000'000};
  p.hyper = {200'000'000};
  p.least = {1'000'000'000};
  return p;
}

/// Operators that prefer short queues let rates come back more slowly than the firmware's defaults do. No
/// numbers are published: these are the firmware's with a timer that is two and eight times as long, and
/// without the byte counter (our choice).
DcqcnParameters dcqcn_aggressive(int64_t slower) {
  DcqcnParameters p = dcqcn_firmware();
  p.increase_period = p.increase_period * slower;
  p.increase_bytes = {0};
  return p;
}

/// Numbers and where they were made for. The round trip is the one of HPCC's fabric, as no other source has
/// one: 100 Gb/s, at most six links of 1 us each way (simulation/mix/fat.txt).
struct Published {
  DcqcnParameters parameters;
  BitRate rate;
  FabricTime cnp_interval;
};
constexpr FabricTime kPublishedRtt = FabricTime::from_us(12);
constexpr BitRate k40G{40'000'000'000}, k100G{100'000'000'000};

Published published_parameters(DcqcnChoice choice) {
  const FabricTime often = FabricTime::from_us(4);  // MIN_TIME_BETWEEN_CNPS
  switch (choice) {
    case DcqcnChoice::kPaper:  // SIGCOMM 2015: a testbed of 40 Gb/s, N = 50 us
      return {dcqcn_paper(), k40G, FabricTime::from_us(50)};
    case DcqcnChoice::kHpcc: return {dcqcn_hpcc(), k100G, often};
    case DcqcnChoice::kAggressive: return {dcqcn_aggressive(2), k100G, often};
    case DcqcnChoice::kMostAggressive: return {dcqcn_aggressive(8), k100G, often};
    case DcqcnChoice::kOff:
    case DcqcnChoice::kFirmware: break;  // the defaults of a ConnectX-6 Dx at 100 Gb/s
  }
  return {dcqcn_firmware(), k100G, often};
}

uint64_t scaled(uint64_t value, uint64_t by, uint64_t of) {
  return static_cast<uint64_t>(Wide{value} * by / of);
}
BitRate scaled_rate(BitRate rate, BitRate by, BitRate of) {
  return {scaled(rate.bps, by.bps, of.bps)};
}
FabricTime scaled_time(FabricTime time, FabricTime rtt) {
  if (time == FabricTime::zero()) return time;
  const uint64_t ps = scaled(static_cast<uint64_t>(time.ps()), static_cast<uint64_t>(rtt.ps()),
                             static_cast<uint64_t>(kPublishedRtt.ps()));
  return FabricTime::from_ps(std::max<int64_t>(static_cast<int64_t>(ps), 1));
}

}  // namespace

std::optional<DcqcnParameters> dcqcn_parameters(DcqcnChoice choice, DcqcnScale scale) {
  if (choice == DcqcnChoice::kOff) return std::nullopt;
  const auto [original, rate, interval] = published_parameters(choice);
  DcqcnParameters p = original;
  if (!scale) return p;
  for (BitRate DcqcnParameters::*const each :
       {&DcqcnParameters::additive, &DcqcnParameters::hyper, &DcqcnParameters::least}) {
    p.*each = scaled_rate(p.*each, scale->line, rate);
  }
  p.unit.bps = std::max<uint64_t>(scaled_rate(p.unit, scale->line, rate).bps, 1);
  for (FabricTime DcqcnParameters::*const each :
       {&DcqcnParameters::alpha_period, &DcqcnParameters::cut_period,
        &DcqcnParameters::increase_period}) {
    p.*each = scaled_time(p.*each, scale->base_rtt);
  }
  const uint64_t bytes = scaled(p.increase_bytes.value, scale->line.bps, rate.bps);
  p.increase_bytes = {scaled(bytes, static_cast<uint64_t>(scale->base_rtt.ps()),
                             static_cast<uint64_t>(kPublishedRtt.ps()))};
  return p;
}

std::optional<DcqcnParameters> dcqcn_parameters(const TransportProfile& profile,
                                                const DcqcnPlace& place) {
  auto p = dcqcn_parameters(profile.dcqcn, profile.dcqcn_scaled ? DcqcnScale(place) : std::nullopt);
  if (!p) return p;
  const auto set = [](auto& to, const auto& value) {
    if (value > std::decay_t<decltype(value)>{}) to = value;
  };
  if (profile.dcqcn_g > 0) {
    p->alpha_keep = 1024 - profile.dcqcn_g;
    p->alpha_of = 1024;
  }
  set(p->alpha_period, profile.dcqcn_alpha_period);
  set(p->cut_period, profile.dcqcn_cut_period);
  set(p->increase_period, profile.dcqcn_increase_period);
  set(p->increase_bytes, Bytes{profile.dcqcn_increase_bytes});
  set(p->fast_recovery, profile.dcqcn_fast_recovery);
  set(p->additive, profile.dcqcn_additive);
  set(p->hyper, profile.dcqcn_hyper);
  set(p->least, profile.dcqcn_least);
  return p;
}

CnpScope cnp_scope_of(DcqcnChoice choice) {
  const bool of_queue_pair = choice == DcqcnChoice::kPaper || choice == DcqcnChoice::kHpcc;
  return of_queue_pair ? CnpScope::kQueuePair : CnpScope::kPort;
}

FabricTime cnp_interval_of(DcqcnChoice choice, DcqcnScale scale) {
  const FabricTime interval = published_parameters(choice).cnp_interval;
  return scale ? scaled_time(interval, scale->base_rtt) : interval;
}

}  // namespace mrclab::endpoint
