#pragma once
// What a scenario's `transport:` may hold, made from the table of options.

#include "fabric/text/value_form.h"

namespace mrclab::endpoint {

/// A profile's word, or a map with a profile and options.
ValueForm transport_form();
/// The options alone, without a profile.
ValueForm transport_options_form();

}  // namespace mrclab::endpoint
