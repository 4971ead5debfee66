#include "session/session_start.h"

#include "fabric/text/json_text.h"

namespace mrclab::lab {

using nlohmann::json;

json run_json(const PlayedSession& played) {
  if (!played.run) return nullptr;
  return {{"folder", played.run->folder},
          {"world", played.run->world},
          {"version", played.run->version},
          {"exact", played.run->exact},
          {"sha256", played.run->history_sha256}};
}

std::string start_of(const PlayedSession& played) {
  const json start{{"scenario", to_yaml(played.session().scenario())},
                   {"at_ps", played.session().at().ps()},
                   {"run", run_json(played)}};
  return start.dump(-1, ' ', false, json::error_handler_t::replace);
}

PlayedSession session_of_start(std::string_view text) {
  const json start = require_json<json>(text);
  const std::string yaml = start.at("scenario").get<std::string>();
  PlayedSession played(parse_scenario(read_yaml_text(yaml, "scenario")));
  const json& run = start.at("run");
  if (!run.is_null()) {
    played.run = {run.at("folder").get<std::string>(), run.at("world").get<std::string>(),
                  run.at("version").get<std::string>(), run.at("sha256").get<std::string>(),
                  run.at("exact").get<bool>()};
  }
  played.session().seek(FabricTime::from_ps(start.at("at_ps").get<int64_t>()));
  return played;
}

}  // namespace mrclab::lab
