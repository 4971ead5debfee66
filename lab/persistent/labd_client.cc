#include "lab/persistent/labd_client.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "fabric/text/yaml.h"
#include "lab/persistent/persistent.h"
#include "live/bringup/lab_record.h"

namespace mrclab::lab {

void require_up(const LabRecord& record) {
  const std::string state = state_of(record);
  if (state == "up") return;
  throw InputError(fmt::format("lab '{0}' is {1}; 'mrclab down {0}' removes what is left of it",
                               record.lab, state));
}

netio::RpcClient connect_to_labd(const LabRecord& record) {
  require_up(record);
  const auto socket = control_socket({}, record.lab);
  if (!std::filesystem::exists(socket)) {
    std::error_code gone;
    const auto owner =
        std::filesystem::read_symlink(fmt::format("/proc/{}/exe", record.owner.pid), gone);
    if (owner.filename() == "mrclab-labd") {
      throw InputError("lab '" + record.lab + "' is still coming up; wait for its 'mrclab up'");
    }
    throw InputError("lab '" + record.lab +
                     "' belongs to a run; only labs of 'mrclab up' have orders");
  }
  return netio::RpcClient(socket);
}

nlohmann::json clock_state_of(const std::string& lab) {
  try {
    nlohmann::json state = netio::RpcClient(control_socket({}, lab))
                               .call("clock_state", nullptr, std::chrono::seconds(1));
    state.erase("outcome");
    return state;
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace mrclab::lab
