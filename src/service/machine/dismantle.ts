import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { AppError, messageOf } from '../../core/errors.ts';
import { openSocketAddress } from '../../core/files/socketAddress.ts';
import type { Dismantled } from '../../remote/protocol/machineLink.ts';
import { isFinalState } from '../../remote/protocol/states.ts';
import { connectEmbeddedService, type ServiceAddress, stateFileOf } from '../embedded.ts';
import { readStateFile, type ServiceState } from '../stateFile.ts';
import { homeOf, type InstalledProgram } from './machineFolder.ts';
import { processIdentity } from '../../core/processes/processTree.ts';
import { knowsKey } from '../serviceProof.ts';

const LIST = '/v1/jobs?limit=200';

const jobList = z.object({ jobs: z.array(z.object({ job_id: z.string(), state: z.string() })) });

const POLL_MS = 50;

// The service gives open requests two seconds, and ends its event streams at once.
const STOP_MS = 30_000;

/**
 * Stops the service of this machine for good, so that its folder can be deleted. With unfinished jobs, it does so only if `isForced`, and
 * cancels them first. The jobs of a service that was killed are found by starting it again.
 */
export async function dismantle(program: InstalledProgram, root: string, isForced: boolean): Promise<Dismantled> {
  const home = homeOf(root);
  try {
    const serveArguments = ['serve', root];
    const service = await connectEmbeddedService({ home, node: process.execPath, cli: program.entry, serveArguments });
    const unfinished = await unfinishedJobs(service);
    if (unfinished.length > 0 && !isForced) return { unfinished: unfinished.length };
    for (const id of unfinished) await call(service, 'DELETE', `/v1/jobs/${id}`);
    const state = readStateFile(stateFileOf(home));
    if (state !== undefined) await stopService(state);
    return { unfinished: 0 };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

async function unfinishedJobs(service: ServiceAddress): Promise<readonly string[]> {
  const found: string[] = [];
  for (let before = ''; ; ) {
    const { jobs } = jobList.parse(await call(service, 'GET', `${LIST}${before}`));
    found.push(...jobs.filter(({ state }) => !isFinalState(state)).map(({ job_id: id }) => id));
    const last = jobs.at(-1);
    if (last === undefined) return found;
    before = `&before=${last.job_id}`;
  }
}

async function call({ key, socket = '' }: ServiceAddress, method: string, path: string): Promise<unknown> {
  using address = openSocketAddress(socket);
  return await new Promise((resolve, reject) => {
    const headers = { host: 'localhost', authorization: `Bearer ${key}` };
    request({ socketPath: address.path, path, method, headers, agent: false }, (response) => {
      json(response).then(resolve, reject);
    })
      .once('error', reject)
      .end();
  });
}

/** Stops a service, if it runs, and waits for its end. Its jobs continue. @throws AppError `conflict` if it does not end. */
export async function stopService(state: ServiceState): Promise<void> {
  // Another process may have the number of a service that was killed.
  if (!(await knowsKey(state))) return;
  const { pid } = state;
  const identity = processIdentity(pid);
  const deadline = performance.now() + STOP_MS;
  process.kill(pid, 'SIGTERM');
  while (performance.now() < deadline) {
    if (processIdentity(pid) !== identity) return;
    await sleep(POLL_MS);
  }
  throw new AppError('conflict', `The running service does not stop. Stop it on the machine:  kill ${pid}`);
}
