import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../core/errors.ts';
import { endProcesses, processIdentity } from '../core/processTree.ts';
import type { Executor } from './executor.ts';
import { readClaim, readStarted } from './markers.ts';
import { allowedEnvironment } from './runner/childEnvironment.ts';
import type { JobFolder } from './runner/jobFolder.ts';
import { jobMark } from './runner/jobMark.ts';

const CLAIM_POLL_MS = 10;

export interface ProcessExecutorOptions {
  /** Path of the built `jobRunner.mjs`, or of its source. */
  readonly runner: string;
  /** Time between SIGTERM and SIGKILL. */
  readonly killGraceMs: number;
  /** Jobs that run at once. */
  readonly capacity: number;
}

/** Runs jobs as processes of this machine and this user. It is no sandbox: a job can do what the user can do. */
export function createProcessExecutor({ runner, killGraceMs, capacity }: ProcessExecutorOptions): Executor {
  return {
    capacity,

    async launch(_job, folder) {
      if (existsSync(folder.claim)) return;
      const log = openSync(folder.runnerLog, 'a', 0o600);
      const electron = process.env['ELECTRON_RUN_AS_NODE'];
      const child = spawn(process.execPath, [runner, folder.path], {
        cwd: folder.path,
        detached: true,
        windowsHide: true,
        stdio: ['ignore', 'ignore', log],
        env: {
          ...allowedEnvironment(process.env),
          ...(electron === undefined ? {} : { ELECTRON_RUN_AS_NODE: electron }),
        },
      });
      closeSync(log);
      let ended: { cause: unknown } | undefined;
      child.once('error', (error) => (ended = { cause: error }));
      child.once('exit', (code) => (ended ??= { cause: code }));
      child.unref();
      while (!existsSync(folder.claim)) {
        if (ended !== undefined) throw await launchError(folder, ended.cause);
        await sleep(CLAIM_POLL_MS);
      }
    },

    async status(_jobId, folder) {
      const claim = await readClaim(folder.claim);
      const isRunning = claim !== undefined && processIdentity(claim.pid) === claim.identity;
      return { state: isRunning ? 'running' : 'gone' };
    },

    // The runner sees within a moment that its folder asks for the end.
    cancel: () => Promise.resolve(),

    async cleanUp(jobId, folder) {
      const started = await readStarted(folder.started).catch(() => undefined);
      await endProcesses({ group: started?.pid, mark: jobMark(jobId) }, killGraceMs);
    },

    stop: () => Promise.resolve(),
  };
}

async function launchError(folder: JobFolder, cause: unknown): Promise<AppError> {
  const text = (await readFile(folder.runnerLog, 'utf8')).trim().slice(-500);
  const detail = text === '' ? String(cause) : text;
  return new AppError('missing', `The job's runner could not be started: ${detail}`, { cause });
}
