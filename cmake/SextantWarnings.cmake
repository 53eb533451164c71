# SPDX-License-Identifier: Apache-2.0
# One interface target with the flags every part of the project is compiled with.
add_library(sextant-flags INTERFACE)
target_compile_options(sextant-flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Werror
  # A designated initialiser names what differs from the defaults; g++ would want every member.
  -Wno-missing-field-initializers
  # g++ 12 sees overlaps in `"text" + string` that are not there (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # Without this aarch64 fuses multiply-adds and compilers differ in the last digit; with it
  # g++ and clang give the same bits at every optimisation level, so golden files are exact.
  -ffp-contract=off)
