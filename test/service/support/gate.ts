import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { filesFolderOf } from '../../../src/service/folders/filesFolder.ts';

const FILE = '.open-gate';

/**
 * A shell command that holds a job until `openGate`, however slow or fast the test is. The gate is a file in the job's
 * workspace, the one place that an isolated job sees as well, and it leaves nothing among the results.
 */
export const GATE = `while [ ! -e ${FILE} ]; do sleep 0.05; done; rm ${FILE}`;

/**
 * Lets jobs of the service on this data folder pass the gate that they wait at, or the next one: one job, as soon as its workspace is written, or
 * all that have one.
 */
export async function openGate(data: string, id?: string): Promise<void> {
  const jobs = join(filesFolderOf(data), 'jobs');
  const workspaceOf = (job: string): string => join(jobs, job, 'workspace');
  if (id !== undefined) while (!existsSync(workspaceOf(id))) await sleep(10);
  const workspaces = (id === undefined ? readdirSync(jobs) : [id]).map(workspaceOf);
  for (const workspace of workspaces.filter((path) => existsSync(path))) writeFileSync(join(workspace, FILE), '');
}
