#pragma once
// What the daemons of a lab's switches are called. Their control sockets, logs and reports have these names, so who
// looks for a switch's daemon there reads them.

#include <cstdint>
#include <string>
#include <string_view>

namespace mrclab::lab {

/// The daemon that runs the switches of the planes `first` to `last`: "plane-3", "planes-0-3".
std::string name_of_planes(uint32_t first, uint32_t last);
/// Does a daemon of that name run the switches of `plane`? False for any name that name_of_planes() does not give.
bool runs_plane(std::string_view name, uint32_t plane);

}  // namespace mrclab::lab
