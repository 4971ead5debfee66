#pragma once
// The way back to one peer: one entropy value per plane for SACKs, NACKs and ACKs (MRC paper §2.4).
// The carrier of a packet cannot be reversed after it was shifted, and the reversed path "won't
// always work", so a plane's value has three states:
//
//   heard      data of the peer came in on it; taken unless a confirmed one is in use
//   confirmed  something of ours on it was answered: a SACK for our data, or an EV probe
//   suspect    a probe in its plane was not answered; the plane is used only if no other is left
//
// While the peer sends and we send it nothing, one EV probe per interval (one RTT) goes out on a
// random value; if it is answered, that value becomes its plane's (MRC paper §2.4).
//
// Packets rotate over the planes that lead from a live port to one, are not suspect, and on which data of the
// peer came lately, so one dead direction costs a share of the SACKs for some RTTs, never all of them.

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "endpoint/paths/ev_set.h"
#include "endpoint/paths/live_ports.h"
#include "fabric/base/cache_line.h"
#include "fabric/base/ids.h"
#include "fabric/base/random.h"
#include "fabric/base/units.h"

namespace mrclab::endpoint {

class ReversePath {
 public:
  struct Config {
    FabricTime fresh;           ///< a plane counts as heard for so long
    FabricTime confirmed;       ///< and its value as confirmed
    FabricTime probe_interval;  ///< one EV probe per this time; at least one base RTT
    FabricTime probe_timeout;
    uint64_t seed = 0;
    NodeId self;
    uint32_t peer = 0;  ///< host number
  };
  /// Gives the same values whenever it is called, as for an EvSet.
  using MakeValues = std::function<std::vector<EntropyValue>()>;
  /// The first value of each plane is used until data or an answer came. The values are made when they are needed first,
  /// which is not where we alone send data, and where they are many again each time: a peer is asked for one of them once
  /// in a probe interval, and has hundreds.
  ReversePath(MakeValues make_values, uint32_t planes, Config config,
              PeerPortOf peer_port = same_port);

  /// Loads the states of the planes into the cache.
  void fetch() const { fetch_lines(planes_.data(), planes_.size() * sizeof(Plane)); }
  /// Does the plane's value depend on the path by which data comes in?
  bool takes_heard(uint32_t plane, FabricTime now) const {
    return !still_confirmed(planes_[plane], now);
  }
  /// Data of the peer came in on this plane, and on this path, if the packet names it and it makes a difference.
  void note_data(std::optional<Path> path, uint32_t number, FabricTime now) {
    Plane& plane = planes_[number];
    plane.heard = now;
    if (path && !still_confirmed(plane, now)) {
      const EntropyValue ev = ev_of(*path);
      if (!is_denied(ev)) take(plane, ev, *path);
    }
    heard_ = true;
    if (due_ == FabricTime::never()) due_ = now + config_.probe_interval;
  }
  /// The peer answered something that we sent on this value.
  void confirmed(EntropyValue ev, FabricTime now);
  void data_sent(FabricTime now) { last_sent_ = now; }
  /// The controller denies or allows a value: a denied one carries nothing.
  void set_denied(EntropyValue ev, bool denied);

  /// Empty if no path between live ports is left.
  std::optional<EntropyValue> choose(LivePorts live, FabricTime now);
  /// Any value that is not denied, at random, also a suspect one.
  std::optional<EntropyValue> any(LivePorts live);
  /// The value in use for the plane, or another of the plane that leads to a live port.
  std::optional<EntropyValue> of_plane(uint32_t plane, LivePorts live = {});
  bool suspect(uint32_t plane) const { return planes_[plane].suspect; }

  struct Probe {
    EntropyValue ev;
    uint16_t id = 0;
  };
  /// When next_probe() is to be called; never() while the peer is silent.
  FabricTime probe_due() const { return due_; }
  /// The probe to send now, if any.
  std::optional<Probe> next_probe(LivePorts live, FabricTime now);
  /// The round trip of the probe, or empty if there is none with this number any more.
  std::optional<FabricTime> answered(uint16_t id, FabricTime now);

 private:
  struct Value {
    EntropyValue ev;
    uint8_t peer_port = 0;  ///< sets of ports are masks of 32 bits
  };
  /// Grouped by planes, in ascending order.
  struct Values {
    std::vector<uint32_t> ends;  ///< by plane: where its values end
    std::vector<EntropyValue> evs;
    std::vector<uint8_t> peer_ports;
    uint32_t begin(uint32_t plane) const { return plane == 0 ? 0 : ends[plane - 1]; }
    Value operator[](uint32_t i) const { return {evs[i], peer_ports[i]}; }
  };
  struct Plane {
    std::optional<Value> own;  ///< never denied
    uint32_t peer_ports = 0;   ///< bits: those of the peer that its values lead to
    FabricTime heard;
    FabricTime confirmed = FabricTime::never();  ///< when it was confirmed; never(): it was not
    bool suspect = false;
  };
  struct Sent {
    Probe probe;
    FabricTime at;
    bool open = false;
  };
  static bool arrives(const Value& value, LivePorts live) {
    return (live.peer & 1u << value.peer_port) != 0;
  }
  static constexpr size_t kOpenProbes = 8;  ///< more than fit between a probe and its timeout

  Value value_of(EntropyValue ev, Path path) const {
    return {ev, static_cast<uint8_t>(peer_port_(path))};
  }
  bool still_confirmed(const Plane& plane, FabricTime now) const {
    return plane.confirmed != FabricTime::never() && now - plane.confirmed <= config_.confirmed;
  }
  bool is_denied(EntropyValue ev) const {
    return !denied_.empty() && std::binary_search(denied_.begin(), denied_.end(), ev);
  }
  Values made_values() const;
  /// The values of all planes: those that are kept, or else `made`, which it fills.
  const Values& values(Values& made) const;
  /// Planes without a value begin with their first one.
  [[gnu::noinline]] void begin_with_first();
  std::optional<Value> first_of(const Values& values, uint32_t plane, LivePorts live) const;
  void take(Plane& plane, EntropyValue ev, Path path) {
    if (plane.own && plane.own->ev == ev) return;
    plane.own = value_of(ev, path);
  }
  void expire(LivePorts live, FabricTime now);

  /// A peer with more than these has them made when they are asked for, once in a probe interval (our choice: a value takes
  /// 5 bytes, so that 256 of each of 131,072 hosts' peers would take 170 MB).
  static constexpr size_t kMostKept = 128;
  std::vector<Plane> planes_;
  MakeValues make_values_;
  bool has_begun_ = false;              // planes have values
  std::unique_ptr<const Values> kept_;  // if they are few
  std::vector<EntropyValue> denied_;    // the values that the controller denies, in ascending order
  Config config_;
  PeerPortOf peer_port_;
  uint32_t next_ = 0;
  FabricTime last_sent_ = FabricTime::never();
  bool heard_ = false;  // since the last probe was considered
  FabricTime due_ = FabricTime::never();
  std::array<Sent, kOpenProbes> sent_;
  uint16_t last_id_ = 0;
  uint64_t draws_ = 0;
};

}  // namespace mrclab::endpoint
