# What tools/demo and tools/test share: where the tree is, what must be installed, how it is built. Sourced by bash.
# shellcheck shell=bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
me=${0##*/}

say() { printf '%s: %s\n' "$me" "$*" >&2; }
die() {
    say "$*"
    exit 1
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        say "this needs root, and there is no sudo: $*"
        return 1
    fi
}

# install PACKAGE…: with apt-get. An update that fails (one source of several is down) need not be the end.
install() {
    command -v apt-get >/dev/null || { say "please install: $* (there is no apt-get to do it)"; return 1; }
    say "installing $*"
    local log
    log=$(mktemp)
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update >"$log" 2>&1 || say "apt-get update failed; trying on"
    if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >>"$log" 2>&1; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}

compiles() { printf '%s\n' "$1" | "${CC:-cc}" -E -x c - >/dev/null 2>&1; }

# Looks for the things themselves, not for packages: they may have come another way.
build_packages() {
    command -v meson >/dev/null || echo meson
    command -v ninja >/dev/null || echo ninja-build
    command -v "${CC:-cc}" >/dev/null || echo gcc
    command -v pkg-config >/dev/null || echo pkg-config
    compiles '#include <stdlib.h>' || echo libc6-dev
    compiles '#include <png.h>' || echo libpng-dev
    compiles '#include <zlib.h>' || echo zlib1g-dev
    # Meson may know another folder for it from its own options (-Dc_args=-I…).
    case " ${MESON_ARGS:-} " in
    *c_args=*) ;;
    *) compiles '#include <stb/stb_image.h>' || echo libstb-dev ;;
    esac
}

# Codecs, and faster ways to inflate and deflate, that the build can do without.
codec_packages() {
    compiles '#include <stdio.h>
#include <jpeglib.h>' || echo libjpeg-dev
    compiles '#include <tiffio.h>' || echo libtiff-dev
    compiles '#include <webp/mux.h>' || echo libwebp-dev
    compiles '#include <isa-l.h>' || echo libisal-dev
}

install_build_tools() {
    local missing optional
    mapfile -t missing < <(build_packages)
    [ ${#missing[@]} -eq 0 ] || install "${missing[@]}" || die 'the tools for building are not all there'
    mapfile -t optional < <(codec_packages)
    [ ${#optional[@]} -eq 0 ] || install "${optional[@]}" || say "building without ${optional[*]}"
}

find_nvcc() { command -v nvcc || { [ -x /usr/local/cuda/bin/nvcc ] && echo /usr/local/cuda/bin/nvcc; }; }

# The architectures to build device code for, separated by commas: for each GPU that is here the nearest that nvcc knows, or
# without a GPU the least one, whose PTX every newer GPU can take. Empty: this nvcc builds for none of the GPUs here.
gpu_archs() {
    local known gpus gpu arch nearest chosen=
    known=$("$(find_nvcc)" --list-gpu-arch 2>/dev/null | sed -n 's/^compute_\([0-9]*\)$/\1/p' | sort -n)
    gpus=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | grep -x '[0-9][0-9]*' | sort -nu)
    for gpu in ${gpus:-75}; do
        nearest=
        for arch in $known; do [ "$arch" -le "$gpu" ] && nearest=$arch; done
        case ,$chosen, in
        *",$nearest,"*) ;;
        *) chosen+=${chosen:+,}$nearest ;;
        esac
    done
    echo "$chosen"
}

# Prints the options of Meson for CUDA, and says what is built.
cuda_options() {
    local archs
    if ! find_nvcc >/dev/null; then
        say 'nvcc was not found: building for the CPU alone'
        echo -Dcuda=disabled
        return
    fi
    archs=$(gpu_archs)
    if [ -z "$archs" ]; then
        say "$(find_nvcc) cannot build for the GPU of this machine: building for the CPU alone"
        echo -Dcuda=disabled
    else
        say "building for the CPU and for GPUs of compute capability $archs ($(find_nvcc))"
        printf '%s\n' -Dcuda=enabled "-Dgpu_archs=$archs"
    fi
}

# Of ninja's lines, on a terminal, the last one's "[done/all]", in place. Building takes minutes, and silence looks like a fault.
show_steps() {
    local line
    while IFS= read -r line; do
        [ -t 2 ] && [[ $line == \[*/*\]* ]] && printf '\r%s: built %s ' "$me" "${line%%]*}]" >&2
    done
    [ ! -t 2 ] || printf '\r\033[K' >&2
}

# build FOLDER OPTION…: below the root; a folder that is there is used again. More options may stand in MESON_ARGS, and
# what to build in the array `targets` (empty: everything).
targets=()
build() {
    local folder=$root/$1 log=$root/build-logs/$1.log
    shift
    mkdir -p "$root/build-logs"
    # shellcheck disable=SC2206
    local options=("$@" ${MESON_ARGS:-})
    say "building in $folder, which takes some minutes the first time"
    if [ -f "$folder/build.ninja" ]; then
        # A folder made by another Meson, or copied from elsewhere, cannot be set up again and is made anew.
        meson setup --reconfigure "${options[@]}" "$folder" "$root" >"$log" 2>&1 ||
            meson setup --wipe "${options[@]}" "$folder" "$root" >"$log" 2>&1
    else
        rm -rf "$folder"
        meson setup "${options[@]}" "$folder" "$root" >"$log" 2>&1
    fi && ninja -C "$folder" ${targets+"${targets[@]}"} 2>&1 | tee -a "$log" | show_steps && return
    # What failed, without the commands themselves, which are long; if nothing is marked so, the end.
    { sed -n '/^FAILED/,$p' "$log" | grep -v '^\[' || tail -n 20 "$log"; } | cut -c 1-300 | head -n 60 >&2
    say "the build failed; all of its output is in $log"
    return 1
}
