# SPDX-License-Identifier: Apache-2.0
# sextant_embed(TARGET NAME BASE FILES…): compiles text files into TARGET as the function
# sextant::embedded_NAME() (io/embedded.hpp), named by their paths relative to the folder BASE.
set(SEXTANT_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed.cmake)

function(sextant_embed target name base)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/embedded_${name}.txt)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_${name}.cpp)
  list(JOIN ARGN "\n" lines)
  # The list is an input of its own: when a file is removed, nothing else is newer than the output.
  file(CONFIGURE OUTPUT ${list} CONTENT "${lines}\n" @ONLY)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DBASE=${base} -DLIST=${list} -DOUTPUT=${output}
            -P ${SEXTANT_EMBED_SCRIPT}
    DEPENDS ${ARGN} ${list} ${SEXTANT_EMBED_SCRIPT}
    COMMENT "Embedding ${name}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
