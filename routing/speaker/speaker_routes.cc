#include <algorithm>

#include "routing/speaker/speaker.h"

namespace mrclab::routing {

namespace {

bool any_unreachable(const RouteEntry& entry) {
  return std::any_of(entry.paths.begin(), entry.paths.end(),
                     [](const Path& path) { return path.unreachable; });
}

}  // namespace

void Speaker::originate(const Prefix& prefix, FabricTime now, std::optional<BitRate> behind) {
  Path path;
  path.bandwidth = behind;
  path.attributes = attributes_.intern({});
  announce(prefix, std::move(path), now);
}

void Speaker::retract(const Prefix& prefix, FabricTime now) { withdraw(prefix, kOwn, now); }

bool Speaker::announce(const Prefix& prefix, Path path, FabricTime now) {
  Node* node = nullptr;
  const bool host = path.peer != kOwn && parameters_.neighbours[path.peer].is_host;
  const auto change = table_.announce(prefix, std::move(path), &node);
  if (change == RouteTable::Change::kNoRoom) return false;
  node->second.host_was_here |= host;
  if (change == RouteTable::Change::kChanged) changed(*node, now);
  return true;
}

void Speaker::withdraw(const Prefix& prefix, PeerIndex peer, FabricTime now) {
  if (Node* node = table_.withdraw(prefix, peer)) changed(*node, now);
}

void Speaker::changed(Node& node, FabricTime now) {
  if (node.second.decision_pending) return;
  node.second.decision_pending = true;
  undecided_.push_back(&node);
  if (decide_at_ == FabricTime::never()) decide_at_ = now + parameters_.timing.decision_hold;
}

void Speaker::everything_changed(FabricTime now) {
  for (Node& node : table_.routes()) changed(node, now);
}

bool Speaker::decide(FabricTime now) {
  if (now < decide_at_) return false;
  decide_at_ = FabricTime::never();
  // Decisions may make others necessary, whose time then begins anew.
  for (size_t left = undecided_.size(); left > 0; --left) {
    Node& node = *undecided_.front();
    undecided_.pop_front();
    node.second.decision_pending = false;
    decide_one(node, now);
  }
  return true;
}

void Speaker::decide_one(Node& node, FabricTime now) {
  ++counters_.decisions;
  RouteEntry& entry = node.second;
  watch_host(node);
  if (any_unreachable(entry)) {
    unreachable_.insert(node.first);
  } else {
    unreachable_.erase(node.first);
  }
  entry.chosen = choose_paths(entry.paths, ranks_, parameters_.limits.paths_side_by_side);
  const bool own = !entry.chosen.empty() && entry.chosen.front() == kOwn;
  const auto shares = own ? std::nullopt : shares_of(entry);
  entry.weighed = own || (shares && !shares->empty());
  entry.heard = shares ? total(*shares)
                : own  ? entry.path_of(kOwn)->bandwidth.value_or(BitRate{})
                       : BitRate{};
  entry.ways_out = ways_out_of(entry);
  FibEntry fib = fib_of(node);
  if (fib != entry.fib) {
    entry.fib = std::move(fib);
    covered_changed(node, now);
  }
  if (entry.fib != entry.written && !entry.write_pending) {
    entry.write_pending = true;
    unwritten_.push_back(&node);
  }
  for (size_t i = 0; i < peers_.size(); ++i) queue_update(node, static_cast<PeerIndex>(i));
  table_.erase_if_idle(node);
}

bool Speaker::under_aggregate(const Prefix& prefix) const {
  return std::any_of(
      parameters_.aggregates.begin(), parameters_.aggregates.end(),
      [&](const Prefix& aggregate) { return aggregate.covers(prefix) && aggregate != prefix; });
}

/// A host under an aggregate of ours that was here and is not is announced as unreachable, until it is back.
void Speaker::watch_host(Node& node) {
  RouteEntry& entry = node.second;
  if (!entry.host_was_here || !under_aggregate(node.first)) return;
  const bool here = std::any_of(entry.paths.begin(), entry.paths.end(), [&](const Path& path) {
    return path.peer != kOwn && !path.unreachable && parameters_.neighbours[path.peer].is_host;
  });
  const Path* own = entry.path_of(kOwn);
  if (here && own != nullptr && own->unreachable) {
    table_.withdraw(node.first, kOwn);
  } else if (!here && own == nullptr) {
    PathAttributes attributes;
    attributes.extended.push_back(make_unreachable(parameters_.router, false));
    Path path;
    path.unreachable = true;
    path.attributes = attributes_.intern(std::move(attributes));
    Node* same = nullptr;
    table_.announce(node.first, std::move(path), &same);
  }
}

std::optional<std::vector<LinkShare>> Speaker::shares_of(const RouteEntry& entry) const {
  std::vector<HeardShare> heard;
  for (const PeerIndex peer : entry.chosen) {
    if (peer == kOwn) return std::nullopt;
    const NeighbourParameters& neighbour = parameters_.neighbours[peer];
    heard.push_back(
        {neighbour.port, peers_[peer].router, neighbour.rate, entry.path_of(peer)->bandwidth});
  }
  return link_shares(heard, parameters_.shares.granularity);
}

/// N: the neighbours in scope to whom it may be advertised, without those that advertised it to us.
uint32_t Speaker::ways_out_of(const RouteEntry& entry) const {
  if (entry.chosen.empty()) return 0;
  const PathAttributes& attributes = *entry.path_of(entry.chosen.front())->attributes;
  const bool per_node = parameters_.shares.granularity == ShareGranularity::kPerNode;
  std::vector<RouterId> nodes;
  for (const PeerIndex peer : entry.chosen) {
    if (peer != kOwn) nodes.push_back(peers_[peer].router);
  }
  const size_t sources = nodes.size();
  uint32_t count = 0;
  for (size_t i = 0; i < peers_.size(); ++i) {
    const Peer& peer = peers_[i];
    const bool in_scope =
        parameters_.shares.scope == WaysOutScope::kAllPorts || !parameters_.neighbours[i].is_host;
    if (!peer.up || !in_scope || attributes.as_path.contains(peer.as)) continue;
    const auto end = nodes.begin() + static_cast<std::ptrdiff_t>(per_node ? nodes.size() : sources);
    if (std::find(nodes.begin(), end, peer.router) != end) continue;
    nodes.push_back(peer.router);
    ++count;
  }
  return count;
}

FibEntry Speaker::fib_of(const Node& node) const {
  const RouteEntry& entry = node.second;
  if (entry.chosen.empty() || entry.chosen.front() == kOwn) return {};
  const Path& best = *entry.path_of(entry.chosen.front());
  if (best.unreachable) return parameters_.install_unreachable ? fib_without(node) : FibEntry{};
  if (parameters_.honour_fib_suppress &&
      says_fib_suppress(best.attributes->extended, parameters_.fib_suppress_sub_type)) {
    return {};
  }
  const auto shares = shares_of(entry);
  std::vector<BitRate> bandwidths;
  for (size_t i = 0; i < entry.chosen.size(); ++i) {
    // Without bandwidth all are alike (RFC 10005 section 3).
    bandwidths.push_back(shares ? (*shares)[i].bandwidth : BitRate{});
  }
  const std::vector<uint32_t> weights = hop_weights(bandwidths, parameters_.weights);
  FibEntry fib;
  fib.known = true;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    fib.hops.push_back({parameters_.neighbours[entry.chosen[i]].port, weights[i]});
  }
  std::sort(fib.hops.begin(), fib.hops.end(),
            [](const WeightedHop& a, const WeightedHop& b) { return a.port < b.port; });
  return fib;
}

/// The covering route's next hops without those marked "unreachable" (draft-xu-idr-fare-in-mpson section 4.1).
FibEntry Speaker::fib_without(const Node& node) const {
  const Node* covering = table_.covering(node.first, [](const RouteEntry& entry) {
    return entry.fib.known && !entry.fib.hops.empty();
  });
  if (covering == nullptr) return {};
  FibEntry fib = covering->second.fib;
  for (const Path& path : node.second.paths) {
    if (path.peer == kOwn || !path.unreachable) continue;
    const PortId port = parameters_.neighbours[path.peer].port;
    std::erase_if(fib.hops, [&](const WeightedHop& hop) { return hop.port == port; });
  }
  return fib;
}

/// Unreachable prefixes within a route whose next hops have changed have others, too.
void Speaker::covered_changed(const Node& node, FabricTime now) {
  if (!parameters_.install_unreachable) return;
  for (auto at = unreachable_.upper_bound(node.first);
       at != unreachable_.end() && node.first.covers(*at); ++at) {
    if (Node* inside = table_.find(*at)) changed(*inside, now);
  }
}

}  // namespace mrclab::routing
