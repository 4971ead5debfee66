#pragma once
// Detection of a dead neighbour by packets that go back and forth: BFD in asynchronous mode (RFC 5880, over
// UDP in IPv6 by RFC 5881), so that other decoders and speakers understand it. Left out: demand mode, the echo
// function, authentication. The interval holds in all states; RFC 5880 section 6.8.3 demands a second while a
// session is down, which would be longer than a whole fabric lives.

#include <cstdint>
#include <vector>

#include "fabric/base/units.h"
#include "fabric/topology/dscp.h"
#include "routing/base/octets.h"
#include "routing/tcp/tcp_segment.h"

namespace mrclab::routing {

inline constexpr uint16_t kBfdPort = 3784;

struct BfdParameters {
  FabricTime interval =
      FabricTime::from_us(50);  ///< between packets, both ways; whole microseconds
  uint8_t multiplier = 3;       ///< so many intervals of silence are death
  uint8_t traffic_class = kDscpRouting << 2;
};

class BfdSession {
 public:
  enum class State : uint8_t { kAdminDown = 0, kDown = 1, kInit = 2, kUp = 3 };

  /// `discriminator`: not 0, its own in this node. `jitter`: 64 uniform bits, which shorten the interval by up
  /// to a quarter (section 6.8.7).
  BfdSession(const BfdParameters& parameters, const TcpAddresses& addresses, uint32_t discriminator,
             uint64_t jitter, FabricTime now);

  State state() const { return state_; }
  bool up() const { return state_ == State::kUp; }
  /// Any IPv6 packet; false if it is not of this session.
  bool on_packet(OctetView packet, FabricTime now);
  FabricTime deadline() const { return send_at_ < silent_at_ ? send_at_ : silent_at_; }
  void on_timer(FabricTime now);
  void output(std::vector<Octets>& packets);

 private:
  void write(std::vector<Octets>& packets, bool final) const;
  uint32_t interval_us() const;

  BfdParameters parameters_;
  TcpAddresses addresses_;
  uint32_t discriminator_, peer_discriminator_ = 0;
  State state_ = State::kDown;
  FabricTime peer_interval_ = FabricTime::zero();  ///< that it asks for
  FabricTime shorter_;                             ///< jitter
  FabricTime send_at_, silent_at_ = FabricTime::never();
  bool due_ = false, final_due_ = false;
};

}  // namespace mrclab::routing
