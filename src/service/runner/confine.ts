import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Confinement } from '../jobFiles/confinement.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import { assertStarts } from './programFile.ts';
import type { ProcessCall } from './runProcess.ts';
import { sandboxOptions, seesPath } from '../sandbox/sandbox.ts';

/**
 * The call that runs a program in the job's sandbox, where it has one. What is found out at the start of a program is found out
 * here before, since bwrap would be the one to fail.
 *
 * Without a sandbox nothing stands between the runner and the job's program, so there is nothing that the job's variables could
 * reach but itself.
 *
 * @throws the system's error, as `spawn` has it, for a program that cannot be started.
 */
export function confine(call: ProcessCall, folder: JobFolder, { sandbox, limits }: Confinement): ProcessCall {
  if (sandbox === null) return call;
  mkdirSync(folder.virtualEnvironment, { recursive: true, mode: 0o700 });
  const folders = { ...folder, home: freshFolder(folder.home), temporary: freshFolder(folder.temporary) };
  assertStarts(call.file, (path) => seesPath(sandbox, folders, path));
  // The sandbox has its own /tmp, wherever that of the service is.
  const { TMPDIR: _1, TMP: _2, TEMP: _3, ...variables } = call.env;
  return {
    ...call,
    sandbox: {
      program: sandbox.program,
      options: sandboxOptions(sandbox, folders, { cwd: call.cwd, variables }),
      maxProcesses: limits.maxProcesses,
    },
  };
}

/**
 * An empty folder inside a folder that the job never sees. Each program of a job gets its own: bwrap mounts inside them and
 * follows links on its way there, which an earlier program of the job could have left.
 */
function freshFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const fresh = join(path, String(readdirSync(path).length + 1));
  mkdirSync(fresh, { mode: 0o700 });
  return fresh;
}
