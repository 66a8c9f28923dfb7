import { statfs } from 'node:fs/promises';
import * as z from 'zod';
import { storeBytes, usageByAccount } from '../../disk/diskUsage.ts';
import { filesFolderOf } from '../../folders/filesFolder.ts';
import { JobFiles } from '../../jobFiles/jobFiles.ts';
import { adminTime, operation, showAdminTime } from './operation.ts';

const accountDisk = z.object({
  account_id: z.string(),
  jobs: z.int(),
  results_bytes: z.int(),
  oldest_ended_at: adminTime,
});

export const diskOperations = {
  'disk.usage': operation({
    input: z.object({}),
    output: z.object({ free_bytes: z.int(), store_bytes: z.int(), accounts: z.array(accountDisk) }),
    async run({ store, data }) {
      const filesFolder = filesFolderOf(data);
      const { bavail, bsize } = await statfs(filesFolder);
      const usage = await usageByAccount(store.expiry, new JobFiles(filesFolder));
      const accounts = [...usage].map(([id, { jobs, bytes, oldestAt }]) => ({
        account_id: id,
        jobs,
        results_bytes: bytes,
        oldest_ended_at: showAdminTime(oldestAt),
      }));
      accounts.sort((a, b) => b.results_bytes - a.results_bytes);
      return { free_bytes: bavail * bsize, store_bytes: await storeBytes(data), accounts };
    },
  }),
};
