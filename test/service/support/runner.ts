import { join } from 'node:path';

export const RUNNER = join(import.meta.dirname, '../../../src/service/runner/jobRunner.ts');
