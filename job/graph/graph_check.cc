#include "job/graph/graph_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "fabric/text/input_error.h"

namespace mrclab::job {
namespace {

[[noreturn]] void reject(const std::string& what) { throw InputError(what); }

/// From, to, tag.
using Channel = std::tuple<uint32_t, uint32_t, uint32_t>;

void check_shares(const OpGraph& graph, uint32_t index, size_t ranks) {
  const Op& op = graph.op(index);
  if (op.shares == kEqualShares) return;
  if (op.shares >= graph.share_lists() || graph.shares(op.shares).size() != ranks) {
    reject(fmt::format("{}: its shares are not those of {} ranks", graph.text_of(index), ranks));
  }
  const std::vector<uint32_t>& shares = graph.shares(op.shares);
  if (std::all_of(shares.begin(), shares.end(), [](uint32_t share) { return share == 0; })) {
    reject(graph.text_of(index) + ": its shares are all 0");
  }
}

void check_references(const OpGraph& graph) {
  for (uint32_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.op(i);
    const auto check_rank = [&](std::string_view what, uint32_t rank) {
      if (rank >= graph.ranks()) {
        reject(fmt::format("{}: {} {} does not exist; ranks are 0 to {}", graph.text_of(i), what,
                           rank, graph.ranks() - 1));
      }
    };
    check_rank("rank", op.rank);
    const bool any = op.kind == OpKind::kReceive && op.peer == kAnyPeer;
    if (op.kind == OpKind::kSend || (op.kind == OpKind::kReceive && !any)) {
      check_rank("rank", op.peer);
    }
    if (op.kind == OpKind::kCollective) {
      if (op.group >= graph.groups().size()) reject(graph.text_of(i) + ": its group is none");
      const std::vector<uint32_t>& ranks = graph.groups()[op.group].ranks;
      if (std::find(ranks.begin(), ranks.end(), op.rank) == ranks.end()) {
        reject(fmt::format("{}: rank {} is not in group {}", graph.text_of(i), op.rank,
                           graph.groups()[op.group].name));
      }
      check_shares(graph, i, ranks.size());
    }
    for (const Dependency& dependency : graph.dependencies(op)) {
      if (dependency.op >= graph.ops().size()) {
        reject(fmt::format("{} depends on op {}, which does not exist", graph.text_of(i),
                           dependency.op));
      }
    }
  }
}

/// Names a circle among the operations that are left: from any of them each step goes to one that it waits for.
[[noreturn]] void reject_circle(const OpGraph& graph, const std::vector<uint32_t>& waiting) {
  constexpr size_t kNamed = 8;
  uint32_t at = 0;
  while (waiting[at] == 0) ++at;
  std::vector<uint32_t> way;
  std::vector<bool> seen(graph.ops().size());
  while (!seen[at]) {
    seen[at] = true;
    way.push_back(at);
    for (const Dependency& dependency : graph.dependencies(graph.op(at))) {
      if (waiting[dependency.op] > 0) {
        at = dependency.op;
        break;
      }
    }
  }
  way.erase(way.begin(), std::find(way.begin(), way.end(), at));
  std::string text;
  for (size_t i = 0; i < std::min(way.size(), kNamed); ++i) {
    text += graph.text_of(way[i]) + " waits for ";
  }
  if (way.size() > kNamed) text += fmt::format("{} more, then ", way.size() - kNamed);
  reject("a circle: " + text + graph.text_of(at));
}

void check_order(const OpGraph& graph) {
  const size_t count = graph.ops().size();
  std::vector<uint32_t> waiting(count), first(count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    for (const Dependency& dependency : graph.dependencies(graph.op(i))) ++first[dependency.op + 1];
    waiting[i] = graph.op(i).dependencies;
  }
  for (size_t i = 0; i < count; ++i) first[i + 1] += first[i];
  std::vector<uint32_t> dependents(first[count]), place(first.begin(), first.end() - 1);
  for (uint32_t i = 0; i < count; ++i) {
    for (const Dependency& dependency : graph.dependencies(graph.op(i))) {
      dependents[place[dependency.op]++] = i;
    }
  }
  std::vector<uint32_t> ready;
  for (uint32_t i = 0; i < count; ++i) {
    if (waiting[i] == 0) ready.push_back(i);
  }
  for (size_t done = 0; done < ready.size(); ++done) {
    for (uint32_t k = first[ready[done]]; k < first[ready[done] + 1]; ++k) {
      if (--waiting[dependents[k]] == 0) ready.push_back(dependents[k]);
    }
  }
  if (ready.size() < count) reject_circle(graph, waiting);
}

void check_collectives(const OpGraph& graph) {
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> of_rank;  // group, rank
  for (uint32_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.op(i);
    if (op.kind == OpKind::kCollective) of_rank[{op.group, op.rank}].push_back(i);
  }
  for (uint32_t g = 0; g < graph.groups().size(); ++g) {
    const Group& group = graph.groups()[g];
    if (group.ranks.empty()) continue;
    const std::vector<uint32_t>& lead = of_rank[{g, group.ranks.front()}];
    for (const uint32_t rank : group.ranks) {
      const std::vector<uint32_t>& own = of_rank[{g, rank}];
      for (size_t n = 0; n < std::min(own.size(), lead.size()); ++n) {
        const Op &a = graph.op(lead[n]), &b = graph.op(own[n]);
        const auto what = [](const Op& op) {
          return std::tie(op.collective, op.bytes, op.peer, op.algorithm, op.shares);
        };
        if (what(a) == what(b)) continue;
        reject(fmt::format("ranks {} and {} disagree on collective {} of group {}: {} and {}",
                           a.rank, b.rank, n, group.name, graph.text_of(lead[n]),
                           graph.text_of(own[n])));
      }
      if (own.size() != lead.size()) {
        reject(fmt::format("ranks {} and {} disagree on group {}: {} and {} collectives",
                           group.ranks.front(), rank, group.name, lead.size(), own.size()));
      }
    }
  }
}

/// Sends that no receive has taken, by all that a receive may leave open.
class OpenSends {
 public:
  void add(const Channel& channel, uint32_t send) {
    for (const Channel& key : keys_of(channel)) sends_[key].insert(send);
  }
  /// The oldest that fits a receive.
  std::optional<uint32_t> take(const Channel& wanted, const OpGraph& graph) {
    const auto found = sends_.find(wanted);
    if (found == sends_.end() || found->second.empty()) return std::nullopt;
    const uint32_t send = *found->second.begin();
    const Op& op = graph.op(send);
    for (const Channel& key : keys_of({op.rank, op.peer, op.tag})) sends_[key].erase(send);
    return send;
  }

 private:
  static std::array<Channel, 3> keys_of(const Channel& channel) {
    const auto [from, to, tag] = channel;
    return {{{kAnyPeer, to, kAnyTag}, {kAnyPeer, to, tag}, {from, to, kAnyTag}}};
  }
  std::map<Channel, std::set<uint32_t>> sends_;
};

}  // namespace

std::vector<uint32_t> message_partners(const OpGraph& graph) {
  const auto count = static_cast<uint32_t>(graph.ops().size());
  std::vector<uint32_t> partner(count);
  std::map<Channel, std::vector<uint32_t>> sends;  // not taken yet, the oldest last
  std::vector<uint32_t> open;                      // receives of any peer or tag
  for (uint32_t i = count; i-- > 0;) {
    const Op& op = graph.op(i);
    partner[i] = i;
    if (op.kind == OpKind::kSend) sends[{op.rank, op.peer, op.tag}].push_back(i);
  }
  for (uint32_t i = 0; i < count; ++i) {
    const Op& op = graph.op(i);
    if (op.kind != OpKind::kReceive) continue;
    if (op.peer == kAnyPeer || op.tag == kAnyTag) {
      open.push_back(i);
      continue;
    }
    const auto found = sends.find({op.peer, op.rank, op.tag});
    if (found == sends.end() || found->second.empty()) continue;
    partner[i] = found->second.back();
    partner[found->second.back()] = i;
    found->second.pop_back();
  }
  if (open.empty()) return partner;
  OpenSends left;
  for (const auto& [channel, waiting] : sends) {
    for (const uint32_t send : waiting) left.add(channel, send);
  }
  for (const uint32_t i : open) {
    const Op& op = graph.op(i);
    const std::optional<uint32_t> send = left.take({op.peer, op.rank, op.tag}, graph);
    if (!send) continue;
    partner[i] = *send;
    partner[*send] = i;
  }
  return partner;
}

void check_graph(const OpGraph& graph) {
  check_references(graph);
  check_order(graph);
  check_collectives(graph);
  const std::vector<uint32_t> partner = message_partners(graph);
  for (uint32_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.op(i);
    if (op.kind != OpKind::kSend && op.kind != OpKind::kReceive) continue;
    if (partner[i] == i) {
      reject(graph.text_of(i) +
             (op.kind == OpKind::kSend ? ": nobody receives it" : ": nobody sends it"));
    }
    if (op.kind == OpKind::kSend && graph.op(partner[i]).bytes != op.bytes) {
      reject(graph.text_of(i) + " and " + graph.text_of(partner[i]) + " differ in size");
    }
  }
}

}  // namespace mrclab::job
