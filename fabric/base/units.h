#pragma once
// Unit types. No bare integer crosses a public interface where one of these fits.
// All arithmetic is integer: what decides order or outcome must be the same on every machine.

#include <compare>
#include <cstdint>
#include <limits>
#include <string>

namespace mrclab {

/// Fabric time, an instant or a duration, in picoseconds. Protocol code has no other clock.
/// int64 picoseconds reach 106 days; `never()` is later than every instant.
class FabricTime {
 public:
  constexpr FabricTime() = default;
  static constexpr FabricTime from_ps(int64_t ps) { return FabricTime{ps}; }
  static constexpr FabricTime from_ns(int64_t ns) { return FabricTime{ns * 1'000}; }
  static constexpr FabricTime from_us(int64_t us) { return FabricTime{us * 1'000'000}; }
  static constexpr FabricTime from_ms(int64_t ms) { return FabricTime{ms * 1'000'000'000}; }
  static constexpr FabricTime zero() { return FabricTime{}; }
  static constexpr FabricTime never() { return FabricTime{std::numeric_limits<int64_t>::max()}; }

  constexpr int64_t ps() const { return ps_; }
  constexpr int64_t ns() const { return ps_ / 1'000; }
  constexpr double us() const { return static_cast<double>(ps_) * 1e-6; }

  constexpr auto operator<=>(const FabricTime&) const = default;
  constexpr FabricTime operator+(FabricTime d) const { return FabricTime{ps_ + d.ps_}; }
  constexpr FabricTime operator-(FabricTime d) const { return FabricTime{ps_ - d.ps_}; }
  constexpr FabricTime operator*(int64_t n) const { return FabricTime{ps_ * n}; }
  constexpr FabricTime operator/(int64_t n) const { return FabricTime{ps_ / n}; }
  constexpr int64_t operator/(FabricTime d) const { return ps_ / d.ps_; }
  constexpr FabricTime& operator+=(FabricTime d) { return ps_ += d.ps_, *this; }
  constexpr FabricTime& operator-=(FabricTime d) { return ps_ -= d.ps_, *this; }

 private:
  constexpr explicit FabricTime(int64_t ps) : ps_(ps) {}
  int64_t ps_ = 0;
};

inline constexpr FabricTime kPicosecond = FabricTime::from_ps(1);  ///< the least that there is

/// "12.345us", with the largest unit that keeps the number readable; "never" for never().
std::string to_string(FabricTime t);
/// Exact, in microseconds: "12.345678us".
std::string in_microseconds(FabricTime t);

/// A count of bytes.
struct Bytes {
  uint64_t value = 0;
  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes operator+(Bytes b) const { return {value + b.value}; }
  constexpr Bytes operator-(Bytes b) const { return {value - b.value}; }
  constexpr Bytes operator*(uint64_t n) const { return {value * n}; }
  constexpr Bytes operator/(uint64_t n) const { return {value / n}; }
  constexpr Bytes& operator+=(Bytes b) { return value += b.value, *this; }
  constexpr Bytes& operator-=(Bytes b) { return value -= b.value, *this; }
};

/// A data rate in bits per second of fabric time.
struct BitRate {
  uint64_t bps = 0;
  constexpr auto operator<=>(const BitRate&) const = default;
  static constexpr BitRate from_gbps(uint64_t gbps) { return {gbps * 1'000'000'000}; }
};

inline constexpr uint64_t kBytePs = 8u * 1'000'000'000'000u;  ///< picoseconds of a byte at 1 bit/s

/// Serialization time of `size` at `rate`, rounded up to whole picoseconds.
constexpr FabricTime serialization_time(Bytes size, BitRate rate) {
  // Up to this length and this rate the sum below fits into 64 bits, whose division is many times as fast.
  constexpr uint64_t kShort = uint64_t{1} << 20;
  constexpr uint64_t kRateMost = uint64_t{1} << 63;
  if (size.value <= kShort && rate.bps <= kRateMost) {
    return FabricTime::from_ps(
        static_cast<int64_t>((size.value * kBytePs + rate.bps - 1) / rate.bps));
  }
  const auto bit_ps = static_cast<unsigned __int128>(size.value) * kBytePs;
  return FabricTime::from_ps(static_cast<int64_t>((bit_ps + rate.bps - 1) / rate.bps));
}

/// Bytes that `rate` carries in `t`, rounded down (bandwidth-delay products).
constexpr Bytes bytes_in(BitRate rate, FabricTime t) {
  return {static_cast<uint64_t>(static_cast<unsigned __int128>(rate.bps) *
                                static_cast<uint64_t>(t.ps()) / 8u / 1'000'000'000'000u)};
}

/// A probability in parts per billion, so that a draw is compared in integers.
struct Probability {
  static constexpr uint32_t kOne = 1'000'000'000;
  uint32_t ppb = 0;
  constexpr auto operator<=>(const Probability&) const = default;
};

/// Errors per bit, in units of 10^-15: from 1e-15, which is a good link, to 1e-3.
struct BitErrorRate {
  static constexpr uint64_t kOne = 1'000'000'000'000'000;
  uint64_t per_quadrillion = 0;
  constexpr auto operator<=>(const BitErrorRate&) const = default;
};

/// Ethernet preamble, start delimiter and inter-frame gap (IEEE 802.3): 20 bytes on every wire.
inline constexpr uint64_t kInterFrameBytes = 20;
inline constexpr uint64_t kFcsBytes = 4;
inline constexpr uint64_t kMinEthernetFrameBytes = 64;

/// What a frame costs on a wire: max(64, frame + FCS) + 20, for an Ethernet frame without FCS.
constexpr Bytes wire_length(Bytes ethernet_frame) {
  const uint64_t with_fcs = ethernet_frame.value + kFcsBytes;
  return {(with_fcs < kMinEthernetFrameBytes ? kMinEthernetFrameBytes : with_fcs) +
          kInterFrameBytes};
}

}  // namespace mrclab
