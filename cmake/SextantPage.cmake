# SPDX-License-Identifier: Apache-2.0
# sextant_embed_page(TARGET): builds ui/ with npm and compiles its one file, gzipped, into TARGET
# (server/page.hpp). Without npm, or with SEXTANT_UI=OFF, a page that says so takes its place.
find_program(NPM npm)
find_program(GZIP gzip REQUIRED)
set(SEXTANT_UI AUTO CACHE STRING "build the web page with npm: ON, OFF, or AUTO where there is npm")
set_property(CACHE SEXTANT_UI PROPERTY STRINGS AUTO ON OFF)
set(SEXTANT_PAGE_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/page.cmake)

# In ui/ itself, which all builds share: packages are fetched once.
function(sextant_build_page page)
  set(ui ${PROJECT_SOURCE_DIR}/ui)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${ui}/src/* ${ui}/public/*)
  file(GLOB settings CONFIGURE_DEPENDS ${ui}/*.json ${ui}/*.mjs ${ui}/*.js ${ui}/*.ts ${ui}/*.html)
  list(FILTER settings EXCLUDE REGEX "playwright|vitest")
  add_custom_command(
    OUTPUT ${ui}/node_modules/.package-lock.json
    COMMAND sh -c "${NPM} ci --no-audit --no-fund --loglevel=error || { echo 'Without these packages: \
-DSEXTANT_UI=OFF builds a program without the page' >&2; exit 1; }"
    DEPENDS ${ui}/package.json ${ui}/package-lock.json
    WORKING_DIRECTORY ${ui}
    COMMENT "Fetching the page's packages"
    VERBATIM)
  add_custom_command(
    OUTPUT ${page}
    COMMAND ${NPM} run --silent build
    COMMAND ${CMAKE_COMMAND} -E copy ${ui}/dist/index.html ${page}
    DEPENDS ${ui}/node_modules/.package-lock.json ${sources} ${settings}
    WORKING_DIRECTORY ${ui}
    COMMENT "Building the page"
    VERBATIM)
endfunction()

function(sextant_embed_page target)
  set(page ${CMAKE_CURRENT_BINARY_DIR}/index.html)
  set(built true)
  set(wanted ${SEXTANT_UI})
  if(wanted STREQUAL AUTO)
    set(wanted OFF)
    if(NPM AND EXISTS ${PROJECT_SOURCE_DIR}/ui/package.json)
      set(wanted ON)
    endif()
  endif()
  if(wanted)
    sextant_build_page(${page})
  else()
    set(built false)
    set(page ${PROJECT_SOURCE_DIR}/cmake/no-page.html)
  endif()
  set(packed ${CMAKE_CURRENT_BINARY_DIR}/page.html.gz)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_page.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DGZIP=${GZIP} -DPAGE=${page} -DPACKED=${packed} -DOUTPUT=${output}
            -DBUILT=${built}
            -P ${SEXTANT_PAGE_SCRIPT}
    DEPENDS ${page} ${SEXTANT_PAGE_SCRIPT}
    COMMENT "Embedding the page"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
