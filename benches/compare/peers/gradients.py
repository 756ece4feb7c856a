"""Value and gradient of a loss, in each system's own way."""


def of_jax(loss, *wrt):
    """Of a function of named arrays, by those named in `wrt`."""
    import jax

    def task(**inputs):
        fixed = {name: array for name, array in inputs.items() if name not in wrt}
        varied = {name: inputs[name] for name in wrt}
        value, gradient = jax.value_and_grad(lambda varied: loss(**varied, **fixed))(varied)
        return {"value": value, **gradient}

    return task


def of_torch(loss, *wrt):
    """The same of tensors, by going back through what was recorded."""
    import torch

    def task(**inputs):
        varied = {name: inputs[name].detach().requires_grad_(True) for name in wrt}
        value = loss(**{**inputs, **varied})
        gradient = torch.autograd.grad(value, list(varied.values()))
        return {"value": value, **dict(zip(wrt, gradient))}

    return task


def losses_of_jax(loss, *wrt):
    """The tasks `value` and `gradient`."""
    return {"value": lambda **inputs: {"value": loss(**inputs)}, "gradient": of_jax(loss, *wrt)}


def losses_of_torch(loss, *wrt):
    """The same."""
    import torch

    def value(**inputs):
        with torch.no_grad():
            return {"value": loss(**inputs)}

    return {"value": value, "gradient": of_torch(loss, *wrt)}


def run_of_torch(run):
    """A task that nobody differentiates."""
    import torch

    def task(**inputs):
        with torch.no_grad():
            return run(**inputs)

    return task
