#pragma once
// What may be done to a memory region (ibv_access_flags), and what the peer of a queue pair may do.

namespace mrclab::endpoint {

struct AccessFlags {
  bool local_write = false;  ///< by the host itself: receives, and what READs bring
  bool remote_write = false;
  bool remote_read = false;
  bool remote_atomic = false;
  bool operator==(const AccessFlags&) const = default;

  static constexpr AccessFlags all() { return {true, true, true, true}; }
};

}  // namespace mrclab::endpoint
