"""What is compared: a module a workload. Each defines

TITLE       what it computes, for the table
SIZES       {name: dimensions}, of which "small" is for trying things out
TASKS       may be missing; {size: names of tasks} where a size is not for all of them
TOLERANCE   how far results may be apart, relative to the largest number of a result; or {task: that}
inputs(**dimensions) -> {name: numpy array}, seeded
jax(**dimensions)     -> {task: function of the inputs, by name, giving {result: array}}, to be compiled by the worker
torch(compiled, **dimensions)   -> the same on tensors; `compiled` is `torch.compile` or nothing, to wrap around losses
enzyme(call, **dimensions)      -> the same on JAX's arrays, with `call(source, name, shapes, *arguments)` for a function in C++

`jax`, `torch` and `enzyme` may be missing, or lack a task, where there is no reasonable way to have it; then `MISSING`,
{contender: {task: why}}, says why. What pointful and plain Rust do is in `src/NAME.rs`.

Tasks: `value`; `gradient`, which gives the value too; `run`, whose results are tables, of which `value` is a measure; others as a workload says.
"""

# One a line, in alphabetical order.
NAMES = [
    "asian_option",
    "attention",
    "ba",
    "batchnorm",
    "blackscholes",
    "convnet",
    "d2q9",
    "d3q19",
    "embedding",
    "filterbank",
    "gmm",
    "gp",
    "histogram",
    "hmm",
    "hotspot",
    "kmeans",
    "layernorm",
    "logistic",
    "lorenz",
    "lstm",
    "machine",
    "matmul",
    "message_passing",
    "mlp",
    "mriq",
    "nbody",
    "neural_ode",
    "pathfinder",
    "rsbench",
    "softdtw",
    "sparse_kmeans",
    "stencil",
    "xsbench",
]
