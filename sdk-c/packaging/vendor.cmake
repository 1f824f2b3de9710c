# Writes the SDK as one source and one header, for a module that carries it inside:
#
#   cmake -D OUT=FOLDER -P sdk-c/packaging/vendor.cmake
#
# The header is modberth_sdk.h with modberth_codes.h in it. The source is every file of src/ in the
# order of cmake/sources.cmake behind internal.h, with all shared names private. The paths written are
# printed.
cmake_minimum_required(VERSION 3.20...4.0)
if(NOT DEFINED OUT)
  message(FATAL_ERROR "say where: cmake -D OUT=FOLDER -P vendor.cmake")
endif()
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
include("${root}/cmake/sources.cmake")

# Reads a file so that no character of it has a meaning to CMake's lists.
function(read_text path variable)
  file(READ "${path}" text)
  string(REPLACE "[" "<modberth-open>" text "${text}")
  string(REPLACE "]" "<modberth-close>" text "${text}")
  string(REPLACE ";" "<modberth-semicolon>" text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# message() would write to standard error, or put dashes before the path.
function(say path)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${path}")
endfunction()

function(write_text path text)
  string(REPLACE "<modberth-open>" "[" text "${text}")
  string(REPLACE "<modberth-close>" "]" text "${text}")
  string(REPLACE "<modberth-semicolon>" ";" text "${text}")
  file(WRITE "${path}" "${text}")
  say("${path}")
endfunction()

set(note "made by sdk-c/packaging/vendor.cmake from the sources of the Modberth C SDK. Do not edit.")

read_text("${root}/include/modberth_codes.h" codes)
read_text("${root}/include/modberth_sdk.h" header)
string(REPLACE "#include \"modberth_codes.h\"\n" "${codes}" header "${header}")
write_text("${OUT}/modberth_sdk.h" "/* The header of the single-file form, ${note} */\n${header}")

read_text("${root}/src/internal.h" internal)
set(source "/* The single-file form, ${note} */\n")
string(APPEND source "#ifndef _POSIX_C_SOURCE\n#define _POSIX_C_SOURCE 200809L\n#endif\n")
string(APPEND source "#define MBI static\n\n${internal}")
foreach(name IN LISTS MODBERTH_C_SOURCES)
  read_text("${root}/src/${name}" text)
  string(REPLACE "#include \"internal.h\"\n" "" text "${text}")
  # What one file defines for itself does not reach the next.
  string(REGEX MATCHALL "\n#define [A-Z_]+" names "${text}")
  string(APPEND source "\n/* --- ${name} --- */\n\n${text}")
  foreach(defined IN LISTS names)
    string(REGEX REPLACE "\n#define " "" defined "${defined}")
    string(APPEND source "#undef ${defined}\n")
  endforeach()
endforeach()
write_text("${OUT}/modberth_sdk.c" "${source}")
