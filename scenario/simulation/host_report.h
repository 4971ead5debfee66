#pragma once
// The report of one host, as the judge reads it.

#include <string>

#include "analysis/history/reports.h"
#include "endpoint/host/host_account.h"

namespace mrclab::lab {

/// The report out of one host's account.
analysis::HostReport host_report(const std::string& host, const endpoint::HostAccount& account);

}  // namespace mrclab::lab
