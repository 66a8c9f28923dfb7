import { suite } from 'node:test';
import { slurmIsMissing } from '../../../scripts/slurm/cluster.ts';
import { sshIsMissing } from '../../service/support/sshServer.ts';
import { openLoginNode } from '../support/jobHost.ts';
import { declareMainJob } from '../support/mainJob.ts';

const missing = (await sshIsMissing()) ?? (await slurmIsMissing());
const skip = missing === undefined ? false : `NO SLURM: ${missing}`;

suite('the packed extension with the login node of a cluster', { skip }, () => declareMainJob(openLoginNode));
