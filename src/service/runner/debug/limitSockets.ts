import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { environmentOf } from '../../../core/processes/procfs.ts';
import { LIMIT_SOCKET } from './debugSockets.ts';
import { findProcess, type StoppableJob } from './jobStop.ts';

/** The sockets on which processes of a job hear of its time limit: those of a training by their ranks, then all others, the oldest first. */
export function limitSockets(folder: string, job: StoppableJob): readonly string[] {
  const found = namesIn(folder).flatMap((name) => {
    const id = Number(LIMIT_SOCKET.exec(name)?.[1]);
    return Number.isNaN(id) ? [] : [{ path: join(folder, name), id, rank: rankOf(findProcess(job, id)) }];
  });
  return found.toSorted((one, other) => one.rank - other.rank || one.id - other.id).map(({ path }) => path);
}

function rankOf(pid: number | undefined): number {
  const variables = (pid === undefined ? undefined : environmentOf(pid))?.split('\0') ?? [];
  const rank = variables.find((each) => /^RANK=\d{1,6}$/.test(each));
  return rank === undefined ? Number.MAX_SAFE_INTEGER : Number(rank.slice('RANK='.length));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // the job has removed it
  }
}
