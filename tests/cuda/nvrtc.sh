#!/usr/bin/env bash
# Compiles the text for cards by NVRTC of CUDA 12 and 13, which needs no card: their wheels come from PyPI into an
# environment under the build directory. Without Python or the wheels it says so and does nothing, unless POINTFUL_REQUIRE_CUDA_TOOLS is set.
set -euo pipefail
cd "$(dirname "$0")/../.."

for wheel in nvidia-cuda-nvrtc-cu12:12 nvidia-cuda-nvrtc:13; do
    package=${wheel%:*}
    environment="$PWD/target/nvrtc/${wheel#*:}"
    if [ ! -d "$environment" ] && ! {
        python3 -m venv "$environment" && "$environment/bin/pip" install --quiet "$package"
    }; then
        rm -rf "$environment"
        echo "skipped: $package could not be installed" >&2
        [ -z "${POINTFUL_REQUIRE_CUDA_TOOLS:-}" ] || exit 1
        continue
    fi
    echo "-- $package"
    run() {
        env --unset=POINTFUL_CUDA_PATH VIRTUAL_ENV="$environment" POINTFUL_REQUIRE_CUDA_TOOLS=1 \
            cargo test --quiet --locked "$@"
    }
    run -p pointful-runtime --features cuda --test card
    run -p pointful --features pointful/cuda,pointful/emulated \
        -p pointful-macros --features pointful-compiler/testing --test on_devices nvrtc
done
