import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { writeBackup } from '../../backup/writeBackup.ts';
import { operation } from './operation.ts';

export const backupOperations = {
  'backup.write': operation({
    input: z.object({ file: z.string().refine(isAbsolute, 'must be an absolute path') }),
    output: z.object({
      file: z.string(),
      bytes: z.int(),
      sha256: z.string(),
      jobs: z.int(),
      unfinished_jobs: z.int(),
      results: z.int(),
    }),
    async run({ store, data, operator }, { file }) {
      // Before it is written, so that the copy has the entry too.
      store.audit.append({
        at: new Date().toISOString(),
        operator,
        verb: 'backup.write',
        input: { file },
        outcome: 'begun',
      });
      const { manifest, bytes, sha256 } = await writeBackup(store, data, file);
      const { jobs, unfinished_jobs, results } = manifest;
      return { file, bytes, sha256, jobs, unfinished_jobs, results };
    },
  }),
};
