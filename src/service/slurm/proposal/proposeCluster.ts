import { userInfo } from 'node:os';
import { stringify } from 'smol-toml';
import { AppError } from '../../../core/errors.ts';
import { slurm } from '../slurmCommand.ts';
import { PARTITION_FORMAT, readPartitions } from './partitions.ts';
import { type ProposedClass, proposeClasses, readAssociations } from './proposeClasses.ts';

const HEADER = `# Jobs run on the cluster. Farwharf proposed these machine classes from what sinfo and sacctmgr say; change them as you like.
# Restart the service with  farwharf connect  after ten minutes without jobs.
`;

/** What a service on a login node can use of its cluster. */
export interface ClusterProposal {
  readonly classes: readonly ProposedClass[];
  /** The configuration that uses it, as TOML. */
  readonly config: string;
}

/**
 * Asks the cluster of this login node what it has.
 *
 * @param folder for the files of jobs, which the nodes of the cluster share.
 * @throws AppError of `slurm`; `missing` if no partition accepts jobs.
 */
export async function proposeCluster(folder: string): Promise<ClusterProposal> {
  const partitions = readPartitions(await slurm('sinfo', ['--noheader', `--format=${PARTITION_FORMAT}`]));
  if (partitions.length === 0) throw new AppError('missing', 'No partition of the cluster accepts jobs.');
  const user = `user=${userInfo().username}`;
  const options = ['--noheader', '--parsable2', 'show', 'associations', user, 'format=account,qos'];
  // Clusters without accounting have no associations.
  const associations = await slurm('sacctmgr', options).catch(() => '');
  const classes = proposeClasses(partitions, readAssociations(associations));
  return { classes, config: HEADER + stringify({ executor: 'slurm', slurm: { folder }, machine_classes: classes }) };
}
