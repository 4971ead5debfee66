#include "live/conform/probe_frames.h"

#include <fmt/format.h>

#include "fabric/base/byte_order.h"
#include "fabric/packet/headers.h"
#include "fabric/paths/path_list.h"
#include "fabric/text/yaml.h"

namespace mrclab::lab {
namespace {

constexpr size_t kProbeBytes = 150;  // a short datagram
constexpr uint8_t kHopLimit = 64;
constexpr size_t kHopLimitAt = kOuterOffset + 7, kNextHeaderAt = kOuterOffset + 6,
                 kLengthAt = kOuterOffset + 4, kDestinationAt = kOuterOffset + 24;

void put_label(std::vector<uint8_t>& frame, size_t header, uint32_t label) {
  frame[header + 1] = static_cast<uint8_t>((frame[header + 1] & 0xF0) | label >> 16);
  store_be<uint16_t>(&frame[header + 2], static_cast<uint16_t>(label));
}

ProbeFrame datagram(const Topology& topology, uint32_t source, uint32_t destination, Path path,
                    uint32_t label) {
  const PortRef nic{topology.host(source), PortId{path.plane}};
  MrcFrameSpec spec;
  spec.source_mac = topology.port(nic).mac;
  spec.destination_mac = topology.port(topology.port(nic).peer).mac;
  spec.outer_source = spec.inner_source = host_address(topology, source);
  spec.carrier = make_carrier(topology, source, destination, path);
  spec.inner_destination = host_address(topology, destination);
  spec.hop_limit = kHopLimit;
  spec.udp_port = kDiscardPort;
  spec.ev = ev_of(path);
  ProbeFrame probe{{}, source, path.plane, std::vector<uint8_t>(kProbeBytes)};
  write_datagram(spec, kProbeBytes, probe.bytes);
  put_label(probe.bytes, kOuterOffset, label);
  put_label(probe.bytes, kInnerOffset, label);
  return probe;
}

std::vector<PathProbe::Hop> hops_of(const Topology& topology, uint32_t source, uint32_t destination,
                                    Path path) {
  std::vector<PathProbe::Hop> hops;
  Ipv6Address carrier = make_carrier(topology, source, destination, path);
  uint8_t limit = kHopLimit;
  const auto exits = exits_of(topology, source, destination, path);
  for (const PortRef exit : exits) {
    if (!hops.empty()) {
      shift_carrier(carrier);
      --limit;
    }
    hops.push_back({exit, carrier, limit});
  }
  if (topology.decap == Decap::kLeaf) {
    hops.back().destination = host_address(topology, destination);
    hops.back().hop_limit = kHopLimit - 1;  // the inner header's, which only this switch counts
  }
  return hops;
}

/// Makes the wrong frames out of one good path over three switches.
class WrongFrames {
 public:
  WrongFrames(const Topology& topology, uint32_t label) : topology_(topology), label_(label) {
    for (uint32_t to = 1; to < topology.host_count(); ++to) {
      for (const Path path : paths_between(topology, 0, to)) {
        if (exits_of(topology, 0, to, path).size() != 4) continue;
        destination_ = to;
        path_ = path;
        return;
      }
    }
    throw InputError(
        fmt::format("found no path over three switches in the fabric {}: expected one, to send "
                    "wrong carriers along",
                    topology.name));
  }

  std::vector<WrongProbe> all() {
    const Usid first = usid(0), spine = usid(1), last = usid(2), end = usid(3);
    const Usid unassigned{0x0fff};  // a role that no layout has
    add("a uSID that no node has, next", carrier({first, unassigned, last, end}), {}, {}, {}, "");
    add("a uSID that no node has, active", carrier({unassigned, spine, last, end}), {}, {}, {}, "");
    add("ends at the first switch", carrier({first}), {}, {}, {}, "");
    add("ends at the second switch", carrier({first, spine}), {1, 63}, {1, 63}, {1, 63}, "");
    add("zero in the middle", carrier({first, Usid{0}, spine, last, end}), {}, {}, {}, "");
    add("the first switch twice", carrier({first, first, spine, last, end}), {3, 60}, {3, 61},
        {3, 60},
        "RFC 9800 counts a hop for each segment; the kernel shifts as often and counts one "
        "hop, when it forwards");
    add("begins at the second switch", carrier({spine, last, end}), {3, 61}, {3, 61}, {3, 61}, "");
    Ipv6Address documentation{0x20, 0x01, 0x0d, 0xb8};  // RFC 3849
    add("outside the block", documentation, {}, {}, {}, "");
    if (topology_.regular()) {
      add("to a host, without a carrier", host_address(topology_, destination_), {3, 61}, {},
          {3, 61},
          "our switch and the OpenFlow rules also route by host, for ECMP; switches in the kernel "
          "have routes for carriers only")
          .known[static_cast<size_t>(Forwarding::kBpf)] = {};
    }
    hop_limits();
    segment_routing_headers();
    frames();
    return std::move(probes_);
  }

 private:
  Usid usid(size_t place) const {
    const Ipv6Address good = make_carrier(topology_, 0, destination_, path_);
    return {load_be<uint16_t>(&good[4 + 2 * place])};
  }

  static Ipv6Address carrier(const std::vector<Usid>& usids) {
    Ipv6Address address{};
    store_be<uint32_t>(address.data(), kUsidBlock);
    for (size_t i = 0; i < usids.size(); ++i) {
      store_be<uint16_t>(&address[4 + 2 * i], usids[i].value);
    }
    return address;
  }

  WrongProbe& add(std::string name, const Ipv6Address& destination, Reach ours, Reach kernel,
                  Reach ovs, std::string why) {
    ProbeFrame frame = datagram(topology_, 0, destination_, path_, label_++);
    std::copy(destination.begin(), destination.end(), frame.bytes.begin() + kDestinationAt);
    frame.name = std::move(name);
    probes_.push_back({std::move(frame), {ours, kernel, ovs, ours}, std::move(why)});
    return probes_.back();
  }

  WrongProbe& add_good(std::string name, Reach ours, Reach kernel, Reach ovs, std::string why) {
    return add(std::move(name), make_carrier(topology_, 0, destination_, path_), ours, kernel, ovs,
               std::move(why));
  }

  void hop_limits() {
    for (const uint8_t limit : {uint8_t{0}, uint8_t{1}, uint8_t{2}, uint8_t{3}, uint8_t{4}}) {
      const uint32_t crosses = limit < 2 ? 0 : std::min<uint32_t>(limit - 1u, 3);
      const Reach reach{crosses, static_cast<uint8_t>(crosses == 0 ? 64 : limit - crosses)};
      add_good(fmt::format("hop limit {}", limit), reach, reach, reach, "")
          .frame.bytes[kHopLimitAt] = limit;
    }
  }

  /// A routing header behind the outer one (RFC 8754): one segment left, `next`.
  void insert_srh(WrongProbe& probe, const Ipv6Address& next) {
    std::vector<uint8_t> srh(24, 0);
    srh[0] = kNextHeaderIpv6;
    srh[1] = 2;  // 16 bytes beyond the first eight
    srh[2] = 4;  // segment routing
    srh[3] = 1;  // segments left; of a list of one, so that the active one is not in it (reduced)
    std::copy(next.begin(), next.end(), srh.begin() + 8);
    std::vector<uint8_t>& bytes = probe.frame.bytes;
    bytes[kNextHeaderAt] = 43;
    bytes.insert(bytes.begin() + kInnerOffset, srh.begin(), srh.end());
    store_be<uint16_t>(&bytes[kLengthAt], static_cast<uint16_t>(bytes.size() - kInnerOffset));
  }

  void segment_routing_headers() {
    const Usid first = usid(0), spine = usid(1), last = usid(2), end = usid(3);
    insert_srh(add_good("a routing header, not needed", {3, 61}, {3, 61}, {3, 61}, ""),
               carrier({last, end}));
    WrongProbe& goes_on =
        add("goes on in a routing header", carrier({first, spine}), {1, 63}, {3, 61}, {1, 63},
            "at the end of a carrier the kernel takes the next segment of the header (RFC 8986 "
            "§4.1); our switch and the OpenFlow rules read no routing header");
    insert_srh(goes_on, carrier({last, end}));
    goes_on.rewritten_by = Forwarding::kKernel;  // its count of segments left
  }

  void frames() {
    add_good(
        "to another MAC address", {3, 61}, {}, {3, 61},
        "the kernel drops what is for another station; our switch and the OpenFlow rules look at "
        "the carrier alone")
        .frame.bytes[5] ^= 1;
    WrongProbe& longer = add_good("a length beyond the frame", {}, {}, {}, "");
    store_be<uint16_t>(&longer.frame.bytes[kLengthAt], 400);
    longer.frame.name = "a length beyond the frame";
    plain_udp();
  }

  /// UDP right behind the carrier, with a checksum over what the receiver will see (RFC 9800 §6.5).
  void plain_udp() {
    WrongProbe& probe = add_good("UDP without an inner header", {3, 61}, {3, 61}, {3, 61},
                                 "Open vSwitch corrects a UDP checksum when it changes the "
                                 "address; a switch that shifts uSIDs "
                                 "does not, and the sender has computed it for the last address");
    std::vector<uint8_t>& bytes = probe.frame.bytes;
    bytes[kNextHeaderAt] = kNextHeaderUdp;
    bytes.erase(bytes.begin() + kInnerOffset, bytes.begin() + kUdpOffset);
    store_be<uint16_t>(&bytes[kLengthAt], static_cast<uint16_t>(bytes.size() - kInnerOffset));
    store_be<uint16_t>(&bytes[kInnerOffset + 6], 0x1234);
    probe.rewritten_by = Forwarding::kOvs;
  }

  const Topology& topology_;
  uint32_t label_;
  uint32_t destination_ = 0;
  Path path_;
  std::vector<WrongProbe> probes_;
};

}  // namespace

std::vector<PathProbe> path_probes(const Topology& topology) {
  std::vector<PathProbe> probes;
  for (uint32_t from = 0; from < topology.host_count(); ++from) {
    for (uint32_t to = 0; to < topology.host_count(); ++to) {
      if (from == to) continue;
      for (const Path path : paths_between(topology, from, to)) {
        if (probes.size() == kMaxProbes / 2) {
          throw InputError(
              fmt::format("found more than {} paths: expected a smaller fabric", kMaxProbes / 2));
        }
        PathProbe probe;
        probe.frame = datagram(topology, from, to, path, static_cast<uint32_t>(probes.size()) + 1);
        probe.frame.name = fmt::format("{} to {} over {}", topology.node(topology.host(from)).name,
                                       topology.node(topology.host(to)).name, to_string(path));
        probe.destination = to;
        probe.expected = hops_of(topology, from, to, path);
        probes.push_back(std::move(probe));
      }
    }
  }
  return probes;
}

std::vector<WrongProbe> wrong_probes(const Topology& topology, uint32_t first_label) {
  return WrongFrames(topology, first_label).all();
}

}  // namespace mrclab::lab
