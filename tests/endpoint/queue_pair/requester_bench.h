#pragma once
// A requester with round numbers, and the peer's feedback by hand.

#include <string>
#include <utility>
#include <vector>

#include "endpoint/congestion/fixed_window.h"
#include "endpoint/options/profile_maker.h"
#include "endpoint/paths/ev_set.h"
#include "endpoint/queue_pair/requester.h"
#include "fabric/topology/path.h"
#include "tests/support/fabrics.h"
#include "tests/support/times.h"

namespace mrclab::test {

using namespace mrclab::endpoint;

inline constexpr uint32_t kAll = 0b11;

/// The fixed window, and what was reported to it.
class RecordingWindow : public FixedWindow {
 public:
  using FixedWindow::FixedWindow;
  bool wants_acknowledgement() const override { return wants; }
  void on_acknowledged(const Acknowledgement& news, FabricTime now) override {
    acknowledged.push_back(news);
    FixedWindow::on_acknowledged(news, now);
  }
  void on_trimmed(Sprayed packet, TrimmedAt where, FabricTime now) override {
    ++trimmed;
    FixedWindow::on_trimmed(packet, where, now);
  }
  void on_lost(Sprayed packet, FabricTime now) override {
    ++lost;
    FixedWindow::on_lost(packet, now);
  }
  void on_refused(Bytes packet, FabricTime now) override {
    ++refused;
    FixedWindow::on_refused(packet, now);
  }
  void on_withdrawn(Bytes packet) override {
    ++withdrawn;
    FixedWindow::on_withdrawn(packet);
  }

  bool wants = false;
  std::vector<Acknowledgement> acknowledged;
  int trimmed = 0, lost = 0, refused = 0, withdrawn = 0;
};

/// A requester on 2 planes x 2 uplinks with round numbers: RTT 10 us, reorder window 20 us, tail
/// probe 40 us, ACK timeout 80 us. Plays the peer by hand.
class RequesterBench : private RequesterEvents {
 public:
  explicit RequesterBench(
      Psn first = Psn{100}, uint32_t mpr = 1024,
      void (*change)(ConnectionLimits&) = [](ConnectionLimits&) {},
      NsccRules nscc_rules = NsccRules::kEven)
      : first_psn(first),
        rules(nscc_rules),
        memory(1 << 20),
        window({1'000'000'000'000}, us(100), 100, 2),
        requester(make(mpr, change)) {}

  TransportProfile profile() {
    TransportProfile p = make_profile("lab", test::octet());
    p.base_rtt = us(10);
    p.reorder_window = us(20);
    p.reorder_window_max = us(40);
    p.tail_probe = us(40);
    p.ack_timeout = us(80);
    p.probe_interval = us(20);
    p.probe_interval_max = us(320);
    p.probe_jitter_percent = 0;
    p.max_immediates = 2;
    p.nscc_rules = rules;
    return p;
  }
  static ConnectionLimits limits(const TransportProfile& profile, uint32_t mpr) {
    ConnectionLimits l = limits_of(profile);
    l.sending.max_psn_range = mpr;
    return l;
  }

  bool post(size_t bytes, std::optional<uint32_t> immediate = {}) {
    WriteRequest request;
    request.id = ++posted;
    request.local = std::span<const uint8_t>(memory).first(bytes);
    request.remote_va = 0x10'0000;
    request.rkey = 7;
    request.immediate = immediate;
    return requester.post(request, FabricTime::zero());
  }
  std::optional<DataPacket> send(int64_t at_us, uint32_t ports = kAll) {
    return requester.next_packet(ports, us(at_us));
  }
  /// A SACK for the packet with this index, sent at `sent_us` on `ev`.
  Refusal sack(int cumulative, int trigger, EntropyValue ev, int64_t sent_us, uint64_t bitmap,
               int64_t now_us, SackMark mark = SackMark::kNone) {
    Seth seth;
    seth.cumulative = first_psn + cumulative;
    seth.psn_offset_or_probe_id = static_cast<uint16_t>(trigger - cumulative);
    seth.entropy = ev;
    seth.tx_timestamp = tx_timestamp(us(sent_us));
    seth.sack_offset = 1;
    seth.bitmap = bitmap;
    seth.mpr = range;
    seth.received_units = received_units;
    seth.mark = mark;
    return requester.on_sack(seth, us(now_us));
  }
  Refusal nack(int index, EntropyValue ev, int64_t sent_us, NackReason reason, int64_t now_us) {
    Neth neth;
    neth.reason = static_cast<uint8_t>(reason);
    neth.entropy = ev;
    neth.psn = first_psn + index;
    neth.tx_timestamp = tx_timestamp(us(sent_us));
    return requester.on_nack(neth, us(now_us));
  }
  Refusal ack(int index, int64_t now_us, uint8_t syndrome = 0x1F) {
    return requester.on_ack({syndrome, 0}, first_psn + index, us(now_us));
  }
  /// Runs the next timer after `now`, drops its probes, and returns when that was.
  FabricTime next_retry(FabricTime now) {
    const FabricTime at = std::max(requester.deadline(now), now);
    requester.on_timer(at);
    while (requester.next_probe(at)) continue;
    return at;
  }
  EvState state(EntropyValue ev) { return requester.evs().state(*requester.evs().find(ev)); }

  Psn first_psn;
  NsccRules rules;
  uint64_t posted = 0;
  uint8_t range = 0;  ///< SETH.mpr of the SACKs
  uint32_t received_units = 0;
  std::vector<uint8_t> memory;
  HostStats stats;
  RecordingWindow window;
  const TransportProfile used_profile = profile();
  Requester requester;
  std::vector<uint64_t> completed;
  std::vector<std::pair<uint64_t, std::string>> flushed;  ///< with their status
  std::vector<std::pair<EntropyValue, EvState>> changes;
  std::vector<std::string> losses;
  std::string failure;

 private:
  Requester make(uint32_t mpr, void (*change)(ConnectionLimits&)) {
    std::vector<EntropyValue> values;
    for (uint32_t p = 0; p < 2; ++p) {
      for (uint32_t u = 0; u < 2; ++u) values.push_back(ev_of({p, u}));
    }
    ConnectionLimits l = limits(used_profile, mpr);
    change(l);
    return {used_profile,
            l,
            first_psn,
            EvSet(values, 2, {}, {1, NodeId{0}, 0}),
            EvProber(used_profile, 1, NodeId{0}, 0),
            window,
            *this,
            stats};
  }
  void write_completed(uint64_t id) override { completed.push_back(id); }
  void write_failed(uint64_t id, std::string_view status) override {
    flushed.emplace_back(id, status);
  }
  void ev_changed(EntropyValue ev, EvState to) override { changes.emplace_back(ev, to); }
  void ev_swapped(EntropyValue, EntropyValue) override {}
  void loss_detected(EntropyValue, Psn, std::string_view cause) override {
    losses.emplace_back(cause);
  }
  void failed(std::string_view reason) override { failure = reason; }
};

}  // namespace mrclab::test
