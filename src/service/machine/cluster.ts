import { linkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../core/errors.ts';
import type { ClusterOffer } from '../../remote/protocol/machineLink.ts';
import { stateFileOf } from '../embedded.ts';
import { proposeCluster } from '../slurm/proposal/proposeCluster.ts';
import { readStateFile } from '../stateFile.ts';
import { dismantle } from './dismantle.ts';
import { configFileOf, homeOf, type Program } from './machineFolder.ts';

/**
 * What jobs of this machine could use of its Slurm cluster. If `isAccepted`, that becomes the configuration of the service, which stops so
 * that it starts with it, unless it has unfinished jobs.
 */
export async function offerCluster(program: Program, root: string, isAccepted: boolean): Promise<ClusterOffer> {
  try {
    const { classes, config } = await proposeCluster(join(root, 'cluster'));
    if (isAccepted) {
      writeNew(configFileOf(root), config);
      if (readStateFile(stateFileOf(homeOf(root))) !== undefined) await dismantle(program, root, false);
    }
    // The client needs and accepts no more of them.
    return {
      classes: classes.map(({ name, description, cpus, memory_gb, gpus }) => ({
        name,
        description,
        cpus,
        memory_gb,
        gpus,
      })),
    };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

/** Writes a file whole or not at all, and never in place of one that the user wrote. @throws the system's error. */
function writeNew(path: string, text: string): void {
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flush: true });
    linkSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}
