# An example package stands on the cJSON it carries: cmake -D EXAMPLE=… -D WORK=… -P package.cmake
#
# Builds the example as its CMakeLists.txt says, looks at where the loader finds the library, and runs the
# program where the system's copy is hidden.
file(REMOVE_RECURSE "${WORK}")
set(payload "${WORK}/payload")

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    string(REPLACE ";" " " command "${ARGV}")
    message(FATAL_ERROR "${command}: ${status}\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} -S "${EXAMPLE}" -B "${WORK}/build")
run(${CMAKE_COMMAND} --build "${WORK}/build")
run(${CMAKE_COMMAND} --install "${WORK}/build" --prefix "${payload}")

# Exactly these files.
file(GLOB_RECURSE files RELATIVE "${payload}" "${payload}/*")
list(SORT files)
if(NOT files STREQUAL "bin/echo;lib/libcjson.so.1;licenses/cjson.txt;modberth.json")
  message(FATAL_ERROR "the payload holds ${files}")
endif()

# The loader takes the library from the package, before any that the system has.
run(${CMAKE_COMMAND} -E env LD_TRACE_LOADED_OBJECTS=1 "${payload}/bin/echo")
string(FIND "${out}" "libcjson.so.1 => ${payload}/bin/../lib/libcjson.so.1" found)
if(found EQUAL -1)
  message(FATAL_ERROR "the library is not the package's:\n${out}")
endif()

# With the system's copy hidden the program of the build tree, which has no runpath, cannot start, and the
# package's can: it reads no frame and says so.
file(WRITE "${WORK}/hidden.sh" "
for library in $(find /usr/lib /lib /usr/local/lib -name 'libcjson.so*' -type f); do
  mount --bind /dev/null \"$library\" || exit 90
done
'${WORK}/build/echo' </dev/null 2>/dev/null && exit 91
test $? -eq 127 || exit 92
text=$('${payload}/bin/echo' </dev/null 2>&1 >/dev/null)
case \"$text\" in 'modberth: frame.missing: '*) exit 0 ;; *) echo \"$text\"; exit 93 ;; esac
")
execute_process(COMMAND unshare --mount true RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
set(namespace unshare --mount)
if(NOT status EQUAL 0)
  set(namespace unshare --map-root-user --mount)
  execute_process(COMMAND ${namespace} true RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
endif()
if(status EQUAL 0)
  run(${namespace} bash "${WORK}/hidden.sh")
else()
  message(STATUS "the system's copy was not hidden: this user may not make a mount namespace")
endif()
