#pragma once
// The packet buffer of a switch, in bytes of the ASIC, however few ports a fabric uses of it.
//
//   asic        bytes                         alpha              source
//   scaled      3 BDPs of each port in use    1/8                our choice: 26 us of each port, as a Tomahawk 5
//                                                                has them for each of 64 ports of 800 Gb/s
//   tomahawk5   165 MB                        1/8 (HPCC's)       Broadcom's product brief, 51.2 Tb/s
//   spectrum4   160 MB                        1/8 (HPCC's)       NVIDIA's SN5600 data sheet, 51.2 Tb/s (not verified:
//                                                                pages of others have 128 MB)
//   hpcc        32 MiB at 100 Gb/s of a NIC,  1/8 at its rate,   alibaba-edu/High-Precision-Congestion-Control
//               in proportion to its rate     doubled with the   @9f4be2a: simulation/run.py line 83,
//                                             port's, 1 at most  scratch/third.cc lines 836-847
//
// No vendor publishes its alpha: fabric files set it (`roce: {alpha: ...}`), for all of them.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/base/units.h"

namespace mrclab {

enum class SwitchAsic : uint8_t { kScaled, kTomahawk5, kSpectrum4, kHpcc };

struct AsicBuffer {
  std::string_view name;
  Bytes size;         ///< zero: a share of each port (QueueProfile::buffer_share)
  BitRate nic;        ///< the size is for NICs of this rate, and grows with it; zero: for any
  bool rate_of_port;  ///< alpha doubles with the port's rate over the NIC's, up to 1
};

/// By SwitchAsic.
std::span<const AsicBuffer> asic_buffers();
std::vector<std::string> asic_names();

/// The whole buffer of a switch of a fabric whose NICs have ports of this rate; zero: scaled.
Bytes asic_buffer(SwitchAsic asic, BitRate nic);
/// Alpha of a port, in thousandths.
uint32_t asic_alpha(SwitchAsic asic, uint32_t permille, BitRate port, BitRate nic);

}  // namespace mrclab
