# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, in three components: program, development, python. Presets and
# cases are inside the program.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS sextant-cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(FILES ${PROJECT_BINARY_DIR}/completions/sextant
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${PROJECT_BINARY_DIR}/completions/_sextant
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
install(FILES ${PROJECT_BINARY_DIR}/completions/sextant.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
install(DIRECTORY ${PROJECT_BINARY_DIR}/man/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)

set(config ${CMAKE_INSTALL_LIBDIR}/cmake/sextant)
install(TARGETS sextant EXPORT sextant-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
# The C interface: the library beside the program, what compiles against it beside the headers.
install(TARGETS sextant-step
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT program NAMELINK_COMPONENT development
        PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT sextant-targets NAMESPACE sextant:: DESTINATION ${config} COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/sextant-config.cmake.in
                              ${PROJECT_BINARY_DIR}/sextant-config.cmake INSTALL_DESTINATION ${config})
# Before 1.0 any release may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sextant-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sextant-config.cmake ${PROJECT_BINARY_DIR}/sextant-config-version.cmake
        DESTINATION ${config} COMPONENT development)

# What is inside, for those who have to know: a bill of materials and the notices of what the page bundles.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
  set(materials ${PROJECT_BINARY_DIR}/materials)
  add_custom_command(
    OUTPUT ${materials}/sextant.spdx.json ${materials}/copyright
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/sbom.py $<TARGET_FILE:sextant-cli> ${PROJECT_VERSION}
            ${PROJECT_SOURCE_DIR}/ui/dist ${materials}
    DEPENDS sextant-cli ${PROJECT_SOURCE_DIR}/tools/sbom.py
    COMMENT "Listing what the program is made of"
    VERBATIM)
  add_custom_target(sextant-materials ALL DEPENDS ${materials}/sextant.spdx.json)
  install(FILES ${materials}/sextant.spdx.json DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
  install(FILES ${materials}/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/sextant COMPONENT program)
  install(FILES ${materials}/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libsextant-dev COMPONENT development)
  install(FILES ${materials}/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/python3-sextant COMPONENT python)
endif()
