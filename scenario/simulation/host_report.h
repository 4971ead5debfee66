#pragma once
// What the judge is told of one host.

#include <string>

#include "analysis/history/reports.h"
#include "endpoint/host/host_account.h"

namespace mrclab::lab {

/// What the judge is told of one host's account.
analysis::HostReport host_report(const std::string& host, const endpoint::HostAccount& account);

}  // namespace mrclab::lab
