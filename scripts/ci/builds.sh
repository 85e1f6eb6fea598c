# builds.sh - configures and builds a folder below build/, whatever is left there from before; to be sourced in the root
# of the tree. Has packages.sh with it.

# SPDX-License-Identifier: Apache-2.0
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

not_built()
{
    tail -n 40 "$build_log" >&2
    echo "$build_tree could not be built: all of it is in $build_log" >&2
    exit 1
}

# configure_and_build FOLDER ARGUMENT... - the arguments are cmake's. Prints the last line of what was built; where that
# fails, why. What was configured by another CMake, or in another place, is configured anew. One at a time in a folder:
# tests that run beside each other build in the same one.
configure_and_build()
{
    build_tree=$1
    shift
    : "${targets=}"
    mkdir -p "$build_tree"
    exec 9>"$build_tree/lock"
    flock 9
    build_log=$build_tree/build.log
    cmake "$@" >"$build_log" 2>&1 || {
        rm -rf "$build_tree/CMakeCache.txt" "$build_tree/CMakeFiles"
        cmake "$@" >"$build_log" 2>&1 || not_built
    }
    # shellcheck disable=SC2086 # a list of names
    cmake --build "$build_tree" ${targets:+--target $targets} >"$build_log" 2>&1 || not_built
    tail -n 1 "$build_log"
    exec 9>&-
    targets=
}

# build_preset PRESET [TARGET...] - of CMakePresets.json; all targets where none is named
build_preset()
{
    preset=$1
    shift
    targets="$*"
    configure_and_build "build/$preset" --preset "$preset"
}
