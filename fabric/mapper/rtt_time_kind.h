#pragma once
// A time of a file that may be a number of base RTTs. "10rtt" stays one: while a fabric's own file is read, its base RTT
// is not known.

#include <string>

#include "fabric/mapper/mapper_profile.h"
#include "fabric/text/key_table.h"

namespace mrclab {

/// Throws InputError for 0 and for what is neither.
RttTime read_rtt_time(const YamlValue& value);
/// Empty for one that is not set.
std::string rtt_time_text(const RttTime& in);

inline auto rtt_time_kind() {
  using Form = ValueForm;
  return ValueKind{Form::either({Form::of(Form::Kind::kTime), Form::of(Form::Kind::kText)}),
                   read_rtt_time, rtt_time_text};
}

}  // namespace mrclab
