#pragma once
// The files of the report's page, embedded in the program at build time (CMakeLists.txt): ours from
// analysis/page/, what the live page has as well from page/, the charts from the Debian package libjs-dygraphs (MIT licence, named in the page).

#include <string_view>

namespace mrclab::analysis::page {

extern const std::string_view html;    ///< the frame: @NAME@ are the places of the others
extern const std::string_view style;   ///< report.css
extern const std::string_view shared;  ///< page/common.js, a module
extern const std::string_view common, matrix, windows, jobs, report, compare, transports,
    main_part;                               ///< our script, *.js
extern const std::string_view charts;        ///< dygraph.min.js
extern const std::string_view chart_style;   ///< dygraph.min.css
extern const std::string_view synchronizer;  ///< dygraphs' extra: charts that zoom together

}  // namespace mrclab::analysis::page
