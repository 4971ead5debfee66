// Shrinking, on predicates that need no simulation.

#include "faults/shrink.h"

#include <doctest/doctest.h>

#include <numeric>
#include <set>

#include "faults/draws.h"
#include "tests/faults/read_fault.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::faults;
using mrclab::test::read_fault;

namespace {

std::vector<int> numbers(int count) {
  std::vector<int> all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

bool has(const std::vector<int>& list, int wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

}  // namespace

TEST_CASE("of many faults the few that matter together are left, in their order") {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Draws draws(seed, 9);
    const int count = static_cast<int>(draws.between(1, 40));
    const std::vector<int> wanted =
        draws.some_of(numbers(count), static_cast<size_t>(draws.between(1, 4)));
    int questions = 0;
    const auto least = minimize<int>(numbers(count), [&](const std::vector<int>& list) {
      ++questions;
      return std::all_of(wanted.begin(), wanted.end(), [&](int w) { return has(list, w); });
    });
    CHECK(least == wanted);
    CHECK(questions <= count * count + 8);
  }
}

TEST_CASE("what fails without any fault has none left") {
  CHECK(minimize<int>(numbers(9), [](const std::vector<int>&) { return true; }).empty());
}

TEST_CASE("a predicate that has had enough leaves a list that does fulfil it") {
  int left = 5;
  const auto least = minimize<int>(numbers(16), [&](const std::vector<int>& list) {
    return left-- > 0 && has(list, 3) && has(list, 12);
  });
  CHECK(has(least, 3));
  CHECK(has(least, 12));
}

TEST_CASE("a simpler fault has fewer targets, less to say, or less of something") {
  const Topology t = test::octet();
  std::set<std::string> offers;
  for (const Fault& fault : simpler(
           read_fault(t, R"({at: 10us, delay: {link: "h0:p0", by: 2us, up_to: 500ns, for: 40us}})"),
           t)) {
    offers.insert(describe(fault, t));
    CHECK(read_fault(t, to_yaml(fault, t)) == fault);
  }
  CHECK(offers.size() == 6);  // either direction, without jitter, half by, half up_to, half as long
}

TEST_CASE("a fault that cannot be less is offered nothing simpler") {
  const Topology t = test::octet();
  CHECK(simpler(read_fault(t, R"({at: 10us, link_down: {link: "h0:p0", for: 150ns}})"), t).empty());
  CHECK(simpler(read_fault(t, R"({at: 10us, link_down: {link: "h0:p0"}})"), t).empty());
}

TEST_CASE("halving comes to an end") {
  const Topology t = test::octet();
  Fault fault = read_fault(
      t, R"({at: 10us, flap: {link: "h0:p*", count: 1000, down: 1s, up: 1s, up_to: 400us}})");
  int steps = 0;
  for (auto next = simpler(fault, t); !next.empty() && steps < 1000; ++steps) {
    fault = next.front();
    next = simpler(fault, t);
  }
  CHECK(steps < 100);
}

TEST_CASE("of many targets the few that matter are left, with few questions") {
  const Topology t = test::octet();
  const Fault fault =
      read_fault(t, R"({at: 10us, link_down: {link: "p[0-7].t0-0:u1", for: 50us}})");
  REQUIRE(fault.targets.links.size() == 8);
  int questions = 0;
  const auto left_with = [&](const std::vector<LinkId>& wanted) {
    questions = 0;
    return fewest_targets(fault, t, [&](const Fault& fewer) {
      ++questions;
      CHECK(read_fault(t, to_yaml(fewer, t)) == fewer);
      const auto& links = fewer.targets.links;
      return std::all_of(wanted.begin(), wanted.end(), [&](LinkId link) {
        return std::find(links.begin(), links.end(), link) != links.end();
      });
    });
  };
  const std::vector<LinkId> all = fault.targets.links;
  CHECK(left_with({all[5]}).targets.links == std::vector<LinkId>{all[5]});
  CHECK(questions <= 8);
  CHECK(left_with({all[1], all[6]}).targets.links == std::vector<LinkId>{all[1], all[6]});
  CHECK(left_with(all) == fault);
}

TEST_CASE("whatever the kind, what is left is a fault of that kind") {
  const Topology t = test::octet();
  for (const FaultInfo& kind : all_faults()) {
    const Fault fault = read_fault(
        t, "{at: 10us, " + std::string(kind.name) + ": " + std::string(kind.example) + "}");
    const Fault fewer = fewest_targets(fault, t, [](const Fault&) { return true; });
    CHECK_FALSE(holds_of(fewer, t).empty());
    CHECK(read_fault(t, to_yaml(fewer, t)) == fewer);
  }
}
