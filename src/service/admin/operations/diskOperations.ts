import { statfs } from 'node:fs/promises';
import * as z from 'zod';
import { JOB_STATES } from '../../../remote/protocol/states.ts';
import { storeBytes, usageByAccount } from '../../disk/diskUsage.ts';
import { filesFolderOf } from '../../folders/filesFolder.ts';
import { JobFiles } from '../../jobFiles/jobFiles.ts';
import { adminTime, operation, showAdminTime } from './operation.ts';

const accountDisk = z.object({
  account_id: z.string(),
  jobs: z.int(),
  results_bytes: z.int(),
  /** Of jobs that have not ended, or whose results could not be packed. */
  workspace_bytes: z.int(),
  oldest_ended_at: adminTime.nullable(),
});
const jobDisk = z.object({ job_id: z.string(), account_id: z.string(), state: z.enum(JOB_STATES), bytes: z.int() });

export const diskOperations = {
  'disk.usage': operation({
    input: z.object({}),
    /** `jobs`: those whose files occupy the most. */
    output: z.object({
      free_bytes: z.int(),
      store_bytes: z.int(),
      accounts: z.array(accountDisk),
      jobs: z.array(jobDisk),
    }),
    async run({ store, data }) {
      const filesFolder = filesFolderOf(data);
      const { bavail, bsize } = await statfs(filesFolder);
      const usage = await usageByAccount(store, new JobFiles(filesFolder));
      const accounts = [...usage.accounts].map(([id, { jobs, resultsBytes, workspaceBytes, oldestAt }]) => ({
        account_id: id,
        jobs,
        results_bytes: resultsBytes,
        workspace_bytes: workspaceBytes,
        oldest_ended_at: showAdminTime(oldestAt ?? null),
      }));
      const total = (one: (typeof accounts)[number]): number => one.results_bytes + one.workspace_bytes;
      accounts.sort((a, b) => total(b) - total(a));
      const jobs = usage.largest.map(({ job: { id, account, state }, bytes }) => ({
        job_id: id,
        account_id: account,
        state,
        bytes,
      }));
      return { free_bytes: bavail * bsize, store_bytes: await storeBytes(data), accounts, jobs };
    },
  }),
};
