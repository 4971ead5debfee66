// One host of a ring of two, played against by hand: what it posts, and what it waits for.

#include "endpoint/workload/collective.h"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include "tests/endpoint/workload/collective_verbs.h"

using namespace mrclab;
using namespace mrclab::endpoint;

namespace {

constexpr uint64_t kSize = 4096;
constexpr uint64_t kScratch = 3 * kSize;  ///< after three results

class Hand : public test::CollectiveVerbs {
 public:
  Hand() : schedule(CollectiveKind::kAllReduce, {kSize}, 2, 1) {
    region.resize(schedule.inbox_size(0, 0).value);
    own.resize(schedule.own_size().value);
    app.emplace(config());
    app->start(*this);
  }
  Collective::Config config() {
    Collective::Config c(schedule);
    c.seed = 5;
    c.links.resize(1);
    c.links[0] = {{{0}}, {{1}}, 1 << 20, 0, region};
    c.own = own;
    return c;
  }
  bool post_write(QpHandle, const WriteRequest& request) override {
    posted.push_back(request);
    return true;
  }
  /// The neighbour's contribution arrives: its input of chunk 1 in the iteration's scratch slot.
  void receive_scatter(uint32_t iteration) {
    const uint64_t slot = kScratch + (iteration & 1) * kSize / 2;
    fill_ramp(std::span(region).subspan(slot, kSize / 2), kSize / 8, app->input_of(1, iteration));
    app->on_receive_immediate(*this, {1}, iteration << 8);
  }
  /// The neighbour's result arrives: chunk 0 of the vector.
  void receive_gather(uint32_t iteration) {
    fill_ramp(std::span(region).subspan(iteration % 3 * kSize, kSize / 2), 0,
              app->sum_of(iteration));
    app->on_receive_immediate(*this, {1}, iteration << 8);
  }
  void complete(size_t index) { app->on_write_complete(*this, {0}, posted[index].id); }

  CollectiveSchedule schedule;
  std::vector<uint8_t> region, own;
  std::vector<WriteRequest> posted;
  std::optional<Collective> app;
};

}  // namespace

TEST_CASE("rank 0 of two sends chunk 0 to scratch, then the sum of chunk 1 to its place") {
  Hand h;
  REQUIRE(h.posted.size() == 1);
  CHECK(h.posted[0].local.data() == h.own.data());
  CHECK(h.posted[0].local.size() == kSize / 2);
  CHECK(h.posted[0].remote_va == (1 << 20) + kScratch);
  h.receive_scatter(0);
  REQUIRE(h.posted.size() == 2);
  CHECK(h.posted[1].remote_va == (1 << 20) + kSize / 2);
  CHECK(count_mismatched_bytes(h.posted[1].local, kSize / 8, h.app->sum_of(0)) == 0);
  h.receive_gather(0);
  CHECK(h.done == 1);
  CHECK(h.verified == kSize);
  CHECK(h.mismatched == 0);
}

TEST_CASE("the next iteration waits for the vector that it will overwrite") {
  Hand h;
  h.receive_scatter(0);
  h.receive_gather(0);
  REQUIRE(h.posted.size() == 3);  // iteration 1, in the other vector and the other slots
  CHECK(h.posted[2].local.data() == h.own.data() + kSize);
  CHECK(h.posted[2].remote_va == (1 << 20) + kScratch + kSize / 2);
  h.receive_scatter(1);
  h.receive_gather(1);
  h.complete(0);
  CHECK(h.posted.size() == 4);  // iteration 2 would overwrite what write 1 still sends from
  h.complete(1);
  REQUIRE(h.posted.size() == 5);
  CHECK(h.posted[4].local.data() == h.own.data());
  CHECK(h.posted[4].remote_va == (1 << 20) + kScratch);
  CHECK(h.mismatched == 0);
}

TEST_CASE("a receive that comes before its iteration was started is used when it starts") {
  Hand h;
  for (const uint32_t iteration : {0u, 1u}) {
    h.receive_scatter(iteration);
    h.receive_gather(iteration);
  }
  h.receive_scatter(2);  // the neighbour is ahead
  CHECK(h.posted.size() == 4);
  h.complete(0);
  h.complete(1);
  CHECK(h.posted.size() == 6);  // both steps of iteration 2
  h.receive_gather(2);
  CHECK(h.done == 3);
  CHECK(h.mismatched == 0);
}

TEST_CASE("a result that is wrong is reported, and strange immediates are ignored") {
  Hand h;
  h.receive_scatter(0);
  h.app->on_receive_immediate(h, {1}, 77);  // no such lane
  h.app->on_receive_immediate(h, {0}, 0);   // not from the left
  CHECK(h.done == 0);
  h.app->on_receive_immediate(h, {1}, 0);  // the result never came
  CHECK(h.done == 1);
  CHECK(h.mismatched == kSize / 2);
}
