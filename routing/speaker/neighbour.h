#pragma once
// One neighbour of a speaker: connecting and accepting, up to two connections while both sides open one, the
// choice between them (RFC 4271 section 6.8), BFD, loss of carrier. What it hands up are messages of the one
// session that lives.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "routing/session/bgp_session.h"
#include "routing/speaker/speaker_parameters.h"
#include "routing/tcp/tcp_connection.h"

namespace mrclab::routing {

class Neighbour {
 public:
  /// `parameters` and `own` stay where they are.
  Neighbour(const SpeakerParameters& own, const NeighbourParameters& parameters);

  const NeighbourParameters& parameters() const { return parameters_; }
  void start(FabricTime now);
  void set_carrier(bool up, FabricTime now);
  bool carrier() const { return carrier_; }

  /// An IPv6 packet from the port. False: it is none of ours.
  bool on_packet(OctetView packet, FabricTime now);
  FabricTime deadline() const;
  void on_timer(FabricTime now);
  /// Moves octets between connections and sessions, and appends the packets that leave.
  void output(FabricTime now, std::vector<Octets>& packets);

  /// The session that is established; nullptr without one.
  const BgpSession* session() const;
  const BfdSession* bfd() const { return bfd_ ? &*bfd_ : nullptr; }
  bool has_input() const;
  /// The next message of any of its sessions: Established once for each that lives.
  std::optional<BgpSession::Message> take_message(FabricTime now);
  /// Does taking the next one cost the time of an UPDATE?
  bool update_is_next() const;
  /// Once after an established session has ended: why.
  std::optional<std::string> take_loss();
  /// May more be sent? Nothing waits in front of the connection.
  bool may_send() const;
  void send(OctetView message, FabricTime now);
  void end_session(const Notification& notification);

 private:
  struct Connection {
    TcpConnection tcp;
    bool ours = false;  ///< we have opened it
    FabricTime began;
    std::optional<BgpSession> session = std::nullopt;
    FabricTime linger_until = FabricTime::never();  ///< its session is over
    bool was_established = false;
  };
  /// While one lives and one is refused, others may still be closing. One more that comes in takes the place of the
  /// oldest on which no OPEN came: else six silent connections would keep the neighbour out.
  static constexpr size_t kMaxConnections = 6;

  SessionParameters session_parameters() const;
  uint64_t next_draw();
  void start_bfd(FabricTime now);
  void retry_later(FabricTime now);
  bool connecting() const;
  void connect(FabricTime now);
  static bool says_nothing(const Connection& connection);
  bool make_room(FabricTime now);
  void end_silent(FabricTime now);
  void on_segment(const TcpSegment& segment, FabricTime now);
  void refuse(const TcpSegment& segment);
  void resolve_collision(Connection& opened);
  void pump(Connection& connection, FabricTime now);
  void remove_closed(FabricTime now);
  void drop_all(const std::string& reason);
  void note_end(Connection& connection);

  const SpeakerParameters& own_;
  const NeighbourParameters& parameters_;
  std::vector<std::unique_ptr<Connection>>
      connections_;  ///< at fixed places: sessions are handed out
  std::optional<BfdSession> bfd_;
  bool bfd_was_up_ = false;
  bool started_ = false, carrier_ = true;
  FabricTime carrier_lost_at_ = FabricTime::never();
  FabricTime retry_at_ = FabricTime::never();
  std::optional<std::string> loss_;
  std::vector<Octets> refusals_;
  uint64_t draws_ = 0;
};

}  // namespace mrclab::routing
