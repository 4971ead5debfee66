// First uses of memory that are over before time starts.

#include "netio/system/touched_memory.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace mrclab;

namespace {

constexpr size_t kPages = 64;

/// Some pages that nothing has used yet.
class Pages {
 public:
  explicit Pages(int rights, int how = MAP_PRIVATE)
      : bytes_(kPages * static_cast<size_t>(::sysconf(_SC_PAGESIZE))),
        memory_(::mmap(nullptr, bytes_, rights, how | MAP_ANONYMOUS, -1, 0)) {
    REQUIRE(memory_ != MAP_FAILED);
    ::madvise(memory_, bytes_, MADV_NOHUGEPAGE);
  }
  ~Pages() { ::munmap(memory_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  size_t present() const {
    std::vector<unsigned char> pages(kPages);
    REQUIRE(::mincore(memory_, bytes_, pages.data()) == 0);
    return static_cast<size_t>(
        std::count_if(pages.begin(), pages.end(), [](auto page) { return page % 2 == 1; }));
  }
  uint8_t* data() { return static_cast<uint8_t*>(memory_); }
  size_t size() const { return bytes_; }

 private:
  size_t bytes_;
  void* memory_;
};

}  // namespace

TEST_CASE("a touch makes shared memory present and changes nothing that was there") {
  Pages shared(PROT_READ | PROT_WRITE, MAP_SHARED), used(PROT_READ | PROT_WRITE);
  for (size_t at = 0; at < used.size(); ++at) used.data()[at] = static_cast<uint8_t>(at * 7);
  CHECK(shared.present() == 0);
  netio::touch_buffers();
  CHECK(shared.present() == kPages);
  size_t different = 0;
  for (size_t at = 0; at < used.size(); ++at) {
    different += used.data()[at] != static_cast<uint8_t>(at * 7);
    different += shared.data()[at] != 0;
  }
  CHECK(different == 0);
}

TEST_CASE("what is not there, or may not be written to, is not touched") {
  const Pages unused(PROT_READ | PROT_WRITE), none(PROT_NONE), read_only(PROT_READ);
  netio::touch_buffers();  // would end the process
  CHECK(unused.present() == 0);
  CHECK(none.present() == 0);
  CHECK(read_only.present() == 0);
}
