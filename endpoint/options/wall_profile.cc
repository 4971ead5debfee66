#include "endpoint/options/wall_profile.h"

#include "endpoint/options/profile_maker.h"

#include <algorithm>

namespace mrclab::endpoint {

TransportProfile wall_profile(const Topology& topology) {
  TransportProfile p = make_profile("lab", topology);
  p.name = "wall";
  p.service_time = true;  // a process that does not get to run is no queue in the fabric
  p.reorder_window = std::max(p.reorder_window, kWallReorderWindow);
  p.tail_probe = std::max(p.tail_probe, kWallTailProbe);
  p.ack_timeout = std::max(p.ack_timeout, kWallAckTimeout);
  p.probe_interval = std::max(p.probe_interval, kWallProbeInterval);
  p.probe_interval_max = std::max(p.probe_interval_max, kWallProbeInterval * 32);
  p.port_status_interval = std::max(p.port_status_interval, kWallProbeInterval);
  p.port_status_interval_max = std::max(p.port_status_interval_max, kWallProbeInterval * 32);
  p.reverse_probe_interval = std::max(p.reverse_probe_interval, kWallProbeInterval);
  return p;
}

}  // namespace mrclab::endpoint
