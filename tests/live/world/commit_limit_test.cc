#include "live/world/commit_limit.h"

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>

namespace mrclab::lab {
namespace {

FabricTime at_us(int64_t instant) { return FabricTime::from_us(instant); }

/// The gate of a lab with one process, and what has to be done first.
struct LimitedLab {
  LimitedLab() {
    gate->process_count = 1;
    gate->limit_ps.store(netio::kBeforeTime.ps());
    gate->slot(0).claimed_ps.store(netio::kBeforeTime.ps());
  }
  FabricTime published() const { return FabricTime::from_ps(gate->limit_ps.load()); }
  void commit(FabricTime instant) { gate->slot(0).claimed_ps.store(instant.ps()); }

  std::unique_ptr<netio::GatePage> gate = std::make_unique<netio::GatePage>();
  FabricTime pending = FabricTime::never();
  CommitLimit commits{*gate, [this] { return pending; }};
};

}  // namespace

TEST_CASE("nothing is committed before a lab starts, and then as far as the earliest bound says") {
  LimitedLab lab;
  lab.commits.set(at_us(50));
  lab.commits.refresh();
  CHECK(lab.published() == netio::kBeforeTime);
  lab.commits.start();
  CHECK(lab.published() == at_us(50));
  lab.pending = at_us(40);
  lab.commits.refresh();
  CHECK(lab.published() == at_us(40));
  FabricTime brake = at_us(10);
  lab.commits.set_brake([&] { return brake; });
  lab.commits.refresh();
  CHECK(lab.published() == at_us(10));
  brake = at_us(30);
  CHECK(lab.commits.combined() == at_us(10));  // it is asked once in a refresh
  lab.commits.refresh();
  CHECK(lab.published() == at_us(30));
  CHECK(lab.commits.limit() == at_us(50));
}

TEST_CASE("while a lab stands still it publishes nothing, and then what was decided meanwhile") {
  LimitedLab lab;
  lab.commits.start();
  lab.commit(at_us(7));
  {
    const Quiesce quiesce(lab.commits);
    CHECK(quiesce.last_commit() == at_us(7));
    CHECK(quiesce.open_instant() == at_us(7) + kPicosecond);
    CHECK(lab.published() == netio::kBeforeTime);
    lab.commits.set(at_us(9));
    lab.commits.refresh();
    CHECK(lab.published() == netio::kBeforeTime);
    CHECK_THROWS_AS(Quiesce(lab.commits), std::logic_error);
  }
  CHECK(lab.published() == at_us(9));
}

TEST_CASE("an instant that no process has committed can be kept for one step") {
  LimitedLab lab;
  lab.commits.start();
  lab.commit(at_us(7));
  CHECK_FALSE(lab.commits.keep_before(at_us(7)));
  CHECK(lab.published() == FabricTime::never() - kPicosecond);
  CHECK(lab.commits.keep_before(at_us(9)));
  CHECK(lab.commits.keep_before(at_us(8)));
  CHECK(lab.commits.keep_before(at_us(20)));
  CHECK(lab.published() == at_us(8) - kPicosecond);
  lab.commits.refresh();
  CHECK(lab.published() == FabricTime::never() - kPicosecond);
}

}  // namespace mrclab::lab
