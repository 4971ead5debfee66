#include "verbs/held/spin/machine_state.h"

#include <cstring>

namespace mrclab::held {

namespace {

// Of the flags: carry, parity, adjust, zero, sign, direction, overflow, alignment check, identification. Not the trap
// flag, which is the step's own, and not the resume flag.
constexpr uint64_t kFlags = 0x240cd5;

// The frame of a signal, Linux arch/x86/include/uapi/asm/sigcontext.h: 512 bytes of FXSAVE, of which the last 48 are
// software's, then the header of XSAVE, 64 bytes, then the parts.
constexpr uint32_t kLegacyBytes = 464, kSoftware = 464, kHeader = 512, kParts = 576;
constexpr uint32_t kMagic = 0x46505853;
struct Software {
  uint32_t magic, extended_bytes;
  uint64_t features;
  uint32_t state_bytes, padding[7];
};

uint64_t mixed(uint64_t lane, uint64_t word) {
  lane = (lane ^ word) * 0x9e3779b97f4a7c15;
  return lane ^ (lane >> 29);
}

uint64_t digest_of(const uint8_t* extended, uint32_t bytes) {
  uint64_t lanes[4] = {1, 2, 3, 4};
  for (uint32_t at = 0; at < bytes; at += 32) {
    uint64_t words[4];
    std::memcpy(words, extended + at, sizeof(words));
    for (int i = 0; i < 4; ++i) lanes[i] = mixed(lanes[i], words[i]);
  }
  return mixed(mixed(lanes[0], lanes[1]), mixed(lanes[2], lanes[3]));
}

}  // namespace

ExtendedLayout ask_extended_layout() {
  ExtendedLayout layout{};
#if defined(__x86_64__)
  for (uint32_t part = 2; part < 63; ++part) {
    uint32_t eax = 0x0d, ebx = 0, ecx = part, edx = 0;
    asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
    if ((ecx & 1) == 0) layout.parts[part] = {ebx, eax};  // else it is the supervisor's
  }
#endif
  return layout;
}

bool MachineState::take(const ucontext_t& context, const ExtendedLayout& layout) {
#if defined(__x86_64__)
  const auto& registers = context.uc_mcontext.gregs;
  // REG_R8 to REG_RIP are the first 17, in this order on every x86-64 Linux.
  for (int i = 0; i < 17; ++i) general_[i] = static_cast<uint64_t>(registers[i]);
  general_[17] = static_cast<uint64_t>(registers[REG_EFL]) & kFlags;
  const auto* frame = reinterpret_cast<const uint8_t*>(context.uc_mcontext.fpregs);
  if (frame == nullptr) return false;
  std::memcpy(extended_, frame, kLegacyBytes);
  std::memset(extended_ + kLegacyBytes, 0, kParts - kLegacyBytes);
  uint32_t used = kParts;
  Software software;
  std::memcpy(&software, frame + kSoftware, sizeof(software));
  if (software.magic == kMagic) {
    uint64_t in_use = 0;
    std::memcpy(&in_use, frame + kHeader, sizeof(in_use));
    for (uint64_t left = in_use & software.features & ~uint64_t{3}; left != 0; left &= left - 1) {
      const ExtendedLayout::Part part = layout.parts[__builtin_ctzll(left)];
      if (part.bytes == 0) return false;
      if (part.offset < kParts || part.bytes > kExtendedBytes ||
          part.offset > kExtendedBytes - part.bytes ||
          part.offset + part.bytes > software.state_bytes)
        return false;
      const uint32_t end = part.offset + part.bytes;
      // Parts ascend, and what lies between those in use is as at first: zeros.
      if (part.offset > used) std::memset(extended_ + used, 0, part.offset - used);
      std::memcpy(extended_ + part.offset, frame + part.offset, part.bytes);
      if (end > used) used = end;
    }
  }
  const uint32_t whole = (used + 31) & ~uint32_t{31};
  std::memset(extended_ + used, 0, whole - used);
  used_ = whole;
  while (used_ > kParts && extended_[used_ - 1] == 0) --used_;
  used_ = (used_ + 31) & ~uint32_t{31};
  digest_ = digest_of(extended_, used_);
  return true;
#else
  (void)context, (void)layout;
  return false;
#endif
}

MachineState::Key MachineState::key() const {
  Key key{};
  key.rip = general_[16];
  std::memcpy(key.general, general_, 16 * sizeof(uint64_t));
  key.general[16] = general_[17];
  return key;
}

bool MachineState::extended_less(const MachineState& other) const {
  const uint32_t both = used_ < other.used_ ? used_ : other.used_;
  const int order = std::memcmp(extended_, other.extended_, both);
  return order != 0 ? order < 0 : used_ < other.used_;  // what is not used is zeros
}

bool MachineState::operator==(const MachineState& other) const {
  return digest_ == other.digest_ && used_ == other.used_ &&
         std::memcmp(general_, other.general_, sizeof(general_)) == 0 &&
         std::memcmp(extended_, other.extended_, used_) == 0;
}

}  // namespace mrclab::held
