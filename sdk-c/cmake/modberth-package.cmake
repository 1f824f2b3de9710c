# modberth_package(TARGET): install rules that make `cmake --install … --prefix payload` fill the payload of a
# package.
#
#   bin/TARGET            the program; this is the manifest's entry
#   lib/libcjson.so.1     the system's cJSON, which the sandbox would not show otherwise
#   licenses/cjson.txt    its licence
#   modberth.json         examples and resource hints, where the file stands beside CMakeLists.txt
#
# The program finds the library beside itself. The loader learns where that is from /proc, which the sandbox
# does not have, so the place where the host mounts a module stands in the runpath too.
include_guard(GLOBAL)

function(modberth_package target)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(modberth_cjson REQUIRED IMPORTED_TARGET libcjson>=1.7.15)
  find_library(MODBERTH_CJSON_LIBRARY NAMES libcjson.so.1 cjson
    HINTS ${modberth_cjson_LIBRARY_DIRS} REQUIRED)
  file(REAL_PATH "${MODBERTH_CJSON_LIBRARY}" library)
  find_file(MODBERTH_CJSON_LICENSE
    NAMES doc/libcjson1/copyright licenses/cjson/LICENSE licenses/libcjson/LICENSE
    PATHS /usr/share /usr/local/share NO_DEFAULT_PATH REQUIRED
    DOC "The licence text of cJSON, which a package carries with the library")

  set_target_properties(${target} PROPERTIES
    SKIP_BUILD_RPATH ON
    INSTALL_RPATH "$ORIGIN/../lib:/module/lib")
  target_link_options(${target} PRIVATE -Wl,--enable-new-dtags)

  install(TARGETS ${target} RUNTIME DESTINATION bin COMPONENT payload)
  install(FILES "${library}" DESTINATION lib RENAME libcjson.so.1 COMPONENT payload)
  install(FILES "${MODBERTH_CJSON_LICENSE}" DESTINATION licenses RENAME cjson.txt COMPONENT payload)
  install(FILES "${CMAKE_CURRENT_SOURCE_DIR}/modberth.json" DESTINATION . COMPONENT payload OPTIONAL)
endfunction()
