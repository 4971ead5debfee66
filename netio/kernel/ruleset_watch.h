#pragma once
// Notices that the packet filter of a network namespace was changed: the kernel counts the changes
// of its rules, whichever program makes them. One small request each time; the rules themselves are
// not read.

#include <cstdint>

#include "netio/kernel/namespace.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::netio {

class RulesetWatch {
 public:
  explicit RulesetWatch(const NetworkNamespace& ns);

  /// The lab calls these two around each change of its own, which must be a single transaction.
  void before_own_change() { changed_ |= look(); }
  void after_own_change();
  /// Has another program changed rules since the last call, or since the start?
  bool take_changed();

 private:
  uint32_t generation() const;
  /// Has the kernel's count moved since the last look?
  bool look();

  FileDescriptor socket_;
  uint32_t known_ = 0;
  bool changed_ = false;
};

}  // namespace mrclab::netio
