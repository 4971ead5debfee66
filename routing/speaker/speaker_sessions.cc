#include <algorithm>
#include <utility>

#include "routing/base/unroutable.h"
#include "routing/speaker/speaker.h"

namespace mrclab::routing {

namespace {

/// Kept apart from a path's attributes: the bandwidth stands beside them, so that a change of it alone does
/// not make other attributes of them.
PathAttributes without_bandwidth(PathAttributes attributes, const BandwidthForm& form) {
  std::erase_if(attributes.extended,
                [&](const ExtendedCommunity& one) { return is_bandwidth(one, form); });
  return attributes;
}

}  // namespace

void Speaker::session_began(PeerIndex index, FabricTime now) {
  Peer& peer = peers_[index];
  const BgpSession* session = peer.neighbour.session();
  if (session == nullptr) return;  // over before it was looked at
  const OpenMessage& open = *session->peer();
  peer.up = true;
  peer.router = ranks_[index].router = open.router;
  peer.as = open.as;
  peer.tells_from = now + parameters_.timing.first_update;
  peer.end_of_rib_due = true;
  peer.filter.clear();
  const bool filters = peer.neighbour.parameters().takes_filters;
  peer.waits_for_filter = filters && (open.capabilities.prefix_orf & kOrfSends) != 0;
  events_.session_up(peer.neighbour.parameters().port, now);
  if (parameters_.wanted && (open.capabilities.prefix_orf & kOrfReceives) != 0) {
    send_filter(index, now);
  }
  everything_changed(now);
}

void Speaker::session_ended(PeerIndex index, const std::string& reason, FabricTime now) {
  Peer& peer = peers_[index];
  if (!peer.up) return;
  peer.up = false;
  peer.tells_from = FabricTime::never();
  peer.end_of_rib_due = false;
  events_.session_down(peer.neighbour.parameters().port, reason, now);
  for (Node* node : peer.to_tell) {
    if (!node->second.told.empty()) node->second.told[index].pending = false;
  }
  peer.to_tell.clear();
  for (auto at = table_.routes().begin(); at != table_.routes().end();) {
    Node& node = *at++;
    if (!node.second.told.empty()) node.second.told[index] = {};
    if (table_.count(index) > 0) withdraw(node.first, index, now);
    changed(node, now);  // one way out less
  }
}

void Speaker::stop_peer(PeerIndex peer, uint8_t subcode, const std::string& what, FabricTime now) {
  events_.bound_met(parameters_.neighbours[peer].port, what, now);
  peers_[peer].neighbour.end_session({ErrorCode::kCease, subcode, {}});
}

void Speaker::on_update(PeerIndex index, const Update& update, FabricTime now) {
  ++counters_.updates_in;
  const NeighbourParameters& neighbour = parameters_.neighbours[index];
  for (const AttributeFault& fault : update.faults) {
    events_.attribute_fault(neighbour.port, fault, now);
  }
  counters_.ends_of_rib_in += update.end_of_rib ? 1 : 0;
  counters_.withdrawn_in += update.withdrawn.size();
  for (const Prefix& prefix : update.withdrawn) withdraw(prefix, index, now);
  if (update.announced.empty()) return;
  counters_.announced_in += update.announced.size();
  Path path;
  path.peer = index;
  path.bandwidth = bandwidth_in(update.attributes->extended, parameters_.bandwidth_form);
  path.unreachable = says_unreachable(update.attributes->extended);
  path.attributes =
      attributes_.intern(without_bandwidth(*update.attributes, parameters_.bandwidth_form));
  if (!attributes_.fits(parameters_.limits.attribute_octets)) {
    return stop_peer(index, cease::kOutOfResources, "attributes in memory", now);
  }
  const bool looped = path.attributes->as_path.contains(parameters_.as);
  if (looped) counters_.looped += update.announced.size();
  bool reported = false;
  for (const Prefix& prefix : update.announced) {
    if (const std::string_view why = why_unroutable(prefix); !why.empty()) {
      ++counters_.unroutable;
      // One of an UPDATE stands for all of it: what is written about it does not grow with it.
      if (std::exchange(reported, true)) continue;
      events_.attribute_fault(
          neighbour.port,
          {attribute::kMpReach, ErrorAction::kNone,
           "MP_REACH_NLRI: no route to " + to_string(prefix) + ", " + std::string(why)},
          now);
      continue;
    }
    if (looped || (path.unreachable && !neighbour.unreachability)) {
      withdraw(prefix, index, now);
      continue;
    }
    if (!announce(prefix, path, now)) {
      return stop_peer(index, cease::kOutOfResources, "routes in the table", now);
    }
    if (table_.count(index) > parameters_.limits.prefixes_per_peer) {
      return stop_peer(index, cease::kTooManyPrefixes, "routes of one neighbour", now);
    }
  }
}

void Speaker::on_refresh(PeerIndex index, const RouteRefresh& refresh, FabricTime now) {
  Peer& peer = peers_[index];
  if (refresh.afi != kAfiIpv6 || refresh.safi != kSafiUnicast ||
      refresh.kind != RouteRefresh::Kind::kRequest) {
    return;
  }
  const bool filters = peer.neighbour.parameters().takes_filters;
  if (filters && !peer.filter.apply(refresh.entries)) {
    return stop_peer(index, cease::kOutOfResources, "filter entries of one neighbour", now);
  }
  if (refresh.when == RouteRefresh::When::kDefer) return;
  peer.waits_for_filter = false;
  for (Node& node : table_.routes()) {
    // A filter changes what is advertised; a plain request is for all of it once more.
    if (!refresh.when && !node.second.told.empty()) node.second.told[index].again = true;
    queue_update(node, index);
  }
  peer.end_of_rib_due |= !refresh.when;
}

void Speaker::want(std::vector<Prefix> prefixes, FabricTime now) {
  parameters_.wanted = std::move(prefixes);
  for (size_t i = 0; i < peers_.size(); ++i) {
    const BgpSession* session = peers_[i].neighbour.session();
    if (session == nullptr) continue;
    // The capability was not offered when the list came only now: no neighbour filters for us then.
    if ((session->peer()->capabilities.prefix_orf & kOrfReceives) != 0) {
      send_filter(static_cast<PeerIndex>(i), now);
    }
  }
}

/// First all is removed and nothing refreshed, then the whole list, as FRR needs it (routing/bgp/refresh.h).
void Speaker::send_filter(PeerIndex index, FabricTime now) {
  Neighbour& neighbour = peers_[index].neighbour;
  RouteRefresh message;
  message.when = RouteRefresh::When::kDefer;
  message.entries.push_back({OrfEntry::Action::kRemoveAll, true, 0, 0, 0, {}});
  neighbour.send(encode_refresh(message), now);
  message.entries.clear();
  uint32_t sequence = 0;
  for (const Prefix& prefix : *parameters_.wanted) {
    if (message.entries.size() == kMaxOrfEntries) {
      neighbour.send(encode_refresh(message), now);
      message.entries.clear();
    }
    message.entries.push_back({OrfEntry::Action::kAdd, true, ++sequence, 0, 0, prefix});
  }
  if (sequence == 0) {
    // An empty list would let everything pass.
    message.entries.push_back({OrfEntry::Action::kAdd, false, 1, 0, Prefix::kMaxLength, {}});
  }
  message.when = RouteRefresh::When::kImmediate;
  neighbour.send(encode_refresh(message), now);
}

}  // namespace mrclab::routing
