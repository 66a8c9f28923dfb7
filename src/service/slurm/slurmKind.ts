import { userInfo } from 'node:os';
import * as z from 'zod';
import { machineClassList } from '../config/machineClasses.ts';
import { defineExecutor } from '../executor/executorKind.ts';
import { PrivacyCheck } from './privacyCheck.ts';
import { changeableByJobs } from './programOwner.ts';
import { checkCluster } from './slurmCheck.ts';
import { slurmMachineClass, slurmSettings } from './slurmConfig.ts';
import { SlurmExecutor } from './slurmExecutor.ts';

/** Runs jobs on a Slurm cluster. */
export const slurmKind = defineExecutor({
  shape: {
    // Without the section, the message is about the folder that it must name.
    slurm: z.preprocess((section) => section ?? {}, slurmSettings),
    machine_classes: machineClassList(slurmMachineClass, 'the executor "slurm" needs at least one'),
  },

  sharedFolder: ({ slurm }) => slurm.folder,

  async create({ slurm, machine_classes: classes }, { runner, data, filesFolder, log }) {
    log.info(describeClusterJobs());
    const { node = process.execPath, max_jobs: capacity, poll_seconds: seconds } = slurm;
    const accounts = new Map(Object.entries(slurm.accounts));
    const changeable = changeableByJobs([node, runner]);
    if (changeable !== undefined) log.warn(changeable);
    const privacy = new PrivacyCheck({ data, filesFolder, classes, log });
    try {
      await privacy.start();
    } catch (error) {
      await privacy.stop();
      throw error;
    }
    const program = { node, runner, hasLoginEnvironment: slurm.login_environment };
    return new SlurmExecutor({ privacy, program, classes, accounts, capacity, pollMs: seconds * 1000, log });
  },

  async check({ slurm, machine_classes: classes }, { data }) {
    const checks = await checkCluster({ classes, accounts: slurm.accounts }, { data, filesFolder: slurm.folder });
    return [...checks, { what: describeClusterJobs(), problem: undefined }];
  },
});

/** One line about jobs on a cluster, which separates their resources and not their files. */
function describeClusterJobs(): string {
  return `jobs are NOT isolated: on the nodes they run as the user ${userInfo().username}, like the service, and can access the files of all other jobs`;
}
