import { dirname, join } from 'node:path';
import { readFileSync } from 'node:fs';
import type { Disposable } from '../../core/processes/lifetime.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** What every verb receives. */
export interface Context {
  readonly terminal: Terminal;
  readonly env: NodeJS.ProcessEnv;
  /** `--remote`, when it was given. */
  readonly remote: string | undefined;
  /** Aborted by the first Ctrl+C. */
  readonly signal: AbortSignal;
  /** Also aborted when the reader of the output left: for work that only prints. */
  readonly outputSignal: AbortSignal;
  /** Calls the listener at each SIGHUP, which otherwise stops the verb as Ctrl+C does. */
  readonly onHangup: (listener: () => void) => Disposable;
  readonly program: ProgramFiles;
}

/** Where the parts of this program are: built, or as sources. */
export interface ProgramFiles {
  /** `dist/cli.mjs`, or `src/cli/main.ts`. */
  readonly entry: string;
  /** The program that runs one job. */
  readonly jobRunner: string;
  /** The program in which a flow file runs. */
  readonly flowRunner: string;
  /** The program of the threads that build an index. */
  readonly indexWorker: string;
  readonly version: string;
}

/** Finds the parts of the program beside its entry. */
export function locateProgram(entry: string): ProgramFiles {
  const isSource = entry.endsWith('.ts');
  const folder = dirname(entry);
  return {
    entry,
    jobRunner: isSource ? join(folder, '..', 'service', 'runner', 'jobRunner.ts') : join(folder, 'jobRunner.mjs'),
    flowRunner: isSource
      ? join(folder, '..', 'flows', 'run', 'child', 'flowRunner.ts')
      : join(folder, 'flowRunner.mjs'),
    indexWorker: isSource
      ? join(folder, '..', 'retrieval', 'building', 'indexWorker.ts')
      : join(folder, 'indexWorker.mjs'),
    get version() {
      const manifest: unknown = JSON.parse(
        readFileSync(join(folder, isSource ? '../..' : '..', 'package.json'), 'utf8'),
      );
      return String((manifest as { version: unknown }).version);
    },
  };
}
