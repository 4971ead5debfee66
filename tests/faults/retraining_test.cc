// bit_errors behind a code: what they hold, and when a link is trained anew.

#include "faults/retraining.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "fabric/node/fec_code.h"
#include "faults/schedule.h"
#include "tests/faults/read_fault.h"
#include "tests/support/fabrics.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::faults;
using mrclab::test::fault_error;
using mrclab::test::ps;
using mrclab::test::read_fault;
using mrclab::test::us;

namespace {

/// Looks at one codeword after the other.
std::vector<Retraining> looked_for(const std::vector<WireCodewords>& wires, FabricTime from,
                                   FabricTime until, uint32_t limit, FabricTime down) {
  std::vector<Retraining> outages;
  const CodewordClock clock(BitRate::from_gbps(100), wires[0].code);
  const uint64_t loss = codeword_loss(wires[0]);
  for (FabricTime at = from; at < until;) {
    FabricTime next = until;
    for (const WireCodewords& errors : wires) {
      uint64_t number = clock.number_at(at);
      if (clock.start_of(number) < at) ++number;
      uint32_t bad = 0;
      while (bad < limit && clock.start_of(number) < next) {
        bad = codeword_is_lost(errors, loss, number++) ? bad + 1 : 0;
      }
      if (bad == limit) next = std::min(next, clock.start_of(number));
    }
    if (next >= until) break;
    at = next + down;
    outages.push_back({next, at});
  }
  return outages;
}

}  // namespace

TEST_CASE("a link goes down at the end of each row of lost codewords, in either direction") {
  for (const uint32_t limit : {1u, 2u, 3u, 5u}) {
    for (const double thousandths : {1.5, 2.0, 3.0}) {
      const auto rate = static_cast<uint64_t>(thousandths * 1e12);
      const std::vector<WireCodewords> wires{{WireId{4}, FecCode::kKp4, {rate}, {}, 9},
                                             {WireId{5}, FecCode::kKp4, {rate}, {}, 9}};
      const RetrainRule rule{limit, us(30), kMostCodewords, kMostRetrainings};
      const auto found = retrainings(wires, BitRate::from_gbps(100), us(10), us(2'000), rule);
      const auto wanted = looked_for(wires, us(10), us(2'000), limit, us(30));
      REQUIRE(found.size() == wanted.size());
      for (size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].from == wanted[i].from);
        CHECK(found[i].until == found[i].from + us(30));
      }
      if (thousandths == 3.0) CHECK(found.size() > 3);
    }
  }
}

TEST_CASE(
    "the search for lost codewords ends, however few are lost and however long a fault lasts") {
  const std::vector<WireCodewords> rare{{WireId{4}, FecCode::kKp4, {1'000'000'000'000}, {}, 9}};
  const RetrainRule rule{3, us(30), kMostCodewords, kMostRetrainings};
  CHECK(retrainings(rare, BitRate::from_gbps(100), us(1), FabricTime::never(), rule).empty());
  const std::vector<WireCodewords> all{{WireId{4}, FecCode::kKp4, {50'000'000'000'000}, {}, 9}};
  CHECK(retrainings(all, BitRate::from_gbps(100), us(1), FabricTime::never(), rule).size() ==
        kMostRetrainings);
}

TEST_CASE("bit errors behind a code hold codewords, and the link dark while it is trained anew") {
  const Topology t = test::octet();
  const char* text =
      "{at: 10us, bit_errors: {link: \"p0.t0-0:u0\", rate: 3e-3, fec: kp4, retrain: 40us, "
      "seed: 5, for: 200us}}";
  const Fault fault = read_fault(t, text);
  CHECK(read_fault(t, to_yaml(fault, t)) == fault);
  size_t codewords = 0, dark = 0;
  for (const Hold& hold : holds_of(fault, t)) {
    if (const auto* errors = std::get_if<WireCodewords>(&hold.effect)) {
      ++codewords;
      CHECK(errors->code == FecCode::kKp4);
      CHECK(hold.until == us(210));
    } else if (std::holds_alternative<WireState>(hold.effect)) {
      ++dark;
      CHECK(hold.from >= us(10));
      CHECK(hold.until == hold.from + us(40));
    }
    CHECK_FALSE(std::holds_alternative<WireErrors>(hold.effect));
  }
  CHECK(codewords == 2);
  CHECK(dark >= 2);
  CHECK(replay(compile({fault}, t)).degraded_targets().empty());
}

TEST_CASE("what belongs to a code needs one, and a code a wire") {
  const Topology t = test::octet();
  CHECK(fault_error(t, "{at: 1us, bit_errors: {link: \"h0:p0\", rate: 1e-6, dfe: 50%}}")
            .find("found \"dfe\" without a code: expected \"fec: kp4\" beside it") !=
        std::string::npos);
  CHECK(fault_error(t, "{at: 1us, bit_errors: {link: \"h0:p0\", rate: 2e-3}}")
            .find("expected at most 1e-3, or fec beside it") != std::string::npos);
  CHECK(fault_error(t, "{at: 1us, bit_errors: {switch: p0.t0-0, rate: 1e-4, fec: kr4}}")
            .find("a code inside a switch") != std::string::npos);
  CHECK(fault_error(t, "{at: 1us, bit_errors: {link: \"h0:p0\", rate: 1e-4, fec: ll, limit: 2}}")
            .find("\"retrain\" beside it") != std::string::npos);
  CHECK(fault_error(t, "{at: 1us, bit_errors: {link: \"h0:p0\", rate: 1e-4, fec: none}}") ==
        "no error");
}
