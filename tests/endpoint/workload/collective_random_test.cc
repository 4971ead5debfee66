// All five collectives on a table top: hosts without a network. Writes of a queue pair arrive in
// order, everything else happens in a random order: writes of different queue pairs overtake each
// other, acknowledgements come late, and a host gets completions of arrived and acknowledged writes late,
// as one that is paused. Bytes are read at arrival, as late as can be, and read again when the write
// is acknowledged: until then a NIC may have to send them again.

#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "endpoint/workload/collective.h"
#include "tests/endpoint/workload/collective_kinds.h"
#include "tests/endpoint/workload/collective_verbs.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::kCollectiveKinds;

namespace {

class TableTop {
 public:
  struct Shape {
    CollectiveKind kind;
    Bytes size;
    size_t hosts;
    uint32_t qps;
    uint32_t iterations;
  };

  TableTop(const Shape& shape, uint32_t seed)
      : schedule_(shape.kind, shape.size, shape.hosts, shape.qps), random_(seed) {
    for (size_t i = 0; i < shape.hosts; ++i) hosts_.push_back(std::make_unique<Host>(*this, i));
    std::vector<Collective::Config> configs;
    for (size_t i = 0; i < shape.hosts; ++i) {
      Collective::Config c(schedule_);
      c.rank = i;
      c.iterations = shape.iterations;
      c.seed = 99;
      c.links.resize(schedule_.links());
      Host& host = *hosts_[i];
      host.own.resize(schedule_.own_size().value);
      c.own = host.own;
      for (size_t link = 0; link < c.links.size(); ++link) {
        host.inboxes.emplace_back(schedule_.inbox_size(i, link).value);
        c.links[link].inbox = host.inboxes.back();
        c.links[link].remote_va = 1000;
        for (uint32_t q = 0; q < shape.qps; ++q) {
          const auto number = static_cast<uint32_t>(link * shape.qps + q);
          c.links[link].out.push_back({number});
          c.links[link].in.push_back({1000 + number});
        }
      }
      host.app = std::make_unique<Collective>(std::move(c));
    }
    qps_ = shape.qps;
  }

  /// Runs until nothing can happen any more.
  void run() {
    for (auto& host : hosts_) host->app->start(*host);
    for (int guard = 0; guard < 2'000'000; ++guard) {
      std::vector<std::function<void()>> choices;
      for (auto& host : hosts_) {
        for (auto& [qp, queue] : host->posted) {
          if (!queue.empty()) choices.push_back([this, &host, qp = qp] { arrive(*host, qp); });
        }
        if (!host->acks.empty()) choices.push_back([this, &host] { acknowledge(*host); });
        if (!host->notices.empty()) choices.push_back([this, &host] { tell(*host); });
      }
      if (choices.empty()) return;
      choices[random_() % choices.size()]();
    }
    FAIL("it does not end");
  }

  struct Ack {
    QpHandle qp;
    WriteRequest request;
    std::vector<uint8_t> placed;
  };
  struct Host : test::CollectiveVerbs {
    Host(TableTop& top, size_t number) : table(top), rank(number) {}
    bool post_write(QpHandle qp, const WriteRequest& request) override {
      CHECK_FALSE(request.local.empty());
      posted[qp.value].push_back(request);
      ++writes[qp.value];
      return true;
    }
    TableTop& table;
    size_t rank;
    std::vector<uint8_t> own;
    std::deque<std::vector<uint8_t>> inboxes;
    std::unique_ptr<Collective> app;
    std::map<uint32_t, std::deque<WriteRequest>> posted;  // by queue pair
    std::map<uint32_t, uint32_t> writes;
    std::deque<Ack> acks;
    // Notices about data that lies in its memory already.
    std::deque<std::pair<QpHandle, uint32_t>> notices;
    uint32_t overwritten = 0;  ///< writes whose memory changed before they were acknowledged
  };

  Host& host(size_t i) { return *hosts_[i]; }
  /// Flips a bit of the next write that arrives at this host.
  void tamper(size_t rank) { tampered_ = rank; }

 private:
  void arrive(Host& from, uint32_t qp) {
    const WriteRequest request = from.posted[qp].front();
    from.posted[qp].pop_front();
    const size_t link = qp / qps_;
    Host& to = *hosts_[schedule_.to_rank(from.rank, link)];
    std::vector<uint8_t>& inbox = to.inboxes[link];
    const uint64_t at = request.remote_va - 1000;
    REQUIRE(at + request.local.size() <= inbox.size());
    const std::span<const uint8_t> sent = request.local.bytes();
    std::copy(sent.begin(), sent.end(), inbox.begin() + static_cast<long>(at));
    if (tampered_ == to.rank && request.local.size() > 4) {  // not the word of sendrecv
      inbox[at + request.local.size() / 2] ^= 0x10;
      tampered_.reset();
    }
    from.acks.push_back({QpHandle{qp}, request, {sent.begin(), sent.end()}});
    to.notices.emplace_back(QpHandle{1000 + qp}, request.immediate.value());
  }
  void tell(Host& host) {
    const auto [qp, immediate] = host.notices.front();
    host.notices.pop_front();
    host.app->on_receive_immediate(host, qp, immediate);
  }
  void acknowledge(Host& host) {
    const Ack ack = std::move(host.acks.front());
    host.acks.pop_front();
    const std::span<const uint8_t> now = ack.request.local.bytes();
    if (!std::equal(now.begin(), now.end(), ack.placed.begin())) ++host.overwritten;
    host.app->on_write_complete(host, ack.qp, ack.request.id);
  }

  CollectiveSchedule schedule_;
  std::mt19937 random_;
  std::vector<std::unique_ptr<Host>> hosts_;
  uint32_t qps_ = 1;
  std::optional<size_t> tampered_;
};

/// Bytes that `rank` has to compare in one iteration, by hand.
uint64_t results_of(CollectiveKind kind, uint64_t elements, uint64_t hosts, uint64_t rank) {
  const auto chunk = [&](uint64_t i) { return elements * (i + 1) / hosts - elements * i / hosts; };
  switch (kind) {
    case CollectiveKind::kAllReduce: return 4 * elements;
    case CollectiveKind::kAllGather: return 4 * (elements - chunk(rank));
    case CollectiveKind::kReduceScatter: return 4 * chunk(rank);
    case CollectiveKind::kAllToAll: return 4 * chunk(rank) * (hosts - 1);
    case CollectiveKind::kSendRecv: return 4 * elements;
  }
  return 0;
}

}  // namespace

TEST_CASE("every collective ends with the right bytes in any order of arrivals and ACKs") {
  uint32_t seed = 0;
  for (const CollectiveKind kind : kCollectiveKinds) {
    for (const size_t hosts : {2u, 3u, 5u}) {
      for (const uint64_t elements : {1u, 7u, 10'001u, 100'003u}) {
        for (const uint32_t qps : {1u, 4u}) {
          CAPTURE(name_of(kind));
          CAPTURE(hosts);
          CAPTURE(elements);
          CAPTURE(qps);
          TableTop table({kind, {elements * 4}, hosts, qps, 5}, ++seed);
          table.run();
          // A vector shorter than the hosts are many is padded to one element each.
          const bool cut = kind != CollectiveKind::kSendRecv;
          const uint64_t padded = cut ? std::max<uint64_t>(elements, hosts) : elements;
          for (size_t rank = 0; rank < hosts; ++rank) {
            TableTop::Host& host = table.host(rank);
            CHECK(host.done == 5);
            CHECK(host.app->finished());
            CHECK(host.app->work()->done == 5);
            CHECK(host.mismatched == 0);
            CHECK(host.overwritten == 0);
            CHECK(host.verified == 5 * results_of(kind, padded, hosts, rank));
          }
        }
      }
    }
  }
}

TEST_CASE("one wrong byte in one arrival is found, by whom it concerns") {
  for (const CollectiveKind kind : kCollectiveKinds) {
    CAPTURE(name_of(kind));
    TableTop table({kind, {40'000}, 3, 1, 1}, 3);
    table.tamper(1);
    table.run();
    uint64_t wrong = 0;
    for (size_t rank = 0; rank < 3; ++rank) wrong += table.host(rank).mismatched;
    CHECK(wrong > 0);
    CHECK(wrong % 4 == 0);  // whole elements
    if (!CollectiveSchedule(kind, {40'000}, 3, 1).chained()) {
      CHECK(table.host(1).mismatched == 4);
    }
  }
}

TEST_CASE("the data of a link is striped over all its queue pairs") {
  for (const CollectiveKind kind : kCollectiveKinds) {
    CAPTURE(name_of(kind));
    TableTop table({kind, {1 << 20}, 4, 4, 2}, 5);
    table.run();
    const size_t links = kind == CollectiveKind::kAllToAll   ? 3
                         : kind == CollectiveKind::kSendRecv ? 2
                                                             : 1;
    CHECK(table.host(2).writes.size() == 4 * links);
    for (const auto& [qp, writes] : table.host(2).writes) {
      CHECK(writes == table.host(2).writes.begin()->second);
    }
  }
}

TEST_CASE("reduce_scatter leaves chunk i with host i, as nccl-tests expects it") {
  const CollectiveSchedule schedule(CollectiveKind::kReduceScatter, {4000}, 5, 1);
  for (size_t rank = 0; rank < 5; ++rank) {
    const auto last = schedule.receive(rank, 0, 0, schedule.steps() - 1);
    CHECK(last.final);
    CHECK(last.first_element == 200 * rank);
    CHECK(last.length == 800);
  }
}
