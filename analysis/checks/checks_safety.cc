// What must hold while faults are on.

#include <algorithm>
#include <map>
#include <set>

#include "analysis/checks/judge.h"
#include "analysis/measure/outages.h"

namespace mrclab::analysis {
namespace {

bool wholly_inside(uint64_t va, uint64_t size, uint64_t of_va, uint64_t of_size) {
  return va >= of_va && size <= of_size && va - of_va <= of_size - size;
}

/// Do the packets of each message of a flow lie side by side, and end where the message ends? Tells
/// of each packet that does not; a PSN that nobody saw ends what is known about its message.
template <class Tell>
void check_messages(const PacketHistory& history, uint32_t flow, Tell&& tell) {
  const Placement* before = nullptr;
  uint64_t begin = 0;
  bool begin_known = false;
  for (const uint32_t number : history.in_order(flow)) {
    if (number == Attempt::kNone || history.packets()[number].placement == Attempt::kNone) {
      before = nullptr;
      begin_known = false;
      continue;
    }
    const Packet& packet = history.packets()[number];
    const Placement& p = history.placement(packet);
    bool fits = p.payload_bytes <= p.message_bytes;
    if (p.first) {
      begin = p.va;
      begin_known = true;
    } else if (before != nullptr) {
      fits = fits && !before->last && p.va == before->va + before->payload_bytes &&
             p.rkey == before->rkey && p.msn == before->msn &&
             p.message_bytes == before->message_bytes;
    }
    if (begin_known) {
      fits = fits && wholly_inside(p.va, p.payload_bytes, begin, p.message_bytes);
      if (p.last) fits = fits && p.va + p.payload_bytes == begin + p.message_bytes;
    }
    if (!fits && packet.delivered != FabricTime::never()) tell(packet);
    before = &p;
  }
}

/// Messages of a flow, from its first packet on, all of whose packets arrived.
uint64_t whole_messages(const PacketHistory& history, uint32_t flow) {
  uint64_t whole = 0;
  for (const uint32_t number : history.in_order(flow)) {
    if (number == Attempt::kNone) break;
    const Packet& packet = history.packets()[number];
    if (packet.delivered == FabricTime::never() || packet.placement == Attempt::kNone) break;
    whole += history.placement(packet).last ? 1 : 0;
  }
  return whole;
}

}  // namespace

bool Judge::lost_power(uint32_t host, FabricTime until) const {
  return std::any_of(in_.schedule.begin(), in_.schedule.end(), [&](const ScheduledEffect& s) {
    const auto* state = std::get_if<HostState>(&s.effect);
    return state != nullptr && state->work == HostWork::kDown && s.at <= until &&
           state->host == in_.topology.host(host);
  });
}

bool Judge::all_lost_power() const {
  for (uint32_t host = 0; host < in_.topology.host_count(); ++host) {
    if (!lost_power(host, in_.measurements.end)) return false;
  }
  return true;
}

bool Judge::work_lost() const {
  if (!in_.evidence.events().failures().empty()) return true;
  for (uint32_t host = 0; host < in_.topology.host_count(); ++host) {
    if (lost_power(host, in_.measurements.end)) return true;
  }
  return std::any_of(in_.hosts.hosts.begin(), in_.hosts.hosts.end(),
                     [](const HostReport& host) { return host.qps_in_error > 0; });
}

CheckResult Judge::operator()(const ExpectPlacedOnce&) const {
  CheckResult check;
  check.unit = "packets";
  check.bound = 0;
  const PacketHistory& history = in_.history;
  if (history.counters().records == 0) return unjudged(check, "there is no record of packets");
  uint64_t wrong = 0;
  std::string first;
  const auto tell = [&](const Packet& packet, const char* what) {
    ++wrong;
    if (first.empty()) {
      check.where = at_packet(packet);
      first = flow_name(packet.flow) + ", PSN " + std::to_string(packet.psn.value()) + ": " + what;
    }
  };
  for (const Attempt& attempt : history.attempts()) {
    if (attempt.differs && attempt.fate == Fate::kDelivered) {
      tell(history.packets()[attempt.packet],
           "arrived with another content or address than before");
    }
  }
  for (uint32_t flow = 0; flow < history.flows().size(); ++flow) {
    check_messages(history, flow, [&](const Packet& packet) {
      tell(packet, "does not lie where its message goes on");
    });
  }
  std::map<std::pair<uint32_t, uint32_t>, MemoryRegion> regions;  // by host and rkey
  for (const MemoryRegion& region : in_.regions) regions[{region.host, region.rkey}] = region;
  for (const Packet& packet : history.packets()) {
    if (regions.empty() || packet.delivered == FabricTime::never() ||
        packet.placement == Attempt::kNone) {
      continue;
    }
    const Placement& p = history.placement(packet);
    const auto region = regions.find({history.flows()[packet.flow].destination, p.rkey});
    const bool inside =
        region != regions.end() &&
        wholly_inside(p.va, p.payload_bytes, region->second.va, region->second.size.value);
    if (!inside) tell(packet, "outside of its region");
  }
  check.measured = static_cast<double>(wrong);
  if (wrong > 0) return failed(check, first);
  for (const HostReport& host : in_.hosts.hosts) {
    const uint64_t delivered = host.bytes_placed == 0 ? 0 : delivered_to(host.host);
    if (host.bytes_placed <= delivered) continue;
    check.where = whole_run(host.host);
    return failed(check, host.host + " placed " + std::to_string(host.bytes_placed) +
                             " bytes, but only " + std::to_string(delivered) + " reached it");
  }
  return passed(check);
}

CheckResult Judge::operator()(const ExpectNoSilentLoss&) const {
  CheckResult check;
  check.unit = "messages";
  check.bound = 0;
  const PacketHistory& history = in_.history;
  if (history.counters().records == 0) return unjudged(check, "there is no record of packets");
  uint64_t lost = 0;
  std::string first;
  const auto tell = [&](uint64_t count, const WhereToLook& where, const std::string& what) {
    lost += count;
    if (!first.empty()) return;
    first = what;
    check.where = where;
  };
  for (const Packet& packet : history.packets()) {
    if (packet.acknowledged < packet.delivered) {
      tell(1, at_packet(packet),
           flow_name(packet.flow) + ", PSN " + std::to_string(packet.psn.value()) +
               ": acknowledged, but it had not arrived");
    }
  }
  if (const uint64_t unsent = history.counters().acks_of_unsent; unsent > 0) {
    tell(unsent, whole_run(""), "acknowledgements of packets that were never sent");
  }
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> flows;
  for (uint32_t i = 0; i < history.flows().size(); ++i) {
    const Flow& flow = history.flows()[i];
    flows[{flow.source, flow.destination, flow.destination_qp.value}] = i;
  }
  uint64_t posted = 0, queues = 0;
  for (const HostReport& host : in_.hosts.hosts) {
    const auto node = in_.topology.find_node(host.host);
    if (!node) continue;
    for (const QueueReport& queue : host.queues) {
      ++queues;
      posted += queue.posted;
      const std::string name = host.host + " " + qp_name(queue.qp);
      const auto flow =
          flows.find({in_.topology.node(*node).index, queue.peer, queue.remote.value});
      const uint64_t whole = flow == flows.end() ? 0 : whole_messages(history, flow->second);
      if (queue.completed > whole) {
        tell(queue.completed - whole, whole_run(name),
             name + " was told that " + std::to_string(queue.completed) +
                 " messages are done, but only " + std::to_string(whole) + " arrived whole");
      }
      const uint64_t answered = queue.completed + queue.failed;
      if (answered > queue.posted)
        tell(answered - queue.posted, whole_run(name), name + ": more answers than posts");
      if (queue.in_error && answered < queue.posted &&
          !lost_power(in_.topology.node(*node).index, in_.measurements.end)) {
        tell(queue.posted - answered, whole_run(name),
             name + " is in error and has not said so of all its messages");
      }
    }
  }
  check.measured = static_cast<double>(lost);
  if (lost > 0) return failed(check, first);
  if (queues == 0 && all_lost_power()) {
    check.note = "every host lost its power, and its messages with it";
    return passed(check);
  }
  if (queues == 0) return unjudged(check, "no host has reported its messages");
  check.note = std::to_string(posted) + " messages posted";
  return passed(check);
}

CheckResult Judge::operator()(const ExpectInOrder&) const {
  CheckResult check;
  check.unit = "completions";
  check.bound = 0;
  uint64_t wrong = 0, queues = 0;
  std::string first;
  for (const HostReport& host : in_.hosts.hosts) {
    for (const QueueReport& queue : host.queues) {
      ++queues;
      wrong += queue.out_of_order;
      if (queue.out_of_order > 0 && first.empty()) {
        first = host.host + " " + qp_name(queue.qp);
        check.where = whole_run(first);
      }
    }
  }
  const uint64_t said = wrong;
  if (const uint64_t ahead = in_.history.counters().acks_ahead; ahead > 0) {
    wrong += ahead;
    if (first.empty()) {
      first = "messages were acknowledged before all packets up to their end were there";
      check.where = whole_run("acknowledgements");
    }
  }
  check.measured = static_cast<double>(wrong);
  if (said > 0) return proven(check, first);
  if (wrong > 0) return failed(check, first);
  if (queues == 0 && all_lost_power()) {
    check.note = "every host lost its power, and its completions with it";
    return passed(check);
  }
  if (queues == 0) return unjudged(check, "no host has reported its completions");
  return passed(check);
}

CheckResult Judge::operator()(const ExpectNoQpErrorWhileAPathLives&) const {
  CheckResult check;
  check.unit = "QPs";
  check.bound = 0;
  uint64_t reported = 0;
  for (const HostReport& host : in_.hosts.hosts) reported += host.qps_in_error;
  const std::vector<QpFailure>& failures = in_.evidence.events().failures();
  if (in_.hosts.hosts.empty()) return unjudged(check, "no host has reported its QPs");
  if (reported == 0 && failures.empty()) {
    check.measured = 0;
    return passed(check);
  }
  if (failures.size() < reported) {
    return unjudged(check, std::to_string(reported) + " QPs failed, but the events tell when of " +
                               std::to_string(failures.size()) + " only");
  }
  if (in_.retry_span == FabricTime::zero()) {
    return unjudged(check, "QPs failed, and nobody says how long they try");
  }
  const Outages outages(in_.topology, in_.faults, in_.schedule);
  std::set<std::pair<uint32_t, uint32_t>> rightly;  // host and peer
  uint64_t wrong = 0;
  std::string first;
  for (const QpFailure& failure : failures) {
    const FabricTime since = failure.t - in_.retry_span;
    // A peer whose QP failed before answers with a fatal NACK: then ours has to fail as well.
    const bool right =
        failure.peer &&
        (lost_power(failure.host, failure.t) || lost_power(*failure.peer, failure.t) ||
         rightly.contains({*failure.peer, failure.host}) ||
         !outages.path_lives(failure.host, *failure.peer, since, failure.t) ||
         !outages.path_lives(*failure.peer, failure.host, since, failure.t));
    if (right) {
      rightly.insert({failure.host, *failure.peer});
      continue;
    }
    ++wrong;
    if (first.empty()) {
      check.where = {since, failure.t, at_failure(failure).who};
      first = host_name(failure.host) + " at " + to_string(failure.t) + ": " + failure.reason +
              ", while a path" + (failure.peer ? " to " + host_name(*failure.peer) : "") +
              " worked";
    }
  }
  check.measured = static_cast<double>(wrong);
  if (wrong > 0) return failed(check, first);
  check.note = std::to_string(failures.size()) + " QPs failed, rightly";
  return passed(check);
}

uint64_t Judge::unbalanced_frames(std::string& first, CheckResult& check) const {
  const Conservation& books = in_.evidence.conservation();
  if (!books.is_complete()) return 0;
  uint64_t wrong = 0;
  const auto judge = [&](const Balance& balance, const std::string& where) {
    if (balance.holds()) return;
    wrong += balance.missing + balance.invented;
    if (!first.empty()) return;
    check.where = whole_run(where);
    first = where + ": " + std::to_string(balance.taken) + " in, " +
            std::to_string(balance.passed) + " passed, " + std::to_string(balance.dropped) +
            " dropped; " + std::to_string(balance.missing) + " missing, " +
            std::to_string(balance.invented) + " out of nowhere";
  };
  for (const Wire& wire : in_.topology.wires_list) {
    judge(books.wire(wire.id), in_.topology.wire_name(wire.id));
  }
  for (const NodeSite& site : in_.topology.nodes) {
    if (site.role != NodeRole::kHost) judge(books.inside(site.id), site.name);
  }
  return wrong;
}

uint64_t Judge::vanished_packets(std::string& first, CheckResult& check) const {
  const PacketHistory& history = in_.history;
  // A frame that was damaged inside a switch may end under a name that nobody sent.
  const bool damaged = std::any_of(
      in_.schedule.begin(), in_.schedule.end(),
      [](const ScheduledEffect& s) { return std::holds_alternative<SwitchErrors>(s.effect); });
  const HistoryCounters& c = history.counters();
  const uint64_t strangers =
      damaged ? c.unmatched_arrivals + c.unmatched_drops + c.not_mrc + c.unknown_host : 0;
  uint64_t vanished = 0;
  const Attempt* unseen = nullptr;
  const FabricTime crossing = in_.evidence.conservation().longest_crossing();
  for (const Attempt& attempt : history.attempts()) {
    if (attempt.fate != Fate::kInFlight || !attempt.start_seen ||
        attempt.start + crossing > in_.measurements.end) {
      continue;
    }
    ++vanished;
    if (unseen == nullptr) unseen = &attempt;
  }
  if (vanished <= strangers) return 0;
  if (first.empty()) {
    const Packet& packet = history.packets()[unseen->packet];
    check.where = at_packet(packet);
    first = flow_name(packet.flow) + ", PSN " + std::to_string(packet.psn.value()) + " sent at " +
            to_string(unseen->start) + " was never seen again";
  }
  return vanished - strangers;
}

CheckResult Judge::operator()(const ExpectAccounted&) const {
  CheckResult check;
  check.unit = "packets";
  check.bound = 0;
  if (in_.timing == TimingMode::kWall) return unjudged(check, "others forward here as well");
  if (in_.history.counters().records == 0) {
    return unjudged(check, "there is no record of packets");
  }
  std::string first;
  const uint64_t unbalanced = unbalanced_frames(first, check);
  const uint64_t vanished = vanished_packets(first, check);
  // A balance that does not hold is proof without any capture. A packet that vanished is proof only
  // where the captures are whole.
  check.proven = unbalanced > 0 || (vanished > 0 && in_.coverage.whole(Witness::kPackets));
  check.measured = static_cast<double>(unbalanced + vanished);
  if (unbalanced + vanished > 0) return failed(check, first);
  const Conservation& books = in_.evidence.conservation();
  if (!books.is_complete()) {
    return unjudged(check,
                    "no complete records of the switches; all data packets are accounted for");
  }
  check.note = std::to_string(books.records()) + " records";
  return passed(check);
}

// Bundles are opened before anything is judged.
CheckResult Judge::operator()(const ExpectSafety&) const { return unjudged({}, "a bundle"); }
CheckResult Judge::operator()(const ExpectLiveness&) const { return unjudged({}, "a bundle"); }

}  // namespace mrclab::analysis
