#!/usr/bin/env bash
# The runtime's tests, and those of compiled programs, under AddressSanitizer; the runtime's under Miri with `tests/sanitize.sh miri`.
# It needs a nightly toolchain: `rustup toolchain install nightly --component rust-src miri`.
set -euo pipefail
cd "$(dirname "$0")/.."

target="$(rustc -vV | sed -n 's/^host: //p')"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/sanitize"

case "${1:-address}" in
address)
    # Proc macros and build scripts are not instrumented, because a target is named.
    export RUSTFLAGS="-Zsanitizer=address"
    # Rayon's threads outlive the tests, and what they hold is no leak.
    export ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:${ASAN_OPTIONS:-}"
    packages=("${@:2}")
    if [ "${#packages[@]}" -eq 0 ]; then
        packages=(pointful-runtime pointful-math pointful-corpus pointful-examples)
    fi
    for package in "${packages[@]}"; do
        echo "== $package under AddressSanitizer"
        cargo +nightly test --target "$target" --package "$package" --lib --tests
    done
    ;;
miri)
    # Kernels on one thread and on several; what reads files, or tries thousands of random cases, is left out.
    export MIRIFLAGS="-Zmiri-disable-isolation"
    export PROPTEST_CASES=2
    cargo +nightly miri test --target "$target" --package pointful-runtime --lib "${@:2}"
    ;;
*)
    echo "usage: tests/sanitize.sh [address [package…] | miri [test…]]" >&2
    exit 2
    ;;
esac
