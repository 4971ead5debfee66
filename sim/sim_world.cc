#include "sim/sim_world.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <span>
#include <thread>

#include "fabric/node/effect_text.h"
#include "sim/cpu_time.h"
#include "sim/window_barrier.h"

namespace mrclab::lab {
namespace {

/// Many times what is under way on a wire at full rate; a pool below it is never the first limit.
constexpr size_t kFramesPerWire = 64;
constexpr size_t kFramesAtLeast = 1u << 18;
/// The frames that start in one window take about so many bytes at most: all that one rank sends to another after a
/// window is one message, which may have 1 GiB (rank_link.h).
constexpr uint64_t kBytesAtOnce = uint64_t{256} << 20;

}  // namespace

uint64_t SimWorld::frames_at_once(uint64_t nodes, uint32_t ranks, const FrameRoom& room) {
  constexpr uint64_t kAtLeast = 1u << 18, kOfNode = 64;
  const uint64_t all = std::max(kAtLeast * ranks, kOfNode * nodes);
  return ranks == 1 ? all : std::min(all, kBytesAtOnce / room.frame * ranks);
}

uint32_t SimWorld::shard_of(const Topology& topology, NodeId node, uint32_t shards) {
  const NodeSite& site = topology.node(node);
  if (site.role == NodeRole::kHost) {
    return static_cast<uint32_t>(uint64_t{site.index} * shards / topology.host_count());
  }
  return site.plane % shards;
}

SimWorld::SimWorld(const Topology& topology, const Options& options, const MakeNode& make_node,
                   const ObserverOf& observer_of)
    : world_{topology, {}, {}, {}, {}, {}, {}, {}, {}, {}},
      ranks_(options.ranks),
      sides_(bipartition(topology)),
      frames_at_once_(options.frames_at_once > 0
                          ? options.frames_at_once
                          : frames_at_once(topology.nodes.size(),
                                           ranks_ != nullptr ? ranks_->count() : 1, options.room)) {
  const uint32_t threads = std::clamp(options.threads, 1u, kMaxThreads);
  const uint32_t all_shards = ranks_ != nullptr ? threads * ranks_->count() : threads;
  if (ranks_ != nullptr) first_shard_ = threads * ranks_->rank();
  world_.first_shard = first_shard_;
  world_.last_shard = first_shard_ + threads - 1;
  const size_t frame_limit = std::max(kFramesAtLeast, topology.all_wires().size() * kFramesPerWire);
  for (uint32_t i = 0; i < threads; ++i) {
    shards_.push_back(std::make_unique<SimShard>(world_, first_shard_ + i, all_shards, frame_limit,
                                                 options.room));
  }
  world_.side_of = sides_.of;
  world_.planned.assign(topology.nodes.size(), FabricTime::never());
  world_.nodes.resize(topology.nodes.size());
  world_.doors.resize(topology.nodes.size());
  world_.hops.resize(topology.nodes.size());
  std::vector<NodeObserver*> observers(topology.nodes.size());
  world_.shard_of.reserve(topology.nodes.size());
  for (const NodeSite& site : topology.nodes) {
    world_.shard_of.push_back(shard_of(topology, site.id, all_shards));
    if (is_here(site.id)) observers[site.id.value] = &observer_of(site.id);
  }
  world_.make_node = [this, make_node, observers = std::move(observers),
                      seed = options.seed](NodeId id) {
    return make_node({world_.topology, id, seed, shard_here(id).frames(), *observers[id.value]});
  };
  for (const NodeSite& site : topology.nodes) {
    const bool waits = options.waits && options.waits(site.id);
    if (is_here(site.id) && !waits) shard_here(site.id).node(site.id);
  }
  for (const ScheduledEffect& effect : options.schedule) {
    for_each_concerned(topology, effect.effect, [&](NodeId node) {
      if (is_here(node)) shard_here(node).node(node).apply(effect);
    });
  }
}

SimWorld::~SimWorld() {
  world_.nodes.clear();  // before the pools that their frames go back to
}

SimShard& SimWorld::shard_here(NodeId node) const {
  return *shards_[world_.shard_of[node.value] - first_shard_];
}

bool SimWorld::run_until(FabricTime until, const GoOn& go_on) {
  require_same_instant(ranks_, until);
  alive_ = true;
  stopped_ = false;
  // A node may have got something to do since the last call, of which its shard does not know.
  for (const NodeSite& site : world_.topology.nodes) {
    if (is_here(site.id)) shard_here(site.id).plan(site.id);
  }
  if (shards_.size() == 1) {
    run_alone(until, go_on);
  } else {
    run_together(until, go_on);
  }
  if (failure_) std::rethrow_exception(failure_);
  return alive_;
}

/// The length of the next window, by the frames of the last one; the first window is short.
void SimWorld::fit_windows(uint64_t frames) {
  const FabricTime longest = sides_.longest_window();
  if (frames > frames_at_once_) {
    window_ = std::max(window_ / 2, FabricTime::from_ns(1));
  } else if (frames < frames_at_once_ / 4) {
    window_ = window_ < longest / 2 ? window_ * 2 : longest;
  }
  window_ = std::min(window_, longest);
}

/// Moves on to the next stretch in which something happens; false if that is not before `until`, or
/// a rank is to stop or has failed.
bool SimWorld::next_window(FabricTime until) {
  WindowVote vote{.stop = stopped_, .failed = failure_ != nullptr};
  for (const auto& shard : shards_) {
    vote.join({.earliest = {shard->earliest(0), shard->earliest(1)}, .frames = shard->sent()});
  }
  if (ranks_ != nullptr) vote = ranks_->agree(vote);
  if (vote.failed && !failure_) failure_ = std::make_exception_ptr(OtherRankFailed());
  if (vote.failed) return false;
  if (vote.stop) return catch_up();
  if (now_ >= until) return false;
  fit_windows(vote.frames);
  const uint8_t side = vote.earliest[1] < vote.earliest[0] ? 1 : 0;
  if (vote.earliest[side] > until) {
    now_ = until;
    reached_ = {until, until};
    alive_ = vote.earliest[side] != FabricTime::never();
    return false;
  }
  take_turn(side, until, vote);
  return true;
}

/// The next window is of the side that has the earliest event.
void SimWorld::take_turn(uint8_t side, FabricTime until, const WindowVote& vote) {
  const FabricTime own = vote.earliest[side], other = vote.earliest[1 - side];
  constexpr FabricTime kPicosecond = FabricTime::from_ps(1);
  turn_ = side;
  window_end_ = std::min(
      {until, own + window_ - kPicosecond, sides_.horizon(side, own, other) - kPicosecond});
  reached_[side] = window_end_;
  // What this window sends to the other side comes no sooner than one lookahead after its first event.
  now_ = std::min(window_end_, sides_.horizon(1 - side, other, own) - kPicosecond);
  now_ = std::min(now_, other - kPicosecond);
}

/// Where the run stops, the side that is behind is run as far as the other one. False: both are there.
bool SimWorld::catch_up() {
  if (reached_[0] == reached_[1]) return false;
  turn_ = reached_[0] < reached_[1] ? 0 : 1;
  now_ = window_end_ = reached_[turn_] = reached_[1 - turn_];
  return true;
}

void SimWorld::ask(const GoOn& go_on) {
  if (go_on && !failure_ && !stopped_) stopped_ = !go_on(now_);
}

/// Does a step that other ranks, or threads, wait for the end of, whether it fails or not.
void SimWorld::try_step(const std::function<void()>& step) noexcept {
  try {
    step();
  } catch (...) {
    if (!failure_) failure_ = std::current_exception();
  }
}

void SimWorld::run_alone(FabricTime until, const GoOn& go_on) {
  while (next_window(until)) {
    try_step([&] { shards_.front()->run(turn_, window_end_); });
    try_step([&] { ask(go_on); });
    try_step([&] { exchange_letters(); });
  }
}

void SimWorld::run_together(FabricTime until, const GoOn& go_on) {
  bool another = true;
  std::vector<std::exception_ptr> failures(shards_.size());
  std::vector<double> busy(shards_.size());  // CPU seconds of each in this window
  // All have collected what was sent to them: one of them decides how far the next window goes.
  WindowBarrier collected(shards_.size(), [&]() noexcept {
    try_step([&] { share_buffers(); });
    another = false;
    try_step([&] { another = next_window(until); });
  });
  WindowBarrier ran(shards_.size(), [&]() noexcept {
    for (const std::exception_ptr& failure : failures) {
      if (failure && !failure_) failure_ = failure;
    }
    ++balance_.windows;
    balance_.busy += std::accumulate(busy.begin(), busy.end(), 0.0);
    balance_.longest += *std::max_element(busy.begin(), busy.end());
    try_step([&] { ask(go_on); });
    try_step([&] { exchange_letters(); });
  });
  const auto work = [&](size_t index) {
    SimShard& shard = *shards_[index];
    while (true) {
      double begin = thread_cpu_seconds();
      for (const auto& other : shards_) shard.collect(*other);
      busy[index] = thread_cpu_seconds() - begin;
      collected.arrive_and_wait();
      if (!another) return;
      begin = thread_cpu_seconds();
      try {
        shard.run(turn_, window_end_);
      } catch (...) {
        failures[index] = std::current_exception();
      }
      busy[index] += thread_cpu_seconds() - begin;
      ran.arrive_and_wait();
    }
  };
  std::vector<std::jthread> others;
  for (size_t i = 1; i < shards_.size(); ++i) others.emplace_back(work, i);
  work(0);
}

/// Hands cross-shard frames to nodes of other ranks over, and takes theirs. A rank that has failed takes part, too,
/// because the others wait for it.
void SimWorld::exchange_letters() {
  if (ranks_ == nullptr) return;
  const auto threads = static_cast<uint32_t>(shards_.size());
  letters_.resize(ranks_->count());
  for (uint32_t rank = 0; rank < ranks_->count(); ++rank) {
    letters_[rank].clear();
    if (rank == ranks_->rank()) continue;
    for (uint32_t shard = rank * threads; shard < (rank + 1) * threads; ++shard) {
      for (const auto& from : shards_) from->write_letters(shard, letters_[rank]);
    }
  }
  const auto frames_of = [this](NodeId node) {
    return is_here(node) ? &shard_here(node).frames() : nullptr;
  };
  const std::vector<RankLink::Bytes>& received = ranks_->exchange(letters_);
  for (uint32_t rank = 0; rank < ranks_->count(); ++rank) {
    if (rank == ranks_->rank()) continue;
    std::span<const uint8_t> bytes = received[rank];
    while (!bytes.empty()) {
      CrossShardFrame crossing = take_cross_shard(bytes, world_.topology, frames_of);
      SimShard& shard = shard_here(crossing.node);
      shard.deliver(crossing.node, crossing.port, std::move(crossing.arrival));
    }
  }
}

/// Buffers go where frames go; where more arrive than leave, they would pile up.
void SimWorld::share_buffers() {
  for (size_t i = 0; i < shards_.size(); ++i) {
    shards_[i]->frames().share(shards_[(i + 1) % shards_.size()]->frames());
  }
}

}  // namespace mrclab::lab
