#pragma once
// The verdict on a session: its scenario, simulated and judged as any run, by its packets alone.
// This is how a lesson is checked.
//
// A world that is not simulated itself (live, or a finished run) is judged as far as it has happened, and only if
// its history is, by its digest, that of the simulation: then the simulated packets are its packets. Otherwise
// something happened there that no simulation shows, and every check is inconclusive.

#include <nlohmann/json.hpp>
#include <string>

#include "session/fabric_session.h"

namespace mrclab::lab {

/// {"result", "checks" as in verdict.json, "story": [{"t_ps", "kind", "text"}], "world": which one it is of,
/// "until_ps": up to which instant, "simulated": whether a simulation shows it, "why": why none could be judged}.
/// `expect`: the text of a scenario's `expect:` list in place of its own; empty: its own. Throws InputError
/// for such a text; Interrupted where `go_on` returns false.
nlohmann::json verdict_of(const FabricSession& session, const std::string& expect,
                          const FabricSession::GoOn& go_on = {});
/// The same of any scenario.
nlohmann::json verdict_of(Scenario scenario, const FabricSession::GoOn& go_on = {});
/// Judges the scenario in this text by these expectations, which is how lessons are checked. If an expectation cannot
/// be judged because there is no fault yet to measure from, the result is "fail" and its one check has the reason.
/// `until`: as far as it has happened, if that is not to the end.
nlohmann::json verdict_of(const std::string& scenario_yaml, const std::string& expect,
                          const FabricSession::GoOn& go_on = {},
                          FabricTime until = FabricTime::never());

}  // namespace mrclab::lab
