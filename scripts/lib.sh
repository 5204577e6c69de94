# shellcheck shell=bash
#===- lib.sh - What the scripts share --------------------------------------===#
#
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
llvm_dir=/usr/lib/llvm-22

# Debian packages that building, testing and the demo need.
build_packages=(
  cmake ninja-build ccache pkg-config
  clang-22 lld-22 llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools
  libc6-dev libstdc++-12-dev
  zlib1g-dev libzstd-dev libxml2-dev
  libopenblas-dev libzip-dev nlohmann-json3-dev
  python3 python3-numpy
)
test_packages=(libgtest-dev python3-psutil)
sanitizer_packages=(libclang-rt-22-dev)

say() { printf '%s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "needs root or sudo to run: $*"
  fi
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 "$@" </dev/null
}

# missing_packages NAME...: those that are not installed, one a line.
missing_packages() {
  local name
  for name in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] ||
      say "$name"
  done
}

# LLVM 22 is in Debian 12's security suite; images made without it lack it.
add_security_suite() {
  say "Adding Debian's security suite, which has LLVM 22, to the package sources"
  say "deb http://deb.debian.org/debian-security bookworm-security main" |
    as_root tee /etc/apt/sources.list.d/echo-bookworm-security.list >/dev/null
  apt_get update
}

# install_packages NAME...: installs those that are missing, without questions.
install_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ "${#missing[@]}" -gt 0 ] || return 0
  command -v apt-get >/dev/null ||
    fail "these Debian packages are missing, and there is no apt-get: ${missing[*]}"
  say "Installing ${missing[*]}"
  # A third party's broken source must not stop us; the install decides.
  apt_get update || say "warning: apt-get update failed, going on"
  if [ -z "$(apt-cache madison libmlir-22-dev 2>/dev/null)" ] &&
    [ "$(. /etc/os-release && say "${VERSION_CODENAME:-}")" = bookworm ]; then
    add_security_suite
  fi
  apt_get install -y --no-install-recommends "${missing[@]}" ||
    fail "apt-get could not install: ${missing[*]}"
}

# configure BUILD_DIR [CMAKE_ARGUMENT...]: nothing to do in a configured tree.
configure() {
  local build_dir=$1
  shift
  [ ! -f "$build_dir/build.ninja" ] || return 0
  say "Configuring $build_dir"
  cmake -S "$source_dir" -B "$build_dir" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
    -DMLIR_DIR="$llvm_dir/lib/cmake/mlir" "$@" ||
    fail "CMake could not configure $build_dir"
}

# build BUILD_DIR TARGET...
build() {
  local build_dir=$1
  shift
  say "Building $build_dir"
  cmake --build "$build_dir" --target "$@" || fail "the build failed"
}
