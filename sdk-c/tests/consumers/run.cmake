# Installs an SDK to a prefix of its own, builds a module against it in four ways and runs each:
# cmake -D SDK=… -D BUILD=… -D WORK=… -D NAME=modberth-c -D "COMPILE=cc -std=c99 module.c"
#   -D "CARRY=a line for bash: $sdk is the folder of the files to carry, $out the program" -P run.cmake
# The consumers stand in SDK/tests/consumers. The C++ SDK uses this script too.
set(consumers "${SDK}/tests/consumers")
file(REMOVE_RECURSE "${WORK}")
set(prefix "${WORK}/prefix")

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    string(REPLACE ";" " " command "${ARGV}")
    message(FATAL_ERROR "${command}: ${status}\n${out}")
  endif()
endfunction()

# A request in one file: CMake cannot write the NUL bytes of a header, printf can.
set(hello "{\"version\":1,\"type\":\"hello\",\"host_api\":1}")
set(invoke "{\"version\":1,\"type\":\"invoke\",\"id\":\"r\",\"action\":\"name\",\"targets\":[\"a\"],\"parameters\":{}}")
function(answers module)
  set(header)
  foreach(text IN ITEMS hello invoke)
    string(LENGTH "${${text}}" length)
    math(EXPR length "${length}" OUTPUT_FORMAT HEXADECIMAL)
    string(SUBSTRING "${length}" 2 -1 length)
    list(APPEND header "\\000\\000\\000\\x${length}")
  endforeach()
  list(GET header 0 first)
  list(GET header 1 second)
  execute_process(
    COMMAND bash -c "{ printf '${first}'; printf %s '${hello}'; printf '${second}'; printf %s '${invoke}'; } | '${module}' | tr -d '\\000'"
    OUTPUT_VARIABLE out RESULT_VARIABLE status)
  if(NOT out MATCHES "\"results\":\\[{\"target\":\"a\",\"data\":\"a\"}\\]}$")
    message(FATAL_ERROR "${module}: ${status}: ${out}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install "${BUILD}" --prefix "${prefix}")

run(${CMAKE_COMMAND} -S "${consumers}/find-package" -B "${WORK}/find-package"
  "-DCMAKE_PREFIX_PATH=${prefix}")
run(${CMAKE_COMMAND} --build "${WORK}/find-package")
answers("${WORK}/find-package/consumer")

run(${CMAKE_COMMAND} -S "${consumers}/add-subdirectory" -B "${WORK}/add-subdirectory"
  "-DSDK=${SDK}")
run(${CMAKE_COMMAND} --build "${WORK}/add-subdirectory")
answers("${WORK}/add-subdirectory/consumer")

# The prefix is not the one that the project was configured for, and the .pc files must follow.
file(GLOB_RECURSE pc "${prefix}/${NAME}.pc")
get_filename_component(pc_dir "${pc}" DIRECTORY)
run(bash -c "cd '${consumers}' && export PKG_CONFIG_PATH='${pc_dir}' && ${COMPILE} -o '${WORK}/plain' $(pkg-config --cflags --libs ${NAME})")
answers("${WORK}/plain")

# The line of the README for a module that carries the SDK as files.
run(${CMAKE_COMMAND} -D "OUT=${WORK}/carried" -P "${SDK}/packaging/vendor.cmake")
run(bash -c "cd '${consumers}' && sdk='${WORK}/carried' out='${WORK}/carrying' && ${CARRY}")
answers("${WORK}/carrying")
