#include "endpoint/workload/stream.h"

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

Ramp message_ramp(uint64_t seed, uint64_t number) {
  const uint64_t random = mix64(mix64(seed) ^ number);
  return {static_cast<uint32_t>(random), static_cast<uint32_t>(random >> 32) | 1};
}

/// A slot may be reused when the whole batch of its last message is acknowledged: only then has
/// its receiver got the completion, and it verifies at that instant.
bool StreamSender::slot_is_free() const {
  if (config_.depth != 0 && posted_ - completed_ >= config_.depth) return false;
  const uint64_t batch = config_.layout.batch();
  return posted_ - completed_ / batch * batch < config_.layout.slots();
}

/// When the next message may be posted.
FabricTime StreamSender::due() const {
  if (!config_.poisson) {
    return config_.first + config_.interval * static_cast<int64_t>(posted_);
  }
  return config_.first + waited_ + exponential_time(config_.interval, config_.seed, posted_);
}

void StreamSender::pump(Verbs& verbs) {
  while (!dead_ && (config_.count == 0 || posted_ < config_.count) && slot_is_free()) {
    const FabricTime when = due();
    if (verbs.now() >= config_.end || when >= config_.end) return;
    if (when > verbs.now()) {
      if (!sleeping_) verbs.wake_at(when);
      sleeping_ = true;
      return;
    }
    const uint64_t number = posted_;
    const Memory local =
        config_.memory.subspan(config_.layout.offset(number), config_.layout.message().value);
    fill_ramp(local, 0, message_ramp(config_.seed, number));
    WriteRequest request;
    request.id = number;
    request.local = local;
    request.remote_va = config_.remote_va + config_.layout.offset(number);
    request.rkey = config_.remote_rkey;
    const bool batch_ends = (number + 1) % config_.layout.batch() == 0;
    if (batch_ends || number + 1 == config_.count) {
      request.immediate = static_cast<uint32_t>(number + 1);
    }
    if (!verbs.post_write(config_.qp, request)) return;  // queue full: a completion comes
    posted_at_[number % config_.layout.slots()] = verbs.now();
    waited_ = when - config_.first;
    ++posted_;
  }
}

void StreamSender::on_write_complete(Verbs& verbs, QpHandle, uint64_t number) {
  config_.report.record_piece(posted_at_[number % config_.layout.slots()], verbs.now());
  ++completed_;
  pump(verbs);
}

void StreamSender::on_wake(Verbs& verbs) {
  sleeping_ = false;
  pump(verbs);
}

void StreamReceiver::on_receive_immediate(Verbs& verbs, QpHandle qp, uint32_t immediate) {
  if (qp != config_.qp) return;
  const uint32_t fresh = immediate - static_cast<uint32_t>(verified_);
  // More messages than the ring holds cannot have arrived unread.
  for (uint32_t i = 0; i < std::min(fresh, config_.layout.slots()); ++i, ++verified_) {
    const ConstMemory message =
        config_.memory.subspan(config_.layout.offset(verified_), config_.layout.message().value);
    verbs.report_verified(
        message.size(), count_mismatched_bytes(message, 0, message_ramp(config_.seed, verified_)));
  }
}

}  // namespace mrclab::endpoint
