#include "telemetry/sai_numbers.h"

#include <array>

namespace mrclab::telemetry {
namespace {

struct SaiRow {
  std::string_view name;
  SaiNumber number;
};

/// SAI of July 2026 (91e6b860): saiport.h, sai_port_stat_t, and saiqueue.h, sai_queue_stat_t, counted from their beginning.
constexpr std::array kSaiRows{
    SaiRow{"SAI_PORT_STAT_IF_IN_OCTETS", {kSaiPort, 0}},
    SaiRow{"SAI_PORT_STAT_IF_IN_UCAST_PKTS", {kSaiPort, 1}},
    SaiRow{"SAI_PORT_STAT_IF_IN_DISCARDS", {kSaiPort, 3}},
    SaiRow{"SAI_PORT_STAT_IF_IN_ERRORS", {kSaiPort, 4}},
    SaiRow{"SAI_PORT_STAT_IF_OUT_OCTETS", {kSaiPort, 9}},
    SaiRow{"SAI_PORT_STAT_IF_OUT_UCAST_PKTS", {kSaiPort, 10}},
    SaiRow{"SAI_PORT_STAT_IF_OUT_DISCARDS", {kSaiPort, 12}},
    SaiRow{"SAI_PORT_STAT_ECN_MARKED_PACKETS", {kSaiPort, 70}},
    SaiRow{"SAI_PORT_STAT_PFC_3_RX_PKTS", {kSaiPort, 109}},
    SaiRow{"SAI_PORT_STAT_PFC_3_TX_PKTS", {kSaiPort, 110}},
    SaiRow{"SAI_PORT_STAT_PFC_3_RX_PAUSE_DURATION_US", {kSaiPort, 141}},
    SaiRow{"SAI_PORT_STAT_PFC_3_ON2OFF_RX_PKTS", {kSaiPort, 154}},
    SaiRow{"SAI_PORT_STAT_TRIM_PACKETS", {kSaiPort, 201}},
    SaiRow{"SAI_PORT_STAT_DROPPED_TRIM_PACKETS", {kSaiPort, 202}},
    SaiRow{"SAI_QUEUE_STAT_DROPPED_PACKETS", {kSaiQueue, 2}},
    SaiRow{"SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES", {kSaiQueue, 24}},
    SaiRow{"SAI_QUEUE_STAT_WATERMARK_BYTES", {kSaiQueue, 25}},
};

}  // namespace

std::optional<SaiNumber> sai_number(std::string_view name) {
  for (const SaiRow& row : kSaiRows) {
    if (row.name == name) return row.number;
  }
  return std::nullopt;
}

}  // namespace mrclab::telemetry
