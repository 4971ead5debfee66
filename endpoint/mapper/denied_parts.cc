#include "endpoint/mapper/denied_parts.h"

#include <algorithm>

#include "fabric/probes/mapper_message.h"
#include "fabric/text/yaml.h"

namespace mrclab::endpoint {

DeniedParts::DeniedParts(const Topology& topology)
    : topology_(topology), numbers_(topology), times_(numbers_.count()) {}

uint32_t DeniedParts::most(uint32_t of) const {
  const uint64_t share = topology_.denylist.at_most.ppb;
  return static_cast<uint32_t>(of * share / Probability::kOne);
}

bool DeniedParts::has(const DeniedPart& part) const {
  return std::find(parts_.begin(), parts_.end(), part) != parts_.end();
}

std::optional<std::string> DeniedParts::refusal(const DeniedPart& part) const {
  const std::string of = "more than " + exact(topology_.denylist.at_most) + " of ";
  if (parts_.size() >= DeniedList::kMostParts) {
    return "a list has at most " + std::to_string(DeniedList::kMostParts) + " parts";
  }
  const std::vector<uint32_t> links = numbers_.links_of(part);
  uint32_t between = 0, ports = 0;
  const auto is_port = [](const DeniedPart& link) { return link.kind == PartKind::kPort; };
  for (uint32_t number = 0; number < times_.size(); ++number) {
    const DeniedPart link = numbers_.part(number);
    if (link.plane != part.plane || times_[number] == 0) continue;
    ++(is_port(link) ? ports : between);
  }
  const uint32_t before = ports;
  for (const uint32_t number : links) {
    if (times_[number] > 0) continue;
    const DeniedPart link = numbers_.part(number);
    ++(is_port(link) ? ports : between);
    if (!is_port(link)) continue;
    uint32_t of_host = 1;
    for (uint32_t p = 0; p < topology_.planes; ++p) {
      of_host += times_[numbers_.port(p, link.index)] > 0 ? 1 : 0;
    }
    if (of_host > most(topology_.planes)) return of + "a host's ports";
  }
  if (between > most(topology_.t0_per_plane * topology_.t1_per_plane)) {
    return of + "the links between the switches of a plane";
  }
  if (ports > before && ports > std::max(1u, most(topology_.host_count()))) {
    return of + "the links to hosts of a plane";
  }
  if (splits_plane(part, links)) return "no T1 would be left between two T0s of the plane";
  return std::nullopt;
}

/// A T0 or plane that is denied has no paths that could be left.
bool DeniedParts::splits_plane(const DeniedPart& part, const std::vector<uint32_t>& links) const {
  if (part.kind != PartKind::kLink && part.kind != PartKind::kT1) return false;
  const auto is_live = [&](uint32_t a, uint32_t u) {
    const uint32_t number = numbers_.link(part.plane, a, u);
    return times_[number] == 0 && std::find(links.begin(), links.end(), number) == links.end();
  };
  for (const uint32_t number : links) {
    const uint32_t a = numbers_.part(number).index;
    for (uint32_t b = 0; b < topology_.t0_per_plane; ++b) {
      if (b == a) continue;
      bool left = false;
      for (uint32_t u = 0; !left && u < topology_.t1_per_plane; ++u) {
        left = is_live(a, u) && is_live(b, u);
      }
      if (!left) return true;
    }
  }
  return false;
}

void DeniedParts::add(const DeniedPart& part) {
  parts_.push_back(part);
  for (const uint32_t number : numbers_.links_of(part)) ++times_[number];
}

void DeniedParts::remove(const DeniedPart& part) {
  const auto place = std::find(parts_.begin(), parts_.end(), part);
  if (place == parts_.end()) return;
  parts_.erase(place);
  for (const uint32_t number : numbers_.links_of(part)) --times_[number];
}

FixedParts fixed_parts(const Topology& topology) {
  FixedParts fixed{DeniedParts(topology), {}};
  for (const std::string& text : topology.denylist.fixed) {
    for (const DeniedPart& part : parts_named(topology, text)) {
      if (fixed.denied.has(part)) continue;
      if (auto why = fixed.denied.refusal(part)) {
        fixed.refused.emplace_back(part, std::move(*why));
      } else {
        fixed.denied.add(part);
      }
    }
  }
  return fixed;
}

}  // namespace mrclab::endpoint
