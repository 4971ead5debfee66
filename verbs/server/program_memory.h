#pragma once
// The memory of a program, by the descriptor of its own /proc/self/mem: it works from another user's process, needs no
// right to trace, and is bound to that address space, whatever becomes of the process.
//
// Any address at all: one that is not mapped is refused, and nothing else happens. The bytes that end a message land so
// that whoever sees the last of them sees all: stores within one copy of the kernel are in no order, those of two
// copies are, so the last eight bytes are copied by themselves.
//
// What is not covered: memory behind which a program's own fault handler stands (userfaultfd, a FUSE file) stops the
// caller until that handler answers. The gate then names the process that is held up.

#include <cstdint>
#include <span>

#include "netio/system/file_descriptor.h"

namespace mrclab::verbs {

class ProgramMemory {
 public:
  /// None: every access fails.
  ProgramMemory() = default;
  /// Takes a descriptor that a program sent. Throws SystemError with EINVAL if it is no /proc/<process>/mem that is
  /// open for reading and writing.
  explicit ProgramMemory(netio::FileDescriptor memory);

  /// Both return false if a part of it is not there; the rest may be written then.
  bool read(uint64_t address, std::span<uint8_t> into) const;
  bool write(uint64_t address, std::span<const uint8_t> bytes) const;
  /// The same, the last eight bytes behind all others.
  bool write_last(uint64_t address, std::span<const uint8_t> bytes) const;
  /// Is the first and the last byte there? For a registration.
  bool has(uint64_t address, uint64_t length) const;

 private:
  netio::FileDescriptor memory_;
};

}  // namespace mrclab::verbs
