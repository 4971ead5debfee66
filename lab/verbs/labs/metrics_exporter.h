#pragma once
// `up --metrics`: the exporter of a lab that stays, as a process of its own.

#include <cstdint>
#include <string>

namespace mrclab::lab {

/// Starts `mrclab metrics LAB --port PORT`, which ends with the lab, and returns its link. What it writes goes to
/// metrics.log in the lab's folder. Throws InputError with its words where it cannot listen.
std::string start_metrics_exporter(const std::string& lab, uint16_t port);

}  // namespace mrclab::lab
