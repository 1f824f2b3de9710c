# The sources of the SDK, in the order in which the single file holds them.
set(MODBERTH_C_SOURCES
  text.c
  buffer.c
  frame.c
  json_scan.c
  number.c
  json_write.c
  request.c
  parameters.c
  results.c
  actions.c
  module.c)
