#pragma once
// Which program forwards the frames of a switch: our switch daemon, the kernel's SRv6, Open vSwitch, or a BPF
// program of ours in the kernel. A fabric may mix them; the carriers and what must become of them are the same.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mrclab {

enum class Forwarding : uint8_t { kSwitchd, kKernel, kOvs, kBpf };

inline constexpr Forwarding kForwardings[] = {Forwarding::kSwitchd, Forwarding::kKernel,
                                              Forwarding::kOvs, Forwarding::kBpf};

constexpr std::string_view name_of(Forwarding forwarding) {
  switch (forwarding) {
    case Forwarding::kSwitchd: return "switchd";
    case Forwarding::kKernel: return "kernel";
    case Forwarding::kOvs: return "ovs";
    case Forwarding::kBpf: return "bpf";
  }
  return "";
}

/// Do switches of this kind mark packets and trim them, where their queues are long?
constexpr bool marks_and_trims(Forwarding forwarding) {
  return forwarding == Forwarding::kSwitchd || forwarding == Forwarding::kBpf;
}

/// A choice for all switches and exceptions from it, of which the last that matches counts.
struct ForwardingChoice {
  /// Planes ("p2", "p[4-5]") or switches ("p2.t0-1", "p*.t1-0").
  struct Exception {
    std::string pattern;
    Forwarding forwarding;
    bool operator==(const Exception&) const = default;
  };
  static constexpr size_t kMaxExceptions = 256;

  Forwarding all = Forwarding::kSwitchd;
  std::vector<Exception> exceptions;

  ForwardingChoice() = default;
  ForwardingChoice(Forwarding of_all) : all(of_all) {}  // NOLINT(google-explicit-constructor)

  /// `plane` "p2" and `name` "p2.t0-1" of a switch.
  Forwarding of(std::string_view plane, std::string_view name) const;
  bool operator==(const ForwardingChoice&) const = default;
};

}  // namespace mrclab
