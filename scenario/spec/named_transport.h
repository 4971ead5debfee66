#pragma once
// The transports that have a name on the command line (`run --transport`, `compare`) and in `contrast:`. Each
// is the scenario with some of its transport's options replaced, or with packets that name no path in a fabric
// whose switches choose; the first leaves all as it is.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/topology/fabric_shape.h"

namespace mrclab::lab {

/// The properties of a transport on which expectations depend.
enum class TransportFamily : uint8_t {
  kSprays,   ///< many paths for each queue pair
  kOnePath,  ///< MRC on one path for each queue pair
  kRoce,     ///< RC: one path, which hashes choose; no trimming
};

struct NamedTransport {
  std::string_view name;     ///< "mrc"
  std::string_view about;    ///< one line, with its source
  std::string_view options;  ///< as in a scenario's `transport:`; empty: nothing is replaced
  TransportFamily family = TransportFamily::kSprays;
  std::string_view routing = {};  ///< as in a fabric's `routing:`; empty: the fabric's own
  /// Sets the thresholds of switches that the transport is defined with; null: the fabric's own.
  void (*set_queues)(QueueShape&) = nullptr;
};
std::span<const NamedTransport> named_transports();
/// Behind the name of a transport: on the fat twin of the scenario's fabric (fat_twin.h).
inline constexpr std::string_view kOnFatTwin = "-fat";
/// Their names.
std::vector<std::string> transport_names();

/// Null for a name that none has.
const NamedTransport* transport_called(std::string_view name);

}  // namespace mrclab::lab
