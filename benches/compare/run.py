#!/usr/bin/env python3
"""Compares pointful with hand-written Rust, JAX, PyTorch and Enzyme: `python3 benches/compare/run.py [--only NAME…] [--rounds N] [--small]`.

README.md beside this file says what is compared and how. Only Python's standard library is needed to start; the rest is installed
into a virtual environment under the build directory.
"""

import argparse
import importlib
import os
import pathlib
import select
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target")).resolve()
VENV = pathlib.Path(os.environ.get("COMPARE_VENV", TARGET / "compare" / "venv"))
OURS = "pointful"
# What `--before` names: another build of what pointful is here.
BEFORE = "before"
CONTENDERS = [OURS, BEFORE, "rust", "jax", "torch", "torch-compile", "enzyme", "enzyme-fast"]
# How many seconds each contender works before each of its calls that is timed.
WARM = 0.05
PACKAGES = {
    "jax": ["numpy", "scipy", "jax", "jaxlib"],
    "torch": ["torch"],
    "torch-compile": ["torch"],
    "enzyme": ["jax", "jaxlib", "enzyme-ad"],
    "enzyme-fast": ["jax", "jaxlib", "enzyme-ad"],
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="NAME", help="workloads; NAME:SIZE for one size")
    parser.add_argument("--tasks", nargs="+", help="tasks, for example `gradient`")
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=CONTENDERS)
    parser.add_argument("--before", metavar="WORKER", help="another build's `compare-worker`, to compare pointful with itself")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=60, help="end a task's rounds after so long, three rounds at least")
    parser.add_argument("--patience", type=float, default=300, help="seconds in which a contender must have compiled a task and called it once")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="how many cores everybody gets")
    parser.add_argument("--small", action="store_true", help="the small sizes only, to try things out")
    parser.add_argument("--prepared", action="store_true", help="neither install nor build: use what is there")
    options = parser.parse_args()
    if options.before is None:
        options.contenders = [contender for contender in options.contenders if contender != BEFORE]
    return options


def requirements():
    """The pinned packages by name."""
    lines = [line.strip() for line in (HERE / "requirements.txt").read_text().splitlines()]
    return {line.split("==")[0]: line for line in lines if line and not line.startswith("#")}


def install():
    """Installs what can be installed; the packages that cannot be, and why."""
    python = VENV / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    missing = {}
    for name, line in requirements().items():
        done = subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-cache-dir", line], capture_output=True, text=True)
        if done.returncode != 0:
            missing[name] = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
    return missing


def installed():
    """Name and version of each package that is there."""
    code = "import importlib.metadata as m, sys\nfor n in sys.argv[1:]:\n try: print(n, m.version(n))\n except m.PackageNotFoundError: pass"
    found = subprocess.run([VENV / "bin" / "python", "-c", code, *requirements()], capture_output=True, text=True, check=True)
    return dict(line.split(" ") for line in found.stdout.splitlines())


class Failed(Exception):
    """What a contender could not do, and why."""


class Worker:
    """A process that answers requests."""

    def __init__(self, contender, options):
        environment = {**os.environ, "RAYON_NUM_THREADS": str(options.threads), "OMP_NUM_THREADS": str(options.threads)}
        environment["PYTHONPATH"] = str(HERE)
        environment["JAX_PLATFORMS"] = "cpu"
        if contender == BEFORE:
            command = [options.before, OURS]
        elif contender in (OURS, "rust"):
            command = [TARGET / "release" / "compare-worker", contender]
        else:
            command = [VENV / "bin" / "python", HERE / "peers" / "worker.py", contender]
        self.log = tempfile.TemporaryFile()
        cores = sorted(os.sched_getaffinity(0))[: options.threads]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=environment,
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )

    def ask(self, request, patience):
        """The words of the answer."""
        try:
            self.process.stdin.write(f"{request}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Failed(self.last_words()) from None
        if not select.select([self.process.stdout], [], [], patience)[0]:
            self.close()
            raise Failed(f"no answer to `{request.split(' ')[0]}` in {patience:.0f} s")
        line = self.process.stdout.readline().decode().strip()
        if line.startswith("ok"):
            return line.split(" ")[1:]
        if line.startswith("error"):
            raise Failed(line.removeprefix("error "))
        raise Failed(self.last_words())

    def last_words(self):
        self.process.wait()
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").strip().splitlines()
        return f"ended with {self.process.returncode}: {lines[-1] if lines else 'nothing said'}"

    def peak(self):
        """The most memory the process has had, in MB."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
        return float("nan")

    def processor(self):
        """How long all threads have been on a core, in nanoseconds. What else runs on the machine changes it little."""
        total = 0
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                total += int((task / "schedstat").read_text().split()[0])
            except OSError:
                # The thread has ended, or the system does not count.
                pass
        return total

    def close(self):
        self.process.kill()
        self.process.wait()


def results_of(worker, task, patience):
    import numpy

    with tempfile.TemporaryDirectory() as directory:
        names = worker.ask(f"save {task} {directory}", patience)
        return {name: numpy.load(pathlib.Path(directory) / f"{name}.npy") for name in names}


def apart(one, other):
    """How far two results are apart, relative to the largest number; infinity where one has not what the other has."""
    import numpy

    if one.keys() != other.keys():
        return float("inf")
    worst = 0.0
    for name, a in one.items():
        b = other[name]
        if a.shape != b.shape or not (numpy.isfinite(a).all() and numpy.isfinite(b).all()):
            return float("inf")
        if a.size:
            scale = max(abs(a).max(), abs(b).max(), 1e-300)
            worst = max(worst, float(abs(a - b).max() / scale))
    return worst


def quartiles(numbers):
    ordered = sorted(numbers)
    return ordered[(len(ordered) - 1) // 4], ordered[(len(ordered) - 1) * 3 // 4]


def number(milliseconds):
    return f"{milliseconds:.3f}" if milliseconds < 10 else f"{milliseconds:.1f}"


class Report:
    """Rows as they come, and what to say at the end."""

    def __init__(self):
        self.behind = []
        self.notes = []
        print("| workload | task | contender | ms | pointful, ms | pointful/contender | quartiles | processor, ms | ratio | peak, MB |", flush=True)
        print("|---|---|---|---|---|---|---|---|---|---|", flush=True)

    def task(self, where, task, times, processors, peaks):
        ours = times.get(OURS)
        best = None
        for contender, found in times.items():
            ms = statistics.median(found) / 1e6
            if contender == OURS or ours is None:
                middle, spread, base, effort = "", "", "", ""
            else:
                ratios = [a / b for a, b in zip(ours, found)]
                ratio = statistics.median(ratios)
                low, high = quartiles(ratios)
                middle, spread = f"{ratio:.2f}", f"{low:.2f} to {high:.2f}"
                base = number(statistics.median(ours) / 1e6)
                pairs = [(a, b) for a, b in zip(processors[OURS], processors[contender]) if b > 0]
                effort = f"{statistics.median(a / b for a, b in pairs):.2f}" if pairs else ""
                if best is None or ratio > best[0]:
                    best = (ratio, contender, effort)
            processor = number(statistics.median(processors[contender]) / 1e6)
            cells = [where, task, contender, number(ms), base, middle, spread, processor, effort, f"{peaks[contender]:.0f}"]
            print(f"| {' | '.join(cells)} |", flush=True)
        if best is not None:
            self.behind.append((best[0], where, task, *best[1:]))

    def note(self, text):
        self.notes.append(text)
        print(f"{text}", file=sys.stderr, flush=True)

    def end(self):
        print("\nAgainst the fastest contender of each task, farthest behind first:\n")
        print("| workload | task | fastest contender | pointful/contender | of processor time |")
        print("|---|---|---|---|---|")
        for ratio, where, task, contender, effort in sorted(self.behind, reverse=True):
            print(f"| {where} | {task} | {contender} | {ratio:.2f} | {effort} |")
        if self.notes:
            print("\nNot measured, and what was found wrong:\n")
            for text in self.notes:
                print(f"- {text}")


def compare(name, size, options, absent, report):
    """Runs all tasks of a workload; whether all that were run agree."""
    import numpy

    module = importlib.import_module(f"workloads.{name}")
    where = f"{name} {size}"
    missing = getattr(module, "MISSING", {})
    chosen = getattr(module, "TASKS", {}).get(size)
    for contender, tasks in missing.items():
        for task, why in tasks.items():
            if contender in options.contenders:
                report.note(f"{where}, {task}, {contender}: {why}")
    agreed = True
    workers, offered = {}, {}
    with tempfile.TemporaryDirectory() as directory:
        for array, values in module.inputs(**module.SIZES[size]).items():
            numpy.save(pathlib.Path(directory) / f"{array}.npy", numpy.ascontiguousarray(values))
        try:
            for contender in options.contenders:
                if contender in absent:
                    continue
                worker = Worker(contender, options)
                workers[contender] = worker
                ours = contender in (OURS, BEFORE, "rust")
                request = f"open {name} {directory}" + ("" if ours else f" {size}")
                try:
                    offered[contender] = worker.ask(request, options.patience)
                except Failed as why:
                    offered[contender] = []
                    report.note(f"{where}, {contender}: {why}")
            tasks = list(dict.fromkeys(task for tasks in offered.values() for task in tasks))
            for task in tasks:
                if options.tasks and task not in options.tasks or chosen and task not in chosen:
                    continue
                those = {c: w for c, w in workers.items() if task in offered[c]}
                agreed &= one_task(module, where, task, those, options, report)
        finally:
            for worker in workers.values():
                worker.close()
    return agreed


def warm(worker, task, patience):
    """Calls a task without a watch, until its threads, which have slept, have found cores of their own again."""
    start = time.monotonic()
    while True:
        worker.ask(f"run {task}", patience)
        if time.monotonic() - start > WARM:
            return


def one_task(module, where, task, workers, options, report):
    tolerance = module.TOLERANCE
    if isinstance(tolerance, dict):
        tolerance = tolerance[task]
    answers = {}
    for contender, worker in list(workers.items()):
        try:
            answers[contender] = results_of(worker, task, options.patience)
            worker.ask(f"run {task}", options.patience)
        except Failed as why:
            report.note(f"{where}, {task}, {contender}: {why}")
            answers.pop(contender, None)
            del workers[contender]
    agreed = True
    # Whom most agree with is right.
    votes = {a: sum(apart(answers[a], answers[b]) <= tolerance for b in answers) for a in answers}
    right = max(votes, key=votes.get, default=None)
    for contender in list(answers):
        distance = apart(answers[contender], answers[right])
        if distance > tolerance:
            report.note(f"{where}, {task}: {contender} and {right} are apart by {distance:.2e}, more than {tolerance:.0e}")
            agreed = False
    times = {contender: [] for contender in workers}
    processors = {contender: [] for contender in workers}
    start = time.monotonic()
    for round in range(options.rounds):
        if round >= 3 and time.monotonic() - start > options.seconds:
            break
        for contender, worker in list(workers.items()):
            # Threads that wait by spinning have stopped when the next one starts.
            time.sleep(0.02)
            try:
                warm(worker, task, options.patience)
                before = worker.processor()
                times[contender].append(int(worker.ask(f"run {task}", options.patience)[0]))
                processors[contender].append(worker.processor() - before)
            except Failed as why:
                report.note(f"{where}, {task}, {contender}: {why}")
                del workers[contender], times[contender]
    if times and all(times.values()):
        report.task(where, task, times, processors, {contender: worker.peak() for contender, worker in workers.items()})
    return agreed


def main():
    options = arguments()
    if not options.prepared:
        missing = install()
        subprocess.run(["cargo", "build", "--release", "--locked", "-p", "pointful-compare", "--features", "gemm"], cwd=REPOSITORY, check=True)
    else:
        missing = {}
    python = VENV / "bin" / "python"
    if pathlib.Path(sys.prefix).resolve() != VENV.resolve():
        # numpy is needed here too, and is in there.
        arguments_now = [argument for argument in sys.argv[1:] if argument != "--prepared"]
        os.environ["COMPARE_MISSING"] = repr(missing)
        os.execv(python, [str(python), str(HERE / "run.py"), "--prepared", *arguments_now])
    sys.path.insert(0, str(HERE))
    import ast

    missing = ast.literal_eval(os.environ.get("COMPARE_MISSING", "{}"))
    present = installed()
    absent = {}
    for contender, packages in PACKAGES.items():
        lacking = [package for package in packages if package in missing or package not in present]
        if lacking:
            absent[contender] = "; ".join(f"{package}: {missing.get(package, 'not installed')}" for package in lacking)
    cpu = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    print(f"{options.threads} cores of {cpu}; load {os.getloadavg()[0]:.1f} at the start; " + ", ".join(f"{n} {v}" for n, v in present.items()) + ".\n", flush=True)
    report = Report()
    for contender, why in absent.items():
        if contender in options.contenders:
            report.note(f"{contender}: {why}")
    import workloads

    agreed = True
    wanted = [entry.split(":") for entry in options.only] if options.only else [[name] for name in workloads.NAMES]
    for name, *sizes in wanted:
        module = importlib.import_module(f"workloads.{name}")
        if not sizes:
            sizes = ["small"] if options.small else [size for size in module.SIZES if size != "small"]
        for size in sizes:
            agreed &= compare(name, size, options, absent, report)
    report.end()
    if not agreed:
        sys.exit("some results do not agree: see the list above")


if __name__ == "__main__":
    main()
