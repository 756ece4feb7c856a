"""Answers the requests that `src/main.rs` describes for another system: `worker.py jax|torch|torch-compile|enzyme|enzyme-fast`."""

import importlib
import pathlib
import sys
import time

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))


def jax_tasks(module, dimensions, inputs):
    import jax

    jax.config.update("jax_enable_x64", True)
    arrays = {name: jax.device_put(array) for name, array in inputs.items()}
    return {name: jax_runner(jax.jit(task), arrays) for name, task in module.jax(**dimensions).items()}


def jax_runner(task, arrays):
    import jax

    return lambda: jax.block_until_ready(task(**arrays))


def enzyme_tasks(flags):
    def tasks(module, dimensions, inputs):
        import jax

        jax.config.update("jax_enable_x64", True)
        from enzyme_ad.jax import cpp_call

        def call(source, name, shapes, *arguments):
            shapes = [jax.core.ShapedArray(shape, dtype) for shape, dtype in shapes]
            return cpp_call(*arguments, out_shapes=shapes, source=source, fn=name, argv=flags)

        arrays = {name: jax.device_put(array) for name, array in inputs.items()}
        found = module.enzyme(call, **dimensions)
        return {name: jax_runner(jax.jit(task), arrays) for name, task in found.items()}

    return tasks


def torch_tasks(compiled):
    def tasks(module, dimensions, inputs):
        import torch

        wrap = torch.compile if compiled else lambda function, **_: function
        tensors = {name: torch.from_numpy(array.copy()) for name, array in inputs.items()}
        found = module.torch(wrap, **dimensions)
        return {name: (lambda task=task: task(**tensors)) for name, task in found.items()}

    return tasks


def this_machine():
    """The compiler inside takes the arguments of clang's own driver stage, which knows no `-march=native`."""
    flags = next((line for line in open("/proc/cpuinfo") if line.startswith("flags")), "").split()
    if "avx512vl" in flags:
        return ("-target-cpu", "x86-64-v4")
    if "avx2" in flags:
        return ("-target-cpu", "x86-64-v3")
    return ()


OPTIMISED = ("-O3", *this_machine())
# What `-ffast-math` means to clang.
FAST_MATH = (
    "-ffast-math",
    "-menable-no-infs",
    "-menable-no-nans",
    "-fapprox-func",
    "-funsafe-math-optimizations",
    "-fno-signed-zeros",
    "-mreassociate",
    "-freciprocal-math",
    "-ffp-contract=fast",
)
CONTENDERS = {
    "jax": ("jax", jax_tasks),
    "torch": ("torch", torch_tasks(False)),
    "torch-compile": ("torch", torch_tasks(True)),
    "enzyme": ("enzyme", enzyme_tasks(OPTIMISED)),
    "enzyme-fast": ("enzyme", enzyme_tasks((*OPTIMISED, *FAST_MATH))),
}


def array(result):
    if hasattr(result, "detach"):
        result = result.detach().numpy()
    return numpy.asarray(result, dtype=numpy.float64).ravel()


def main():
    # Nothing but answers may go to where answers are read from.
    out = sys.stdout
    sys.stdout = sys.stderr
    contender = sys.argv[1]
    tasks = {}

    def respond(line):
        words = line.split(" ")
        if words[0] == "open":
            _, name, directory, size = words
            module = importlib.import_module(f"workloads.{name}")
            defined, make = CONTENDERS[contender]
            tasks.clear()
            if not hasattr(module, defined):
                return ""
            found = {path.stem: numpy.load(path) for path in pathlib.Path(directory).glob("*.npy")}
            tasks.update(make(module, module.SIZES[size], found))
            return " ".join(tasks)
        if words[0] == "run":
            task = tasks[words[1]]
            start = time.perf_counter_ns()
            result = task()
            passed = time.perf_counter_ns() - start
            del result
            return str(passed)
        if words[0] == "save":
            results = tasks[words[1]]()
            for name, result in results.items():
                numpy.save(pathlib.Path(words[2]) / f"{name}.npy", array(result))
            return " ".join(results)
        raise ValueError("not a request")

    for line in sys.stdin:
        try:
            answer = f"ok {respond(line.strip())}"
        except Exception as error:  # whatever a system fails with is its answer
            answer = f"error {type(error).__name__}: {error}".replace("\n", " ")[:2000]
        print(answer.strip(), file=out, flush=True)


main()
