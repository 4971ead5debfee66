#pragma once
// Two queue pairs and nothing else: no hosts, no switches, one packet per microsecond and end. What
// is on its way may be lost, repeated, trimmed or late by any amount, drawn from a seed.
//
//   near --(lose, repeat, trim, delay + 0 to spread us)--> far      and back alike

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "endpoint/congestion/fixed_window.h"
#include "endpoint/options/profile_maker.h"
#include "endpoint/paths/ev_set.h"
#include "endpoint/queue_pair/queue_pair.h"
#include "fabric/base/random.h"
#include "fabric/topology/path.h"
#include "tests/support/fabrics.h"

namespace mrclab::test {

using namespace mrclab::endpoint;

class QpPair {
 public:
  struct Options {
    uint64_t seed = 1;
    uint32_t lose_percent = 0, repeat_percent = 0, trim_percent = 0;
    uint32_t delay_us = 5, spread_us = 0;
    Psn first_psn{100};
    std::function<void(TransportProfile&)> profile = [](TransportProfile&) {};
    std::function<void(ConnectionLimits& near, ConnectionLimits& far)> limits =
        [](ConnectionLimits&, ConnectionLimits&) {};
  };
  static constexpr uint64_t kRegion = 8 << 20;

  /// One end: its queue pair, its memory, and all that was reported to it.
  struct End : QueuePairEvents {
    std::vector<uint8_t> source = std::vector<uint8_t>(kRegion);
    MemoryRegistry memory;
    RegionPlan region{0x7000'0000'0000, 0xAAAA'A001, {kRegion}};
    std::span<uint8_t> bytes;
    HostStats stats;
    std::unique_ptr<ReceiveResources> resources;
    std::unique_ptr<Peer> peer;
    std::unique_ptr<QueuePair> qp;
    std::vector<uint64_t> completed;
    std::vector<std::pair<uint64_t, std::string>> failed_writes;
    std::vector<ReceiveCompletion> received;
    std::vector<uint64_t> flushed_receives;
    std::string failure;
    std::function<bool(const DataPacket&)> loses;  ///< true: this one is lost for certain

    void write_completed(QueuePair&, uint64_t id) override { completed.push_back(id); }
    void write_failed(QueuePair&, uint64_t id, std::string_view status) override {
      failed_writes.emplace_back(id, status);
    }
    void immediate_received(QueuePair&, const ReceiveCompletion& completion) override {
      received.push_back(completion);
    }
    void receive_failed(QueuePair&, uint64_t id, std::string_view) override {
      flushed_receives.push_back(id);
    }
    void ev_changed(QueuePair&, EntropyValue, EvState) override {}
    void loss_detected(QueuePair&, EntropyValue, Psn, std::string_view) override {}
    void failed(QueuePair&, std::string_view reason) override { failure = reason; }
  };

  explicit QpPair(Options options) : options_(std::move(options)) {
    profile_.base_rtt = us(11);
    profile_.first_psn = options_.first_psn;
    options_.profile(profile_);
    ConnectionLimits limits[2] = {limits_of(profile_), limits_of(profile_)};
    options_.limits(limits[0], limits[1]);
    for (size_t i = 0; i < 2; ++i) build(ends_[i], limits[i], static_cast<uint32_t>(i));
  }

  End& near() { return ends_[0]; }
  End& far() { return ends_[1]; }

  /// Writes `length` bytes from `offset` of one end's source to the same place at the other end.
  bool post(End& from, uint64_t id, uint64_t offset, uint64_t length,
            std::optional<uint32_t> immediate = {}) {
    WriteRequest request;
    request.id = id;
    request.local = std::span<const uint8_t>(from.source).subspan(offset, length);
    request.remote_va = from.region.va + offset;
    request.rkey = from.region.rkey;
    request.immediate = immediate;
    return from.qp->requester.post(request, now_);
  }

  void run_until(FabricTime until) {
    for (; now_ < until; now_ += us(1)) {
      while (!flying_.empty() && flying_.begin()->first <= now_) {
        const auto arrive = std::move(flying_.begin()->second);
        flying_.erase(flying_.begin());
        arrive();
      }
      for (End& end : ends_) turn(end);
    }
  }
  FabricTime now() const { return now_; }

 private:
  static FabricTime us(int64_t n) { return FabricTime::from_us(n); }

  void build(End& end, const ConnectionLimits& limits, uint32_t number) {
    for (size_t i = 0; i < end.source.size(); ++i) {
      end.source[i] = static_cast<uint8_t>(mix64(i / 8 + number) >> i % 8 * 8);
    }
    end.bytes = end.memory.register_region(end.region);
    std::vector<EntropyValue> values;
    for (uint32_t p = 0; p < 2; ++p) {
      for (uint32_t u = 0; u < 4; ++u) values.push_back(ev_of({p, u}));
    }
    end.peer = std::make_unique<Peer>(
        0, 0b11, ReversePath([values] { return values; }, 2, {us(40), {}, {}, {}, 0, {}, 0}),
        std::make_unique<FixedWindow>(BitRate{100'000'000'000}, us(100), 100, 2), us(100));
    QueuePair::Identity id;
    id.send_first = id.receive_first = options_.first_psn;
    end.resources = std::make_unique<ReceiveResources>(profile_);
    end.qp = std::make_unique<QueuePair>(
        id, *end.peer, profile_, limits,
        EvSet(values, 2, profile_.ev_limits(), {1, NodeId{number}, 0}),
        EvProber(profile_, 1, NodeId{number}, 0), end.memory, *end.resources, end, end.stats);
  }

  uint64_t chance(uint64_t bound) {
    random_ = mix64(random_ ^ options_.seed);
    return below(random_, bound);
  }
  void fly(std::function<void()> arrive) {
    for (uint64_t copies = 1 + (chance(100) < options_.repeat_percent ? 1 : 0); copies > 0;
         --copies) {
      if (chance(100) < options_.lose_percent) continue;
      const auto late = static_cast<int64_t>(options_.delay_us + chance(options_.spread_us + 1));
      flying_.emplace(now_ + us(late), arrive);
    }
  }
  End& other(End& end) { return &end == &ends_[0] ? ends_[1] : ends_[0]; }

  void turn(End& end) {
    Requester& requester = end.qp->requester;
    if (requester.deadline(FabricTime{}) <= now_) requester.on_timer(now_);
    while (const auto probe = requester.next_probe(now_)) {
      MrcPacket packet = headers(probe->ev);
      packet.bth.opcode = Opcode::kProbeRequest;
      packet.extension = Peth{0, probe->id, 0, 0, tx_timestamp(now_), false, 1};
      fly([this, &to = other(end), packet] {
        Replies replies;
        to.qp->responder.on_probe(packet, replies);
        reply(to, replies);
      });
    }
    const auto data = requester.next_packet(0b11, now_);
    if (!data) return;
    if (end.loses && end.loses(*data)) return;
    fly([this, &to = other(end), packet = packet_of(*data)] { deliver(to, packet); });
  }

  static MrcPacket headers(EntropyValue ev) {
    MrcPacket packet;
    packet.udp.source_port = source_port_of(ev);
    packet.inner.flow_label = flow_label_of(ev);
    packet.outer.traffic_class = kDscpTrimmable << 2 | kEcnEct0;
    return packet;
  }
  MrcPacket packet_of(const DataPacket& data) {
    MrcPacket packet = headers(data.ev);
    packet.bth.opcode = data.opcode;
    packet.bth.psn = data.psn;
    packet.bth.ack_request = data.ack_request;
    packet.bth.retransmission = data.retransmission;
    packet.extension =
        WriteHeaders{data.meth, Tseth{tx_timestamp(now_), false, 1}, data.reth, data.immediate};
    packet.payload = data.payload.bytes();
    packet.payload_length = data.payload.size();
    if (data.trimmable && chance(100) < options_.trim_percent) {
      packet.trimmed = true;
      packet.payload = {};
      packet.outer.traffic_class = kDscpTrimmed << 2;
    }
    return packet;
  }
  void deliver(End& to, const MrcPacket& packet) {
    Replies replies;
    if (to.qp->requester.failed()) {
      replies.nack = to.qp->responder.answer_of_failed(packet);
    } else {
      uint64_t placed = 0;
      const Refusal refusal = to.qp->responder.on_write(packet, replies, placed);
      if (refusal != Refusal::kNone) ++to.stats.refused[static_cast<size_t>(refusal)];
    }
    reply(to, replies);
  }
  void reply(End& from, const Replies& replies) {
    End& to = other(from);
    if (replies.sack) fly([this, &to, s = *replies.sack] { to.qp->requester.on_sack(s, now_); });
    if (replies.nack) fly([this, &to, n = *replies.nack] { to.qp->requester.on_nack(n, now_); });
    if (replies.ack) {
      fly([this, &to, a = *replies.ack, psn = replies.ack_psn] {
        to.qp->requester.on_ack(a, psn, now_);
      });
    }
    if (replies.nak) {
      fly([this, &to, a = *replies.nak, psn = replies.nak_psn] {
        to.qp->requester.on_ack(a, psn, now_);
      });
    }
    if (!replies.failure.empty()) from.qp->requester.fail(replies.failure);
  }

  Options options_;
  TransportProfile profile_ = make_profile("lab", octet());
  End ends_[2];
  std::multimap<FabricTime, std::function<void()>> flying_;
  FabricTime now_;
  uint64_t random_ = 0;
};

}  // namespace mrclab::test
