#pragma once
// The keys of a `job:` entry, a row for each: how it is read and written.

#include <string>
#include <vector>

#include "fabric/text/key_table.h"
#include "fabric/topology/pattern.h"
#include "job/plan/job_spec.h"

namespace mrclab::job {

/// For a table of more keys than these.
const std::vector<KeyRow<JobSpec, NameResolver>>& job_rows();
/// The rows for a value that has a JobSpec.
template <class Of>
std::vector<KeyRow<Of, NameResolver>> job_rows_of(JobSpec Of::*spec) {
  std::vector<KeyRow<Of, NameResolver>> rows;
  for (const auto& row : job_rows()) {
    KeyRow<Of, NameResolver> made{row.name, row.form, row.about, {}, {}, row.use};
    if (row.read) {
      made.read = [read = row.read, spec](const YamlValue& value, Of& of, NameResolver& names) {
        read(value, of.*spec, names);
      };
    }
    if (row.write) {
      made.write = [write = row.write, spec](const Of& of) { return write(of.*spec); };
    }
    rows.push_back(std::move(made));
  }
  return rows;
}
/// Checks what depends on several keys at once. Throws InputError with the position.
void check_job(const YamlValue& body, const JobSpec& spec);

/// What the body of the entry may hold, where there are no more keys than these.
ValueForm job_form();
/// Reads the body. Throws InputError with the position.
JobSpec read_job(const YamlValue& body, NameResolver& names);
/// The body as a file has it, hosts in the order of ranks: "{hosts: [h0, h1], phases: [...]}".
std::string job_text(const JobSpec& spec);

}  // namespace mrclab::job
