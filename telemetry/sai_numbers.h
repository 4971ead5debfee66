#pragma once
// The numbers of SAI's statistics, by which SONiC's high-frequency telemetry names its fields.

#include <cstdint>
#include <optional>
#include <string_view>

namespace mrclab::telemetry {

/// An object type of SAI and a statistic of it.
struct SaiNumber {
  uint16_t object_type = 0;
  uint16_t statistic = 0;
};
inline constexpr uint16_t kSaiPort = 1, kSaiQueue = 21;  // saitypes.h, sai_object_type_t

/// Of a name such as "SAI_PORT_STAT_IF_IN_OCTETS"; empty: the table of counters has none of it.
std::optional<SaiNumber> sai_number(std::string_view name);

}  // namespace mrclab::telemetry
