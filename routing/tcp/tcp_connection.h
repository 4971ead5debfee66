#pragma once
// One TCP connection between direct neighbours: as little of RFC 9293 as it allows, pure.
//
//   connect() or accept()      the handshake
//   on_segment()               what has arrived; octets in order wait in received()
//   send(), close(), abort()   the owner's requests
//   output()                   makes the segments that may leave now: the owner calls it after any of these
//
// Built: handshake (also when both open at once), sliding window, retransmission by RFC 6298 and after three
// duplicate acknowledgements, slow start and congestion avoidance (RFC 5681), probes of a window of 0, close
// in both directions, TIME-WAIT, defence against blind resets and SYNs (RFC 5961).
// Left out: segments out of order are dropped, as wires between neighbours keep order; no selective
// acknowledgements, no window scaling, no timestamps, no delayed acknowledgements, no urgent data.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "fabric/base/units.h"
#include "fabric/topology/dscp.h"
#include "routing/tcp/tcp_segment.h"

namespace mrclab::routing {

struct TcpParameters {
  uint16_t mss = 1440;            ///< of what we take: MTU - 60
  uint32_t window = 65'535;       ///< octets that may wait to be read; no scaling
  uint32_t send_limit = 1 << 17;  ///< octets that wait to be acknowledged
  FabricTime rto_first =
      FabricTime::from_ms(1);  ///< RFC 6298 has 1 s, for the Internet; our choice
  FabricTime rto_least = FabricTime::from_us(200);  ///< likewise
  FabricTime rto_most = FabricTime::from_ms(100);   ///< likewise
  /// Retransmissions in a row without an answer, then it is given up. BGP's hold timer is to notice first.
  uint32_t retries = 1'000;
  uint32_t syn_retries = 8;                       ///< likewise of the handshake
  FabricTime time_wait = FabricTime::from_ms(1);  ///< 2 MSL between neighbours; our choice
  uint8_t traffic_class = kDscpRouting << 2;
};

class TcpConnection {
 public:
  enum class State : uint8_t { kSynSent, kSynReceived, kEstablished, kTimeWait, kClosed };
  enum class End : uint8_t { kOpen, kByBoth, kReset, kRefused, kTimedOut };

  struct Identity {
    Ipv6Address local{}, remote{};
    uint16_t local_port = 0, remote_port = 0;
    bool operator==(const Identity&) const = default;
  };

  /// Opens actively.
  static TcpConnection connect(const Identity& identity, const TcpParameters& parameters,
                               TcpSequence first, FabricTime now);
  /// Answers `syn`, a segment with SYN and without ACK.
  static TcpConnection accept(const Identity& identity, const TcpParameters& parameters,
                              TcpSequence first, const TcpSegment& syn, FabricTime now);

  const Identity& identity() const { return identity_; }
  State state() const { return state_; }
  /// Why it is closed; kOpen while it is not.
  End end() const { return end_; }
  bool established() const { return state_ == State::kEstablished; }
  /// The peer has closed its side and all of its octets were read.
  bool peer_closed() const { return fin_received_ && received_.empty(); }

  void on_segment(const TcpSegment& segment, FabricTime now);

  /// What has arrived and was not consumed.
  OctetView received() const { return received_; }
  void consume(size_t octets);

  /// Octets that send() takes now.
  size_t room() const;
  /// At most room() octets, before close().
  void send(OctetView octets);
  /// Octets that the peer has not acknowledged.
  size_t unacknowledged() const { return buffer_.size(); }
  /// No more to send: FIN goes when all has gone.
  void close();
  /// RST goes, and nothing more.
  void abort();

  /// Appends IPv6 packets.
  void output(FabricTime now, std::vector<Octets>& packets);
  FabricTime deadline() const { return timer_; }
  void on_timer(FabricTime now);

 private:
  TcpConnection(const Identity& identity, const TcpParameters& parameters, TcpSequence first,
                FabricTime now);

  bool acceptable(const TcpSegment& segment) const;
  void on_handshake(const TcpSegment& segment, FabricTime now);
  void on_acknowledgement(const TcpSegment& segment, FabricTime now);
  void on_duplicate();
  void take_payload(const TcpSegment& segment);
  void finish_if_done(FabricTime now);
  void end_as(End end);
  void measure(FabricTime now);
  void arm(FabricTime now);
  void go_back();
  uint32_t flight() const { return static_cast<uint32_t>(next_ - unacknowledged_); }
  uint16_t advertised_window() const;
  TcpSegment plain_segment() const;
  void emit(const TcpSegment& segment, std::vector<Octets>& packets) const;
  void output_data(FabricTime now, std::vector<Octets>& packets);

  Identity identity_;
  TcpParameters parameters_;
  State state_ = State::kSynSent;
  End end_ = End::kOpen;

  // What we send: [unacknowledged_, next_) is in flight, up to highest_ was sent before.
  Octets buffer_;  ///< begins at the first octet that is not acknowledged
  TcpSequence unacknowledged_, next_, highest_;
  uint32_t peer_window_ = 0;
  uint16_t peer_mss_ = 1220;  ///< RFC 9293 section 3.7.1, where the peer sends no option
  uint32_t congestion_window_ = 0, slow_start_threshold_ = 0;
  uint32_t duplicates_ = 0;
  bool fin_wanted_ = false, fin_sent_ = false, fin_acknowledged_ = false;
  bool probe_ = false;  ///< one octet may go beyond a window of 0
  bool reset_wanted_ = false;

  // What we receive.
  Octets received_;
  TcpSequence expected_;
  bool fin_received_ = false;
  bool closed_first_ = false;  ///< our FIN went before the peer's came
  bool acknowledge_ = false;   ///< an acknowledgement is due

  // Timer (RFC 6298).
  FabricTime timer_ = FabricTime::never();
  FabricTime rto_, smoothed_ = FabricTime::zero(), variation_ = FabricTime::zero();
  uint32_t retries_ = 0;
  std::optional<TcpSequence> timed_;  ///< acknowledged from here on: a sample
  FabricTime timed_at_;
};

}  // namespace mrclab::routing
