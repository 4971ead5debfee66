#pragma once
// A part of the fabric that a denylist names, and the paths that it takes away. In regular planes:
//
//   link   T0 a - T1 u in plane p    path p/u of the hosts of a, and toward them
//   port   of host h in plane p      plane p of h, and toward h
//   t1     T1 u in plane p           path p/u of every host
//   t0     T0 a in plane p           plane p of the hosts of a, and toward them
//   plane  p                         plane p
//
// Both directions of a link at once: what comes back of one is denied with it (our choice).

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/topology/path.h"
#include "fabric/topology/topology.h"

namespace mrclab {

struct DeniedPart {
  enum class Kind : uint8_t { kLink, kPort, kT1, kT0, kPlane };
  static constexpr uint8_t kKinds = 5;
  Kind kind = Kind::kLink;
  uint8_t plane = 0;
  uint16_t uplink = 0;  ///< link, t1: u
  uint32_t index = 0;   ///< link, t0: a; port: h
  auto operator<=>(const DeniedPart&) const = default;
};

using PartKind = DeniedPart::Kind;

/// Does the fabric have it? What comes in a packet may be anything.
bool has_part(const Topology& topology, const DeniedPart& part);
/// "link p0.t0-0:u1--p0.t1-1:d0", "switch p0.t1-2", "plane p3", as blame names them.
std::string name_of(const Topology& topology, const DeniedPart& part);
/// The parts that a name or a pattern means: of a link ("p0.t0-0:u1", "a--b", "h3:p2"), a switch ("p0.t1-2") or a plane
/// ("p3"), with its kind before it ("switch p0.t1-2") or without. Throws NameError.
std::vector<DeniedPart> parts_named(const Topology& topology, std::string_view text);

/// Does the path between these hosts lead over the part?
bool crosses(const Topology& topology, const DeniedPart& part, uint32_t source,
             uint32_t destination, Path path);

/// Links are numbered for those that keep something for each: first those between T0s and T1s, plane by plane, then the
/// ports of hosts.
class LinkNumbers {
 public:
  explicit LinkNumbers(const Topology& topology);
  uint32_t count() const { return between_ * planes_ + hosts_ * planes_; }
  uint32_t link(uint32_t plane, uint32_t t0, uint32_t t1) const {
    return plane * between_ + t0 * t1s_ + t1;
  }
  uint32_t port(uint32_t plane, uint32_t host) const {
    return between_ * planes_ + plane * hosts_ + host;
  }
  DeniedPart part(uint32_t number) const;
  /// All links that a part takes out of use.
  std::vector<uint32_t> links_of(const DeniedPart& part) const;

 private:
  uint32_t planes_, t0s_, t1s_, hosts_, between_;
};

}  // namespace mrclab
