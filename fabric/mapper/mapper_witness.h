#pragma once
// Who names a part where a fabric has a mapper.

#include <cstdint>
#include <string_view>

#include "fabric/text/enum_words.h"

namespace mrclab {

/// The mapper by its probes, hosts by what they report of their paths, or either.
enum class MapperWitness : uint8_t { kProbes, kEvents, kBoth };
inline constexpr auto kMapperWitnessWords =
    words_by_value<MapperWitness>({{MapperWitness::kProbes, "probes"},
                                   {MapperWitness::kEvents, "events"},
                                   {MapperWitness::kBoth, "both"}});

}  // namespace mrclab
