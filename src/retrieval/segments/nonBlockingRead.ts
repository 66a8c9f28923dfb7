import { constants } from 'node:fs';

/**
 * The flags to open a file for reading. If a pipe is in its place, opening it does not wait until another program writes to it, and
 * nothing is read from it.
 */
export const NON_BLOCKING_READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
