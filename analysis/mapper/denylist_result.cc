#include "analysis/mapper/denylist_result.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "fabric/probes/denylist_fit.h"

namespace mrclab::analysis {
namespace {

/// "version 3, link a--b, 12 of 99 probes lost": what follows the first word, and the rest.
struct Said {
  uint64_t version = 0;
  std::string_view first, rest;
};

std::optional<Said> said_in(std::string_view detail) {
  constexpr std::string_view kVersion = "version ", kComma = ", ";
  if (!detail.starts_with(kVersion)) return std::nullopt;
  detail.remove_prefix(kVersion.size());
  Said said;
  const size_t end = detail.find(kComma);
  if (end == std::string_view::npos) return std::nullopt;
  const auto [stop, error] = std::from_chars(detail.data(), detail.data() + end, said.version);
  if (error != std::errc() || stop != detail.data() + end) return std::nullopt;
  detail.remove_prefix(end + kComma.size());
  const size_t comma = detail.find(kComma);
  said.first = detail.substr(0, comma);
  if (comma != std::string_view::npos) said.rest = detail.substr(comma + kComma.size());
  return said;
}

uint64_t number_behind(std::string_view text) {
  uint64_t number = 0;
  const size_t space = text.find(' ');
  if (space == std::string_view::npos) return 0;
  std::from_chars(text.data() + space + 1, text.data() + text.size(), number);
  return number;
}

/// When each host had a list of this version or a newer one in force for the first time.
struct Reach {
  uint32_t hosts = 0;
  FabricTime last;
};
Reach reach_of(const std::vector<DenylistNews>& events, uint64_t version, FabricTime from) {
  std::set<uint32_t> hosts;
  Reach reach;
  for (const DenylistNews& news : events) {
    if (!news.is_set || news.t < from || news.cause == "expired") continue;
    const auto said = said_in(news.detail);
    if (!said || said->version < version || !hosts.insert(news.host).second) continue;
    reach.last = news.t;
  }
  reach.hosts = static_cast<uint32_t>(hosts.size());
  return reach;
}

}  // namespace

std::optional<DenylistResult> denylist_result(const Topology& topology, const EventHistory& events,
                                              const Coverage& coverage) {
  if (!topology.denylist.on) return std::nullopt;
  DenylistResult result;
  result.collector = topology.node(topology.host(collector_of(topology))).name;
  result.hosts = topology.host_count();
  if (!coverage.whole(Witness::kEvents)) {
    result.none = coverage.why(Witness::kEvents);
    return result;
  }
  std::set<uint64_t> versions;
  std::map<uint32_t, uint64_t> left_out;  // by host, now
  for (const DenylistNews& news : events.denylist()) {
    const auto said = said_in(news.detail);
    if (!said) continue;
    if (news.is_set) {
      result.expired += news.cause == "expired" ? 1 : 0;
      left_out[news.host] = number_behind(said->rest);
      uint64_t sum = 0;
      for (const auto& [host, count] : left_out) sum += count;
      result.left_out = std::max(result.left_out, sum);
      continue;
    }
    if (news.cause == "capped") {
      result.capped.push_back({news.t, std::string(said->first), std::string(said->rest)});
      continue;
    }
    versions.insert(said->version);
    const Reach reach = reach_of(events.denylist(), said->version, news.t);
    if (news.cause == "deny") {
      DenialSpan span;
      span.part = said->first;
      span.why = said->rest;
      span.at = news.t;
      span.hosts = reach.hosts;
      span.reached = reach.last;
      result.spans.push_back(std::move(span));
      continue;
    }
    for (DenialSpan& span : result.spans) {
      if (span.part != said->first || span.allowed != FabricTime::never()) continue;
      span.allowed = news.t;
      if (reach.hosts == result.hosts) span.back = reach.last;
    }
  }
  result.lists = versions.size();
  return result;
}

}  // namespace mrclab::analysis
