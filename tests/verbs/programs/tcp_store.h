#pragma once
// Keys and values that the processes of one job share: the one with rank 0 serves them by TCP, each other asks it. A
// get waits until somebody has set the key. Small, and bounded: kMaxKeys of kMaxBytes each.

#include <gloo/rendezvous/store.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace mrclab::test {

class TcpStore : public gloo::rendezvous::Store {
 public:
  static constexpr uint32_t kMaxBytes = 1 << 20;
  static constexpr uint32_t kMaxKeys = 4096;

  /// Serves `size` processes if `rank` is 0. Tries for `seconds` to reach IPv4 `address` (or a name of one). Throws
  /// std::runtime_error with what failed.
  TcpStore(uint32_t rank, uint32_t size, const std::string& address, uint16_t port,
           uint32_t seconds = 60);
  ~TcpStore() override;

  void set(const std::string& key, const std::vector<char>& data) override;
  std::vector<char> get(const std::string& key) override;
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override;

  /// Returns when all processes have called it with this name.
  void barrier(const std::string& name);

 private:
  void serve();

  uint32_t rank_, size_;
  int listener_ = -1;
  int socket_ = -1;
  std::thread server_;  ///< rank 0: ends when all others have closed
};

}  // namespace mrclab::test
