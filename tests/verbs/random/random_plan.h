#pragma once
// What a random program does, drawn from a seed, and what must come of it. Two processes draw the same plan: one posts, the
// other is written to. What no rule fixes is not drawn: no two requests touch the same bytes, but for atomics of one
// queue pair, which happen in the order of posting; a request that must fail is posted when those before it have
// completed, and nothing is asked of what its queue pair was given after it.

#include <cstdint>
#include <vector>

namespace mrclab::test {

enum class Deed : uint8_t { kWrite, kWriteImmediate, kSend, kRead, kFetchAdd, kCompareSwap };

struct PlannedWork {
  Deed deed = Deed::kWrite;
  uint32_t qp = 0;
  uint32_t length = 0;
  uint32_t pieces = 1;  ///< of the local list
  uint32_t local = 0;   ///< offset at who posts: source, or where an answer goes
  uint32_t remote = 0;  ///< offset at the other
  uint32_t immediate = 0;
  uint64_t add = 0, compare = 0, swap = 0;
  bool signaled = true, inlined = false;
  bool wrong_key = false;
  bool after_wrong = false;  ///< of a queue pair that has failed by then
};

struct Plan {
  static constexpr uint32_t kMemory = 192 * 1024;
  static constexpr uint32_t kSource = 0, kTarget = 64 * 1024;  ///< written from; written to
  static constexpr uint32_t kReadable = 128 * 1024;            ///< at the other: read from
  static constexpr uint32_t kCells =
      kMemory - 64;  ///< at the other: atomics, one for each queue pair
  static constexpr uint32_t kQps = 3, kMaxWork = 24, kMaxInline = 64;

  Plan(uint64_t seed, bool roce);

  uint64_t seed;
  uint32_t qps = 1;
  std::vector<PlannedWork> work;

  /// Byte `i` of the memory of `side` (0 posts) before anything happens.
  uint8_t before(int side, uint32_t i) const {
    const uint64_t x = (seed * 2 + static_cast<uint64_t>(side)) * 0x9E37'79B9'7F4A'7C15 + i;
    return static_cast<uint8_t>((x ^ x >> 29) * 0xBF58'476D'1CE4'E5B9 >> 56);
  }

 private:
  uint32_t below(uint32_t limit) {
    state_ += 0x9E37'79B9'7F4A'7C15;
    uint64_t x = state_;
    x = (x ^ x >> 30) * 0xBF58'476D'1CE4'E5B9;
    x = (x ^ x >> 27) * 0x94D0'49BB'1331'11EB;
    return static_cast<uint32_t>((x ^ x >> 31) % limit);
  }
  /// MRC flushes what was not acknowledged when a later request fails: who posts has to see that it was.
  void sign_last_of(uint32_t qp) {
    for (size_t i = work.size(); i-- > 0;) {
      if (work[i].qp != qp) continue;
      work[i].signaled = true;
      return;
    }
  }
  uint64_t state_;
};

inline Plan::Plan(uint64_t of, bool roce) : seed(of), state_(of * 77 + roce) {
  qps = 1 + below(kQps);
  const uint32_t count = 1 + below(kMaxWork);
  const uint32_t wrong = below(4) == 0 ? below(count) : count;
  uint32_t target = kTarget + below(64);
  uint32_t answer = kTarget + below(64);
  uint32_t failed_qp = kQps;
  for (uint32_t i = 0; i < count; ++i) {
    PlannedWork one;
    one.qp = below(qps);
    one.deed = static_cast<Deed>(below(roce ? 6 : 2));
    one.after_wrong = one.qp == failed_qp;
    if (i == wrong) {
      one.deed = Deed::kWrite;
      one.wrong_key = !one.after_wrong;
      if (one.wrong_key) {
        failed_qp = one.qp;
        sign_last_of(one.qp);
      }
    }
    const bool atomic = one.deed == Deed::kFetchAdd || one.deed == Deed::kCompareSwap;
    one.length = atomic ? 8 : one.wrong_key ? 8 : below(5) == 0 ? below(3) : below(2500);
    one.pieces = one.length >= 3 && !atomic ? 1 + below(3) : 1;
    one.signaled = below(3) != 0 || i % 4 == 3 || i + 1 == count || one.wrong_key;
    one.immediate = below(0xFFFF'FFFF);
    const bool fetches = atomic || one.deed == Deed::kRead;
    if (fetches) {
      answer = (answer + 7) / 8 * 8;
      one.local = answer;
      answer += one.length + below(40);
      one.remote = atomic ? kCells + 8 * one.qp : kReadable + below(40'000);
      one.add = below(1000);
      one.compare = below(3);
      one.swap = below(3);
    } else {
      one.local = kSource + below(60'000);
      one.remote = target;
      target += one.length + below(40);
      one.inlined = one.length <= kMaxInline && below(2) == 0;
    }
    work.push_back(one);
  }
}

}  // namespace mrclab::test
