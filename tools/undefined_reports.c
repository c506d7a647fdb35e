// Loaded before libubsan, which tells it of each thing undefined: a line in a file of the folder
// UNDEFINED_REPORTS, named for the process. Where libasan comes first, as it must, libubsan's own
// log_path has no effect (GCC 12), and what a worker writes to standard error is seen by no one.

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void __ubsan_get_current_report_data(const char** kind, const char** message, const char** file,
                                     unsigned* line, unsigned* column, char** address);

__attribute__((visibility("default"))) void __ubsan_on_report(void) {
  const char* kind = "";
  const char* message = "";
  const char* file = "";
  unsigned line = 0;
  unsigned column = 0;
  char* address = NULL;
  char path[4096];
  const char* const folder = getenv("UNDEFINED_REPORTS");
  FILE* report = NULL;
  __ubsan_get_current_report_data(&kind, &message, &file, &line, &column, &address);
  snprintf(path, sizeof path, "%s/undefined.%d", folder == NULL ? "." : folder, (int)getpid());
  report = fopen(path, "a");
  if (report == NULL) abort();
  fprintf(report, "%s:%u:%u: undefined: %s (%s)\n", file, line, column, message, kind);
  fclose(report);
}
