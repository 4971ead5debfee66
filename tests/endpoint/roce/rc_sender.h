#pragma once
// RC's sending half on a bench: what it sends is kept, and a test makes the answers.

#include <string>
#include <utility>
#include <vector>

#include "endpoint/base/transport_nak.h"
#include "endpoint/roce/rc_requester.h"
#include "tests/support/rc_pair.h"
#include "tests/support/times.h"

namespace mrclab::test {

using Psns = std::vector<uint32_t>;

inline Psns psns_between(uint32_t from, uint32_t to) {
  Psns psns;
  for (uint32_t psn = from; psn <= to; ++psn) psns.push_back(psn);
  return psns;
}

struct RcSender : RcRequesterEvents {
  explicit RcSender(RcParameters parameters = RcPair::parameters(), uint32_t first_psn = 100)
      : requester(parameters, Psn{first_psn}, *this, stats) {}

  void work_completed(uint64_t id) override { completed.push_back(id); }
  void work_failed(uint64_t id, std::string_view status) override {
    failed_work.emplace_back(id, status);
  }
  void loss_detected(Psn psn, std::string_view cause) override {
    losses.push_back(std::string(cause) + " " + std::to_string(psn.value()));
  }
  void failed(std::string_view reason) override { failure = reason; }

  bool post(uint64_t id, uint64_t packets) {
    WriteRequest request;
    request.id = id;
    request.local = ConstMemory::elided(packets * RcPair::kPmtu);
    return requester.post(request);
  }
  /// Everything that may leave now.
  Psns send() {
    Psns psns;
    while (const auto packet = requester.next_packet(now)) psns.push_back(packet->psn.value());
    return psns;
  }
  Refusal answer(uint8_t syndrome, uint32_t psn) {
    return requester.on_acknowledge({syndrome, 0}, Psn{psn}, now);
  }
  Refusal ack(uint32_t psn) { return answer(kAckSyndrome, psn); }
  Refusal nak(uint32_t psn) { return answer(kNakSequence, psn); }
  /// To its next deadline, and does what is due.
  void wait() {
    now = requester.deadline(now);
    requester.on_timer(now);
  }

  HostStats stats;
  RcRequester requester;
  FabricTime now = us(1);
  std::vector<uint64_t> completed;
  std::vector<std::pair<uint64_t, std::string>> failed_work;
  std::vector<std::string> losses;
  std::string failure;
};

}  // namespace mrclab::test
