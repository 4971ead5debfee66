#pragma once
// A job in the table for the terminal: its times, what its end waited for, its slowest steps.

#include "analysis/report/text_table.h"
#include "analysis/verdict/verdict.h"

namespace mrclab::analysis {

/// No more lines than these are written of a job, whatever it is called and however many steps it has.
inline constexpr size_t kMaxJobLines = 12;

void add_job(const JobResult& job, TextTable& table);

}  // namespace mrclab::analysis
