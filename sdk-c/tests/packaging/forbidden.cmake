# No part of cJSON that is known to be weak or to lose data is used: cmake -D ROOT=… -P forbidden.cmake
# Its printer loses digits, its plain look-ups ignore case, and cJSON_Utils, cJSON_Compare and
# cJSON_Minify have open reports. The SDK opens no socket, starts no process and writes no file
# (P1-SDK-12).
set(forbidden
  cJSON_Utils cJSONUtils_ cJSON_Compare cJSON_Minify cJSON_Print
  "cJSON_GetObjectItem *\\(" "cJSON_HasObjectItem *\\(" "valueint"
  "[^a-z_](socket|connect|fork|vfork|system|popen|posix_spawn|exec[a-z]+|fopen|open|openat|creat) *\\(")
file(GLOB_RECURSE files "${ROOT}/src/*.[ch]" "${ROOT}/include/*.h" "${ROOT}/include/*.hpp")
if(NOT files)
  message(FATAL_ERROR "no sources under ${ROOT}")
endif()
foreach(file IN LISTS files)
  file(READ "${file}" text)
  # Comments may name what the code must not use.
  string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" text "${text}")
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  foreach(pattern IN LISTS forbidden)
    if(text MATCHES "${pattern}")
      message(SEND_ERROR "${file} uses ${CMAKE_MATCH_0}")
    endif()
  endforeach()
endforeach()
