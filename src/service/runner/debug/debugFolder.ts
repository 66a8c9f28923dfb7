import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import type { DebugOptions } from '../../../remote/protocol/debugging.ts';
import { DEBUG_FOLDER_VARIABLE, DEBUG_ROOT_VARIABLE, DEBUG_WAIT_VARIABLE } from './debugSockets.ts';
import { PYTHON_DEBUGGING, PYTHON_START } from './pythonDebugging.ts';

// The path of a socket has at most about 100 bytes (unix(7)), which those of job folders can exceed.
const IN_SANDBOX = '/run/farwharf-debug';

/**
 * The folder through which the processes of a job, the runner and the job's tunnel meet. It is not among the files of the job, whose
 * results it must not change, and no other user or isolated job can enter it.
 */
export interface DebugFolder extends Disposable {
  readonly path: string;
  /** Where the job sees it. */
  readonly inside: string;
  readonly variables: Readonly<Record<string, string>>;
}

// The rest of the name is random: other users of the machine can know the job's ID, and could take the name first.
function prefixOf(jobId: string): string {
  return `farwharf-${jobId}-`;
}

/** @throws the system's error. */
export function makeDebugFolder(
  jobId: string,
  {
    debug,
    workspace,
    isSandboxed,
    nodeProgram,
    variables: { PYTHONPATH: pythonPath = '', NODE_OPTIONS: nodeOptions = '' },
  }: {
    readonly debug: DebugOptions;
    readonly workspace: string;
    readonly isSandboxed: boolean;
    /** The path of `nodeDebugger.cjs`. */
    readonly nodeProgram: string;
    /** Those of the job. */
    readonly variables: Readonly<Record<string, string | undefined>>;
  },
): DebugFolder {
  removeDebugFolder(jobId); // of a run that was killed
  const path = mkdtempSync(join(tmpdir(), prefixOf(jobId)));
  const inside = isSandboxed ? IN_SANDBOX : path;
  const python = 'python';
  mkdirSync(join(path, python));
  writeFileSync(join(path, python, 'sitecustomize.py'), PYTHON_START);
  writeFileSync(join(path, python, 'farwharf_debug.py'), PYTHON_DEBUGGING);
  copyFileSync(nodeProgram, join(path, basename(nodeProgram)));
  return {
    path,
    inside,
    variables: {
      [DEBUG_FOLDER_VARIABLE]: inside,
      [DEBUG_ROOT_VARIABLE]: workspace,
      ...(debug.wait === true && { [DEBUG_WAIT_VARIABLE]: '1' }),
      ...(debug.limit === true && { FARWHARF_DEBUG_LIMIT: '1' }),
      PYTHONPATH: [join(inside, python), ...pythonPath.split(delimiter).filter(Boolean)].join(delimiter),
      NODE_OPTIONS: `--require ${quoted(join(inside, basename(nodeProgram)))} ${nodeOptions}`.trimEnd(),
    },
    [Symbol.dispose]: () => removeDebugFolder(jobId),
  };
}

/** As Node.js reads its NODE_OPTIONS. */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

export function removeDebugFolder(jobId: string): void {
  const names = readdirSync(tmpdir()).filter((name) => name.startsWith(prefixOf(jobId)));
  for (const name of names) {
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch {
      // It is another user's.
    }
  }
}
