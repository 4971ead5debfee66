#pragma once
// The verbs of the command, one function per group; each adds its subcommands and documents what they
// return. The work itself is elsewhere: here are words, options and messages.

#include "lab/cli/command_line.h"

namespace mrclab::lab {

void add_lab_verbs(CLI::App& app, CliResult& result);      ///< up, down, ls
void add_inspect_verb(CLI::App& app, CliResult& result);   ///< inspect
void add_fault_verbs(CLI::App& app, CliResult& result);    ///< fault, heal
void add_node_verbs(CLI::App& app, CliResult& result);     ///< exec, shell
void add_capture_verb(CLI::App& app, CliResult& result);   ///< capture
void add_run_verbs(CLI::App& app, CliResult& result);      ///< demo, run
void add_replay_verb(CLI::App& app, CliResult& result);    ///< replay
void add_chaos_verbs(CLI::App& app, CliResult& result);    ///< chaos, shrink
void add_compare_verb(CLI::App& app, CliResult& result);   ///< compare
void add_twin_verb(CLI::App& app, CliResult& result);      ///< twin
void add_diff_verb(CLI::App& app, CliResult& result);      ///< diff
void add_analyze_verb(CLI::App& app, CliResult& result);   ///< analyze
void add_report_verb(CLI::App& app, CliResult& result);    ///< report
void add_runs_verb(CLI::App& app, CliResult& result);      ///< runs
void add_draw_verb(CLI::App& app, CliResult& result);      ///< draw
void add_top_verb(CLI::App& app, CliResult& result);       ///< top
void add_discover_verb(CLI::App& app, CliResult& result);  ///< discover
void add_schema_verb(CLI::App& app, CliResult& result);    ///< schema
void add_list_verb(CLI::App& app, CliResult& result);      ///< list
void add_clock_verb(CLI::App& app, CliResult& result);     ///< clock
void add_import_verb(CLI::App& app, CliResult& result);    ///< import
void add_job_verb(CLI::App& app, CliResult& result);       ///< job
void add_validate_verb(CLI::App& app, CliResult& result);  ///< validate
void add_doctor_verb(CLI::App& app, CliResult& result);    ///< doctor
void add_source_verbs(CLI::App& app);  ///< test, version, package, completion, man, words
void add_transport_verb(CLI::App& app, CliResult& result);  ///< transport
void add_perf_verbs(CLI::App& app, CliResult& result);      ///< perf
void add_plan_verb(CLI::App& app, CliResult& result);       ///< plan
void add_export_verb(CLI::App& app, CliResult& result);     ///< export
void add_trace_verb(CLI::App& app, CliResult& result);      ///< trace
void add_blame_verb(CLI::App& app, CliResult& result);      ///< blame
void add_serve_verb(CLI::App& app, CliResult& result);      ///< serve
void add_metrics_verb(CLI::App& app, CliResult& result);    ///< metrics
void add_drill_verb(CLI::App& app, CliResult& result);      ///< drill
void add_lesson_verb(CLI::App& app, CliResult& result);     ///< lesson
void add_conform_verb(CLI::App& app, CliResult& result);    ///< conform

}  // namespace mrclab::lab
