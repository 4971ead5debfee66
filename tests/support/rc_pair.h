#pragma once
// Two RC queue pairs and nothing else: no hosts, no switches, one packet per microsecond and end, and a delay
// of five. What is on its way may be lost, repeated or late by any amount, drawn from a seed, or be lost on a
// test's word. Requests and answers stay in a log.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "endpoint/base/memory_registry.h"
#include "endpoint/roce/rc_queue_pair.h"
#include "fabric/base/random.h"
#include "tests/support/times.h"

namespace mrclab::test {

using namespace mrclab::endpoint;

class RcPair {
 public:
  struct Options {
    uint64_t seed = 1;
    uint32_t lose_percent = 0, repeat_percent = 0;
    uint32_t spread_us = 0;
    Psn first_psn{100};
    RcParameters rc = parameters();
  };
  static constexpr uint32_t kPmtu = 1024;
  static RcParameters parameters() {
    RcParameters p;
    p.pmtu = kPmtu;
    p.times.regular = us(100);
    p.line = BitRate{100'000'000'000};
    p.cnp_interval = us(4);
    return p;
  }
  static constexpr uint64_t kRegion = 1 << 20;

  /// One end: its queue pair, its memory, and all that was reported to it.
  struct End : RcQueuePairEvents {
    std::vector<uint8_t> source = std::vector<uint8_t>(kRegion);
    MemoryRegistry memory;
    RegionPlan region{0x7000'0000'0000, 0xAAAA'A001, {kRegion}};
    std::span<uint8_t> bytes;
    HostStats stats;
    std::unique_ptr<RcQueuePair> qp;
    std::vector<uint64_t> completed, flushed_receives;
    std::vector<std::pair<uint64_t, std::string>> failed_work;
    std::vector<ReceiveCompletion> received;
    std::vector<std::string> losses;  ///< "nak 7": cause and PSN
    std::string failure;
    std::vector<uint32_t> sent;     ///< PSNs of requests, in the order in which they left
    std::vector<std::string> said;  ///< answers: "ack 7", "nak 7", "rnr 7", "fatal 7"
    uint64_t placed = 0;
    std::function<bool(const RcPacket&)> loses_packet;  ///< true: this one is lost for certain
    std::function<bool(const RcReply&)> loses_reply;

    void work_completed(RcQueuePair&, uint64_t id) override { completed.push_back(id); }
    void work_failed(RcQueuePair&, uint64_t id, std::string_view status) override {
      failed_work.emplace_back(id, status);
    }
    void message_received(RcQueuePair&, const ReceiveCompletion& completion) override {
      received.push_back(completion);
    }
    void receive_failed(RcQueuePair&, uint64_t id, std::string_view) override {
      flushed_receives.push_back(id);
    }
    void first_request(RcQueuePair&) override {}
    void loss_detected(RcQueuePair&, Psn psn, std::string_view cause) override {
      losses.push_back(std::string(cause) + " " + std::to_string(psn.value()));
    }
    void failed(RcQueuePair&, std::string_view reason) override { failure = reason; }
    uint64_t refused(Refusal refusal) const { return stats.refused_for(refusal); }
  };

  RcPair() : RcPair(Options{}) {}
  explicit RcPair(Options options) : options_(std::move(options)) {
    for (uint32_t i = 0; i < 2; ++i) build(ends_[i], i);
  }

  End& near() { return ends_[0]; }
  End& far() { return ends_[1]; }

  /// What writes, or sends, `length` bytes from `offset` of one end's source to the same place at the other.
  static WriteRequest request(End& from, uint64_t id, uint64_t offset, uint64_t length) {
    WriteRequest request;
    request.id = id;
    request.local = std::span<const uint8_t>(from.source).subspan(offset, length);
    request.remote_va = from.region.va + offset;
    request.rkey = from.region.rkey;
    return request;
  }
  bool post(const WriteRequest& request) { return ends_[0].qp->post(request, now_); }
  bool post(uint64_t id, uint64_t offset, uint64_t length) {
    return post(request(ends_[0], id, offset, length));
  }
  bool is_copied(uint64_t offset, uint64_t length) const {
    return std::equal(ends_[1].bytes.begin() + static_cast<int64_t>(offset),
                      ends_[1].bytes.begin() + static_cast<int64_t>(offset + length),
                      ends_[0].source.begin() + static_cast<int64_t>(offset));
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
  void run_for(FabricTime time) { run_until(now_ + time); }
  FabricTime now() const { return now_; }

  static MrcPacket packet_of(const RcPacket& data) {
    MrcPacket packet;
    packet.bth.opcode = data.opcode;
    packet.bth.psn = data.psn;
    packet.bth.ack_request = data.ack_request;
    packet.bth.solicited = data.solicited;
    packet.extension = data.extension;
    packet.payload = data.payload.bytes();
    packet.payload_length = data.payload.size();
    return packet;
  }
  /// The packet arrives at `to`, whose answer goes back. What it was refused for, if it was.
  Refusal deliver(End& to, const MrcPacket& packet) {
    if (to.qp->requester.failed()) return Refusal::kQpInError;
    if (is_rc_response(packet.bth.opcode)) {
      const Refusal refusal = to.qp->requester.on_response(packet, now_);
      ++to.stats.refused[static_cast<size_t>(refusal)];
      return refusal;
    }
    std::optional<RcReply> reply;
    uint64_t placed = 0;
    const Refusal refusal = to.qp->responder.on_request(packet, reply, placed);
    to.placed += placed;
    ++to.stats.refused[static_cast<size_t>(refusal)];
    if (reply) answer(to, *reply);
    return refusal;
  }

 private:
  void build(End& end, uint32_t number) {
    for (size_t i = 0; i < end.source.size(); ++i) {
      end.source[i] = static_cast<uint8_t>(mix64(i / 8 + number) >> i % 8 * 8);
    }
    end.bytes = end.memory.register_region(end.region);
    RcQueuePair::Identity id;
    id.send_first = id.receive_first = options_.first_psn;
    end.qp = std::make_unique<RcQueuePair>(id, options_.rc, end.memory, end, end.stats);
  }

  uint64_t chance(uint64_t bound) {
    random_ = mix64(random_ ^ options_.seed);
    return below(random_, bound);
  }
  void fly(const std::function<void()>& arrive) {
    for (uint64_t copies = 1 + (chance(100) < options_.repeat_percent ? 1 : 0); copies > 0;
         --copies) {
      if (chance(100) < options_.lose_percent) continue;
      flying_.emplace(now_ + us(5 + static_cast<int64_t>(chance(options_.spread_us + 1))), arrive);
    }
  }
  End& other(End& end) { return &end == &ends_[0] ? ends_[1] : ends_[0]; }

  void turn(End& end) {
    end.qp->requester.on_timer(now_);
    std::optional<RcReply> reply;
    const std::optional<RcPacket> data = end.qp->next_packet(now_, reply);
    if (reply) answer(end, *reply);
    if (!data) return;
    end.sent.push_back(data->psn.value());
    if (end.loses_packet && end.loses_packet(*data)) return;
    fly([this, &to = other(end), packet = packet_of(*data)] { deliver(to, packet); });
  }
  void answer(End& from, const RcReply& reply) {
    const uint8_t kind = reply.aeth.syndrome;
    const char* word = kind == 0x1F ? "ack " : kind == 0x60 ? "nak " : "fatal ";
    if ((kind & 0xE0) == 0x20) word = "rnr ";
    from.said.push_back(word + std::to_string(reply.psn.value()));
    if (from.loses_reply && from.loses_reply(reply)) return;
    fly([this, &to = other(from), reply] {
      if (to.qp->requester.failed()) return;
      const Refusal refusal = to.qp->requester.on_acknowledge(reply.aeth, reply.psn, now_);
      ++to.stats.refused[static_cast<size_t>(refusal)];
    });
  }

  Options options_;
  End ends_[2];
  std::multimap<FabricTime, std::function<void()>> flying_;
  FabricTime now_;
  uint64_t random_ = 0;
};

}  // namespace mrclab::test
