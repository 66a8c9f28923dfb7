import { writeFileSync } from 'node:fs';
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
      // Never in place of a file that the user wrote.
      writeFileSync(configFileOf(root), config, { flag: 'wx', mode: 0o600 });
      if (readStateFile(stateFileOf(homeOf(root))) !== undefined) await dismantle(program, root, false);
    }
    return { classes };
  } catch (error) {
    return { error: messageOf(error) };
  }
}
