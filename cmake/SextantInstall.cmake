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
install(EXPORT sextant-targets NAMESPACE sextant:: DESTINATION ${config} COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/sextant-config.cmake.in
                              ${PROJECT_BINARY_DIR}/sextant-config.cmake INSTALL_DESTINATION ${config})
# Before 1.0 any release may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sextant-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sextant-config.cmake ${PROJECT_BINARY_DIR}/sextant-config-version.cmake
        DESTINATION ${config} COMPONENT development)
