// A program that sends any messages and any records: the input is a list of them, each behind its length and its way.
// Beside it a well-behaved pair of programs goes on.

#include <cstring>

#include "tests/fuzz/must.h"
#include "tests/verbs/support/verbs_world.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mrclab;
  using namespace mrclab::test;
  VerbsWorld world;
  auto guest = world.enter(0);
  guest->greet();
  std::span<const uint8_t> input(data, size);
  while (input.size() >= 2) {
    const size_t length = std::min<size_t>(input[0], input.size() - 2);
    const uint8_t way = input[1];
    const std::span<const uint8_t> bytes = input.subspan(2, length);
    input = input.subspan(2 + length);
    if (way % 2 == 0) {
      if (guest->call_bytes(static_cast<verbs::Op>(way / 2 % 40), bytes, {}).status == -1) break;
    } else {
      verbs::WorkRing& ring = guest->work();
      const uint64_t written = ring.written.load();
      const uint64_t offset = written % verbs::kWorkRingBytes;
      std::memcpy(&ring.records[offset], bytes.data(),
                  std::min<uint64_t>(bytes.size(), verbs::kWorkRingBytes - offset));
      ring.written.store(written + way / 2 * 8);
      guest.session->take_work(FabricTime::never());
      if (guest.session->broken()) break;
    }
    guest.session->deliver();
  }
  guest.session.reset();
  world.fabric.run_until(world.fabric.now() + FabricTime::from_us(5));
  MUST(world.fabric.host(0).queues().empty());
  return 0;
}
