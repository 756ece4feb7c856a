"""Bundle adjustment, as the ADBench suite has it; the camera, point and feature of each observation are near those of the suite's file.

`value` is all residuals. `jacobian` is what is not zero of the Jacobian, in blocks, without the value.
"""

import pathlib

import numpy

TITLE = "BA, f64"
SIZES = {
    "small": dict(cameras=3, points=10, observations=50),
    "n49_m7776_p31843": dict(cameras=49, points=7776, observations=31843),
}
TOLERANCE = 1e-9
FILE = pathlib.Path(__file__).resolve().parents[2] / "adbench" / "data" / "ba1_n49_m7776_p31843.txt"


def inputs(cameras, points, observations):
    words = [float(word) for word in FILE.read_text().split()[3:]]
    camera, point, weight, feature = words[:11], words[11:14], words[14], words[15:17]
    random = numpy.random.default_rng(1)

    def near(values, count):
        return numpy.array(values) * random.uniform(0.99, 1.01, size=(count, len(values)))

    return {
        "cameras": near(camera, cameras),
        "points": near(point, points),
        "weights": near([weight], observations)[:, 0],
        "features": near(feature, observations),
        "camera": (numpy.arange(observations) % cameras).astype(numpy.int32),
        "point": (numpy.arange(observations) % points).astype(numpy.int32),
    }


def jax(**_):
    import jax
    import jax.numpy as jnp

    def rotate(r, x):
        square = r @ r
        safe = jnp.where(square == 0.0, 1.0, square)
        angle = jnp.sqrt(safe)
        sine, cosine = jnp.sin(angle), jnp.cos(angle)
        turned = x * cosine + jnp.cross(r, x) * sine / angle + r * (r @ x) * (1.0 - cosine) / safe
        return jnp.where(square == 0.0, x + jnp.cross(r, x), turned)

    def residual(camera, point, weight, feature):
        seen = rotate(camera[:3], point - camera[3:6])
        flat = seen[:2] / seen[2]
        square = flat @ flat
        distortion = 1.0 + camera[9] * square + camera[10] * square**2
        return weight * (camera[6] * distortion * flat + camera[7:9] - feature)

    def value(cameras, points, weights, features, camera, point):
        errors = jax.vmap(residual)(cameras[camera], points[point], weights, features)
        return {"errors": errors, "weight_errors": 1.0 - weights**2}

    def jacobian(cameras, points, weights, features, camera, point):
        blocks = jax.vmap(jax.jacrev(residual, (0, 1, 2)))
        by_camera, by_point, by_weight = blocks(cameras[camera], points[point], weights, features)
        of_weights = jax.vmap(jax.grad(lambda weight: 1.0 - weight**2))(weights)
        return {"by_camera": by_camera, "by_point": by_point, "by_weight": by_weight, "of_weights": of_weights}

    return {"value": value, "jacobian": jacobian}


def torch(compiled, **_):
    import torch

    def residuals(camera, point, weight, feature):
        """Of all observations at once."""
        r, x = camera[:, :3], point - camera[:, 3:6]
        square = (r * r).sum(1, keepdim=True)
        safe = torch.where(square == 0.0, 1.0, square)
        angle = safe.sqrt()
        sine, cosine = angle.sin(), angle.cos()
        cross = torch.linalg.cross(r, x)
        along = (r * x).sum(1, keepdim=True) * (1.0 - cosine) / safe
        seen = torch.where(square == 0.0, x + cross, x * cosine + cross * sine / angle + r * along)
        flat = seen[:, :2] / seen[:, 2:]
        square = (flat * flat).sum(1, keepdim=True)
        distortion = 1.0 + camera[:, 9:10] * square + camera[:, 10:11] * square**2
        return weight[:, None] * (camera[:, 6:7] * distortion * flat + camera[:, 7:9] - feature)

    forward = compiled(residuals)

    def value(cameras, points, weights, features, camera, point):
        with torch.no_grad():
            errors = forward(cameras[camera], points[point], weights, features)
            return {"errors": errors, "weight_errors": 1.0 - weights**2}

    def jacobian(cameras, points, weights, features, camera, point):
        # The residuals of one observation depend on its own parameters only: two passes backwards give all rows.
        of = [x.detach().requires_grad_(True) for x in (cameras[camera], points[point], weights)]
        errors = forward(*of, features)
        rows = [torch.autograd.grad(errors[:, i].sum(), of, retain_graph=i == 0) for i in range(2)]
        by_camera, by_point, by_weight = (torch.stack(pair, 1) for pair in zip(*rows))
        return {"by_camera": by_camera, "by_point": by_point, "by_weight": by_weight, "of_weights": -2.0 * weights}

    return {"value": value, "jacobian": jacobian}


SOURCE = """
extern "C" double sqrt(double);
extern "C" double sin(double);
extern "C" double cos(double);

void residuals(
    enzyme::tensor<double, P, 2>& out,
    const enzyme::tensor<double, P, 11>& camera,
    const enzyme::tensor<double, P, 3>& point,
    const enzyme::tensor<double, P>& weight,
    const enzyme::tensor<double, P, 2>& feature
) {
    double r[3], x[3], seen[3], cross[3], flat[2];
    for (int o = 0; o < P; o++) {
        for (int i = 0; i < 3; i++) {
            r[i] = camera[o][i];
            x[i] = point[o][i] - camera[o][3 + i];
        }
        cross[0] = r[1] * x[2] - r[2] * x[1];
        cross[1] = r[2] * x[0] - r[0] * x[2];
        cross[2] = r[0] * x[1] - r[1] * x[0];
        double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
        if (square == 0.0) {
            for (int i = 0; i < 3; i++) seen[i] = x[i] + cross[i];
        } else {
            double angle = sqrt(square), sine = sin(angle), cosine = cos(angle);
            double along = (r[0] * x[0] + r[1] * x[1] + r[2] * x[2]) * (1.0 - cosine) / square;
            for (int i = 0; i < 3; i++) seen[i] = x[i] * cosine + cross[i] * sine / angle + r[i] * along;
        }
        for (int i = 0; i < 2; i++) flat[i] = seen[i] / seen[2];
        double far = flat[0] * flat[0] + flat[1] * flat[1];
        double distortion = 1.0 + camera[o][9] * far + camera[o][10] * far * far;
        for (int i = 0; i < 2; i++)
            out[o][i] = weight[o] * (camera[o][6] * distortion * flat[i] + camera[o][7 + i] - feature[o][i]);
    }
}
"""


def enzyme(call, cameras, points, observations):
    import jax
    import jax.numpy as jnp

    def residuals(camera, point, weight, feature, comment=""):
        source = f"{comment}\nconstexpr int P = {observations};\n{SOURCE}"
        shapes = [((observations, 2), numpy.float64)]
        return call(source, "residuals", shapes, camera, point, weight, feature)[0]

    def value(cameras, points, weights, features, camera, point):
        errors = residuals(cameras[camera], points[point], weights, features)
        return {"errors": errors, "weight_errors": 1.0 - weights**2}

    def jacobian(cameras, points, weights, features, camera, point):
        def of(i):
            return lambda *parameters: residuals(*parameters, features, f"// row {i}")

        def row(i):
            # Each row has a call of its own: what one pass backwards needs is gone after it.
            errors, back = jax.vjp(of(i), cameras[camera], points[point], weights)
            return back(jnp.zeros_like(errors).at[:, i].set(1.0))

        rows = [row(i) for i in range(2)]
        by_camera, by_point, by_weight = (jnp.stack(pair, 1) for pair in zip(*rows))
        return {"by_camera": by_camera, "by_point": by_point, "by_weight": by_weight, "of_weights": -2.0 * weights}

    return {"value": value, "jacobian": jacobian}
