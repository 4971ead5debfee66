#pragma once
// A program that sends anything: messages whose numbers are small, huge or random, and records of the same kind.

#include <random>

#include "tests/verbs/support/verbs_world.h"

namespace mrclab::test {

inline VerbsWorld::Guest hostile_guest(VerbsWorld& world) {
  auto guest = world.enter(0);
  guest->greet();
  return guest;
}

/// A number that such a program likes.
template <class Random>
uint32_t odd_number(Random& random) {
  switch (random() % 8) {
    case 0: return 0;
    case 1: return 0xFFFF'FFFF;
    case 2: return static_cast<uint32_t>(random());
    case 3: return 1u << (random() % 32);
    default: return static_cast<uint32_t>(random() % 4);
  }
}

/// The status of the answer; -1: the session is at its end.
template <class Random>
int send_random(VerbsWorld::Guest& guest, Random& random) {
  if (random() % 4 == 0) {
    // A record, or none that is one.
    verbs::WorkRecord record{};
    record.kind = static_cast<uint16_t>(random() % 4);
    record.handle = odd_number(random);
    record.opcode = static_cast<uint16_t>(random() % 9);
    record.flags = static_cast<uint32_t>(random() % 8);  // not inline: that is for post() to say
    record.remote_address = random();
    record.rkey = odd_number(random);
    const verbs::WorkSge sge{random() % 2 == 0 ? random() : 4096, odd_number(random) % 100'000,
                             odd_number(random)};
    guest->post(record, {&sge, random() % 2});
    if (random() % 64 == 0) guest->work().written.fetch_add(random() % 4096);
    guest.session->take_work(FabricTime::never());
    if (guest.session->broken()) return -1;
  }
  std::vector<uint8_t> body(random() % 5 == 0 ? random() % 300 : 160);
  for (size_t at = 0; at + 4 <= body.size(); at += 4) {
    const uint32_t number = odd_number(random);
    std::memcpy(&body[at], &number, sizeof number);
  }
  const int status = guest->call_bytes(static_cast<verbs::Op>(random() % 40), body, {}).status;
  guest.session->deliver();
  if (status == -1 || random() % 500 == 0) return -1;
  return status;
}

}  // namespace mrclab::test
