#pragma once
// What a host is made with.

#include <vector>

#include "endpoint/base/transport_profile.h"
#include "endpoint/nic/path_mapper.h"
#include "endpoint/plan/own_connections.h"
#include "endpoint/workload/stream_contents.h"
#include "endpoint/workload/workload_spec.h"
#include "fabric/base/units.h"

namespace mrclab::endpoint {

struct HostConfig {
  TransportProfile transport;  ///< make_profile("lab", topology)
  /// This HostConfig outlives its hosts, which then have `transport` in common: for a caller that makes many.
  bool transport_stays = false;
  std::vector<WorkloadSpec> workloads;   ///< the whole scenario's: every host is given the same
  FabricTime end = FabricTime::never();  ///< no application starts new work from here on
  /// Must outlive the host; null: the paths of the topology.
  const PathMapper* paths = nullptr;
  /// No payload: frames are headers of the modelled length, regions and buffers have no bytes, data
  /// frames no ICRC, and nothing is verified. Histories are those of real payload. Not for programs
  /// of the device. The world's frame pool may then have kHeaderRoom.
  bool payload_elided = false;
  /// The host makes frames of writes that hold headers and the place of their payload (Frame::lent). A
  /// receiver in the same process copies the payload from there and checks no ICRC; a driver that sends the frame
  /// gathers payload and ICRC (fabric/packet/whole_frame.h). Histories are those of frames with payload. The
  /// simulator may set this, because its hosts keep their memory as long as there are frames, and so may a driver
  /// that sends each frame in the tick in which the host made it.
  bool payload_lent = false;
  /// Where streams note what they send instead of writing it (endpoint/workload/stream_contents.h), for a caller that
  /// makes all hosts, has `payload_lent` set, and shows nobody the bytes of a payload. Outlives the hosts and their frames;
  /// null: they write it.
  StreamContents* contents = nullptr;
  /// plan_connections() of these workloads, topology and seed by host, if the caller makes many hosts and
  /// has it; used by the constructor only. Null: the host works it out.
  const OwnConnections* connections = nullptr;
};

}  // namespace mrclab::endpoint
