# Writes the SDK for a module that carries it inside: the header, and the C SDK as one source and one
# header.
#
#   cmake -D OUT=FOLDER -P sdk-cpp/packaging/vendor.cmake
cmake_minimum_required(VERSION 3.20...4.0)
if(NOT DEFINED OUT)
  message(FATAL_ERROR "say where: cmake -D OUT=FOLDER -P vendor.cmake")
endif()
include("${CMAKE_CURRENT_LIST_DIR}/../../sdk-c/packaging/vendor.cmake")
file(COPY "${CMAKE_CURRENT_LIST_DIR}/../include/modberth_sdk.hpp" DESTINATION "${OUT}")
say("${OUT}/modberth_sdk.hpp")
