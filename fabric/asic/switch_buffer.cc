#include "fabric/asic/switch_buffer.h"

#include <algorithm>
#include <array>

namespace mrclab {

std::span<const AsicBuffer> asic_buffers() {
  static constexpr std::array kBuffers{
      AsicBuffer{"scaled", {}, {}, false}, AsicBuffer{"tomahawk5", {165'000'000}, {}, false},
      AsicBuffer{"spectrum4", {160'000'000}, {}, false},
      AsicBuffer{"hpcc", {uint64_t{32} << 20}, {100'000'000'000}, true}};
  return kBuffers;
}

std::vector<std::string> asic_names() {
  std::vector<std::string> names;
  for (const AsicBuffer& buffer : asic_buffers()) names.emplace_back(buffer.name);
  return names;
}

Bytes asic_buffer(SwitchAsic asic, BitRate nic) {
  const AsicBuffer& buffer = asic_buffers()[static_cast<size_t>(asic)];
  if (buffer.nic.bps == 0) return buffer.size;
  const auto product = static_cast<unsigned __int128>(buffer.size.value) * nic.bps;
  return {static_cast<uint64_t>(product / buffer.nic.bps)};
}

uint32_t asic_alpha(SwitchAsic asic, uint32_t permille, BitRate port, BitRate nic) {
  if (!asic_buffers()[static_cast<size_t>(asic)].rate_of_port) return permille;
  uint64_t rate = port.bps;
  while (rate > nic.bps && permille < 1000) {
    permille = std::min<uint32_t>(permille * 2, 1000);
    rate /= 2;
  }
  return permille;
}

}  // namespace mrclab
