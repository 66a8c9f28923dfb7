import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../core/errors.ts';
import { processIdentity } from '../../core/processes/processTree.ts';
import { knowsKey } from '../serviceProof.ts';
import type { ServiceState } from '../stateFile.ts';

const POLL_MS = 50;
// The service gives open requests two seconds, and ends its event streams at once.
const STOP_MS = 30_000;

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
