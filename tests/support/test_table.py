"""Every test of the project as a value: what it runs, what it needs, and when it is run.

CTest (tests/CMakeLists.txt), tests/run_tests and the wrapper read this one table: a test that is not in it does not exist.
"""

import dataclasses
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True  # or the build would find something new under tests/
sys.path[:0] = [str(ROOT / "tests/pages"), str(ROOT / "tests/support")]
import page_text  # noqa: E402
from turns import commit_count  # noqa: E402

TIMEOUT_S = 1800  # of idle work: live labs may have the processors for minutes
TIMEOUT_NIGHTLY_S = 7200
LIVE_PAGE_TIMEOUT_S = 900  # a minute where nobody else uses the processors
SOAK = ("--minutes", "480", "--faults", "24000", "--outside", "3000", "--kills", "3", "--busy", "0")
SOAK_TIMEOUT_S = 9 * 3600
SANITIZED_BUILD = "build of the sanitized tests"
SANITIZED_BUILD_TIMEOUT_S = 3600  # six minutes of two processors that do nothing else
CHAOS_SEEDS = "1-16"  # about 15 s of one core
CHAOS_SEEDS_NIGHTLY = "1-1000"
CAPTURES_NIGHTLY = "4000"  # random cases beside those in which all pairs of properties meet
ENGINE_SEEDS, ENGINE_SEEDS_NIGHTLY = "48", "2000"
# In its own time an incident takes up to two minutes of a core, and no lab of namespaces plays seconds of a fabric.
PRODUCTION_INCIDENTS = ["half-nic-flap-production"]  # in the ordinary test; nightly runs all of them
NIGHTLY_INCIDENTS = ["denylist-gray-loss", "denylist-flap", "denylist-lies"]  # not in the ordinary test
LIVE_INCIDENTS = ["optic-glitch", "link-flap"]  # in the ordinary test; nightly runs all of them live
PROGRAM_INCIDENTS = ["verbs-port-flap"]  # in the ordinary test
PROGRAM_TIMEOUT_S = 600  # seconds where nobody else uses the processors; a program that waits for ever ends here

PURE_ROOMS = ["fabric", "routing", "switchd", "endpoint", "faults", "job", "telemetry"]
# None of their tests needs a machine: where their sanitized turn has come, they are run in no other way.
SANITIZED_ALONE = [*PURE_ROOMS, "analysis"]
# Building all of them with sanitizers was a third of what a day's test cost. So each commit has the next of these turns, with
# the fuzzers of its rooms (tests/CMakeLists.txt), and a night has all. Together are rooms that need the same libraries.
SANITIZED_TURNS = (("fabric", "routing", "switchd", "faults", "telemetry"), ("endpoint", "job"), ("analysis",),
                   ("netio", "verbs", "standalone"))
BENCHMARK_TURNS = 4
# Half of the sanitized build would be these, which are whole runs: nightly. The last is never built so.
SANITIZED_NIGHTLY = ["console", "plan", "sim", "scenario", "recorded", "live", "lab", "serve", "speakers"]
NEVER_SANITIZED = ["chaos"]

# Groups of packages.txt besides [build] and [test] that tests of a room start.
ROOM_PACKAGES = {"netio": ["bpf", "packets"], "switchd": ["bpf"], "routing": ["packets", "speakers"],
                 "endpoint": ["packets"], "analysis": ["packets"], "standalone": ["packets"], "verbs": ["rdma"],
                 "fabric": [], "faults": [], "job": [], "telemetry": [], "chaos": [], "serve": [], "console": [], "plan": [], "sim": [],
                 "scenario": [], "recorded": ["packets", "traces"],
                 "speakers": ["packets", "speakers"]}
OTHER_ROOMS_PACKAGES = ["bpf", "packets", "switches", "traces"]
# The machine of a page may be asked for anything that its commands name.
PAGE_PACKAGES = ["bpf", "mpi", "packets", "package", "rdma", "speakers", "switches", "engines", "captures"]

# What runs one scenario, simulated or live (lab/front/verb_rows.inc).
RUN_TARGETS = ("mrclab-cli", "mrclab-run")
LIVE_TARGETS = (*RUN_TARGETS, "mrc-bgpd", "mrc-endpointd", "mrc-switchd")

# OTHER_DAYS: every day but this one, as another part of its kind has its turn.
EVERYDAY, QUICK, NIGHTLY, OTHER_DAYS = "everyday", "quick", "nightly", "other days"

NO_TIME = "no time left for it"  # why a test was not run, or not to its end (one_test)
RUNNER = "MRCLAB_TEST_RUNNER"  # in the environment of one_test: the process of CTest, where run_tests has started that


@dataclasses.dataclass
class Test:
    name: str
    command: list             # "{tmp}" in a word is a folder of the test's own
    kind: str                 # the row of the table of what it all cost
    when: tuple               # of EVERYDAY, QUICK, NIGHTLY, OTHER_DAYS; every test is nightly
    count: str = "exit"       # how one_test counts its output
    packages: tuple = ()      # groups of packages.txt besides [build] and [test]
    targets: tuple = ()       # of the build folder
    sanitized: tuple = ()     # of build/asan
    simulator: bool = False   # the simulator for browsers, where it is built
    lane: str = ""            # "lab", "live": one after the other; "alone": nothing beside it; else idle work
    root: bool = False        # without root it is skipped
    sandbox: bool = False     # in mounts and processes of its own
    after: str = ""           # the test that makes what this one needs
    cost: int = 0             # the dearest are started first
    timeout: int = TIMEOUT_S
    environment: dict = dataclasses.field(default_factory=dict)

    def labels(self):
        """For ctest -L; "nightly" are those that only a nightly run has."""
        marks = (("quick", QUICK in self.when), ("root", self.root), ("sanitized", bool(self.sanitized)),
                 ("nightly", self.when == (NIGHTLY,)))
        return [*(word for word, holds in marks if holds), self.kind.replace(" ", "-")]


class Table:
    def __init__(self, build=None, nightly=False, turn=None):
        """`turn`: of SANITIZED_TURNS and of the benchmarks; as the commit says where it is not given."""
        self.build = pathlib.Path(build or ROOT / "build")
        self.asan = self.build / "asan"
        self.nightly = nightly
        self.turn = commit_count() if turn is None else turn
        self.is_root = os.geteuid() == 0
        self.tests = [*self.units(), *self.root_suites(), *self.style(), *self.sanitized(), *self.fuzzers(),
                      *self.incidents(), *self.pages(), *self.browser(), *self.others(), *self.benchmarks()]

    # ---- parts ------------------------------------------------------------------------------------------

    def rooms(self):
        """As tests/CMakeLists.txt names them."""
        return re.findall(r"(?m)^\s*mrclab_tests\((\w+)", (ROOT / "tests/CMakeLists.txt").read_text())

    def fuzzed(self):
        """The room of each fuzzer, as tests/CMakeLists.txt names them."""
        return {f"fuzz_{name}": room
                for room, names in re.findall(r"(?m)^\s*mrclab_fuzzers\((\w+) NAMES ([\w\s]+?) LINKS",
                                              (ROOT / "tests/CMakeLists.txt").read_text())
                for name in names.split()}

    def sanitized_days(self, room):
        """When a room is tested with sanitizers."""
        if room in SANITIZED_NIGHTLY:
            return (NIGHTLY,)
        turn = SANITIZED_TURNS[self.turn % len(SANITIZED_TURNS)]
        return (EVERYDAY if room in turn else OTHER_DAYS, NIGHTLY)

    def alternate(self, place):
        """When a test runs that another one relieves with each commit: each has one of the places 0 and 1."""
        return (EVERYDAY if place == self.turn % 2 else OTHER_DAYS, NIGHTLY)

    def room_packages(self, room):
        return tuple(ROOM_PACKAGES.get(room, OTHER_ROOMS_PACKAGES))

    def timeout(self):
        return TIMEOUT_NIGHTLY_S if self.nightly else TIMEOUT_S

    def units(self):
        for room in self.rooms():
            sanitized = room in SANITIZED_ALONE and EVERYDAY in self.sanitized_days(room)
            when = (QUICK, NIGHTLY) if sanitized else (EVERYDAY, QUICK, NIGHTLY)
            yield Test(f"test_{room}", [self.build / f"tests/test_{room}", "-tse=root:*"], "unit tests", when, "doctest",
                       self.room_packages(room), (f"test_{room}",), cost=500, timeout=self.timeout())

    def root_suites(self):
        for room in self.rooms():
            texts = [p.read_text() for p in (ROOT / "tests" / room).rglob("*.cc")]
            if not any(re.search(r'TEST_SUITE(_BEGIN)?\("root:', text) for text in texts):
                continue
            of_lab = room not in (*PURE_ROOMS, "netio", "analysis", "standalone", "serve", "speakers", "chaos")
            yield Test(f"test_{room} (root)", [self.build / f"tests/test_{room}", "-ts=root:*"], "root tests",
                       (EVERYDAY, QUICK, NIGHTLY), "doctest", self.room_packages(room), (f"test_{room}",),
                       lane="lab" if of_lab else "live", root=True, sandbox=True, cost=800,
                       timeout=self.timeout())

    def sanitized(self):
        """Their build is a test of its own, beside all others: live labs leave processors idle."""
        yield Test(SANITIZED_BUILD, [ROOT / "mrclab", "test", "--build-sanitized"], "sanitized build",
                   (EVERYDAY, NIGHTLY), packages=("sanitizers",), sandbox=True, cost=1000,
                   timeout=SANITIZED_BUILD_TIMEOUT_S)
        for room in self.rooms():
            if room in NEVER_SANITIZED:
                continue
            yield Test(f"test_{room} (sanitized)", [self.asan / f"tests/test_{room}", "-tse=root:*,whole run"],
                       "sanitized tests", self.sanitized_days(room), "doctest", (*self.room_packages(room), "sanitizers"),
                       sanitized=(f"test_{room}",), cost=400, timeout=self.timeout(),
                       after=SANITIZED_BUILD, environment={"UBSAN_OPTIONS": "print_stacktrace=1"})

    def fuzzers(self):
        fuzzed = self.fuzzed()
        for source in sorted((ROOT / "tests/fuzz").glob("fuzz_*.cc")):
            name = source.stem
            yield Test(name, [ROOT / "tests/fuzz/run_fuzzer", self.asan / "tests" / name,
                              *(["--nightly"] if self.nightly else [])],
                       "fuzzers", self.sanitized_days(fuzzed[name]), packages=("sanitizers",), sanitized=(name,),
                       after=SANITIZED_BUILD, cost=350, timeout=self.timeout())

    def style(self):
        every = (EVERYDAY, QUICK, NIGHTLY)
        yield Test("clang-format", [ROOT / "tests/style/check_format"], "style", every, packages=("style",), cost=490)
        yield Test("page_text_test", [ROOT / "tests/pages/page_text_test"], "style", every, cost=490)
        yield Test("test_table_test", [ROOT / "tests/support/test_table_test"], "style", every, cost=490)
        yield Test("figures_test", [ROOT / "tests/bench/figures_test"], "style", every, cost=490)
        yield Test("clang-tidy (files)", [ROOT / "tests/style/check_tidy", "--build", self.build,
                                          *(["--nightly"] if self.nightly else [])],
                   "style", (EVERYDAY, NIGHTLY), "lines", ("style", "sanitizers"), ("all",), cost=340,
                   timeout=self.timeout() * 2)

    def incidents(self):
        cli = self.build / "mrclab-cli"
        for path in sorted((ROOT / "topologies/incidents").glob("*.yaml")):
            name = path.stem
            yield Test(f"incident {name} (sim)", [cli, "run", name, "--world", "sim", "--out", "{tmp}"], "incidents",
                       (NIGHTLY,) if name in NIGHTLY_INCIDENTS else (EVERYDAY, NIGHTLY), targets=RUN_TARGETS, cost=300)
            when = (EVERYDAY, NIGHTLY) if name in LIVE_INCIDENTS else (NIGHTLY,)
            yield Test(f"incident {name} (live)", [cli, "run", name, "--world", "live", "--out", "{tmp}"],
                       "live incidents", when, packages=("bpf", "switches"), targets=LIVE_TARGETS, lane="lab", root=True,
                       sandbox=True, cost=900)
        for path in sorted((ROOT / "topologies/production").glob("*.yaml")):
            when = (EVERYDAY, NIGHTLY) if path.stem in PRODUCTION_INCIDENTS else (NIGHTLY,)
            yield Test(f"incident {path.stem} (sim)", [cli, "run", path.stem, "--world", "sim", "--out", "{tmp}"],
                       "incidents", when, targets=RUN_TARGETS, cost=310)
        for path in sorted((ROOT / "topologies/stargate").glob("*.yaml")):  # tens of minutes of two cores
            yield Test(f"incident {path.stem} (sim)", [cli, "run", path.stem, "--world", "sim", "--out", "{tmp}"],
                       "incidents", (NIGHTLY,), targets=RUN_TARGETS, lane="alone", cost=950)
        stargate = [str(path) for path in sorted((ROOT / "topologies/stargate").glob("*.yaml"))]
        yield Test("incidents of 131,072 hosts are readable",
                   [cli, "validate", *stargate, str(ROOT / "topologies/fabrics/stargate.yaml")],
                   "incidents", (EVERYDAY, NIGHTLY), targets=RUN_TARGETS, cost=100)
        yield Test("incident stargate-t1-reboot, 32 hosts of it (sim)",
                   [cli, "run", "stargate-t1-reboot", "--world", "sim", "--out", "{tmp}", "--set", "fabric.t0=2",
                    "--set", "fabric.t1=16", "--set", "fabric.hosts_per_t0=16", "--set",
                    "workload[0].permutation.shift=16", "--set", "follow=h[0-15]"],
                   "incidents", (EVERYDAY, NIGHTLY), targets=RUN_TARGETS, cost=300)
        for path in sorted((ROOT / "topologies/programs").glob("*.yaml")):  # perftest and others, over the verbs
            if re.search(r"(?m)^timing: held$", path.read_text()):  # a second or two each; their programs need namespaces
                yield Test(f"incident {path.stem} (sim)", [cli, "run", path.stem, "--world", "sim", "--out", "{tmp}"],
                           "incidents", (EVERYDAY, NIGHTLY), packages=("rdma",), targets=(*RUN_TARGETS, "mrclab-rdma"),
                           root=True, sandbox=True, cost=300, timeout=PROGRAM_TIMEOUT_S)
            yield Test(f"incident {path.stem} (live)", [cli, "run", path.stem, "--world", "live", "--out", "{tmp}"],
                       "live incidents", (EVERYDAY, NIGHTLY) if path.stem in PROGRAM_INCIDENTS else (NIGHTLY,),
                       packages=("rdma",), targets=(*LIVE_TARGETS, "mrclab-rdma"), lane="lab", root=True, sandbox=True,
                       cost=900)
        for path in sorted((ROOT / "tests/scenarios").glob("mark-*.yaml")):
            yield Test(path.stem, [cli, "run", path, "--world", "sim", "--out", "{tmp}"], "incidents",
                       (EVERYDAY, NIGHTLY), targets=RUN_TARGETS, cost=290)

    def pages(self):
        """Of those that have a command to run or a mistake. Pages that need root are live, where there is root."""
        for page in [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("*/**/*.md"))]:
            if (ROOT / "build") in page.parents or self.build in page.parents:
                continue
            try:
                commands = [c for c in page_text.read_page(page.read_text()).commands if not c.not_run]
            except page_text.PageError:
                commands = None  # run_page reports what
            if commands == []:
                continue
            live = self.is_root and any(c.needs_root for c in commands or [])
            yield Test(f"page {page.relative_to(ROOT)}",
                       [ROOT / "tests/pages/run_page", page, "--build", self.build,
                        *(["--nightly"] if self.nightly else [])],
                       "live pages" if live else "pages", (EVERYDAY, NIGHTLY), "lines", tuple(PAGE_PACKAGES), ("all",),
                       lane="lab" if live else "", cost=850 if live else 250, timeout=self.timeout())

    def browser(self):
        page_test = [ROOT / "tests/serve/page_test", "--build", self.build, *(["--nightly"] if self.nightly else [])]
        for name, words, place, more in (("live page in a browser", [], 0, {}),
                                         ("page of a run in a browser", ["--world", "run"], 1, {}),
                                         ("exported page in a browser", ["--exported"], 0, {"simulator": True})):
            yield Test(name, [*page_test, *words], "browser", self.alternate(place), "lines", ("browser",), ("all",),
                       cost=240, timeout=LIVE_PAGE_TIMEOUT_S, **more)
        if self.is_root:
            yield Test("page of namespaces in a browser", [*page_test, "--world", "live"], "browser",
                       self.alternate(1), "lines", ("browser",), ("all",), lane="live", root=True, sandbox=True,
                       cost=700, timeout=LIVE_PAGE_TIMEOUT_S)

    def others(self):
        nightly = ["--nightly"] if self.nightly else []
        when = (EVERYDAY, NIGHTLY)
        yield Test("captures of other implementations",
                   [ROOT / "tests/analysis/foreign/check_foreign_captures", "--cli", self.build / "mrclab-cli", "--cases",
                    CAPTURES_NIGHTLY if self.nightly else "0"], "others", self.alternate(0), "sums", ("captures", "packets"),
                   ("all",), cost=260, timeout=self.timeout())
        yield Test("RoCE of other implementations",
                   [ROOT / "tests/analysis/foreign/check_foreign_roce", "--cli", self.build / "mrclab-cli", "--cases",
                    "400" if self.nightly else "0"], "others", self.alternate(1), "sums", ("captures", "packets"),
                   ("all",), cost=90, timeout=self.timeout())
        yield Test("endpoints of other implementations",
                   [ROOT / "tests/standalone/foreign/check_foreign_endpoints", "--program", self.build / "mrc-endpoint"],
                   "others", when, "sums", ("captures",), ("mrc-endpoint",), lane="live", root=True, sandbox=True, cost=680)
        for name, words, target, place in (("rdma-core's tests", [], "loopback_host", 0),
                                           ("rdma-core's tests in a simulated host", ["--simulated"], "wall_host", 1)):
            yield Test(name, [ROOT / "tests/verbs/client/check_rdma_core_tests", self.build, *words], "others",
                       self.alternate(place), "lines", ("rdma",), (target,), cost=30, timeout=self.timeout())
        long = ["--long"] if self.nightly else []
        for name, words, targets in (("perftest in a lab", long, ()),
                                     ("collectives in a lab", [], ("gloo_ring", "nccl_net_harness", "verbs_net_plugin"))):
            script = "check_perftest" if not targets else "check_collectives"
            days = self.alternate(0) if not targets else (NIGHTLY,)  # what collectives do is in test_verbs as well
            yield Test(name, [ROOT / "tests/verbs/judges" / script, self.build, *words], "others", days, "sums", ("rdma",),
                       (*LIVE_TARGETS, "mrclab-labs", "mrclab-labd", "mrclab-rdma", *targets), lane="live", root=True,
                       sandbox=True, cost=120, timeout=self.timeout())
        yield Test("held programs in both worlds", [ROOT / "tests/verbs/judges/check_held", self.build], "others",
                   self.alternate(1), "sums", ("rdma",), (*LIVE_TARGETS, "mrclab-sweep", "mrclab-rdma"), lane="live", root=True, sandbox=True, cost=60,
                   timeout=self.timeout())
        yield Test("a collective held in both worlds", [ROOT / "tests/verbs/judges/check_held", self.build, "--gloo"], "others",
                   (NIGHTLY,), "sums", ("rdma",), (*LIVE_TARGETS, "mrclab-sweep", "mrclab-rdma", "gloo_ring"), lane="live",
                   root=True, sandbox=True, cost=60, timeout=self.timeout())
        yield Test("packages", [ROOT / "tests/packaging/check_packages", "--build", self.build, *nightly], "packages",
                   self.alternate(0), "lines",
                   ("mpi", "bpf", "package", "rdma", "shells", "packets", *(["image"] if self.nightly else [])),
                   ("all",), cost=230, timeout=self.timeout())
        yield Test("traces of others on hall", [ROOT / "tests/job/traces_on_hall", self.build], "others", (NIGHTLY,),
                   targets=(*RUN_TARGETS, "mrclab-files"), cost=120, timeout=self.timeout())
        yield Test("schemas", [ROOT / "tests/schema/check_schemas", self.build, *(["--all"] if self.nightly else [])],
                   "others", when, "lines", ("schemas",), ("all",), cost=220, timeout=self.timeout())
        seeds = CHAOS_SEEDS_NIGHTLY if self.nightly else CHAOS_SEEDS
        yield Test(f"chaos octet, seeds {seeds}",
                   [self.build / "mrclab-cli", "chaos", "octet", "--seeds", seeds, "--out", "{tmp}/chaos"], "chaos", when,
                   "chaos", targets=("mrclab-cli", "mrclab-sweep"), cost=210, timeout=3600)
        yield Test("chaos by other machines' engines",
                   [ROOT / "tests/campaign/run_engines", self.build,
                    ENGINE_SEEDS_NIGHTLY if self.nightly else ENGINE_SEEDS], "chaos", when, "sums", ("engines",), ("all",),
                   lane="live", sandbox=self.is_root, cost=810, timeout=self.timeout())
        yield Test("one simulation over processes", [ROOT / "tests/ranks/run_ranks", self.build], "others", when, "lines",
                   ("mpi",), ("all",), lane="live", sandbox=self.is_root, cost=690)
        yield Test("Prometheus scrapes a lab", [ROOT / "tests/telemetry/check_scrape", self.build], "others", (NIGHTLY,),
                   "lines", ("telemetry",), ("all",), lane="lab", root=True, cost=680)
        yield Test("promtool and tshark on telemetry", [ROOT / "tests/telemetry/check_drill", self.build], "others",
                   (NIGHTLY,), "lines", ("telemetry", "packets"), ("all",), cost=20)
        yield Test("soak", [ROOT / "tests/soak/soak_lab", "--build", self.build, *SOAK], "soak", (NIGHTLY,),
                   targets=("all",), lane="alone", root=True, cost=-2, timeout=SOAK_TIMEOUT_S)

    def benchmark_programs(self):
        """The scripts of benchmarks, each with what it starts besides the programs, as tests/CMakeLists.txt names these."""
        known = re.search(r"foreach\(program ([^)]*)\)\s*if\(TARGET \$\{program\}\)\s*add_dependencies\(benchmarks",
                          (ROOT / "tests/CMakeLists.txt").read_text())[1].split()
        return {script: tuple(name for name in known if re.search(rf"\b{name}\b", script.read_text()))
                for script in sorted((ROOT / "tests/bench").glob("bench_*"))
                if not script.suffix and os.access(script, os.X_OK)}

    def benchmarks(self):
        scripts = self.benchmark_programs()
        together = sorted(set(scripts.values()))  # what needs the same programs has the same turn
        for script, programs in scripts.items():
            today = together.index(programs) % BENCHMARK_TURNS == self.turn % BENCHMARK_TURNS
            simulated = script.name == "bench_nic_losses"  # the longest, and nothing beside it changes what it says
            yield Test(f"{script.name} (quick)", [ROOT / "tests/bench/check_benchmark", script, self.build], "benchmarks",
                       (EVERYDAY if today else OTHER_DAYS, NIGHTLY), "lines", ("bpf", "packets", "switches"),
                       ("all", *programs),
                       lane="" if simulated else "alone", root=True, sandbox=True, cost=300 if simulated else -1)

    # ---- choices ----------------------------------------------------------------------------------------

    def chosen(self, only="", quick=False):
        """What the words of `mrclab test` mean. A word that finds a test finds its sanitized twin only by that name."""
        tests = [t for t in self.tests if self.nightly or t.when != (NIGHTLY,)]
        if quick:
            tests = [t for t in tests if QUICK in t.when]
        if only:
            tests = [t for t in tests if only in t.name and
                     (not t.name.endswith(" (sanitized)") or only not in t.name.removesuffix(" (sanitized)"))]
        elif not (quick or self.nightly):
            tests = [t for t in tests if EVERYDAY in t.when]
        builds = [t for t in self.tests if t.name == SANITIZED_BUILD and any(test.after == t.name for test in tests)]
        return [*builds, *(t for t in tests if t.name != SANITIZED_BUILD)]


def without_repeats(words):
    return list(dict.fromkeys(words))
