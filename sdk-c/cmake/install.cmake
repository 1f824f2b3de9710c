# Headers, library, CMake package `modberth-c` (target modberth::c) and pkg-config file `modberth-c`.
set(MODBERTH_C_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/modberth-c")

install(TARGETS modberth-c EXPORT modberth-c-targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(FILES include/modberth_sdk.h include/modberth_codes.h
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT modberth-c-targets NAMESPACE modberth:: DESTINATION "${MODBERTH_C_CMAKE_DIR}")

configure_package_config_file(cmake/modberth-c-config.cmake.in
  "${PROJECT_BINARY_DIR}/modberth-c-config.cmake" INSTALL_DESTINATION "${MODBERTH_C_CMAKE_DIR}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/modberth-c-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  cmake/modberth-package.cmake
  "${PROJECT_BINARY_DIR}/modberth-c-config.cmake"
  "${PROJECT_BINARY_DIR}/modberth-c-config-version.cmake"
  DESTINATION "${MODBERTH_C_CMAKE_DIR}")

# Relative to the file itself, so that `cmake --install --prefix` and a moved tree stay right.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(MODBERTH_C_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH MODBERTH_C_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
  set(MODBERTH_C_PREFIX "\${pcfiledir}/${MODBERTH_C_PREFIX}")
endif()
configure_file(cmake/modberth-c.pc.in "${PROJECT_BINARY_DIR}/modberth-c.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/modberth-c.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
