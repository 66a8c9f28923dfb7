import { join } from 'node:path';

/** Where Node.js keeps compiled sources. Tests start thousands of processes of the same sources, each in two thirds of the time with it. */
export const COMPILE_CACHE = join(import.meta.dirname, '../node_modules/.cache/compile');
