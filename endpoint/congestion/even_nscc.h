#pragma once
// NSCC with even shares of a last hop (`nscc_rules: even`, the default): the same signals, quadrants and
// parameters as nscc.h, and another rule where UEC's rests on a mark that a last hop never gives.
//
// A last hop has no ECN (MRC paper §2.1), so in an incast no packet is marked. To the letter of UEC an
// unmarked delay above target is "fair increase" whatever the delay, trims are the only brake, and
// quick adapt hits those that are behind. Measured here, 7:1 into one port: a quarter of the packets
// trimmed, standard deviation of the shares 20 to 60 %. Instead:
//
//   ECN  queue delay    action
//    no   < T           increase by at most a fifth of the window per round trip, in proportion
//                       to (T - delay) / T; on an empty path to twice per round trip, unless
//                       the receiver's penalty showed lately that it is shared
//    no   >= T          decrease in proportion to (delay - T) / delay, plus a small constant
//    yes  >= T          multiplicative decrease, at most once per base RTT
//    yes  < T           nothing: the mark has moved the load to other entropy values already
//
// While three quarters of the packets are marked or trimmed, and no receiver asks for less, it is the fabric that is
// full. Then no receiver computes the shares, and they come to be even as in any AIMD: all grow by the same
// bytes per round trip, and marked or not, delay above half of the target takes from each in proportion.
//
// Delay, trims and losses count as far as all planes have them; what one plane has more than the others
// takes from that plane's share of the window (plane_shares.h). Trims and delay on one path of a plane
// whose other paths are on time are for the choice of paths.
//
// The receiver's penalty makes shares even (receive_shares.h): it takes from each sender in proportion to its share
// what all of them grow by alike.
//
// Trims of the last hop take their size from the window. Trims of the fabric mean that paths are
// congested, and paths are changed for that; they are held against the window only if the last hop
// trims as well, or once they have gone on for four base RTTs. A silent loss where the fabric
// trims counts as a trim: its header did not fit into a queue.
//
// A window may be smaller than a packet, down to what 1,024 senders have in front of one host, but not
// below a sixteenth: 128 senders have a quarter of a packet each in front of one port of 100 Gb/s.
// Windows below 16 packets are paced, one packet per (round trip x packet / window), so that fractions
// of a packet count; each paced packet asks for its SACK.

#include "endpoint/congestion/nscc_window.h"

namespace mrclab::endpoint {

class EvenNscc final : public NsccWindow {
 public:
  EvenNscc(const TransportProfile& profile, uint32_t live_ports);

  bool may_send(Bytes packet, FabricTime now) const override;
  FabricTime opens_at(Bytes packet) const override;
  bool is_paced() const override;
  bool wants_acknowledgement() const override;
  void on_sent(Bytes packet, FabricTime now) override;
  void on_acknowledged(const Acknowledgement& news, FabricTime now) override;
  bool is_path_late(const RttSample& sample, FabricTime now) const override;
  void on_trimmed(Sprayed packet, TrimmedAt where, FabricTime now) override;
  void on_lost(Sprayed packet, FabricTime now) override;

 private:
  FabricTime follow_plane(const RttSample& sample, Bytes worth, FabricTime now);
  bool is_shared(FabricTime now) const;
  Bytes proportional_growth(FabricTime now) const;
  bool fabric_is_full(FabricTime now) const;
  FabricTime accepted_delay(FabricTime now) const;
  FabricTime paced_interval() const;
  FabricTime paced_round_trip(FabricTime sample) const;
  void shrink_plane(uint32_t plane, Bytes by);
  static Bytes own_part(Bytes of, uint32_t common);
  Bytes hold_against(Sprayed packet, FabricTime now);
  Bytes constant_growth(Bytes worth, FabricTime now) const;
  void judge_delay(Bytes worth, FabricTime delay, bool marked, FabricTime now);
  void follow_delay(Bytes worth, FabricTime delay, FabricTime now);
  void average(Bytes worth, FabricTime delay);
  void note_mark(Bytes worth, bool marked);
  void shrink_by_packet(Bytes packet);
  void owe(Bytes packet, FabricTime now);
  /// Feedback about packets that were sent together comes back within this time.
  FabricTime recent() const { return (base_rtt() + target_delay()) * 2; }

  static constexpr FabricTime kLongAgo = FabricTime::from_ms(-1000);
  static constexpr uint64_t kWhole = 1 << 16;
  uint64_t marked_ = 0;  // share of bytes that arrive, in 1 / kWhole
  FabricTime last_sent_ = kLongAgo;
  Bytes last_size_;
  FabricTime newest_delay_;
  FabricTime sampled_ = kLongAgo;  // when newest_delay_ was measured
  FabricTime round_trip_;          // paced_round_trip() of the last sample
  FabricTime shared_ = kLongAgo;   // when the receiver last asked for a penalty
  FabricTime last_hop_trim_ = kLongAgo;
  FabricTime fabric_trim_ = kLongAgo;
  // Start of the run of fabric trims whose latest is fabric_trim_.
  FabricTime fabric_since_ = kLongAgo;
  FabricTime owed_since_ = kLongAgo;
  Bytes owed_;  // trims of the fabric that were not held against the window
};

}  // namespace mrclab::endpoint
