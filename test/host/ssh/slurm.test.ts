import { slurmIsMissing } from '../../../scripts/slurm/cluster.ts';
import { sshIsMissing } from '../../service/support/sshServer.ts';
import { openLoginNode } from '../support/jobHost.ts';
import { describeMainJob } from '../support/mainJob.ts';

const missing = (await sshIsMissing()) ?? (await slurmIsMissing());

describeMainJob(
  'the packed extension with the login node of a cluster',
  openLoginNode,
  missing && `NO SLURM: ${missing}`,
);
