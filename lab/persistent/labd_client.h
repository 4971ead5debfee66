#pragma once
// How the verbs reach the owner of a lab that stays.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "live/bringup/lab_record.h"
#include "netio/rpc/rpc.h"

namespace mrclab::lab {

/// Throws InputError for a lab whose owner has died, with the command that removes it.
void require_up(const LabRecord& record);

/// Throws InputError for a lab that crashed, or one of a run: it takes no orders.
netio::RpcClient connect_to_labd(const LabRecord& record);

/// Its clock. Null for a lab that is owned by `run`, or does not answer, or is none of this user's.
nlohmann::json clock_state_of(const std::string& lab);

}  // namespace mrclab::lab
