#pragma once
#include <stddef.h>

enum { REFUSE_C = 1, REFUSE_PYTHON = 2 };

void refuse_arm(int source, long nth, int lasting);
long refuse_disarm(void);
int refuse_now(int source);
long blocks_in_use(void);
