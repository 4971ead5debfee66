#include "job/graph/message_graph.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>

namespace mrclab::job {
namespace {

/// The pieces of a vector over n ranks.
class Chunks {
 public:
  Chunks(uint64_t bytes, uint64_t count)
      : bytes_(bytes),
        size_((bytes + count * kElementBytes - 1) / (count * kElementBytes) * kElementBytes) {}
  uint64_t size(uint64_t chunk) const {
    const uint64_t first = std::min(bytes_, chunk * size_);
    return std::min(size_, bytes_ - first);
  }

 private:
  uint64_t bytes_, size_;
};

constexpr uint32_t kNoRound = 0xFFFF'FFFE;
constexpr uint32_t kNoPlace = 0xFFFF'FFFF;

/// Where a rank stands in a tree, by places in the group.
struct TreePlace {
  uint32_t parent = kNoPlace;
  std::array<uint32_t, 2> children{kNoPlace, kNoPlace};
};

/// The binary tree of NCCL (graph/trees.cc, ncclGetBtree): a place with lowest bit b has its children at -b/2 and +b/2,
/// place 0 the whole below it.
TreePlace first_tree_place(uint32_t own, uint32_t count) {
  TreePlace place;
  uint32_t bit = 1;
  while (bit < count && (bit & own) == 0) bit <<= 1;
  if (own == 0) {
    if (count > 1) place.children[0] = bit >> 1;
    return place;
  }
  place.parent = (own ^ bit) | (bit << 1);
  if (place.parent >= count) place.parent = own ^ bit;
  uint32_t low = bit >> 1;
  if (low == 0) return place;
  place.children[0] = own - low;
  while (low > 0 && own + low >= count) low >>= 1;
  if (low > 0) place.children[1] = own + low;
  return place;
}

/// The second tree is the first one mirrored where the ranks are even, else shifted by one (ncclGetDtree).
TreePlace tree_place(uint32_t own, uint32_t count, bool second) {
  if (!second) return first_tree_place(own, count);
  const bool mirrored = count % 2 == 0;
  TreePlace place = first_tree_place(mirrored ? count - 1 - own : (own + count - 1) % count, count);
  const auto back = [&](uint32_t& at) {
    if (at != kNoPlace) at = mirrored ? count - 1 - at : (at + 1) % count;
  };
  back(place.parent);
  for (uint32_t& child : place.children) back(child);
  return place;
}

class MessageMaker {
 public:
  explicit MessageMaker(const OpGraph& job)
      : job_(job), made_{OpGraph(job.ranks(), {kMaxMessageOps, kMaxMessagePart}), {}} {
    for (const Group& group : job.groups()) made_.graph.add_group(group.name, group.ranks);
    number_operations();
  }

  MessageGraph make() {
    for (uint32_t i = 0; i < job_.ops().size(); ++i) {
      const Op& op = job_.op(i);
      if (op.kind == OpKind::kCollective) {
        add_collective(i);
      } else {
        add(op, i, waits_of(op));
      }
    }
    add_notices();
    return std::move(made_);
  }

 private:
  /// How many operations one becomes is known before they are made: what depends on it may come first.
  void number_operations() {
    uint64_t next = 0;
    for (const Op& op : job_.ops()) {
      first_.push_back(static_cast<uint32_t>(std::min<uint64_t>(next, 0xFFFF'FFFF)));
      next += op.kind == OpKind::kCollective ? operations_of(op) : 1;
      last_.push_back(static_cast<uint32_t>(std::min<uint64_t>(next - 1, 0xFFFF'FFFF)));
    }
    notices_from_ = static_cast<uint32_t>(std::min<uint64_t>(next, 0xFFFF'FFFF));
  }

  struct Place {
    std::vector<uint32_t> ranks;
    uint32_t own = 0;
    uint32_t count() const { return static_cast<uint32_t>(ranks.size()); }
    uint32_t after(uint32_t by) const { return ranks[(own + by) % count()]; }
    uint32_t before(uint32_t by) const { return ranks[(own + count() - by % count()) % count()]; }
  };
  Place place_of(const Op& op) const {
    Place place{job_.groups()[op.group].ranks, 0};
    const auto own = std::find(place.ranks.begin(), place.ranks.end(), op.rank);
    place.own = static_cast<uint32_t>(own - place.ranks.begin());
    return place;
  }

  static uint32_t rounds_of_barrier(uint32_t ranks) {
    uint32_t rounds = 0;
    while ((1u << rounds) < ranks) ++rounds;
    return rounds;
  }

  /// Ring steps of a collective: reducing, gathering.
  static std::pair<uint32_t, uint32_t> ring_steps(const Op& op, uint32_t ranks) {
    const bool reduces = op.collective != Collective::kAllGather;
    const bool gathers = op.collective != Collective::kReduceScatter;
    return {reduces ? ranks - 1 : 0, gathers ? ranks - 1 : 0};
  }
  /// Chunk that a rank sends in a step; it receives the one before.
  static uint32_t ring_chunk(const Op& op, const Place& place, uint32_t step, uint32_t reducing) {
    const uint32_t n = place.count();
    if (step < reducing) {
      const uint32_t a = op.collective == Collective::kReduceScatter ? 1 : 0;
      return (place.own + 2 * n - a - step) % n;
    }
    const uint32_t b = reducing > 0 ? 1 : 0;
    return (place.own + n + b - (step - reducing)) % n;
  }

  uint64_t operations_of(const Op& op) const {
    const Place place = place_of(op);
    uint64_t count = 2;  // its beginning and its end
    for_each_message(op, place, [&](const Message& message) { count += message.bytes > 0; });
    return count;
  }

  struct Message {
    bool sends = false;
    uint32_t peer = 0;
    uint64_t bytes = 0;
    uint32_t round = 0;
    bool waits_for_round = false;  ///< for what was received in the round before
    /// Of a tree, in place of the round before: the rounds that it waits for.
    std::array<uint32_t, 2> waits_for{kNoRound, kNoRound};
  };

  /// Where each receiver's part of a rank's vector in an all_to_all begins, and the vector's end.
  std::vector<uint64_t> pieces_of(const Op& op, uint32_t ranks) const {
    std::vector<uint64_t> begins{0};
    const Chunks chunks(op.bytes, ranks);
    uint64_t all = 0, sum = 0;
    if (op.shares != kEqualShares) {
      const std::vector<uint32_t>& shares = job_.shares(op.shares);
      all = std::accumulate(shares.begin(), shares.end(), uint64_t{0});
    }
    for (uint32_t i = 0; i < ranks; ++i) {
      if (op.shares == kEqualShares) {
        begins.push_back(begins.back() + chunks.size(i));
        continue;
      }
      sum += job_.shares(op.shares)[i];
      const auto end = static_cast<uint64_t>(static_cast<unsigned __int128>(op.bytes) * sum / all);
      begins.push_back(sum == all ? op.bytes : end / kElementBytes * kElementBytes);
    }
    return begins;
  }

  template <class Take>
  void for_each_tree_message(const Op& op, const Place& place, const Take& take) const {
    const uint32_t n = place.count();
    const Chunks halves(op.bytes, 2);
    for (const uint32_t tree : {0u, 1u}) {
      const TreePlace own = tree_place(place.own, n, tree == 1);
      const Chunks parts(halves.size(tree), kTreeParts);
      // A round for what comes from each child and from the parent, of each part of each tree.
      for (uint32_t part = 0; part < kTreeParts; ++part) {
        const uint32_t round = (tree * kTreeParts + part) * 3;
        std::array<uint32_t, 2> children{kNoRound, kNoRound};
        for (uint32_t i = 0; i < own.children.size(); ++i) {
          if (own.children[i] == kNoPlace) continue;
          take({false, place.ranks[own.children[i]], parts.size(part), round + i, false});
          children[i] = round + i;
        }
        if (own.parent == kNoPlace) {
          for_each_child(own, place, parts.size(part), children, take);
          continue;
        }
        const uint32_t parent = place.ranks[own.parent];
        take({true, parent, parts.size(part), kNoRound, false, children});
        take({false, parent, parts.size(part), round + 2, false});
        for_each_child(own, place, parts.size(part), {round + 2, kNoRound}, take);
      }
    }
  }
  template <class Take>
  static void for_each_child(const TreePlace& own, const Place& place, uint64_t bytes,
                             const std::array<uint32_t, 2>& waits, const Take& take) {
    for (const uint32_t child : own.children) {
      if (child == kNoPlace) continue;
      take({true, place.ranks[child], bytes, kNoRound, false, waits});
    }
  }

  template <class Take>
  void for_each_message(const Op& op, const Place& place, const Take& take) const {
    const uint32_t n = place.count();
    if (n < 2) return;
    const Chunks chunks(op.bytes, n);
    switch (op.collective) {
      case Collective::kAllReduce:
        if (op.algorithm == Algorithm::kTree) return for_each_tree_message(op, place, take);
        [[fallthrough]];
      case Collective::kReduceScatter:
      case Collective::kAllGather: {
        const auto [reducing, gathering] = ring_steps(op, n);
        for (uint32_t step = 0; step < reducing + gathering; ++step) {
          const uint32_t chunk = ring_chunk(op, place, step, reducing);
          take({true, place.after(1), chunks.size(chunk), step, step > 0});
          take({false, place.before(1), chunks.size((chunk + n - 1) % n), step, false});
        }
        break;
      }
      case Collective::kAllToAll: {
        const std::vector<uint64_t> begins = pieces_of(op, n);
        const auto size = [&](uint32_t at) { return begins[at + 1] - begins[at]; };
        for (uint32_t by = 1; by < n; ++by) {
          take({true, place.after(by), size((place.own + by) % n), by, false});
          take({false, place.before(by), size(place.own), by, false});
        }
        break;
      }
      case Collective::kBroadcast: {
        const auto root = std::find(place.ranks.begin(), place.ranks.end(), op.peer);
        const auto first = static_cast<uint32_t>(root - place.ranks.begin()) % n;
        const uint32_t hop = (place.own + n - first) % n;
        const Chunks parts(op.bytes, kBroadcastParts);
        for (uint32_t part = 0; part < kBroadcastParts; ++part) {
          if (hop > 0) take({false, place.before(1), parts.size(part), part, false});
          if (hop + 1 < n) take({true, place.after(1), parts.size(part), part + 1, hop > 0});
        }
        break;
      }
      case Collective::kBarrier:
        for (uint32_t round = 0; round < rounds_of_barrier(n); ++round) {
          take({true, place.after(1u << round), kWordBytes, round, round > 0});
          take({false, place.before(1u << round), kWordBytes, round, false});
        }
        break;
    }
  }

  void add_collective(uint32_t index) {
    const Op& op = job_.op(index);
    const Place place = place_of(op);
    const uint32_t tag = kFirstCollectiveTag | numbers_[{op.group, op.rank}]++;
    Op moment;
    moment.rank = op.rank;
    moment.line = op.line;
    moment.lane = kNoLane;
    const uint32_t begin = add(moment, index, waits_of(op));
    // Of a ring the last send and the last receive are enough: each waits for those before.
    const bool chained = op.collective != Collective::kAllToAll && op.algorithm != Algorithm::kTree;
    std::optional<uint32_t> last_send, last_receive;
    std::vector<Dependency> parts;
    std::map<uint32_t, uint32_t> received;  // by round
    for_each_message(op, place, [&](const Message& message) {
      if (message.bytes == 0) return;
      Op part = moment;
      part.lane = 0;
      part.kind = message.sends ? OpKind::kSend : OpKind::kReceive;
      part.peer = message.peer;
      part.bytes = message.bytes;
      part.tag = tag;
      part.group = op.group;
      std::vector<Dependency> waits{{begin}};
      const auto before = received.find(message.round - 1);
      if (message.waits_for_round && before != received.end()) waits = {{before->second}};
      for (const uint32_t round : message.waits_for) {
        if (const auto found = received.find(round); found != received.end()) {
          if (waits.front().op == begin) waits.clear();
          waits.push_back({found->second});
        }
      }
      const uint32_t made = add(part, index, waits);
      if (!message.sends) received[message.round] = made;
      (message.sends ? last_send : last_receive) = made;
      if (!chained) parts.push_back({made});
    });
    if (chained && last_send) parts.push_back({*last_send});
    if (chained && last_receive) parts.push_back({*last_receive});
    if (parts.empty()) parts.push_back({begin});
    add(moment, index, parts);
  }

  /// What happened in another rank is known when a word has come from there.
  std::vector<Dependency> waits_of(const Op& op) {
    std::vector<Dependency> waits;
    for (const Dependency& dependency : job_.dependencies(op)) {
      const uint32_t other = dependency.on_start ? first_[dependency.op] : last_[dependency.op];
      if (job_.op(dependency.op).rank == op.rank) {
        waits.push_back({other, dependency.on_start});
        continue;
      }
      const auto number = static_cast<uint32_t>(notices_.size());
      waits.push_back({notices_from_ + 2 * number + 1});
      notices_.push_back({{other, dependency.on_start}, dependency.op, op.rank});
    }
    return waits;
  }

  /// Behind all others, a send and its receive for each.
  void add_notices() {
    for (uint32_t i = 0; i < notices_.size(); ++i) {
      const Notice& notice = notices_[i];
      Op word;
      word.kind = OpKind::kSend;
      word.rank = job_.op(notice.cause).rank;
      word.peer = notice.to;
      word.bytes = kWordBytes;
      word.tag = kFirstNoticeTag | i;
      word.line = job_.op(notice.cause).line;
      add(word, notice.cause, {notice.after});
      std::swap(word.rank, word.peer);
      word.kind = OpKind::kReceive;
      add(word, notice.cause, {});
    }
  }

  uint32_t add(const Op& op, uint32_t origin, const std::vector<Dependency>& waits) {
    made_.origin.push_back(origin);
    return made_.graph.add(op, waits);
  }

  struct Notice {
    Dependency after;
    uint32_t cause = 0, to = 0;
  };

  const OpGraph& job_;
  MessageGraph made_;
  std::vector<Notice> notices_;
  uint32_t notices_from_ = 0;
  std::vector<uint32_t> first_, last_;  ///< by operation of the job: its own in the new graph
  std::map<std::pair<uint32_t, uint32_t>, uint32_t>
      numbers_;  ///< collectives so far, by group and rank
};

}  // namespace

MessageGraph message_graph(const OpGraph& job) { return MessageMaker(job).make(); }

}  // namespace mrclab::job
