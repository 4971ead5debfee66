#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "fabric/base/byte_order.h"
#include "routing/rib/attribute_pool.h"
#include "routing/rib/decision.h"
#include "routing/rib/prefix_filter.h"

using namespace mrclab;
using namespace mrclab::routing;

namespace {

struct Candidate {
  PeerIndex peer;
  std::vector<uint32_t> as_path;
  Origin origin = Origin::kIgp;
  std::optional<uint32_t> med = std::nullopt;
  bool unreachable = false;
};

std::vector<PeerIndex> choose(const std::vector<Candidate>& candidates, size_t limit = 64) {
  std::vector<Path> paths;
  for (const Candidate& candidate : candidates) {
    PathAttributes attributes;
    AsSegment segment;
    for (const uint32_t as : candidate.as_path) segment.numbers.push_back({as});
    if (!segment.numbers.empty()) attributes.as_path = AsPath({segment});
    attributes.origin = candidate.origin;
    attributes.med = candidate.med;
    Path path;
    path.peer = candidate.peer;
    path.unreachable = candidate.unreachable;
    path.attributes = std::make_shared<const PathAttributes>(attributes);
    paths.push_back(path);
  }
  // The peer of index 0 has the highest router id, 1 and 2 the same one.
  const std::vector<PeerRank> ranks{{{9}, {}}, {{5}, {0, 2}}, {{5}, {0, 1}}, {{7}, {}}};
  return choose_paths(paths, ranks, limit);
}

using Chosen = std::vector<PeerIndex>;

OrfEntry entry(uint32_t sequence, const char* prefix, bool permit = true, uint8_t least = 0,
               uint8_t most = 0) {
  return {OrfEntry::Action::kAdd, permit, sequence, least, most, *Prefix::parse(prefix)};
}

}  // namespace

TEST_CASE("each step of the decision decides where those before it do not") {
  CHECK(choose({}).empty());
  CHECK(choose({{0, {1, 2}}, {1, {3}}}) == Chosen{1});
  CHECK(choose({{0, {1}}, {3, {2}, Origin::kIncomplete}}) == Chosen{0});
  CHECK(choose({{0, {1}, Origin::kIgp, 20}, {3, {1}, Origin::kIgp, 10}}) == Chosen{3});
  CHECK(choose({{0, {1}, Origin::kIgp, 20}, {3, {2}, Origin::kIgp, 10}}) ==
        Chosen{3, 0});                                                 // other AS
  CHECK(choose({{0, {1}, Origin::kIgp, 20}, {3, {1}}}) == Chosen{3});  // none is 0
  CHECK(choose({{0, {1}}, {1, {2}}, {2, {3}}, {3, {4}}}) == Chosen{2, 1, 3, 0});
  CHECK(choose({{0, {1}}, {1, {2}}, {2, {3}}, {3, {4}}}, 2) == Chosen{2, 1});
  CHECK(choose({{0, {1}}, {kOwn, {}}}) == Chosen{kOwn});
  CHECK(choose({{0, {1, 2, 3}}, {1, {1}, Origin::kIgp, {}, true}}) == Chosen{0});
  CHECK(choose({{0, {1}}, {kOwn, {}, Origin::kIgp, {}, true}}) == Chosen{0});
}

TEST_CASE("a set counts as one AS") {
  const AsPath path(
      {{AsSegment::Type::kSequence, {{1}, {2}}}, {AsSegment::Type::kSet, {{3}, {4}, {5}}}});
  CHECK(path.length() == 3);
  CHECK(path.contains({5}));
  CHECK(path.first() == AsNumber{1});
  CHECK_FALSE(AsPath({{AsSegment::Type::kSet, {{3}}}}).first());
}

TEST_CASE("a filter takes the first entry that matches, lengths included") {
  PrefixFilter filter;
  CHECK(filter.permits(*Prefix::parse("2001:db8::1")));
  CHECK(filter.apply(std::vector{entry(20, "2001:db8::/32", true, 48, 64),
                                 entry(10, "2001:db8:5::/48", false), entry(30, "2001:db8::1")}));
  CHECK(filter.permits(*Prefix::parse("2001:db8:6::/48")));
  CHECK(filter.permits(*Prefix::parse("2001:db8:5:1::/64")));
  CHECK_FALSE(filter.permits(*Prefix::parse("2001:db8:5::/48")));
  CHECK_FALSE(filter.permits(*Prefix::parse("2001:db8::/32")));
  CHECK_FALSE(filter.permits(*Prefix::parse("2001:db8::/65")));
  CHECK(filter.permits(*Prefix::parse("2001:db8::1")));
  CHECK_FALSE(filter.permits(*Prefix::parse("2001:db8::2")));
  CHECK(filter.apply(std::vector{entry(25, "2001:db8::1", false)}));
  CHECK_FALSE(filter.permits(*Prefix::parse("2001:db8::1")));
  OrfEntry removed = entry(25, "2001:db8::1", false);
  removed.action = OrfEntry::Action::kRemove;
  CHECK(filter.apply(std::vector{removed}));
  CHECK(filter.permits(*Prefix::parse("2001:db8::1")));
  CHECK(filter.apply(std::vector{OrfEntry{OrfEntry::Action::kRemoveAll, true, 0, 0, 0, {}}}));
  CHECK(filter.size() == 0);
}

TEST_CASE("a filter that says everything or nothing, and one that is too long") {
  PrefixFilter all, none, bounded(2);
  CHECK(all.apply(std::vector{entry(1, "::/0", true, 0, 128)}));
  CHECK(none.apply(std::vector{entry(1, "::/0", false, 0, 128)}));
  CHECK(all.permits(*Prefix::parse("::/0")));
  CHECK(all.permits(*Prefix::parse("2001:db8::1")));
  CHECK_FALSE(none.permits(*Prefix::parse("2001:db8::1")));
  CHECK(bounded.apply(std::vector{entry(1, "::1"), entry(2, "::2")}));
  CHECK_FALSE(bounded.apply(std::vector{entry(3, "::3")}));
  CHECK(bounded.apply(std::vector{entry(2, "::4")}));
  CHECK(bounded.permits(*Prefix::parse("::4")));
  CHECK_FALSE(bounded.permits(*Prefix::parse("::2")));
}

TEST_CASE("equal sets of attributes are one object, and those of no route any more are let go") {
  AttributePool pool;
  const auto of_as = [](uint32_t as) {
    PathAttributes attributes;
    attributes.as_path = AsPath{}.prepended({as});
    return attributes;
  };
  const auto first = pool.intern(of_as(1));
  CHECK(pool.intern(of_as(1)) == first);
  CHECK(pool.intern(of_as(2)) != first);
  for (uint32_t as = 3; as < 10'000; ++as) pool.intern(of_as(as));
  CHECK(pool.size() <= 1025);
  CHECK(pool.intern(of_as(1)) == first);
}

TEST_CASE(
    "finding a set of attributes costs the logarithm of their number, whatever tells them apart") {
  constexpr uint32_t kSets = 60'000;
  struct Row {
    const char* about;
    void (*mark)(PathAttributes&, uint32_t);
  };
  // A hash that leaves one of these out is as slow as a list.
  const Row rows[] = {
      {"MED", [](PathAttributes& a, uint32_t n) { a.med = n; }},
      {"a community", [](PathAttributes& a, uint32_t n) { a.communities = {n}; }},
      {"the last of many communities",
       [](PathAttributes& a, uint32_t n) {
         a.communities.assign(32, 7);
         a.communities.push_back(n);
       }},
      {"an extended community",
       [](PathAttributes& a, uint32_t n) {
         a.extended.resize(1);
         store_be(&a.extended[0].octets[4], n);
       }},
      {"an unknown attribute",
       [](PathAttributes& a, uint32_t n) {
         a.unknown = {{0xC0, 99, Octets(4)}};
         store_be(a.unknown[0].value.data(), n);
       }},
      {"the aggregator",
       [](PathAttributes& a, uint32_t n) {
         a.aggregator = {{65'001}, RouterId{n}};
       }},
      {"the AS path", [](PathAttributes& a, uint32_t n) { a.as_path = AsPath{}.prepended({n}); }},
  };
  for (const Row& row : rows) {
    CAPTURE(row.about);
    AttributePool pool;
    std::vector<AttributePool::Shared> held;
    for (uint32_t n = 0; n < kSets; ++n) {
      PathAttributes attributes;
      // Neither ascending nor descending.
      row.mark(attributes, n * 2'654'435'761u);
      held.push_back(pool.intern(std::move(attributes)));
    }
    CHECK(pool.size() == kSets);
    CHECK(pool.comparisons() < uint64_t{kSets} * 40);  // twice log2(60,000), and some
  }
}

TEST_CASE(
    "an entry of a filter takes the place of the one with its number, as do entries of one "
    "prefix") {
  PrefixFilter filter;
  filter.apply(std::vector{entry(10, "2001:db8::1", false), entry(20, "2001:db8::1"),
                           entry(30, "::/0", true, 0, 128)});
  CHECK_FALSE(filter.permits(*Prefix::parse("2001:db8::1")));
  OrfEntry gone = entry(10, "2001:db8::1", false);
  gone.action = OrfEntry::Action::kRemove;
  filter.apply(std::vector{gone});
  CHECK(filter.permits(*Prefix::parse("2001:db8::1")));
  filter.apply(std::vector{entry(30, "::/0", false, 0, 128)});  // another of that number
  CHECK_FALSE(filter.permits(*Prefix::parse("2001:db8::2")));
  CHECK(filter.size() == 2);
}

TEST_CASE("a filter has so many entries that are looked at one by one, and no more") {
  PrefixFilter filter;
  std::vector<OrfEntry> ranges;
  for (uint32_t n = 1; n <= PrefixFilter::kMaxRanges; ++n) {
    ranges.push_back(entry(n, "2001:db8::/32", true, 33, 128));
  }
  CHECK(filter.apply(ranges));
  CHECK_FALSE(filter.apply(std::vector{entry(100'000, "2001:db9::/32", true, 33, 128)}));
  CHECK(filter.apply(std::vector{entry(100'001, "2001:db9::1")}));
}

TEST_CASE("attributes fill the memory up to a bound, and those that no route has leave room") {
  constexpr size_t kLimit = 64 << 10;
  AttributePool pool;
  std::vector<AttributePool::Shared> held;
  const auto of = [](uint32_t n) {
    PathAttributes attributes;
    attributes.communities.assign(256, n);
    return attributes;
  };
  for (uint32_t n = 0; pool.fits(kLimit) && n < 1'000; ++n) held.push_back(pool.intern(of(n)));
  CHECK(pool.octets() > kLimit);
  CHECK(held.size() < kLimit / 1'024 + 1);
  held.resize(held.size() / 2);
  CHECK(pool.fits(kLimit));
  CHECK(pool.size() == held.size());
  for (uint32_t n = 1'000; n < 2'000; ++n) {
    pool.intern(of(n));  // of no route
    CHECK(pool.fits(kLimit));
  }
}
