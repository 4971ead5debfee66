#include "fabric/node/fec_code.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <vector>

#include "fabric/base/random.h"

namespace mrclab {
namespace {

constexpr uint32_t kSymbolBits = 10;
constexpr uint64_t kPsPerSecond = 1'000'000'000'000;

/// By FecCode: RS(544,514) and RS(528,514) of IEEE 802.3 clause 91, RS(272,257) of the Ethernet Technology
/// Consortium's low-latency FEC. 514 symbols are 20 blocks of 257 bits, 257 are 10.
constexpr std::array<FecShape, 4> kShapes{
    {{0, 0, 1, {0}}, {544, 15, 2, {640}}, {528, 7, 1, {640}}, {272, 7, 2, {320}}}};

/// Line symbols as a chain of two states: the last one was right (0) or wrong (1).
struct LineChain {
  std::array<uint64_t, 2> wrong;  ///< the next one is wrong, by the state
  uint64_t mean;                  ///< a symbol is wrong
};

LineChain chain_of(const WireCodewords& errors, uint32_t line_bits) {
  const uint64_t rate = std::min(errors.rate.per_quadrillion, BitErrorRate::kOne);
  const auto bit =
      static_cast<uint64_t>((static_cast<unsigned __int128>(rate) << 63) / BitErrorRate::kOne);
  const uint64_t right =
      line_bits == 2 ? product_of_shares(kCertain - bit, kCertain - bit) : kCertain - bit;
  const uint64_t mean = kCertain - right;
  const auto passed_on = static_cast<uint64_t>(
      (static_cast<unsigned __int128>(errors.propagation.ppb) << 63) / Probability::kOne);
  const uint64_t fresh = product_of_shares(kCertain - passed_on, mean);
  return {{fresh, passed_on + fresh}, mean};
}

/// What a whole symbol of the code does to the chain: [state before][any bit wrong][state behind].
using SymbolStep = std::array<std::array<std::array<uint64_t, 2>, 2>, 2>;

SymbolStep step_of(const LineChain& chain, uint32_t line_symbols) {
  SymbolStep step{};
  for (size_t before = 0; before < 2; ++before) {
    std::array<std::array<uint64_t, 2>, 2> now{};  // [any][state]
    now[0][before] = kCertain;
    for (uint32_t i = 0; i < line_symbols; ++i) {
      std::array<std::array<uint64_t, 2>, 2> next{};
      for (size_t any = 0; any < 2; ++any) {
        for (size_t state = 0; state < 2; ++state) {
          const uint64_t wrong = product_of_shares(now[any][state], chain.wrong[state]);
          next[1][1] += wrong;
          next[any][0] += now[any][state] - wrong;
        }
      }
      now = next;
    }
    step[before] = now;
  }
  return step;
}

}  // namespace

const FecShape& shape_of(FecCode code) {
  assert(code != FecCode::kNone);
  return kShapes.at(static_cast<size_t>(code));
}

uint64_t codeword_loss(const WireCodewords& errors) {
  if (errors.code == FecCode::kNone || errors.rate.per_quadrillion == 0) return 0;
  const FecShape& shape = shape_of(errors.code);
  const LineChain chain = chain_of(errors, shape.line_bits);
  const SymbolStep step = step_of(chain, kSymbolBits / shape.line_bits);
  // By the number of wrong symbols so far, as long as they can be corrected, and the chain's state.
  std::vector<std::array<uint64_t, 2>> now(shape.correctable + 1), next;
  now[0] = {kCertain - chain.mean, chain.mean};
  uint64_t lost = 0;
  for (uint32_t symbol = 0; symbol < shape.symbols; ++symbol) {
    next.assign(now.size(), {});
    for (size_t wrong = 0; wrong < now.size(); ++wrong) {
      for (size_t before = 0; before < 2; ++before) {
        for (size_t any = 0; any < 2; ++any) {
          for (size_t behind = 0; behind < 2; ++behind) {
            const uint64_t share = product_of_shares(now[wrong][before], step[before][any][behind]);
            (wrong + any < now.size() ? next[wrong + any][behind] : lost) += share;
          }
        }
      }
    }
    now.swap(next);
  }
  return lost;
}

CodewordClock::CodewordClock(BitRate rate, FecCode code)
    : rate_(rate.bps),
      per_codeword_(static_cast<unsigned __int128>(shape_of(code).carried.value) * 8 *
                    kPsPerSecond) {}

uint64_t CodewordClock::number_at(FabricTime t) const {
  return static_cast<uint64_t>(static_cast<uint64_t>(std::max<int64_t>(t.ps(), 0)) * rate_ /
                               per_codeword_);
}

FabricTime CodewordClock::start_of(uint64_t number) const {
  return FabricTime::from_ps(static_cast<int64_t>((number * per_codeword_ + rate_ - 1) / rate_));
}

bool codeword_is_lost(const WireCodewords& errors, uint64_t loss, uint64_t number) {
  const uint64_t bits =
      draw(errors.seed, NodeId{errors.wire.value}, PortId{}, DrawPurpose::kWireCodeword, number);
  return bits >> 1 < loss;
}

}  // namespace mrclab
