// Which packets' bytes a program's memory is told to be the end of a message: an accessor copies the last 8 bytes of these
// apart, as programs poll them (endpoint/base/region_access.h).

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/support/verbs_lab.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::us;
using mrclab::test::VerbsLab;

namespace {

/// Notes where each write ends, and whether a message ends there.
class EndsNoted : public RegionAccess {
 public:
  void write(uint64_t offset, std::span<const uint8_t> bytes, bool last) override {
    ++writes;
    (last ? ends : parts).push_back(offset + bytes.size());
  }
  void read(uint64_t, std::span<uint8_t> bytes) override {
    std::fill(bytes.begin(), bytes.end(), uint8_t{0});
  }
  uint32_t writes = 0;
  std::vector<uint64_t> ends, parts;
};

constexpr uint64_t kVa = 0x7f77'0000'0000;
constexpr uint32_t kPart = 100, kBytes = 20'000;

WorkRequest write_to(const MemoryRegion& region, ConstMemory local, uint64_t offset) {
  WorkRequest request;
  request.local = local;
  request.remote_va = kVa + offset;
  request.rkey = region.rkey;
  return request;
}

}  // namespace

TEST_CASE("of a write's packets the one that ends the message is the last, of either transport") {
  TransportKind transport = TransportKind::kMrc;
  SUBCASE("MRC") {}
  SUBCASE("RC") { transport = TransportKind::kRoce; }
  VerbsLab lab(transport);
  EndsNoted noted;
  const MemoryRegion region =
      lab.far.device->register_memory(noted, kVa, {1 << 16}, AccessFlags::all());
  const std::vector<uint8_t> data(kBytes);
  CHECK(lab.near.post(write_to(region, data, 8)) == PostResult::kOk);
  CHECK(lab.near.post(write_to(region, std::span(data).first(kPart), 30'000)) == PostResult::kOk);
  lab.run_for(us(200));
  std::ranges::sort(noted.ends);  // The packets of two messages are on paths of their own.
  CHECK(noted.ends == std::vector<uint64_t>{8 + kBytes, 30'000 + kPart});
  CHECK(noted.parts.size() == (kBytes - 1) / 4096);
}

TEST_CASE("a SEND over two pieces ends in the second one, and what a READ brings ends once") {
  VerbsLab lab(TransportKind::kRoce);
  const std::vector<uint8_t> data(kBytes);
  EndsNoted first, second, brought, word;
  ReceiveRequest receive{.id = 1, .pieces = {}, .local_error = {}};
  receive.pieces = {{&first, 0, kPart}, {&second, 0, kBytes}};
  CHECK(lab.far.device->post_receive(lab.far.qpn, std::move(receive)) == PostResult::kOk);
  CHECK(lab.near.post(lab.send(2, data)) == PostResult::kOk);
  WorkRequest read = lab.read(3, 0, 0, kBytes);
  read.into = {{&brought, 0, kBytes}};
  CHECK(lab.near.post(std::move(read)) == PostResult::kOk);
  WorkRequest atomic = lab.atomic(4, WorkRequest::Opcode::kFetchAdd, 64, 0, 1);
  atomic.into = {{&word, 0, 8}};
  CHECK(lab.near.post(std::move(atomic)) == PostResult::kOk);
  lab.run_for(us(200));
  CHECK(first.writes == 1);
  CHECK(first.ends.empty());
  CHECK(second.ends == std::vector<uint64_t>{kBytes - kPart});
  CHECK(brought.ends == std::vector<uint64_t>{kBytes});
  CHECK(brought.parts.size() == (kBytes - 1) / 4096);
  CHECK(word.ends == std::vector<uint64_t>{8});
}
