#pragma once
// What a lost packet costs in time: from its first transmission until its sender noticed, until it was
// retransmitted, until a retransmission arrived; and by what the sender noticed. Fed in any order, as
// nodes commit in no common order, and asked once at the end.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"

namespace mrclab {

struct LossRecovery {
  uint32_t source = 0;  ///< host number
  std::string found;   ///< first: "rack", "probe", "timeout" (endpoint/host/host_node.h), or "nack"
  FabricTime sent;     ///< the end of the first transmission; the others count from there
  FabricTime noticed;  ///< for a NACK: when the packet was retransmitted
  FabricTime again;
  FabricTime delivered;
  uint32_t attempts = 0;
};

class LossRecoveries {
 public:
  /// A data packet left its host, or reached the one that it is for, whole.
  void sent(uint32_t source, Qpn remote, Psn psn, FabricTime t) {
    lives_[key(source, remote, psn)].starts.push_back(t);
  }
  void arrived(uint32_t source, Qpn remote, Psn psn, FabricTime t, bool retransmission) {
    Life& life = lives_[key(source, remote, psn)];
    if (t < life.delivered) life.delivered = t, life.by_retransmission = retransmission;
  }
  /// The sender holds a transmission for lost; its events name its own queue pair.
  void declared(uint32_t source, Qpn local, Psn psn, FabricTime t, std::string_view cause) {
    declared_.push_back({source, local, psn, t, std::string(cause)});
  }

  /// Packets whose retransmission was what arrived. `remote_of` maps (host, local queue pair) to the
  /// queue pair that its data names.
  std::vector<LossRecovery> finish(const std::map<std::pair<uint32_t, uint32_t>, Qpn>& remote_of) {
    for (const Declared& d : declared_) {
      const auto remote = remote_of.find({d.source, d.local.value});
      if (remote == remote_of.end()) continue;
      Life& life = lives_[key(d.source, remote->second, d.psn)];
      if (d.t < life.noticed) life.noticed = d.t, life.found = d.cause;
    }
    std::vector<LossRecovery> found;
    found.reserve(declared_.size());
    for (auto& [name, life] : lives_) {
      std::sort(life.starts.begin(), life.starts.end());
      const bool recovered = life.by_retransmission && life.starts.size() > 1;
      if (!recovered) continue;
      const FabricTime first = life.starts[0], second = life.starts[1];
      const bool told = life.noticed <= second;
      found.push_back({static_cast<uint32_t>(name >> 48), told ? life.found : "nack", first,
                       (told ? life.noticed : second) - first, second - first,
                       life.delivered - first, static_cast<uint32_t>(life.starts.size())});
    }
    std::sort(found.begin(), found.end(), [](const LossRecovery& a, const LossRecovery& b) {
      return std::tie(a.sent, a.source, a.delivered) < std::tie(b.sent, b.source, b.delivered);
    });
    return found;
  }

 private:
  struct Life {
    std::vector<FabricTime> starts;
    FabricTime delivered = FabricTime::never(), noticed = FabricTime::never();
    std::string found;
    bool by_retransmission = false;
  };
  struct Declared {
    uint32_t source;
    Qpn local;
    Psn psn;
    FabricTime t;
    std::string cause;
  };
  /// Host, queue pair and PSN have 16, 24 and 24 bits; two hosts may use the same queue pair number.
  static uint64_t key(uint32_t source, Qpn remote, Psn psn) {
    return static_cast<uint64_t>(source) << 48 | static_cast<uint64_t>(remote.value) << 24 |
           psn.value();
  }

  std::unordered_map<uint64_t, Life> lives_;
  std::vector<Declared> declared_;
};

}  // namespace mrclab
