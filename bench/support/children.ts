import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const COMMAND_FLAGS = ['--import', join(import.meta.dirname, 'commandHeap.mjs')];

/** Runs one of the scripts beside this file in a process of its own, as the command would, and returns the JSON that it prints. */
export function runScript(name: string, ...argv: string[]): unknown {
  const script = join(import.meta.dirname, name);
  return JSON.parse(execFileSync(process.execPath, [...COMMAND_FLAGS, script, ...argv], { encoding: 'utf8' }));
}

/** Seconds that a command takes. */
export function secondsOf(command: string, ...argv: string[]): number {
  const started = performance.now();
  execFileSync(command, argv);
  return (performance.now() - started) / 1000;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
