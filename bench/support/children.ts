import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Runs one of the scripts beside this file in a process of its own and gives the JSON that it prints. */
export function runScript(name: string, ...argv: string[]): unknown {
  return JSON.parse(execFileSync(process.execPath, [join(import.meta.dirname, name), ...argv], { encoding: 'utf8' }));
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
