#pragma once
// Faults of a lab that stays as text for people, out of the JSON that the lab answers.

#include <nlohmann/json.hpp>
#include <string>

namespace mrclab::lab {

/// One line about a fault that was just ordered: "fault 3 in force: link_down ...".
std::string fault_text(const nlohmann::json& fault);
/// Answer of `heal`: {"healed": [...], "outside": [...]}.
std::string healed_text(const nlohmann::json& healed);
/// `inspect --faults`: a line each; the answer of `faults`.
std::string faults_text(const nlohmann::json& faults);

/// The kinds there are: [{"kind", "about", "keys", "example"}].
nlohmann::json fault_kinds_json();
std::string fault_kinds_text();

}  // namespace mrclab::lab
