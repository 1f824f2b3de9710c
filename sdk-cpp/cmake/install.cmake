# The header, CMake package `modberth-cpp` (target modberth::cpp) and pkg-config file `modberth-cpp`.
set(MODBERTH_CPP_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/modberth-cpp")

install(TARGETS modberth-cpp EXPORT modberth-cpp-targets)
install(FILES include/modberth_sdk.hpp DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT modberth-cpp-targets NAMESPACE modberth:: DESTINATION "${MODBERTH_CPP_CMAKE_DIR}")

configure_package_config_file(cmake/modberth-cpp-config.cmake.in
  "${PROJECT_BINARY_DIR}/modberth-cpp-config.cmake" INSTALL_DESTINATION "${MODBERTH_CPP_CMAKE_DIR}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/modberth-cpp-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/modberth-cpp-config.cmake"
  "${PROJECT_BINARY_DIR}/modberth-cpp-config-version.cmake"
  DESTINATION "${MODBERTH_CPP_CMAKE_DIR}")

# Relative to the file itself, so that `cmake --install --prefix` and a moved tree stay right.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(MODBERTH_CPP_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH MODBERTH_CPP_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
  set(MODBERTH_CPP_PREFIX "\${pcfiledir}/${MODBERTH_CPP_PREFIX}")
endif()
configure_file(cmake/modberth-cpp.pc.in "${PROJECT_BINARY_DIR}/modberth-cpp.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/modberth-cpp.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
