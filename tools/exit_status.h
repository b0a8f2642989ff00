/* What the command ends with. */
#ifndef EXIT_STATUS_H
#define EXIT_STATUS_H

enum exit_status { EXIT_DONE = 0, EXIT_SOME_FAILED = 1, EXIT_USAGE = 2, EXIT_DEVICE = 3, EXIT_OUTPUT = 4, EXIT_SIGNAL = 128 };
#endif
