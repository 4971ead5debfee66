#include "lab/sim/sim_world.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <exception>
#include <thread>

#include "fabric/effect_text.h"

namespace mrclab::lab {
namespace {

/// Many times what is under way on a wire at full rate; a pool below it is never the first limit.
constexpr size_t kFramesPerWire = 64;
constexpr size_t kFramesAtLeast = 1u << 18;

}  // namespace

uint32_t SimWorld::shard_of(const Topology& topology, NodeId node, uint32_t threads) {
  const NodeSite& site = topology.node(node);
  if (site.role == NodeRole::kHost) {
    return static_cast<uint32_t>(uint64_t{site.index} * threads / topology.host_count());
  }
  return site.plane % threads;
}

SimWorld::SimWorld(const Topology& topology, const Options& options, const MakeNode& make_node,
                   const ObserverOf& observer_of)
    : world_{topology, {}, {}, {}, {}, {}}, frames_at_once_(options.frames_at_once) {
  const uint32_t threads = std::clamp(options.threads, 1u, kMaxThreads);
  const size_t frame_limit = std::max(kFramesAtLeast, topology.wires_list.size() * kFramesPerWire);
  for (uint32_t i = 0; i < threads; ++i) {
    shards_.push_back(std::make_unique<SimShard>(world_, i, threads, frame_limit, options.room));
  }
  for (const NodeSite& site : topology.nodes) {
    world_.first_hop.push_back(static_cast<uint32_t>(world_.hops.size()));
    for (const Port& port : site.ports) world_.hops.push_back({port.peer.node, port.peer.port});
  }
  world_.planned.assign(topology.nodes.size(), FabricTime::never());
  for (const NodeSite& site : topology.nodes) {
    world_.shard_of.push_back(shard_of(topology, site.id, threads));
    FramePool& frames = shards_[world_.shard_of.back()]->frames();
    world_.nodes.push_back(
        make_node({topology, site.id, options.seed, frames, observer_of(site.id)}));
  }
  for (const ScheduledEffect& effect : options.schedule) {
    for_each_concerned(topology, effect.effect,
                       [&](NodeId node) { world_.nodes[node.value]->apply(effect); });
  }
  for (const NodeSite& site : topology.nodes) {
    shards_[world_.shard_of[site.id.value]]->plan(site.id);
  }
  for (const Wire& wire : topology.wires_list) {
    lookahead_ = std::min(lookahead_, topology.lookahead(wire.id));
  }
}

SimWorld::~SimWorld() {
  world_.nodes.clear();  // before the pools that their frames go back to
}

bool SimWorld::run_until(FabricTime until, const GoOn& go_on) {
  alive_ = true;
  if (shards_.size() == 1) {
    run_alone(until, go_on);
  } else {
    run_together(until, go_on);
  }
  return alive_;
}

/// The next window as long as the frames of the one before suggest, from a short one on.
void SimWorld::fit_windows() {
  uint64_t frames = 0;
  for (const auto& shard : shards_) frames += shard->sent();
  if (frames > frames_at_once_) {
    window_ = std::max(window_ / 2, FabricTime::from_ns(1));
  } else if (frames < frames_at_once_ / 4) {
    window_ = window_ < lookahead_ / 2 ? window_ * 2 : lookahead_;
  }
  window_ = std::min(window_, lookahead_);
}

/// Moves on to the next stretch in which something happens; false if that is not before `until`.
bool SimWorld::next_window(FabricTime until) {
  if (now_ >= until) return false;
  fit_windows();
  FabricTime earliest = FabricTime::never();
  for (const auto& shard : shards_) earliest = std::min(earliest, shard->earliest());
  if (earliest > until) {
    now_ = until;
    alive_ = earliest != FabricTime::never();
    return false;
  }
  // Nothing that starts at `earliest` or later needs an event before earliest + lookahead.
  window_end_ = std::min(until, earliest + window_ - FabricTime::from_ps(1));
  now_ = window_end_;
  return true;
}

void SimWorld::run_alone(FabricTime until, const GoOn& go_on) {
  while (next_window(until)) {
    shards_.front()->run(window_end_);
    if (go_on && !go_on(now_)) return;
  }
}

void SimWorld::run_together(FabricTime until, const GoOn& go_on) {
  bool another = true, asked = false;
  std::vector<std::exception_ptr> failures(shards_.size());
  std::atomic<bool> failed = false;
  // All have collected what was sent to them: one of them decides how far the next window goes.
  std::barrier collected(static_cast<std::ptrdiff_t>(shards_.size()), [&]() noexcept {
    share_buffers();
    try {
      another = !failed && (!go_on || !asked || go_on(now_)) && next_window(until);
    } catch (...) {
      failures.front() = std::current_exception();
      another = false;
    }
    asked = true;
  });
  std::barrier ran(static_cast<std::ptrdiff_t>(shards_.size()));
  const auto work = [&](size_t index) {
    SimShard& shard = *shards_[index];
    while (true) {
      for (const auto& other : shards_) shard.collect(*other);
      collected.arrive_and_wait();
      if (!another) return;
      try {
        shard.run(window_end_);
      } catch (...) {
        failures[index] = std::current_exception();
        failed = true;
      }
      ran.arrive_and_wait();
    }
  };
  {
    std::vector<std::jthread> others;
    for (size_t i = 1; i < shards_.size(); ++i) others.emplace_back(work, i);
    work(0);
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

/// Buffers go where frames go; where more arrive than leave, they would pile up.
void SimWorld::share_buffers() {
  for (size_t i = 0; i < shards_.size(); ++i) {
    FramePool& from = shards_[i]->frames();
    FramePool& to = shards_[(i + 1) % shards_.size()]->frames();
    if (from.free_buffers() > 2 * to.free_buffers()) {
      from.share(to, (from.free_buffers() - to.free_buffers()) / 2);
    }
  }
}

Bytes SimWorld::frame_memory() const {
  Bytes memory;
  for (const auto& shard : shards_) memory += shard->frames().memory();
  return memory;
}

}  // namespace mrclab::lab
