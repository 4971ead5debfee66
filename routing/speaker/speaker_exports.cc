#include <algorithm>
#include <cassert>
#include <map>
#include <tuple>
#include <utility>

#include "routing/speaker/speaker.h"

namespace mrclab::routing {

namespace {

/// Prefixes that are advertised in one go: what they take in the worst case is bounded, and the next ones see the
/// newest decisions.
constexpr size_t kToldAtOnce = 512;

}  // namespace

bool Speaker::Export::same_as(const Advertised& told) const {
  return told.attributes && !told.again && told.weighed == weighed && told.bandwidth == bandwidth &&
         told.attributes == attributes;
}

void Speaker::queue_update(Node& node, PeerIndex index) {
  Peer& peer = peers_[index];
  if (!peer.up) return;
  std::vector<Advertised>& told = node.second.told;
  if (told.empty()) {
    if (!export_of(node, index)) return;  // nothing was advertised and nothing will be
    told.resize(peers_.size());
  }
  if (told[index].pending) return;
  told[index].pending = true;
  peer.to_tell.push_back(&node);
}

/// The rate of the link, or of all links to that node.
BitRate Speaker::rate_to(PeerIndex index) const {
  BitRate rate = parameters_.neighbours[index].rate;
  if (parameters_.shares.granularity == ShareGranularity::kPerLink) return rate;
  rate.bps = 0;
  for (size_t i = 0; i < peers_.size(); ++i) {
    if (peers_[i].up && peers_[i].router == peers_[index].router) {
      rate.bps += parameters_.neighbours[i].rate.bps;
    }
  }
  return rate;
}

/// All originators of one unreachability, on one path (draft-ietf-idr-upa).
std::shared_ptr<const PathAttributes> Speaker::merged_unreachable(const RouteEntry& entry) {
  const auto& best = entry.path_of(entry.chosen.front())->attributes;
  ExtendedCommunities all = best->extended;
  for (const PeerIndex peer : entry.chosen) {
    const ExtendedCommunities& others = entry.path_of(peer)->attributes->extended;
    std::copy_if(others.begin(), others.end(), std::back_inserter(all),
                 [](const ExtendedCommunity& one) { return unreachability_of(one).has_value(); });
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all == best->extended) return best;
  PathAttributes merged = *best;
  merged.extended = std::move(all);
  return attributes_.intern(std::move(merged));
}

std::optional<Speaker::Export> Speaker::export_of(const Node& node, PeerIndex index) {
  const RouteEntry& entry = node.second;
  const Peer& peer = peers_[index];
  if (entry.chosen.empty()) return std::nullopt;
  const Path& best = *entry.path_of(entry.chosen.front());
  const bool own = best.peer == kOwn;
  if (!own && !parameters_.transit) return std::nullopt;
  if (best.attributes->as_path.contains(peer.as)) return std::nullopt;
  for (const PeerIndex source : entry.chosen) {
    if (source != kOwn && peers_[source].router == peer.router) return std::nullopt;
  }
  if (best.unreachable && !parameters_.neighbours[index].unreachability) return std::nullopt;
  if (!best.unreachable && under_aggregate(node.first)) return std::nullopt;
  if (!peer.filter.permits(node.first)) return std::nullopt;
  Export telling;
  telling.attributes = best.unreachable ? merged_unreachable(entry) : best.attributes;
  telling.from_host = !own && parameters_.neighbours[best.peer].is_host;
  if (!parameters_.advertise_bandwidth || !entry.weighed || best.unreachable) return telling;
  telling.weighed = true;
  // The originator advertises the rate of the link on which it advertises.
  telling.bandwidth = own && !best.bandwidth
                          ? rate_to(index)
                          : share_to_advertise(entry.heard, entry.ways_out, rate_to(index));
  return telling;
}

Octets Speaker::encode_telling(const Export& telling, PeerIndex index) const {
  PathAttributes told = *telling.attributes;
  told.as_path = told.as_path.prepended(parameters_.as);
  told.med.reset();
  std::erase_if(told.extended, [](const ExtendedCommunity& one) { return !one.transitive(); });
  if (telling.from_host && parameters_.tag_hosts_fib_suppressed) {
    told.extended.push_back(
        make_fib_suppress(parameters_.as, parameters_.router, parameters_.fib_suppress_sub_type));
  }
  if (telling.weighed) {
    told.extended.push_back(
        make_bandwidth(telling.bandwidth, parameters_.as, parameters_.bandwidth_form));
  }
  return encode_attributes(told, peers_[index].neighbour.session()->four_octet_as());
}

bool Speaker::send_updates(PeerIndex index, FabricTime now) {
  Peer& peer = peers_[index];
  if (!peer.up || peer.waits_for_filter || now < peer.tells_from) return false;
  if (!peer.neighbour.may_send() || (peer.to_tell.empty() && !peer.end_of_rib_due)) return false;
  std::vector<Prefix> withdrawn;
  std::vector<std::pair<Export, std::vector<Prefix>>> groups;  // in the order of their first prefix
  std::map<std::tuple<const PathAttributes*, BitRate, bool, bool>, size_t> group_of;
  for (size_t left = std::min(peer.to_tell.size(), kToldAtOnce); left > 0; --left) {
    Node& node = *peer.to_tell.front();
    peer.to_tell.pop_front();
    Advertised& told = node.second.told[index];
    told.pending = false;
    auto telling = export_of(node, index);
    if (!telling) {
      if (told.attributes) withdrawn.push_back(node.first);
      told = {};
      table_.erase_if_idle(node);
      continue;
    }
    if (telling->same_as(told)) continue;
    told.attributes = telling->attributes;
    told.bandwidth = telling->bandwidth;
    told.weighed = telling->weighed;
    told.again = false;
    const auto [at, fresh] = group_of.try_emplace(
        {telling->attributes.get(), telling->bandwidth, telling->weighed, telling->from_host},
        groups.size());
    if (fresh) groups.emplace_back(std::move(*telling), std::vector<Prefix>{});
    groups[at->second].second.push_back(node.first);
  }
  std::vector<Octets> messages;
  encode_withdrawals(messages, withdrawn);
  for (const auto& [telling, prefixes] : groups) {
    const Octets attributes = encode_telling(telling, index);
    if (attributes.size() > kMaxAttributeOctets) {
      // Its sender filled a whole message, and there is more of ours: no room for both.
      events_.bound_met(parameters_.neighbours[index].port, "attributes of one message", now);
      encode_withdrawals(messages, prefixes);
      continue;
    }
    encode_announcements(messages, attributes, parameters_.neighbours[index].local, prefixes);
  }
  if (peer.to_tell.empty() && std::exchange(peer.end_of_rib_due, false)) {
    messages.push_back(encode_end_of_rib());
  }
  counters_.updates_out += messages.size();
  for (const Octets& message : messages) peer.neighbour.send(message, now);
  return !messages.empty() || !peer.to_tell.empty();
}

}  // namespace mrclab::routing
