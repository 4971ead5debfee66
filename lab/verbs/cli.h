#pragma once
// The verbs of the command, one function per group; each adds its subcommands and documents what they
// return. The work itself is elsewhere: here are words, options and messages.

namespace CLI {
class App;
}

namespace mrclab::lab {

class RankLink;

/// Where a verb leaves its exit code (0 pass, 1 fail, 2 bad usage or input, 3 inconclusive).
struct CliResult {
  int code = 0;
  RankLink* ranks = nullptr;  ///< for `run`, where mpirun has started this process; else null
};

void add_lab_verbs(CLI::App& app, CliResult& result);     ///< up, down, ls
void add_inspect_verb(CLI::App& app, CliResult& result);  ///< inspect
void add_fault_verbs(CLI::App& app, CliResult& result);   ///< fault, heal
void add_node_verbs(CLI::App& app, CliResult& result);    ///< exec, shell
void add_run_verbs(CLI::App& app, CliResult& result);     ///< demo, run
void add_chaos_verbs(CLI::App& app, CliResult& result);   ///< chaos, replay, shrink
void add_compare_verb(CLI::App& app, CliResult& result);  ///< compare
void add_diff_verb(CLI::App& app, CliResult& result);     ///< diff
void add_analyze_verb(CLI::App& app, CliResult& result);  ///< analyze
void add_report_verb(CLI::App& app, CliResult& result);   ///< report
void add_runs_verb(CLI::App& app, CliResult& result);     ///< runs
void add_draw_verb(CLI::App& app);                        ///< draw
void add_top_verb(CLI::App& app, CliResult& result);      ///< top
void add_schema_verb(CLI::App& app);                      ///< schema
void add_machine_verbs(CLI::App& app,
                       CliResult& result);  ///< validate, doctor, version, package, completion, man
void add_transport_verb(CLI::App& app, CliResult& result);  ///< transport
void add_perf_verbs(CLI::App& app, CliResult& result);      ///< perf
void add_plan_verb(CLI::App& app, CliResult& result);       ///< plan
void add_export_verb(CLI::App& app);                        ///< export
void add_trace_verb(CLI::App& app, CliResult& result);      ///< trace
void add_blame_verb(CLI::App& app, CliResult& result);      ///< blame
void add_serve_verb(CLI::App& app, CliResult& result);      ///< serve
void add_lesson_verb(CLI::App& app, CliResult& result);     ///< lesson
void add_conform_verb(CLI::App& app, CliResult& result);    ///< conform

/// `main` of mrclab-cli: parses, runs the verb, turns every exception into a sentence and a code.
int cli_main(int argc, char** argv);

}  // namespace mrclab::lab
