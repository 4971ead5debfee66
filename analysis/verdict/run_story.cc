#include "analysis/verdict/run_story.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analysis/history/path_wires.h"
#include "analysis/verdict/pause_report.h"
#include "analysis/verdict/story_losses.h"
#include "analysis/verdict/struck_wires.h"
#include "fabric/text/counted_noun.h"
#include "fabric/topology/path.h"

namespace mrclab::analysis {
namespace {

std::string hex(uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", value);
  return text;
}

std::string tbps(double bps) {
  char text[48];
  std::snprintf(text, sizeof text, bps < 1e12 ? "%.1f Gb/s" : "%.2f Tb/s",
                bps < 1e12 ? bps * 1e-9 : bps * 1e-12);
  return text;
}

/// "link_down h0:p2" of "link_down h0:p2 at 300us for 60us".
std::string short_name(const FaultSpan& fault) {
  return fault.description.substr(0, fault.description.find(" at "));
}

std::string later(FabricTime t) {
  return t == FabricTime::zero() ? "at once" : to_string(t) + " later";
}

class StoryWriter {
 public:
  explicit StoryWriter(const StoryInputs& in) : in_(in) {
    for (const QueuePairName& name : in.queue_pairs) peers_[{name.host, name.qp}] = name.peer;
    for (const FaultSpan& fault :
         in.faults.subspan(0, std::min(kMaxFaultsTold, in.faults.size()))) {
      struck_.emplace_back(in.topology, fault);
    }
  }

  std::vector<StoryLine> tell() {
    losses_ = story_losses(in_.topology, packets(), in_.measurements.base_rtt, in_.faults, struck_);
    for (size_t i = 0; i < struck_.size(); ++i) {
      if (in_.faults[i].start >= in_.measurements.end) continue;
      if (in_.faults.size() > 1) about_ = "Fault " + std::to_string(i + 1) + ": ";
      struck(i);
      noticed(i);
      if (in_.results[i].measured) moved(i);
      lost(losses_.lost[i], "lost", "lost on its paths");
      lost(losses_.refused[i], "refused", "refused, because the receiver's buffer was full");
      settled(i);
      undone(i);
      returned(i);
      if (in_.results[i].measured) {
        recovered(i);
      } else {
        add(in_.faults[i].start, "unknown",
            "What became of traffic is not known, for evidence is missing: " + in_.results[i].note +
                ".");
      }
    }
    about_.clear();
    lost(losses_.elsewhere, "lost", "lost that no fault explains");
    lost(losses_.congested, "dropped", "dropped by full queues");
    lost(losses_.given_up, "dropped", "dropped by watchdogs of ports that stayed paused");
    lost(losses_.refused_elsewhere, "refused", "refused by receivers that had no room");
    lost(losses_.out_of_turn, "refused",
         "refused by receivers of RC that waited for an earlier packet");
    lost(losses_.not_ready, "refused", "refused by receivers of RC that had no receive posted");
    trimmed();
    paused();
    waited();
    failures();
    if (losses_.first_untold) {
      add(*losses_.first_untold, "unknown",
          "The story looks at the first " + std::to_string(kMaxLossesTold) +
              " transmissions that were dropped; those from here on are in no count of it.");
    }
    if (struck_.size() < in_.faults.size()) {
      const uint64_t more = in_.faults.size() - struck_.size();
      add(in_.faults[struck_.size()].start, "struck",
          counted_noun(more, {"more fault struck; it is", "more faults struck; they are"}) +
              " in the table below.");
    }
    std::stable_sort(lines_.begin(), lines_.end(),
                     [](const StoryLine& a, const StoryLine& b) { return a.t < b.t; });
    return std::move(lines_);
  }

 private:
  void add(FabricTime t, const char* kind, std::string text, std::vector<uint32_t> attempts = {}) {
    lines_.push_back({t, kind, about_ + std::move(text), std::move(attempts)});
  }
  std::string host(uint32_t number) const {
    return in_.topology.node(in_.topology.host(number)).name;
  }
  const PacketHistory& packets() const { return in_.evidence.packets(); }

  void struck(size_t i) {
    const FaultSpan& fault = in_.faults[i];
    std::string text = fault.description + ".";
    if (struck_[i].wires() > 0) {
      const size_t more = struck_[i].wires() - 1;
      text += " It impaired " + in_.topology.wire_name(struck_[i].first()) +
              (more > 0 ? " and " + counted_noun(more, "more wire") : "");
      text += fault.healed() ? ", until " + to_string(fault.healed_at) + "." : ", to the end.";
    }
    for (const SlowedReceiver& slow : fault.receivers) {
      text += " What " + in_.topology.node(slow.host).name + " received waited for its memory" +
              (slow.until == FabricTime::never() ? ", to the end."
                                                 : ", until " + to_string(slow.until) + ".");
    }
    add(fault.start, "struck", text);
  }

  /// When a later fault strikes wires of fault `i` again: what comes back from there on came back from that one.
  FabricTime struck_again(size_t i) const {
    FabricTime next = FabricTime::never();
    for (size_t j = 0; j < struck_.size(); ++j) {
      const bool later = in_.faults[j].start > in_.faults[i].start;
      if (later && struck_[j].shares_wire(struck_[i])) next = std::min(next, in_.faults[j].start);
    }
    return next;
  }

  /// The hosts' reports on the paths of a fault while it lasted, or afterwards and before they were struck again.
  std::vector<const PathNews*> news_of(size_t i, bool usable) const {
    std::vector<const PathNews*> found;
    const FabricTime again = struck_again(i);
    for (const PathNews& news : in_.evidence.events().paths()) {
      if (news.t >= again) break;
      if (news.usable != usable || news.t < in_.faults[i].start) continue;
      if (!usable && news.t > std::min(in_.faults[i].healed_at, in_.measurements.end)) break;
      const auto peer = peers_.find({news.host, news.qp});
      if (peer == peers_.end()) continue;
      const auto path =
          news.ev ? built_path(in_.topology, news.host, peer->second, *news.ev) : std::nullopt;
      if (!struck_[i].concerns(news.host, peer->second, news.plane, path)) continue;
      found.push_back(&news);
    }
    return found;
  }

  void noticed(size_t i) {
    const std::vector<const PathNews*> news = news_of(i, false);
    if (news.empty()) return;
    std::set<std::pair<uint32_t, Qpn>> queue_pairs;
    std::set<uint32_t> hosts;
    for (const PathNews* n : news) {
      queue_pairs.insert({n->host, n->qp});
      hosts.insert(n->host);
    }
    const PathNews& first = *news.front();
    const auto path = first.ev ? path_of(*first.ev) : std::nullopt;
    std::string word(name_of(first.word));
    std::replace(word.begin(), word.end(), '_', ' ');
    add(first.t, "noticed",
        host(first.host) + " was the first to notice, " + later(first.t - in_.faults[i].start) +
            ": " +
            (path ? to_string(*path) + " is " + word + " for QP " + hex(first.qp.value)
                  : port_down_text(first)) +
            ". In all " + counted_noun(queue_pairs.size(), "queue pair") + " of " +
            counted_noun(hosts.size(), "host") + " took such paths out of use, the last one " +
            later(news.back()->t - in_.faults[i].start) + ".");
  }

  /// Whose port it is: the host's own, or that of the peer that reported it.
  std::string port_down_text(const PathNews& news) const {
    const std::string port = "port p" + std::to_string(news.plane);
    const auto peer = peers_.find({news.host, news.qp});
    if (news.local || peer == peers_.end()) return "its own " + port + " is down";
    return port + " of " + host(peer->second) + " is down, as " + host(peer->second) + " reported";
  }

  void moved(size_t i) {
    const FaultMeasurement& m = in_.measurements.faults[i];
    const FabricTime start = in_.faults[i].start;
    if (m.still_used) {
      add(start, "stayed", "An affected path stayed in use until it was healed, or to the end.");
    } else if (m.detection == Detection::kDetected) {
      add(start + m.detect, "moved",
          "Traffic had moved " + later(m.detect) +
              ": no affected sender then tried an affected path any more.");
    } else if (m.detection == Detection::kNothing && struck_[i].wires() > 0 &&
               !in_.topology.routing.is_fare()) {
      add(start, "unused",
          "No affected sender tried an affected path: there was nothing to notice.");
    }
  }

  void lost(const std::vector<uint32_t>& attempts, const char* kind, const char* how) {
    if (attempts.empty()) return;
    FabricTime first = FabricTime::never();
    std::set<uint32_t> packets_lost, flows;
    uint64_t arrived = 0;
    FabricTime longest;
    for (const uint32_t a : attempts) {
      const Attempt& attempt = packets().attempts()[a];
      const Packet& packet = packets().packets()[attempt.packet];
      first = std::min(first, attempt.ended);
      flows.insert(packet.flow);
      if (!packets_lost.insert(attempt.packet).second) continue;
      if (packet.delivered == FabricTime::never()) continue;
      ++arrived;
      longest = std::max(longest, packet.delivered - attempt.ended);
    }
    std::string text = counted_noun(attempts.size(), "transmission") + " of " +
                       counted_noun(flows.size(), "flow") +
                       (attempts.size() == 1 ? " was " : " were ") + how + ". ";
    if (arrived == packets_lost.size()) {
      text += arrived == 1 ? "The packet" : "All " + std::to_string(arrived) + " packets";
    } else {
      text += std::to_string(arrived) + " of the " + counted_noun(packets_lost.size(), "packet");
    }
    text += " arrived when retransmitted";
    if (arrived > 0) text += ", at the latest " + to_string(longest) + " later";
    if (!in_.evidence.coverage().whole(Witness::kPackets)) text += ", as far as packets were seen";
    constexpr size_t kLinks = 3;
    add(first, kind, text + ".",
        {attempts.begin(),
         attempts.begin() + static_cast<long>(std::min(kLinks, attempts.size()))});
  }

  void settled(size_t i) {
    const std::optional<Dip>& dip = in_.results[i].dip;
    if (!dip) return;
    add(in_.faults[i].start + dip->transient, "settled",
        "What is left of the dip from here on is capacity that is missing: " + to_string(*dip) +
            ".");
  }

  void undone(size_t i) {
    const FaultSpan& fault = in_.faults[i];
    if (fault.healed()) add(fault.healed_at, "undone", short_name(fault) + " was undone.");
  }

  void returned(size_t i) {
    const std::vector<const PathNews*> news = news_of(i, true);
    const FabricTime again = struck_again(i);
    if (news.empty()) {
      if (again < in_.measurements.end && !news_of(i, false).empty())
        add(again, "returned",
            "No host had reported a path as usable again when a later fault struck the same wires.");
      return;
    }
    std::set<std::pair<uint32_t, Qpn>> queue_pairs;
    for (const PathNews* n : news) queue_pairs.insert({n->host, n->qp});
    const FabricTime first = news.front()->t, last = news.back()->t;
    add(first, "returned",
        "Paths of " + counted_noun(queue_pairs.size(), "queue pair") + " came back into use, " +
            (first == last ? "all at once"
                           : "the last one at " + to_string(last) + ", " +
                                 later(last - in_.faults[i].start) + " than the fault") +
            ".");
  }

  void recovered(size_t i) {
    const Measurements& m = in_.measurements;
    const FaultSpan& fault = in_.faults[i];
    const FaultResult& result = in_.results[i];
    if (!result.recovery_known) {
      if (i == 0)
        add(fault.start, "unknown",
            "When goodput recovered is not known, for there is no baseline: " + m.baseline.why_not +
                ".");
      return;
    }
    if (!m.baseline.usable) {
      add(fault.start + result.recovered.value_or(m.end - fault.start), "recovered",
          (!result.recovered ? "Goodput had not come back to that of the same run without faults."
           : *result.recovered == FabricTime::zero()
               ? "Goodput over 20 RTT never fell below that of the same run without faults."
               : "Goodput over 20 RTT was that of the same run without faults again " +
                     later(*result.recovered) + "."));
      return;
    }
    if (!result.recovered) {
      add(m.end, "recovered", "Goodput had not come back when the run ended.");
    } else if (*result.recovered == FabricTime::zero()) {
      add(fault.start, "recovered", "Goodput over 20 RTT never fell below its target.");
    } else {
      add(fault.start + *result.recovered, "recovered",
          "Goodput over 20 RTT was back " + later(*result.recovered) + ". " +
              lowest(fault.start, fault.start + *result.recovered));
    }
  }

  std::string lowest(FabricTime from, FabricTime until) const {
    const Measurements& m = in_.measurements;
    const FabricTime bin = m.planes.bin;
    double least = -1;
    for (FabricTime t = bin * (from / bin); t < until && t + bin <= m.end; t += bin) {
      const double rate = static_cast<double>(m.goodput.rate_between(t, t + bin).bps);
      if (least < 0 || rate < least) least = rate;
    }
    if (least < 0) return {};
    const double share = 100 * least / static_cast<double>(m.baseline.rate.bps);
    return "In its lowest " + to_string(bin) + " it was " + tbps(least) + ", " +
           std::to_string(static_cast<int>(share + 0.5)) + " % of the baseline.";
  }

  void trimmed() {
    uint64_t count = 0;
    std::map<PortRef, uint64_t> ports;
    std::vector<uint32_t> first;
    FabricTime at = FabricTime::never();
    const auto& attempts = packets().attempts();
    for (uint32_t a = 0; a < attempts.size(); ++a) {
      if (!attempts[a].trimmed) continue;
      ++count;
      at = std::min(at, attempts[a].ended);
      ++ports[attempts[a].where];
      if (first.size() < 3) first.push_back(a);
    }
    if (count == 0) return;
    const auto most =
        std::max_element(ports.begin(), ports.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    add(at, "trimmed",
        "Switches began to trim: " + counted_noun(count, "packet") + " in all, most at " +
            in_.topology.port_name(most->first) + ".",
        first);
  }

  /// A story has no schedule, so a pause that a dead link ended counts to its own end.
  void paused() {
    const PauseTree tree = pause_tree(in_.topology, in_.evidence, {}, in_.measurements.end);
    for (StoryLine& line : pause_story(in_.topology, tree)) lines_.push_back(std::move(line));
  }

  void waited() {
    for (const WaitLine& line : wait_lines(in_.topology, in_.waits))
      add(line.t, "waited", line.text);
  }

  void failures() {
    constexpr size_t kMost = 10;
    const auto& failed = in_.evidence.events().failures();
    for (size_t i = 0; i < failed.size() && i < kMost; ++i) {
      const QpFailure& f = failed[i];
      add(f.t, "failed",
          "QP " + hex(f.qp.value) + " of " + host(f.host) + (f.peer ? " to " + host(*f.peer) : "") +
              " failed: " + f.reason + ".");
    }
    if (failed.size() > kMost) {
      add(failed[kMost].t, "failed",
          counted_noun(failed.size() - kMost, "more queue pair") + " failed.");
    }
  }

  const StoryInputs& in_;
  std::map<std::pair<uint32_t, Qpn>, uint32_t> peers_;
  std::vector<StruckWires> struck_;  // wires that a fault impairs, by fault
  StoryLosses losses_;
  std::string about_;  // which fault, where there are several
  std::vector<StoryLine> lines_;
};

}  // namespace

std::vector<StoryLine> write_story(const StoryInputs& in) { return StoryWriter(in).tell(); }

}  // namespace mrclab::analysis
