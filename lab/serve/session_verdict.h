#pragma once
// What the judge says of a session: the scenario that it is, run to its end and judged as any run, by its
// packets alone. This is how a lesson is checked.

#include <nlohmann/json.hpp>
#include <string>

#include "lab/serve/fabric_session.h"

namespace mrclab::lab {

/// {"result", "checks": [{"name", "result", "text"}], "story": [{"t_ps", "kind", "text"}], "history"}.
/// `expect`: the text of a scenario's `expect:` list in place of its own; empty: its own. Throws InputError
/// for such a text; Interrupted where `go_on` says no.
nlohmann::json verdict_of(const FabricSession& session, const std::string& expect,
                          const FabricSession::GoOn& go_on = {});
/// The same of any scenario.
nlohmann::json verdict_of(Scenario scenario, const FabricSession::GoOn& go_on = {});
/// Judges the scenario in this text by these expectations, which is how lessons are checked. If an expectation cannot
/// be judged because there is no fault yet to measure from, the result is "fail" and its one check says why.
nlohmann::json verdict_of(const std::string& scenario_yaml, const std::string& expect,
                          const FabricSession::GoOn& go_on = {});

}  // namespace mrclab::lab
