#include "analysis/judge/sender_notes.h"

#include <cstdio>
#include <set>
#include <variant>

#include "fabric/packet/drop_kind.h"
#include "fabric/text/counted_noun.h"

namespace mrclab::analysis {

std::vector<std::string> sender_notes(const Topology& topology, const Evidence& evidence,
                                      std::span<const ScheduledEffect> schedule) {
  const SenderTally& senders = evidence.senders();
  std::set<SenderTally::Way> attacks;  // by attacker and victim
  for (const ScheduledEffect& scheduled : schedule) {
    const auto* const attack = std::get_if<HostAttack>(&scheduled.effect);
    if (attack == nullptr || attack->kind == AttackKind::kNoEcn) continue;
    attacks.insert({topology.node(attack->host).index, topology.node(attack->toward).index});
  }
  const auto name = [&](uint32_t host) { return topology.node(topology.host(host)).name; };
  std::vector<std::string> notes;
  for (const auto& [from, to] : attacks) {
    const auto sent = senders.sent.find({from, to});
    if (sent == senders.sent.end()) continue;
    uint64_t arrived = 0;
    for (const auto& [way, these] : senders.datagrams) {
      const auto forger = senders.forged_by.find(way);
      const uint32_t by = forger == senders.forged_by.end() ? way.first : forger->second;
      if (by == from && way.second == to) arrived += these.packets;
    }
    notes.push_back(name(from) + " sent " + std::to_string(sent->second) + " datagrams to " +
                    name(to) + ": " + std::to_string(arrived) + " arrived");
  }
  for (const auto& [sender, packets] : senders.drops) {
    const auto [host, cause] = sender;
    if (drop_kind(cause) != DropKind::kDenied) continue;
    notes.push_back("dropped for " + name(host) + ": " + std::to_string(packets) + " packets, " +
                    std::string(name_of(cause)));
  }
  if (!attacks.empty() && senders.counted > 0) {
    char text[96];
    std::snprintf(text, sizeof text, "datagrams crossed %.2f links each",
                  static_cast<double>(senders.crossings) / static_cast<double>(senders.counted));
    notes.emplace_back(text);
  }
  return notes;
}

}  // namespace mrclab::analysis
