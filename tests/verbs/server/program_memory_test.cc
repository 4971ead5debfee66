// A program's memory by its descriptor.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>

#include "netio/system/system_error.h"
#include "tests/support/nightly.h"
#include "verbs/server/program_memory.h"

using namespace mrclab;
using netio::FileDescriptor;
using verbs::ProgramMemory;

TEST_CASE("only a /proc/<process>/mem that is open for both is taken for a program's memory") {
  CHECK_NOTHROW(ProgramMemory(FileDescriptor::open("/proc/self/mem", O_RDWR)));
  CHECK_NOTHROW(
      ProgramMemory(FileDescriptor::open("/proc/" + std::to_string(::getpid()) + "/mem", O_RDWR)));
  CHECK_THROWS_AS(ProgramMemory(FileDescriptor::open("/proc/self/mem", O_RDONLY)),
                  netio::SystemError);
  CHECK_THROWS_AS(ProgramMemory(FileDescriptor::open("/dev/zero", O_RDWR)), netio::SystemError);
  CHECK_THROWS_AS(ProgramMemory(FileDescriptor::open("/proc/self/oom_score_adj", O_RDWR)),
                  netio::SystemError);
  CHECK_THROWS_AS(ProgramMemory(FileDescriptor::open("/proc/self", O_RDONLY)), netio::SystemError);
  CHECK_THROWS_AS(ProgramMemory(FileDescriptor(-1)), netio::SystemError);
  const std::string own = "/tmp/mrclab-test-mem-" + std::to_string(::getpid());
  FileDescriptor file = FileDescriptor::open(own, O_RDWR | O_CREAT | O_EXCL, 0600);
  ::unlink(own.c_str());
  CHECK_THROWS_AS(ProgramMemory(std::move(file)), netio::SystemError);
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  FileDescriptor other(ends[0]);
  CHECK_THROWS_AS(ProgramMemory(FileDescriptor(ends[1])), netio::SystemError);
}

TEST_CASE("bytes come and go at any length, and what is not mapped is refused") {
  const ProgramMemory memory(FileDescriptor::open("/proc/self/mem", O_RDWR));
  for (const size_t length :
       {size_t{0}, size_t{1}, size_t{7}, size_t{8}, size_t{9}, size_t{4096}, size_t{100'000}}) {
    std::vector<uint8_t> from(length), to(length);
    for (size_t i = 0; i < length; ++i) from[i] = static_cast<uint8_t>(i * 7 + 1);
    CHECK(memory.write(reinterpret_cast<uint64_t>(to.data()), from));
    CHECK(from == to);
    std::fill(to.begin(), to.end(), uint8_t{0});
    CHECK(memory.write_last(reinterpret_cast<uint64_t>(to.data()), from));
    CHECK(from == to);
    std::vector<uint8_t> back(length);
    CHECK(memory.read(reinterpret_cast<uint64_t>(to.data()), back));
    CHECK(back == from);
  }
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* const two =
      ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(two != MAP_FAILED);
  const auto address = reinterpret_cast<uint64_t>(two);
  CHECK(memory.has(address, 2 * page));
  ::munmap(static_cast<uint8_t*>(two) + page, page);
  CHECK_FALSE(memory.has(address, 2 * page));
  std::vector<uint8_t> across(page + 8);
  CHECK_FALSE(memory.write(address, across));
  CHECK_FALSE(memory.write_last(address, across));
  CHECK_FALSE(memory.write_last(address + page - 8, std::span(across).first(16)));
  CHECK_FALSE(memory.read(address, across));
  CHECK_FALSE(memory.read(UINT64_MAX - 4, std::span(across).first(16)));
  ::munmap(two, page);
}

TEST_CASE("whoever sees the last word of a message sees all of it") {
  const ProgramMemory memory(FileDescriptor::open("/proc/self/mem", O_RDWR));
  const uint64_t rounds = mrclab::test::nightly() ? 1'000'000 : 10'000;
  constexpr size_t kWords = 512;  // 4 KiB
  alignas(4096) static std::array<uint64_t, kWords> shared;
  std::atomic<uint64_t> seen{0}, stale{0};
  std::thread reader([&] {
    for (uint64_t round = 1; round <= rounds; ++round) {
      const auto* const last = reinterpret_cast<const volatile uint64_t*>(&shared[kWords - 1]);
      while (*last != round) std::this_thread::yield();
      for (size_t i = 0; i < kWords; ++i) {
        if (reinterpret_cast<const volatile uint64_t*>(shared.data())[i] != round) ++stale;
      }
      seen.store(round, std::memory_order_release);
    }
  });
  std::array<uint64_t, kWords> page{};
  bool written = true;
  for (uint64_t round = 1; round <= rounds; ++round) {
    page.fill(round);
    written = memory.write_last(reinterpret_cast<uint64_t>(shared.data()),
                                {reinterpret_cast<const uint8_t*>(page.data()), sizeof page}) &&
              written;
    while (seen.load(std::memory_order_acquire) != round) std::this_thread::yield();
  }
  reader.join();
  CHECK(written);
  CHECK(stale.load() == 0);
}
