// Random programs of verbs against a model that executes one request after the other: what must be in memory, and which
// completions each end must get.

#include <doctest/doctest.h>

#include <cstring>
#include <ostream>

#include "tests/support/nightly.h"
#include "tests/support/property.h"
#include "tests/support/verbs_lab.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::us;
using mrclab::test::VerbsLab;

namespace {

constexpr uint32_t kMtu = 4'096;      ///< bytes of a packet
constexpr uint64_t kPlaces = 40'000;  ///< requests begin below, and end within the memory

struct Asked {
  WorkRequest::Opcode opcode = WorkRequest::Opcode::kWrite;
  uint64_t offset = 0;  ///< in both memories
  uint32_t length = 0;
  bool signaled = true;
  bool immediate = false;
  uint64_t value = 0;
  enum class Wrong : uint8_t {
    kNothing,
    kLocalKey,
    kRemoteKey,
    kBounds,
    kShortReceive
  } wrong = Wrong::kNothing;
};

struct Expected {
  uint64_t id = 0;
  WorkStatus status = WorkStatus::kSuccess;
  bool operator==(const Expected&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Expected& done) {  // of a counterexample
  return out << done.id << " " << name_of(done.status);
}

std::ostream& operator<<(std::ostream& out, Asked::Wrong wrong) {
  constexpr const char* kNames[] = {"nothing", "local key", "remote key", "bounds",
                                    "short receive"};
  return out << kNames[static_cast<size_t>(wrong)];
}

Asked any_request(bool rc) {
  using Opcode = WorkRequest::Opcode;
  Asked asked;
  if (rc) {
    asked.opcode = *rc::gen::element(Opcode::kWrite, Opcode::kSend, Opcode::kRead,
                                     Opcode::kFetchAdd, Opcode::kCompareSwap);
  }
  const bool atomic = asked.opcode == Opcode::kFetchAdd || asked.opcode == Opcode::kCompareSwap;
  asked.offset = *rc::gen::inRange<uint64_t>(0, kPlaces / 8) * 8;
  asked.length = atomic ? 8 : *rc::gen::element(0u, 1u, 8u, 64u, 4'096u, 4'097u, 20'000u);
  asked.signaled = *rc::gen::arbitrary<bool>();
  asked.immediate = asked.opcode <= Opcode::kSend && *rc::gen::arbitrary<bool>();
  asked.value = *rc::gen::inRange<uint64_t>(0, 3);
  if (*rc::gen::inRange(0, 12) == 0) {
    using Wrong = Asked::Wrong;
    asked.wrong = asked.opcode == Opcode::kSend
                      ? *rc::gen::element(Wrong::kLocalKey, Wrong::kShortReceive)
                      : *rc::gen::element(Wrong::kLocalKey, Wrong::kRemoteKey, Wrong::kBounds);
    // Of no bytes neither key nor bounds are looked at, and each receive is long enough.
    if (asked.wrong != Wrong::kLocalKey && asked.length == 0) asked.length = 8;
  }
  return asked;
}

/// One request after the other, in memory and completions.
struct Model {
  std::vector<uint8_t> near, far;
  std::vector<Expected> sent, received;
  std::vector<bool> unknown;  ///< bytes of `far` that no rule speaks of
  bool over = false;

  static WorkStatus status_of(Asked::Wrong wrong) {
    switch (wrong) {
      case Asked::Wrong::kNothing: return WorkStatus::kSuccess;
      case Asked::Wrong::kLocalKey: return WorkStatus::kLocalProtection;
      case Asked::Wrong::kShortReceive: return WorkStatus::kRemoteInvalidRequest;
      default: return WorkStatus::kRemoteAccessError;
    }
  }

  void run(const Asked& asked, uint64_t id, std::span<const uint8_t> source) {
    using Opcode = WorkRequest::Opcode;
    if (over) {
      sent.push_back({id, WorkStatus::kFlushError});
      return;
    }
    const WorkStatus status = status_of(asked.wrong);
    over = status != WorkStatus::kSuccess;
    if (over || asked.signaled) sent.push_back({id, status});
    if (asked.wrong == Asked::Wrong::kShortReceive) {
      // What came before the packet that is too much may be there.
      std::fill_n(unknown.begin() + static_cast<std::ptrdiff_t>(asked.offset), asked.length - 1,
                  true);
      received.push_back({id, WorkStatus::kLocalLength});
    }
    const bool refused = status == WorkStatus::kRemoteAccessError;
    if (refused && asked.immediate &&
        asked.length <= kMtu) {  // its only packet says that an immediate is there
      received.push_back({id, WorkStatus::kLocalAccess});
    }
    if (over) return;
    if (asked.opcode == Opcode::kSend || asked.immediate) {
      received.push_back({id, WorkStatus::kSuccess});
    }
    const auto mine = near.begin() + static_cast<std::ptrdiff_t>(asked.offset);
    const auto theirs = far.begin() + static_cast<std::ptrdiff_t>(asked.offset);
    switch (asked.opcode) {
      case Opcode::kWrite:
      case Opcode::kSend: std::copy_n(source.begin(), asked.length, theirs); break;
      case Opcode::kRead: std::copy_n(theirs, asked.length, mine); break;
      default: {
        std::copy_n(theirs, 8, mine);
        uint64_t word = 0;
        std::memcpy(&word, &*theirs, 8);
        if (asked.opcode == Opcode::kFetchAdd) {
          word += asked.value;
        } else if (word == asked.value) {
          word = asked.value + 1;
        }
        std::memcpy(&*theirs, &word, 8);
      }
    }
  }
};

WorkRequest request_of(VerbsLab& lab, const Asked& asked, uint64_t id,
                       std::span<const uint8_t> source) {
  using Opcode = WorkRequest::Opcode;
  WorkRequest request;
  request.id = id;
  request.opcode = asked.opcode;
  request.signaled = asked.signaled;
  request.fence = true;
  if (asked.immediate) request.immediate = static_cast<uint32_t>(id);
  if (asked.opcode <= Opcode::kSend) {
    request.local = source.first(asked.length);
  } else {
    request.into = {{&lab.near.access, asked.offset, asked.length}};
  }
  request.compare_add = asked.value;
  request.swap = asked.value + 1;
  request.remote_va = VerbsLab::kVa + asked.offset;
  request.rkey = lab.far.region.rkey;
  if (asked.wrong == Asked::Wrong::kRemoteKey) request.rkey ^= 0x5000;
  if (asked.wrong == Asked::Wrong::kBounds) {
    request.remote_va = VerbsLab::kVa + VerbsLab::kSize + 8 - (asked.length + 7) / 8 * 8;
  }
  if (asked.wrong == Asked::Wrong::kLocalKey) request.local_error = WorkStatus::kLocalProtection;
  return request;
}

std::vector<Expected> told(const std::vector<WorkCompletion>& all) {
  std::vector<Expected> list;
  for (const WorkCompletion& c : all) list.push_back({c.wr_id, c.status});
  return list;
}

/// Writes of MRC arrive in any order, and so do their NAKs: whichever comes first ends the queue pair, and what is not
/// acknowledged then is flushed. But one wrong write has the blame, with its own reason, and completions are in order.
void check_failure(VerbsLab& lab, const std::vector<Asked>& program) {
  std::optional<uint64_t> before;
  uint32_t blamed = 0;
  for (const WorkCompletion& done : lab.near.poll()) {
    RC_ASSERT((!before || *before < done.wr_id));
    before = done.wr_id;
    const Asked& asked = program[done.wr_id];
    if (done.status == WorkStatus::kFlushError) continue;
    RC_ASSERT(done.status == Model::status_of(asked.wrong));
    RC_ASSERT((done.status != WorkStatus::kSuccess || (asked.signaled && blamed == 0)));
    if (done.status != WorkStatus::kSuccess) ++blamed;
  }
  RC_ASSERT(blamed == 1u);
  RC_ASSERT((lab.near.state() == QpState::kError));
  std::vector<bool> written(lab.far.bytes.size());
  for (const Asked& asked : program) {
    if (asked.wrong == Asked::Wrong::kBounds) {
      // Each packet has its address, and those that are inside may be there.
      std::fill(written.begin() + static_cast<std::ptrdiff_t>(kPlaces), written.end(), true);
    }
    std::fill_n(written.begin() + static_cast<std::ptrdiff_t>(asked.offset), asked.length, true);
  }
  for (size_t i = 0; i < written.size(); ++i) {
    if (!written[i] && lab.far.bytes[i] != 0) RC_FAIL("byte " + std::to_string(i) + " was written");
  }
}

void check_program(bool rc, bool loops, const std::vector<Asked>& program) {
  VerbsLab lab(rc ? TransportKind::kRoce : TransportKind::kMrc, loops);
  std::vector<uint8_t> source(20'000);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<uint8_t>(i * 7 + 1);
  Model model;
  model.near = lab.near.bytes;
  model.far = lab.far.bytes;
  model.unknown.resize(model.far.size());
  uint64_t posted_receives = 0;
  for (uint64_t id = 0; id < program.size(); ++id) {
    const Asked& asked = program[id];
    const bool send = asked.opcode == WorkRequest::Opcode::kSend;
    if (send || asked.immediate) {
      const uint32_t room = !send                                        ? 0
                            : asked.wrong == Asked::Wrong::kShortReceive ? asked.length - 1
                                                                         : asked.length;
      RC_ASSERT(lab.far.receive(id, asked.offset, room) == PostResult::kOk);
      ++posted_receives;
    }
  }
  for (uint64_t id = 0; id < program.size(); ++id) {
    model.run(program[id], id, source);
    RC_ASSERT(lab.near.post(request_of(lab, program[id], id, source)) == PostResult::kOk);
  }
  lab.run_for(us(3'000));
  if (!rc && !loops && model.over) return check_failure(lab, program);
  RC_ASSERT(told(lab.near.poll()) == model.sent);
  std::vector<Expected> received = told(lab.far.poll());
  // What the peer's failure leaves behind is flushed where that end fails, too.
  while (received.size() > model.received.size() &&
         received.back().status == WorkStatus::kFlushError) {
    received.pop_back();
  }
  RC_ASSERT(received == model.received);
  if (!rc && !loops) {
    // Packets of MRC go by many paths: of two writes to one place either may be the last.
    std::vector<bool> once(model.far.size());
    for (const Asked& asked : program) {
      for (uint64_t i = asked.offset; i < asked.offset + asked.length; ++i) {
        if (once[i]) model.unknown[i] = true;
        once[i] = true;
      }
    }
  }
  RC_ASSERT(lab.near.bytes == model.near);
  for (size_t i = 0; i < model.far.size(); ++i) {
    if (model.unknown[i]) continue;
    if (lab.far.bytes[i] != model.far[i]) RC_FAIL("byte " + std::to_string(i) + " differs");
  }
  RC_ASSERT((lab.near.state() == QpState::kError) == model.over);
}

}  // namespace

TEST_CASE("random programs leave what a model leaves, in memory and in completion queues") {
  CHECK(test::counterexample(
            [] {
              const bool rc = *rc::gen::arbitrary<bool>(), loops = *rc::gen::arbitrary<bool>();
              std::vector<Asked> program(*rc::gen::inRange<size_t>(1, 25));
              for (Asked& asked : program) asked = any_request(rc);
              check_program(rc, loops, program);
            },
            test::nightly() ? 10'000 : 100) == "");
}
