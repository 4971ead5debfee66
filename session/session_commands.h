#pragma once
// The commands of the page: a JSON object with "do" in, an answer out. Hostile until parsed: what is wrong is
// refused with a sentence, and nothing has happened.
//
//   look     packets from_ps to_ps ticket · packet source destination qp psn · use from_ps to_ps · host host ·
//            sack host qp at_ps · inspect node · switch name · rack rack · yaml · history · judge · answer · difference
//            (judge and answer of a lesson's task: lesson task prediction)
//   control  play per_second_ps · pause · seek at_ps · step to back? qp? · break kind body fork? ·
//            heal what fork? · transport name fork? · options text fork? · swap · drop ·
//            workload text · open lesson · follow racks
//
// The commands of the first row change nothing and are for every browser, the others for the one that holds
// the controls.

#include <nlohmann/json.hpp>
#include <string>

#include "session/session_order.h"

namespace mrclab::lab {

bool needs_control(const std::string& word);

/// Throws InputError, nlohmann::json::exception.
SessionAnswer answer_command(PlayedSession& played, const nlohmann::json& command,
                             const FabricSession::GoOn& go_on);

/// {"say": "state", "t_ps", "playing", "per_second_ps", "reached_ps", "goal_ps", "branch"}
nlohmann::json state_json(const PlayedSession& played);

}  // namespace mrclab::lab
