#include "live/world/node_guard.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/text/counted_noun.h"
#include "fabric/topology/forwarder.h"

namespace mrclab::lab {
namespace {

using Change = netio::KernelChange;

std::string_view noun_of(Change::Kind kind) {
  switch (kind) {
    case Change::Kind::kRoute: return "route";
    case Change::Kind::kRule: return "rule";
    case Change::Kind::kNeighbour: return "neighbour";
    default: return "";
  }
}

}  // namespace

NodeGuard::NodeGuard(LiveFabric& fabric, bool packet_filters, IsOurs is_ours, Touched touched)
    : fabric_(fabric), is_ours_(std::move(is_ours)), touched_(std::move(touched)) {
  std::vector<std::vector<NodeId>> namespaces;
  size_t shared = SIZE_MAX;
  for (const NodeSite& site : fabric.topology().nodes) {
    const bool joins = site.role != NodeRole::kHost && shares_namespace(site);
    if (joins && shared != SIZE_MAX) {
      namespaces[shared].push_back(site.id);
      continue;
    }
    if (joins) shared = namespaces.size();
    namespaces.push_back({site.id});
  }
  for (const std::vector<NodeId>& nodes : namespaces) {
    std::vector<uint32_t> own;
    for (const NodeId node : nodes) own.push_back(fabric.netlink(node).socket().port());
    // Watched first: what changes while the links are read is reported.
    watches_.watch_namespace(fabric.network_namespace(nodes.front()), own, packet_filters);
    links_.emplace_back(fabric, nodes);
  }
}

const std::string& NodeGuard::name_of(size_t number) const {
  return fabric_.topology().node(links_[number].owner()).name;
}

std::vector<OutsideChange> NodeGuard::check() {
  std::vector<OutsideChange> found;
  for (const size_t number : watches_.ready()) {
    const size_t before = found.size();
    read(number, found);
    if (touched_) touched_(links_[number].owner(), found.size() > before);
  }
  watch_next_sysctls();
  if (++calls_ % kCallsBetweenCompares == 0 && sysctls_.size() > 0) {
    next_compared_ = (next_compared_ + 1) % sysctls_.size();
    sysctls_.compare(next_compared_);
  }
  take_sysctls(found);
  return found;
}

void NodeGuard::adopt_in_hosts(const std::string& interface) {
  for (NodeLinks& links : links_) {
    if (fabric_.topology().node(links.owner()).role == NodeRole::kHost) links.adopt(interface);
  }
}

std::vector<OutsideChange> NodeGuard::check_all() {
  while (sysctls_.size() < links_.size()) watch_next_sysctls();
  std::vector<OutsideChange> found;
  for (size_t i = 0; i < links_.size(); ++i) {
    read(i, found);
    sysctls_.compare(i);
  }
  take_sysctls(found);
  return found;
}

void NodeGuard::read(size_t number, std::vector<OutsideChange>& found) {
  netio::ChangeWatch& watch = watches_[number];
  bool links = false, addresses = false;
  Groups groups;
  std::vector<OutsideChange> others;
  std::map<uint32_t, bool> ours;  // who asked for thousands of changes is looked up once
  for (const Change& change : watch.read()) {
    links |= change.kind == Change::Kind::kLink;
    addresses |= change.kind == Change::Kind::kAddress;
    const auto [sender, is_new] = ours.try_emplace(change.sender, false);
    if (is_new && change.sender != 0) {
      sender->second = is_ours_(links_[number].owner(), change.sender);
    }
    if (sender->second) continue;
    look_at(number, change, groups, others);
  }
  const bool lost = watch.take_overrun();
  if (links || lost) links_[number].look_at_links(found);
  if (addresses || lost) links_[number].look_at_addresses(found);
  found.insert(found.end(), others.begin(), others.end());
  for (const auto& [what, group] : groups) {
    const std::string_view noun = noun_of(what.first), act = what.second ? "removed" : "added";
    found.push_back(
        {.what = group.count == 1
                     ? fmt::format("{} a {} of {} ({})", act, noun, name_of(number), group.first)
                     : fmt::format("{} {} {}s of {} ({} and others)", act, group.count, noun,
                                   name_of(number), group.first)});
  }
  if (!lost) return;
  found.push_back({.what = fmt::format("changed more of {} than the kernel could report; what it "
                                       "was is not known",
                                       name_of(number))});
}

void NodeGuard::look_at(size_t number, const Change& change, Groups& groups,
                        std::vector<OutsideChange>& found) const {
  std::string what;
  const std::string where = links_[number].name_of(change.ifindex);
  switch (change.kind) {
    case Change::Kind::kLink:
    case Change::Kind::kAddress: return;
    case Change::Kind::kQdisc:
      if (where.empty()) return;
      what = fmt::format("{} {} {} {}", change.removed ? "took" : "put", change.what,
                         change.removed ? "from" : "on", where);
      break;
    case Change::Kind::kQdiscFilter:
      if (where.empty()) return;
      what = fmt::format("{} a {} filter {} {}", change.removed ? "took" : "put", change.what,
                         change.removed ? "from" : "on", where);
      break;
    case Change::Kind::kPacketFilter:
      what = fmt::format("changed the packet filter of {}{}", name_of(number),
                         change.what.empty() ? "" : " by " + change.what);
      break;
    case Change::Kind::kRoute:
    case Change::Kind::kRule:
    case Change::Kind::kNeighbour: {
      Group& group = groups[{change.kind, change.removed}];
      if (group.count++ == 0) {
        group.first = change.what + (where.empty() ? "" : " at " + where);
      }
      return;
    }
  }
  const bool again = std::any_of(found.begin(), found.end(),
                                 [&](const OutsideChange& other) { return other.what == what; });
  if (!again) found.push_back({.what = std::move(what)});
}

void NodeGuard::watch_next_sysctls() {
  if (sysctls_.size() == links_.size()) return;
  const NodeId node = links_[sysctls_.size()].owner();
  sysctls_.watch_namespace(fabric_.network_namespace(node), fabric_.plan(node).sysctls);
}

void NodeGuard::take_sysctls(std::vector<OutsideChange>& found) {
  const std::vector<netio::SysctlChange> changes = sysctls_.take_changes();
  for (size_t i = 0; i < changes.size();) {
    const netio::SysctlChange& first = changes[i];
    size_t next = i + 1;
    while (next < changes.size() && changes[next].number == first.number) ++next;
    const size_t others = next - i - 1;
    found.push_back(
        {.what = fmt::format("wrote the sysctl {} = {}{} of {}", first.name, first.value,
                             others == 0 ? "" : " and " + counted_noun(others, "other"),
                             name_of(first.number))});
    i = next;
  }
  if (!sysctls_.take_overrun()) return;
  found.push_back({.what = "wrote more sysctls than the kernel could report"});
  for (size_t i = 0; i < sysctls_.size(); ++i) sysctls_.compare(i);
}

}  // namespace mrclab::lab
