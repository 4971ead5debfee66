#pragma once
// How the verbs reach the owner of a lab that stays.

#include "lab/bringup/lab_record.h"
#include "netio/rpc/rpc.h"

namespace mrclab::lab {

/// Throws InputError for a lab whose owner has died, which says how to remove it.
void require_up(const LabRecord& record);

/// Throws InputError for a lab that crashed, or one of a run: it takes no orders.
netio::RpcClient connect_to_labd(const LabRecord& record);

}  // namespace mrclab::lab
