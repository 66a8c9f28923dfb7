import { resolve } from 'node:path';

/** Where logs and pictures of failures are kept until the next run. */
export const EVIDENCE = resolve(import.meta.dirname, '..', '..', 'out', 'evidence');
