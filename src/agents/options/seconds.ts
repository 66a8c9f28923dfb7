/** setTimeout fires immediately for longer delays. */
export const MAX_TIMER_SECONDS = 2_147_483;
