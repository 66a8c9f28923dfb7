import { resolve } from 'node:path';

/** Where logs and pictures of failures are stored until the next run. */
export const EVIDENCE = resolve(import.meta.dirname, '..', '..', 'out', 'evidence');
