#include "tests/support/hostile_program.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "endpoint/roce/rnr_time.h"
#include "tests/support/forgery.h"
#include "tests/support/hostile_frames.h"
#include "tests/support/hostile_setup.h"
#include "tests/support/pair_fabric.h"
#include "tests/support/sample_frames.h"

namespace mrclab::test {
namespace {

using endpoint::HostStats;
using endpoint::Refusal;

static_assert(kMutationNames.size() == static_cast<size_t>(Mutation::kCount));

class FailureLog : public NodeObserver {
 public:
  void packet(const PacketRecord&) override {}
  void event(const EventRecord& r) override {
    if (r.kind == "qp_error" && r.qp) failed.push_back(*r.qp);
  }
  bool has_failed(Qpn qpn) const { return std::ranges::find(failed, qpn) != failed.end(); }
  std::vector<Qpn> failed;
};

class HostileRun : private PairFabric::Tap {
 public:
  explicit HostileRun(std::span<const uint8_t> program)
      : in_(program),
        setup_(read_hostile_setup(in_)),
        rtt_(setup_.topology->base_rtt),
        fabric_(*setup_.topology, setup_.config, setup_.seed, pool(), {&logs_[0], &logs_[1]},
                *this) {
    next_step();
  }

  HostileOutcome run() {
    while (step_ && steps_ < kMaxSteps && outcome_.violation.empty()) {
      // Traffic that is over or stuck must not keep the rest of the program from happening.
      if (idle()) mutate_remembered();
      advance();
    }
    heal();
    const FabricTime deadline = fabric_.now() + patience();
    while (!finished() && fabric_.now() < deadline && steps_ < kMaxSteps &&
           fabric_.next_event() != FabricTime::never() && outcome_.violation.empty()) {
      advance();
    }
    judge();
    outcome_.qps_failed = static_cast<uint32_t>(logs_[0].failed.size() + logs_[1].failed.size());
    return outcome_;
  }

  static FramePool& pool() {
    static FramePool frames(1 << 14);
    return frames;
  }

 private:
  static constexpr uint64_t kMaxSteps = 1'000'000;
  /// After healing. Ten retries without progress take 176 RTT; each may be preceded by progress.
  static constexpr int64_t kPatienceRtt = 3000;

  /// A forged "receiver not ready" asks for up to 655.36 ms (IBTA volume 1, table 45: code 0), and is obeyed.
  FabricTime patience() const {
    const bool rc = setup_.config.transport.transport == endpoint::TransportKind::kRoce;
    return rtt_ * kPatienceRtt + (rc && forged_state_ ? endpoint::rnr_time(0) : FabricTime::zero());
  }

  /// A queue pair that loses a packet and all its retries, and nothing else, fails rightly.
  uint64_t retries() const {
    const endpoint::TransportProfile& profile = setup_.config.transport;
    return profile.transport == endpoint::TransportKind::kRoce
               ? profile.rc_retries
               : profile.linear_retries + profile.exponential_retries;
  }

  // ---- the program ----

  void next_step() {
    step_ = read_hostile_step(in_);
    skipped_ = 0;
  }

  bool finished() { return fabric_.host(0).finished() && fabric_.host(1).finished(); }
  bool idle() {
    return finished() || fabric_.now() - last_frame_ > rtt_ * 4 ||
           fabric_.next_event() == FabricTime::never();
  }

  void advance() {
    ++steps_;
    fabric_.step();
    check_completions();
  }

  void on_frame(uint32_t from, PortId port, Frame frame, FabricTime start,
                FabricTime arrival) override {
    ++outcome_.frames;
    last_frame_ = start;
    past_.remember(from, port, frame.bytes());
    if (start < silent_until_[from][port.value]) return disturb();
    if (burst_ > 0) {
      --burst_;
      return disturb();
    }
    if (!step_ || skipped_++ < step_->skip) {
      return fabric_.deliver(1 - from, port, std::move(frame), start, arrival);
    }
    const HostileStep step = *step_;
    next_step();
    mutate(step, from, port, std::move(frame), start, arrival);
  }

  /// The next step, with a frame of the past: nothing new comes.
  void mutate_remembered() {
    const HostileStep step = *step_;
    next_step();
    const PastFrame* old = past_.recall(step.skip);
    if (old == nullptr) return;
    const FabricTime start = fabric_.now();
    mutate(step, old->from, old->port, fabric_.frames().copy(old->bytes), start,
           start + fabric_.lookahead());
  }

  // ---- what happens to a frame ----

  void disturb() { ++outcome_.disturbances; }
  void forge(std::span<const uint8_t> before, std::span<const uint8_t> after) {
    outcome_.forged = true;
    forged_state_ = forged_state_ || is_write_or_ack(before) || is_write_or_ack(after);
  }
  /// Bytes that were changed without mending the ICRC.
  void corrupt(std::span<const uint8_t> before, std::span<const uint8_t> after) {
    corrupted_ = true;
    if (!setup_.config.transport.icrc) forge(before, after);
  }

  void give(uint32_t to, PortId port, std::span<const uint8_t> bytes, FabricTime start,
            FabricTime arrival) {
    fabric_.deliver(to, port, fabric_.frames().copy(bytes), start, arrival);
  }

  FabricTime a_while(const HostileStep& step) const {
    // Mostly fractions of an RTT, at most 64.
    const int64_t sixteenths =
        step.how.variant % 4 == 0 ? step.how.value % 1024 : step.how.value % 32;
    return rtt_ * sixteenths / 16;
  }

  void mutate(const HostileStep& step, uint32_t from, PortId port, Frame frame, FabricTime start,
              FabricTime arrival) {
    if (!frame) return;
    disturb();
    const uint32_t to = 1 - from;
    const std::vector<uint8_t> bytes(frame.bytes().begin(), frame.bytes().end());
    const FabricTime later = arrival + a_while(step);
    switch (step.what) {
      case Mutation::kDrop: break;
      case Mutation::kDropBurst: burst_ = step.how.value % 64; break;
      case Mutation::kDuplicate:
        give(to, port, bytes, start, arrival);
        give(to, port, bytes, start, later);
        break;
      case Mutation::kDelay: give(to, port, bytes, start, later); break;
      case Mutation::kReplay: {
        give(to, port, bytes, start, arrival);
        if (const PastFrame* old = past_.recall(step.how.field)) {
          give(1 - old->from, old->port, old->bytes, start, later);
        }
        break;
      }
      case Mutation::kTrim:
        give(to, port, trimmed_somewhere(bytes, step.how), start, arrival);
        break;
      case Mutation::kMark: {
        std::vector<uint8_t> marked = bytes;
        if ((marked[kOuterOffset + 1] >> 4 & 3) != 0) marked[kOuterOffset + 1] |= 0x30;
        give(to, port, marked, start, arrival);
        break;
      }
      case Mutation::kSilence:
      case Mutation::kCarrier:
      case Mutation::kLoss:
        fault(step, from, port, start);
        give(to, port, bytes, start, arrival);
        break;
      case Mutation::kPause:
        give(to, port, bytes, start, arrival);
        faults_ = corrupted_ = true;
        give(to, port, any_pause(step.how), start, arrival);
        break;
      default: falsify(step, from, port, bytes, start, arrival); break;
    }
  }

  /// What no network does: the frame is not what the peer sent.
  void falsify(const HostileStep& step, uint32_t from, PortId port,
               const std::vector<uint8_t>& bytes, FabricTime start, FabricTime arrival) {
    const uint32_t to = 1 - from;
    const uint32_t ports = setup_.topology->planes;
    std::vector<uint8_t> fake = bytes;
    switch (step.what) {
      case Mutation::kFlip:
        if (step.how.field % 4 == 0) fake = trimmed_somewhere(bytes, step.how);
        flip_bits(fake, step.how);
        corrupt(bytes, fake);
        break;
      case Mutation::kCut:
        fake.resize(step.how.value % (fake.size() + 1));
        corrupt(bytes, bytes);
        break;
      case Mutation::kWrongPort:
        corrupted_ = true;
        return give(to, PortId{(port.value + 1 + step.how.field) % ports}, bytes, start, arrival);
      case Mutation::kReflect:
        corrupted_ = true;
        give(from, port, bytes, start, arrival);
        break;
      case Mutation::kRaw: {
        fake.resize(std::min<size_t>(in_.u8(), fake.size()));
        for (uint8_t& byte : fake) byte = in_.u8();
        corrupt(bytes, fake);
        give(to, port, bytes, start, arrival);
        break;
      }
      case Mutation::kForgeField:
        if (auto forged = forge_field(bytes, step.how)) {
          fake = std::move(*forged);
          forge(bytes, fake);
        }
        break;
      case Mutation::kForgeControl:
        give(to, port, bytes, start, arrival);
        if (auto forged = forge_control(bytes, past_.newest_psn(to), step.how)) {
          fake = std::move(*forged);
          // A write is not what was changed here: only an acknowledgement may lie about state.
          forge({}, fake);
        }
        break;
      default: {  // kForgeBits
        flip_bits(fake, step.how);
        MrcPacket packet;
        if (parse_mrc_frame(fake, packet) == ParseError::kNone && !packet.trimmed) {
          finish_mrc_frame(fake);
          forge(bytes, fake);
        } else {
          corrupt(bytes, fake);
        }
        break;
      }
    }
    give(to, port, fake, start, arrival);
  }

  void fault(const HostileStep& step, uint32_t from, PortId port, FabricTime start) {
    faults_ = true;
    const FabricTime until = start + rtt_ * (step.how.value % 64);
    const uint32_t host = step.how.field % 2 == 0 ? from : 1 - from;
    const NodeSite& site = setup_.topology->node(setup_.topology->host(host));
    for (uint32_t p = 0; p < setup_.topology->planes; ++p) {
      if (step.how.variant % 4 != 0 && p != port.value) continue;  // now and then all ports
      const Port& it = site.ports[p];
      if (step.what == Mutation::kSilence) {
        silent_until_[host][p] = until;
      } else if (step.what == Mutation::kLoss) {
        fabric_.apply(host, random_loss(it.out, {step.how.value * 10'000u}));
      } else {
        const bool up = step.how.variant % 8 == 1;
        fabric_.apply(host, WireState{it.in, up});
        fabric_.apply(host, PortCarrier{{site.id, PortId{p}}, up});
      }
    }
  }

  void heal() {
    burst_ = 0;
    silent_until_ = {};
    if (!faults_) return;
    for (uint32_t h = 0; h < 2; ++h) {
      const NodeSite& site = setup_.topology->node(setup_.topology->host(h));
      for (uint32_t p = 0; p < setup_.topology->planes; ++p) {
        fabric_.apply(h, random_loss(site.ports[p].out, {0}));
        fabric_.apply(h, WireState{site.ports[p].in, true});
        fabric_.apply(h, PortCarrier{{site.id, PortId{p}}, true});
      }
    }
  }

  // ---- what must hold ----

  void require(bool holds, const char* what) {
    if (!holds && outcome_.violation.empty()) {
      outcome_.violation = what + std::string(" (at ") + to_string(fabric_.now()) + ")";
    }
  }

  /// At every instant: what is complete is in the peer's memory, and right.
  void check_completions() {
    if (forged_state_) return;
    const std::array<HostStats, 2> stats{fabric_.host(0).stats(), fabric_.host(1).stats()};
    for (uint32_t h = 0; h < 2; ++h) {
      require(stats[h].bytes_mismatched == 0, "a wrong byte in memory");
      if (setup_.flows.empty()) continue;
      require(stats[h].writes_completed * setup_.size <= stats[1 - h].goodput_bytes(),
              "a write completed before its bytes were in the peer's memory");
      require(stats[1 - h].goodput_bytes() <= setup_.flows_from(h) * setup_.count * setup_.size,
              "more bytes placed than were sent");
    }
  }

  void judge() {
    check_completions();
    require(steps_ < kMaxSteps, "events without end");
    const bool failed = !logs_[0].failed.empty() || !logs_[1].failed.empty();
    const bool may_fail = outcome_.forged || faults_ || outcome_.disturbances > retries();
    require(!failed || may_fail, "a queue pair failed although the network did next to nothing");
    for (uint32_t h = 0; h < 2; ++h) judge_host(h);
    if (!outcome_.forged && !failed) {
      require(finished(), "it hangs: not all was delivered and no queue pair failed");
    }
  }

  void judge_host(uint32_t h) {
    const HostStats stats = fabric_.host(h).stats();
    uint64_t alive = 0;
    for (const HostileFlow& flow : setup_.flows) {
      alive += flow.from == h && !logs_[h].has_failed(flow.qpn) ? 1 : 0;
    }
    require(stats.writes_completed >= alive * setup_.count,
            "it hangs: writes neither completed nor failed");
    if (!outcome_.forged) {
      require(fabric_.host(1 - h).stats().bytes_verified >= alive * setup_.count * setup_.size,
              "it hangs: completed writes were not told to the receiver");
    }
    require(stats.qps_in_error == logs_[h].failed.size(), "a failure that was told to nobody");
    require(stats.no_buffer == 0, "it ran out of buffers");
    require(stats.memory_faults ==
                stats.refused_for(Refusal::kBadRkey) + stats.refused_for(Refusal::kOutOfBounds),
            "memory faults and refusals disagree");
    if (outcome_.forged || corrupted_) return;
    for (const Refusal never :
         {Refusal::kMalformed, Refusal::kOtherTraffic, Refusal::kNotMrc, Refusal::kWrongCarrier,
          Refusal::kCarrierNotEmpty, Refusal::kWrongAddress, Refusal::kBadIcrc, Refusal::kUnknownQp,
          Refusal::kWrongPeer, Refusal::kBadTrim, Refusal::kBadLength, Refusal::kBadRkey,
          Refusal::kOutOfBounds, Refusal::kPsnOutOfWindow, Refusal::kSackOfFuture,
          Refusal::kNackOfUnsent, Refusal::kAckOfFuture, Refusal::kUnknownEv,
          Refusal::kUnexpectedOpcode}) {
      if (stats.refused_for(never) == 0) continue;
      require(false, ("an honest packet was refused as " + std::string(name_of(never))).c_str());
    }
  }

  ProgramBytes in_;
  HostileSetup setup_;
  FabricTime rtt_;
  std::array<FailureLog, 2> logs_;
  PairFabric fabric_;
  std::optional<HostileStep> step_;
  uint32_t skipped_ = 0;
  uint64_t steps_ = 0;
  FabricTime last_frame_;
  uint32_t burst_ = 0;
  std::array<std::array<FabricTime, 8>, 2> silent_until_{};
  PastFrames past_;
  bool corrupted_ = false;
  bool forged_state_ = false;
  bool faults_ = false;
  HostileOutcome outcome_;
};

}  // namespace

HostileOutcome run_hostile_program(std::span<const uint8_t> program) {
  HostileOutcome outcome;
  const size_t before = HostileRun::pool().in_use();
  {
    HostileRun run(program);
    outcome = run.run();
  }
  if (outcome.violation.empty() && HostileRun::pool().in_use() != before) {
    outcome.violation = "a frame was leaked";
  }
  return outcome;
}

}  // namespace mrclab::test
