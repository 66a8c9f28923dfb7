import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { DebugOptions } from '../../../remote/protocol/debugging.ts';
import { DEBUG_FOLDER_VARIABLE } from './debugSockets.ts';
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
    pythonPath = '',
  }: {
    readonly debug: DebugOptions;
    readonly workspace: string;
    readonly isSandboxed: boolean;
    readonly pythonPath?: string | undefined;
  },
): DebugFolder {
  removeDebugFolder(jobId); // of a run that was killed
  const path = mkdtempSync(join(tmpdir(), prefixOf(jobId)));
  const inside = isSandboxed ? IN_SANDBOX : path;
  const python = 'python';
  mkdirSync(join(path, python));
  writeFileSync(join(path, python, 'sitecustomize.py'), PYTHON_START);
  writeFileSync(join(path, python, 'farwharf_debug.py'), PYTHON_DEBUGGING);
  return {
    path,
    inside,
    variables: {
      [DEBUG_FOLDER_VARIABLE]: inside,
      FARWHARF_DEBUG_ROOT: workspace,
      ...(debug.wait === true && { FARWHARF_DEBUG_WAIT: '1' }),
      ...(debug.limit === true && { FARWHARF_DEBUG_LIMIT: '1' }),
      PYTHONPATH: [join(inside, python), ...pythonPath.split(delimiter).filter(Boolean)].join(delimiter),
    },
    [Symbol.dispose]: () => removeDebugFolder(jobId),
  };
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
