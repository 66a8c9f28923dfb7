import { dirname, join } from 'node:path';
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { FlowRuntime } from '../../flows/run/protocol/runRequest.ts';
import { textField } from '../../core/jsonFields.ts';
import type { Disposable } from '../../core/processes/lifetime.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Standard input, which may be a terminal. */
export type InputStream = Readable & { readonly isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };

/** The signals that stop a program. */
export interface Interrupt extends Disposable {
  /** Aborted by the first Ctrl+C. */
  readonly signal: AbortSignal;
  /** The exit status after a signal: 128 plus its number, as in shells. Undefined before the first one. */
  readonly exit: number | undefined;
  /** Calls the listener at each SIGINT and SIGTERM until disposed, in place of the abort. For verbs that pass signals on. */
  readonly onSignal: (listener: (name: 'SIGINT' | 'SIGTERM') => void) => Disposable;
  /** Calls the listener at each SIGHUP until disposed, which otherwise stops the verb as Ctrl+C does. For services, which reload. */
  readonly onHangup: (listener: () => void) => Disposable;
}

/** What every verb receives. */
export interface Context extends Pick<Interrupt, 'signal' | 'onHangup' | 'onSignal'> {
  readonly terminal: Terminal;
  readonly env: NodeJS.ProcessEnv;
  /** The folder that relative paths of the command line refer to. */
  readonly cwd: string;
  /** Opens it, which keeps the process alive once it is read. */
  readonly stdin: () => InputStream;
  /** The value of `--remote`, if any. */
  readonly remote: string | undefined;
  /** Aborted as `signal` is, and when the reader of the output exits. For work that only prints. */
  readonly outputSignal: AbortSignal;
  readonly program: ProgramFiles;
}

/** Paths of this program's parts, built or as sources. */
export interface ProgramFiles {
  /** `dist/cli.mjs`, or `src/cli/main.ts`. */
  readonly entry: string;
  readonly jobRunner: string;
  /** The programs with which a flow file runs. */
  readonly flowRuntime: FlowRuntime;
  /** The program of the threads that build an index. */
  readonly indexWorker: string;
  readonly version: string;
}

/** Finds the parts of the program beside its entry. */
export function locateProgramFiles(entry: string): ProgramFiles {
  const isSource = entry.endsWith('.ts');
  const folder = dirname(entry);
  return {
    entry,
    jobRunner: join(folder, isSource ? '../service/runner/jobRunner.ts' : 'jobRunner.mjs'),
    flowRuntime: {
      node: process.execPath,
      runner: join(folder, isSource ? '../flows/run/child/flowRunner.ts' : 'flowRunner.mjs'),
    },
    indexWorker: join(folder, isSource ? '../retrieval/building/indexWorker.ts' : 'indexWorker.mjs'),
    get version() {
      const manifest: unknown = JSON.parse(
        readFileSync(join(folder, isSource ? '../..' : '..', 'package.json'), 'utf8'),
      );
      return textField(manifest, 'version') ?? 'unknown';
    },
  };
}
