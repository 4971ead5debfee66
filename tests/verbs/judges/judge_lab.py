"""A lab with programs of others in its hosts, for the judges of this folder."""

import os
import pathlib
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import sandbox  # noqa: E402

DILATION = 1000


class Wrong(Exception):
    pass


def expect(holds, what):
    if not holds:
        raise Wrong(what)


class Lab:
    """Up from here to down(); `exec` gives programs the verbs."""

    def __init__(self, build, fabric, name):
        self.cli = str(build / "mrclab-cli")
        self.name = name
        self.run("up", fabric, "--name", name, "--dilation", str(DILATION))

    def down(self):
        self.run("down", self.name, check=False)

    def run(self, *words, check=True):
        done = subprocess.run([self.cli, *words], capture_output=True, text=True, timeout=120, check=False)
        if check:
            expect(done.returncode == 0, f"mrclab {' '.join(words)}: {done.stderr.strip()}")
        return done

    def start(self, host, command, *options):
        return subprocess.Popen([self.cli, "exec", *options, host, "--", *command], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, start_new_session=True,
                                preexec_fn=sandbox.die_with_parent)

    def received(self, host):
        """Bytes of payload that the host's ports have received, by its own counters."""
        text = self.run("metrics", self.name, "--only", host, "--by", "node").stdout
        counted = re.findall(r"^mrclab_host_port_receive_payload_bytes_total\S* (\d+)$", text, re.M)
        expect(counted, f"{host} does not count what its ports receive")
        return sum(int(n) for n in counted)


def finish(process, seconds=180):
    """(exit code, output); whoever runs longer is ended, and that is wrong."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise Wrong(f"ran for more than {seconds} s: {out[-300:]}{err[-300:]}") from None
    return process.returncode, out + err


def stop(process):
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for_listener(lab, host, port):
    """Until somebody listens at this TCP port of the host."""
    wait = f"for i in $(seq 600); do grep -q ':{port:04X} .* 0A ' /proc/net/tcp && exit 0; sleep 0.1; done; exit 1"
    code, out = finish(lab.start(host, ["sh", "-c", wait]))
    expect(code == 0, f"nobody listens: {out}")


def judge(rows, only):
    """Runs the rows with `only` in their names; the exit code."""
    passed = failed = 0
    for name, row in rows.items():
        if only not in name:
            continue
        try:
            print(f"ok    {name}: {row()}", flush=True)
            passed += 1
        except Wrong as wrong:
            print(f"WRONG {name}: {wrong}", flush=True)
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0
