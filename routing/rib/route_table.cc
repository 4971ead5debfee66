#include "routing/rib/route_table.h"

#include <algorithm>

namespace mrclab::routing {

namespace {

bool before_peer(const Path& path, PeerIndex peer) { return path.peer < peer; }

bool same_words(const Path& a, const Path& b) {
  return a.unreachable == b.unreachable && a.bandwidth == b.bandwidth &&
         (a.attributes == b.attributes ||
          (a.attributes && b.attributes && *a.attributes == *b.attributes));
}

}  // namespace

const Path* RouteEntry::path_of(PeerIndex peer) const {
  const auto found = std::lower_bound(paths.begin(), paths.end(), peer, before_peer);
  return found != paths.end() && found->peer == peer ? &*found : nullptr;
}

RouteTable::Change RouteTable::announce(const Prefix& prefix, Path path, Node** where) {
  auto found = routes_.find(prefix);
  if (found == routes_.end()) {
    if (routes_.size() >= limit_) return Change::kNoRoom;
    found = routes_.try_emplace(prefix).first;
  }
  *where = &*found;
  std::vector<Path>& paths = found->second.paths;
  const auto at = std::lower_bound(paths.begin(), paths.end(), path.peer, before_peer);
  if (at != paths.end() && at->peer == path.peer) {
    if (same_words(*at, path)) return Change::kNone;
    *at = std::move(path);
    return Change::kChanged;
  }
  ++count_of(path.peer);
  paths.insert(at, std::move(path));
  return Change::kChanged;
}

RouteTable::Node* RouteTable::withdraw(const Prefix& prefix, PeerIndex peer) {
  const auto found = routes_.find(prefix);
  if (found == routes_.end()) return nullptr;
  std::vector<Path>& paths = found->second.paths;
  const auto at = std::lower_bound(paths.begin(), paths.end(), peer, before_peer);
  if (at == paths.end() || at->peer != peer) return nullptr;
  paths.erase(at);
  --count_of(peer);
  return &*found;
}

RouteTable::Node* RouteTable::find(const Prefix& prefix) {
  const auto found = routes_.find(prefix);
  return found == routes_.end() ? nullptr : &*found;
}

void RouteTable::erase_if_idle(Node& node) {
  const RouteEntry& entry = node.second;
  if (!entry.paths.empty() || entry.decision_pending || entry.write_pending || entry.fib.known ||
      entry.written.known) {
    return;
  }
  for (const Advertised& told : entry.told) {
    if (told.attributes || told.pending) return;
  }
  routes_.erase(node.first);
}

}  // namespace mrclab::routing
