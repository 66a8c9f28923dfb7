import { accessSync, closeSync, constants, mkdirSync, openSync, readSync, statSync } from 'node:fs';
import type { Confinement } from './confinement.ts';
import type { JobFolder } from './jobFolder.ts';
import { JOB_ID_VARIABLE } from './jobMark.ts';
import type { ProcessCall } from './runProcess.ts';
import { sandboxArguments } from './sandbox.ts';

// Part of util-linux, which has it in this place on every distribution.
const PRLIMIT = '/usr/bin/prlimit';
const FIRST_BYTES = 256;

/**
 * The call that runs a program with the job's limits, and in its sandbox where it has one. What is found out at the start of a
 * program is found out here before, since another program would be the one to fail.
 *
 * @throws the system's error, as `spawn` has it, for a program that cannot be started.
 */
export function confine(call: ProcessCall, folder: JobFolder, confinement: Confinement): ProcessCall {
  const { sandbox } = confinement;
  const options = prlimitOptions(confinement);
  if (sandbox === null && options.length === 0) return call;
  assertStarts(call.file);
  const limited = options.length === 0 ? [call.file] : [PRLIMIT, ...options, call.file];
  const [file = call.file, ...args] = [...limited, ...call.args];
  if (sandbox === null) return { ...call, file, args };
  for (const path of [folder.home, folder.temporary, folder.virtualEnvironment]) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  }
  const { TMPDIR: _1, TMP: _2, TEMP: _3, [JOB_ID_VARIABLE]: jobId = '', ...env } = call.env;
  // The mark is for the job's processes alone: bwrap itself must live until they have ended.
  const inside = sandboxArguments(sandbox, folder, { cwd: call.cwd, variables: { [JOB_ID_VARIABLE]: jobId } });
  return { ...call, file: sandbox.program, args: [...inside, file, ...args], env, isSandboxed: true };
}

function prlimitOptions({ sandbox, limits }: Confinement): readonly string[] {
  if (statSync(PRLIMIT, { throwIfNoEntry: false }) === undefined) return [];
  const { maxFileBytes, maxProcesses } = limits;
  return [
    // Counted for each user namespace; outside of one it would count what the user runs beside the job.
    ...(sandbox === null ? [] : [`--nproc=${maxProcesses}`]),
    ...(maxFileBytes === null ? [] : [`--fsize=${maxFileBytes}`]),
  ];
}

/** Fails as the system's `execve` does, which starts no pipe either: reading from that would wait for ever. */
function assertStarts(path: string): void {
  accessSync(path, constants.X_OK);
  if (!statSync(path).isFile()) throw Object.assign(new Error('not a file'), { code: 'EACCES' });
  const first = readFirstBytes(path);
  if (first.startsWith('\x7fELF')) return;
  const [, interpreter] = /^#! *(\/\S+)/.exec(first) ?? [];
  if (interpreter === undefined) throw Object.assign(new Error('no interpreter'), { code: 'ENOEXEC' });
  accessSync(interpreter, constants.X_OK);
}

function readFirstBytes(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(FIRST_BYTES);
    return bytes.toString('latin1', 0, readSync(file, bytes, 0, FIRST_BYTES, 0));
  } finally {
    closeSync(file);
  }
}
