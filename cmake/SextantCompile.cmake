# SPDX-License-Identifier: Apache-2.0
# How every part of the project is compiled: one interface target with the flags, how hard to optimise,
# and the headers that are read once.
add_library(sextant-flags INTERFACE)
target_compile_options(sextant-flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Werror
  # A designated initialiser names what differs from the defaults; g++ would want every member.
  -Wno-missing-field-initializers
  # g++ 12 sees overlaps in `"text" + string` that are not there (GCC bug 105651).
  # On aarch64 it tells of a change of calling convention in GCC 10, which nobody here links with.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-psabi>
  # Without this aarch64 fuses multiply-adds and compilers differ in the last digit; with it
  # g++ and clang give the same bits at every optimisation level, so golden files are exact but for
  # the last digit, which a C library's logarithms may round their own way.
  -ffp-contract=off)

# A program that reads what strangers send: an overrun ends it instead of being used. tests/hardening.sh
# reads the binary.
include(CheckCXXCompilerFlag)
foreach(flag -fstack-protector-strong -fstack-clash-protection -mbranch-protection=standard -fcf-protection)
  string(MAKE_C_IDENTIFIER "SEXTANT_HAS${flag}" known)
  check_cxx_compiler_flag(${flag} ${known})
  if(${known})
    target_compile_options(sextant-flags INTERFACE $<$<CONFIG:Release>:${flag}>)
  endif()
endforeach()
# In the flags that come first, so that what is not optimised at all can leave it out again.
string(APPEND CMAKE_CXX_FLAGS_RELEASE " -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2")
target_link_options(sextant-flags INTERFACE $<$<CONFIG:Release>:-Wl,-z,relro,-z,now,-z,noexecstack>)

# What searches and simulations call millions of times is optimised in full. The rest reads and prints:
# optimised less, it takes a third less time to compile, and not at all under clang's sanitizers, half as long again.
set(SEXTANT_COLD $<$<CONFIG:Release>:-O1> $<$<CONFIG:RelWithDebInfo>:-O0>)

function(sextant_precompile target)
  if(SEXTANT_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cmath> <cstdint> <functional> <map> <optional>
                              <span> <string> <string_view> <utility> <vector> <fmt/format.h>)
    # What g++ 12 thinks of `"text" + string` (above), it does not keep to itself where the string came precompiled.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-array-bounds>)
  endif()
endfunction()

# Sixteen sources of a folder as one, so that its headers are read once: in the order of their names, and never across
# folders. Two sources of a folder therefore do not define the same name.
function(sextant_unite target)
  if(NOT SEXTANT_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A class that has a member of an unnamed namespace is a source's own, though that was included.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  get_target_property(sources ${target} SOURCES)
  set(others ${sources})
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(FILTER others EXCLUDE REGEX "\\.cpp$")
  list(SORT sources)
  set_property(TARGET ${target} PROPERTY SOURCES ${sources} ${others})
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    list(APPEND of_${folder} ${source})
    list(LENGTH of_${folder} count)
    math(EXPR batch "(${count} - 1) / 16")
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${folder}_${batch})
  endforeach()
endfunction()
