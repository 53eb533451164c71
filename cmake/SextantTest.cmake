# SPDX-License-Identifier: Apache-2.0
# sextant_test(NAME SOURCES… [LIBRARIES …]): a GoogleTest executable next to the code it tests.

# A process under LeakSanitizer can take seconds to end; one per executable is enough to find leaks.
option(SEXTANT_WHOLE_TESTS "run each test executable once instead of each test case alone" OFF)

# GoogleTest's headers are most of what a test reads: made once, for all that are compiled alike.
function(sextant_precompile_test name libraries)
  if(NOT SEXTANT_PRECOMPILE OR libraries)
    return()
  endif()
  get_property(first GLOBAL PROPERTY sextant_first_test)
  if(first)
    target_precompile_headers(${name} REUSE_FROM ${first})
    return()
  endif()
  set_property(GLOBAL PROPERTY sextant_first_test ${name})
  target_precompile_headers(${name} PRIVATE <gmock/gmock.h> <gtest/gtest.h> <fmt/format.h> <map> <optional> <string>
                            <string_view> <vector>)
endfunction()

# What draws or tries thousands of answers to compare their numbers: once is enough, and not under sanitizers, where
# other tests walk the same code.
set(SEXTANT_NUMBERS_ALONE
    Bounded.FindsWhatEveryPointTells
    Bounded.FloorsLieBelowEveryCompletion
    Capacity.HoldsTheLimitsForAllRequests
    Laws.NothingBetterMakesARequestSlower
    Laws.ServingIsFinite
    Search.FindsTheOptimumThatBruteForceFinds
    SearchPlan.JobsAreWhatSearchesSayOfThemAlone
    Serving.MoreMemoryNeverSlowsAClosedLoop
    Space.HasEveryPointOnceAndUsesAllDevices)

function(sextant_test name)
  if(NOT SEXTANT_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE sextant::sextant sextant-flags GTest::gtest_main GTest::gmock ${ARG_LIBRARIES})
  # Test code runs once a build: optimising it takes longer than it saves.
  target_compile_options(${name} PRIVATE -O0 -U_FORTIFY_SOURCE)
  sextant_precompile_test(${name} "${ARG_LIBRARIES}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_compile_definitions(${name} PRIVATE SEXTANT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(SEXTANT_WHOLE_TESTS)
    list(JOIN SEXTANT_NUMBERS_ALONE ":" numbers_alone)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1 --gtest_filter=-${numbers_alone})
    set_tests_properties(${name} PROPERTIES TIMEOUT 300 COST 10)  # before the short ones
  else()
    gtest_discover_tests(${name} NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
  endif()
endfunction()
