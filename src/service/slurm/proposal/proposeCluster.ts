import { userInfo } from 'node:os';
import { stringify } from 'smol-toml';
import { AppError } from '../../../core/errors.ts';
import { slurm, type SlurmProgram } from '../slurmCommand.ts';
import { PARTITION_FORMAT, readPartitions } from './partitions.ts';
import { readNodeSizes, readPartitionRules } from './partitionRules.ts';
import { type ProposedClass, proposeClasses, readAssociations } from './proposeClasses.ts';
import { needsParents, readParents, usablePartitions } from './usablePartitions.ts';

// About twice what scontrol prints for a cluster with ten thousand nodes.
const MAX_BYTES = 32 * 1024 * 1024;

const PARENTS = ['--noheader', '--parsable2', 'show', 'associations', 'format=account,parentname'];

const HEADER = `# Jobs run on the cluster. Farwharf proposed these machine classes from what sinfo, scontrol and sacctmgr say; change them as you like.
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
 * @throws AppError of `slurm`; `missing` if no partition accepts jobs of this user.
 */
export async function proposeCluster(folder: string): Promise<ClusterProposal> {
  // Only the first is needed: clusters without accounting have no associations, and a site may hide the rest.
  const [listed, rules, nodes, associations] = await Promise.all([
    ask('sinfo', ['--noheader', `--format=${PARTITION_FORMAT}`]),
    optional(ask('scontrol', ['--oneliner', 'show', 'partition'])),
    optional(ask('scontrol', ['--oneliner', 'show', 'node'])),
    optional(askAssociations()),
  ]);
  const own = readAssociations(associations);
  const known = { rules: readPartitionRules(rules), sizes: readNodeSizes(nodes) };
  // A site can have many thousand accounts.
  const parents = needsParents(known.rules, own) ? await optional(ask('sacctmgr', PARENTS)) : '';
  const usable = usablePartitions(readPartitions(listed), { ...known, parents: readParents(parents) }, own);
  const classes = proposeClasses(usable);
  if (classes.length === 0) throw new AppError('missing', 'No partition of the cluster accepts your jobs.');
  return { classes, config: HEADER + stringify({ executor: 'slurm', slurm: { folder }, machine_classes: classes }) };
}

function ask(program: SlurmProgram, args: readonly string[]): Promise<string> {
  return slurm(program, args, { maxBytes: MAX_BYTES });
}

/** Also rejects where this user has no name. */
async function askAssociations(): Promise<string> {
  const user = `user=${userInfo().username}`;
  return ask('sacctmgr', ['--noheader', '--parsable2', 'show', 'associations', user, 'format=account,qos']);
}

function optional(answer: Promise<string>): Promise<string> {
  return answer.catch(() => '');
}
