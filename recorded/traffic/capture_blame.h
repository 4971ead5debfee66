#pragma once
// `mrclab blame CAPTURE`: what captures from anywhere show of what was broken, by the places where they stood. Without a
// fabric no component can be named, but between which two places packets were lost, which host refused them, which timer
// was too short, and who held back whom.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/traffic/traffic.h"

namespace mrclab::lab {

struct CaptureBlame {
  std::string what;      ///< "between h0.pcap:eth0 and h1.pcap:eth0"
  std::string symptom;   ///< "loses packets"
  std::string evidence;  ///< "12 of 4000 packets of 2 flows"
};

/// What a full queue dropped is no component's fault, so it is left out where a record names it.
std::vector<CaptureBlame> blame_of_captures(const analysis::Traffic& traffic);
nlohmann::ordered_json to_json(const CaptureBlame& blame);

}  // namespace mrclab::lab
