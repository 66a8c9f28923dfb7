import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { tryParseJson } from '../../core/jsonFields.ts';
import { formatCount } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { type ClusterOffer, clusterOffer, type OfferedClass } from '../../remote/protocol/machineLink.ts';
import { runToEnd, type SshCall } from '../ssh/sshSession.ts';
import { clusterScript } from './scripts.ts';

// Its line is the last that the script does.
const END_MS = 1_000;

export interface ConfigureOptions {
  readonly build: string;
  /** Path of Node.js on the machine. */
  readonly node: string;
  /** Whether jobs shall run on the cluster, with these machine classes; otherwise they run on the machine itself. */
  readonly choose: (classes: readonly OfferedClass[]) => Promise<boolean>;
  readonly onNote?: ((note: string) => void) | undefined;
}

/** A line for each machine class, `short: 4 cores, 15.6 GB. Partition short, at most 4:00:00`, and with more than `most` one that says how many more. */
export function describeOffer(classes: readonly OfferedClass[], most = Number.POSITIVE_INFINITY): readonly string[] {
  const lines = classes.slice(0, most).map((offered) => describeOfferedClass(offered));
  const more = classes.length - lines.length;
  return more > 0 ? [...lines, l10n.t('and {0} more', more)] : lines;
}

function describeOfferedClass({ name, cpus, memory_gb: memoryGb, gpus, description }: OfferedClass): string {
  const resources = [formatCount(cpus, 'core'), `${memoryGb} GB`, ...(gpus > 0 ? [formatCount(gpus, 'GPU')] : [])];
  return printableLine(`${name}: ${resources.join(', ')}. ${description}`);
}

/**
 * Asks the user whether jobs shall run on the Slurm cluster of a login node, and configures the service there if so.
 *
 * @throws as `openSession`; AppError `refused` if the configuration cannot be written.
 */
export async function configureCluster(
  call: SshCall,
  { build, node, choose, onNote }: ConfigureOptions,
): Promise<void> {
  const { machine } = call;
  const ask = async (isAccepted: boolean): Promise<ClusterOffer> => {
    const script = (nonce: string): string => clusterScript(nonce, build, node, isAccepted);
    const line = await runToEnd(call, script, END_MS);
    return clusterOffer.safeParse(tryParseJson(line)).data ?? { error: 'its answer is not understood.' };
  };
  const offer = await ask(false);
  if ('error' in offer) {
    const reason = printableLine(offer.error).replace(/[.\s]*$/, '.');
    onNote?.(`${machine} has Slurm, but its cluster cannot be used: ${reason} Jobs run on ${machine} itself.`);
    return;
  }
  if (!(await choose(offer.classes))) return;
  const accepted = await ask(true);
  if (!('error' in accepted)) return;
  throw new AppError(
    'refused',
    `The service on ${machine} was not configured for its cluster: ${printableLine(accepted.error).replace(/[.\s]*$/, '.')} Connect again.`,
  );
}
