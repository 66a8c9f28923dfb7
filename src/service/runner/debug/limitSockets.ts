import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { environmentOf } from '../../../core/processes/procfs.ts';
import { LIMIT_SOCKET } from './debugSockets.ts';
import { findProcess, type StoppableJob } from './jobStop.ts';

// Each is looked for among the processes of the job, which can make any number.
const MAX_SOCKETS = 64;

/** The sockets on which processes of a job hear of its time limit: those of a training by their ranks, then all others, the oldest first. */
export function limitSockets(folder: string, job: StoppableJob): readonly string[] {
  const ids = idsIn(folder).toSorted((one, other) => one - other);
  const found = ids.slice(0, MAX_SOCKETS).flatMap((id) => {
    const pid = findProcess(job, id);
    return pid === undefined ? [] : [{ path: join(folder, `${id}.limit`), rank: rankOf(pid) }];
  });
  return found.toSorted((one, other) => one.rank - other.rank).map(({ path }) => path);
}

function rankOf(pid: number): number {
  const rank = environmentOf(pid)
    ?.split('\0')
    .find((each) => /^RANK=\d{1,6}$/.test(each));
  return rank === undefined ? Number.MAX_SAFE_INTEGER : Number(rank.slice('RANK='.length));
}

/** The processes that have such a socket. A link would lead out of the job. */
function idsIn(folder: string): readonly number[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isSocket());
    return entries.map(({ name }) => Number(LIMIT_SOCKET.exec(name)?.[1] ?? 0)).filter((id) => id > 0);
  } catch {
    return []; // the job has removed it
  }
}
