import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Confinement } from '../jobFiles/confinement.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import type { JobVolume } from '../jobFiles/volumes.ts';
import { assertStarts } from './program/programFile.ts';
import type { ProcessCall } from './runProcess.ts';
import { type PackagesMount, sandboxOptions, seesPath } from '../sandbox/sandbox.ts';

/**
 * Makes a call run in the job's sandbox, if it has one. Checks that the program can be started, because otherwise bwrap would fail
 * instead of the program.
 *
 * Without a sandbox, no other program runs between the runner and the job's program, so the job's variables reach only the latter.
 *
 * @throws the system's error, like `spawn`, for a program that cannot be started.
 */
export function confine(
  call: ProcessCall,
  { folder, packages }: { readonly folder: JobFolder; readonly packages: PackagesMount | undefined },
  { sandbox, limits, volumes }: Confinement & { readonly volumes: readonly JobVolume[] },
): ProcessCall {
  if (sandbox === null) return call;
  const folders = { ...folder, packages, home: freshFolder(folder.home), temporary: freshFolder(folder.temporary) };
  assertStarts(call.file, (path) => seesPath(sandbox, folders, path));
  // The sandbox has its own /tmp, wherever the service's is.
  const { TMPDIR: _1, TMP: _2, TEMP: _3, ...variables } = call.env;
  return {
    ...call,
    sandbox: {
      program: sandbox.program,
      options: sandboxOptions(sandbox, folders, { cwd: call.cwd, variables, volumes }),
      maxProcesses: limits.maxProcesses,
    },
  };
}

/**
 * An empty folder inside a folder that the job never sees. Each program of a job gets its own, because bwrap mounts inside it and
 * follows links on the way, which an earlier program of the job could have left.
 */
function freshFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const fresh = join(path, String(readdirSync(path).length + 1));
  mkdirSync(fresh, { mode: 0o700 });
  return fresh;
}
