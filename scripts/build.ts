import { spawnSync } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');

/**
 * Builds `dist/`, and with `--tests` also `out/host/`.
 *
 * @throws Error when the build failed; it has printed why.
 */
export function build(...args: string[]): void {
  const { status } = spawnSync(process.execPath, [join(ROOT, 'esbuild.mjs'), ...args], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error('The build failed.');
}

/** Whether a file of `dist/` was built after the last change of a source. */
export function isFresh(name: string): boolean {
  const builtMs = statSync(join(ROOT, 'dist', name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return builtMs >= newestSourceMs();
}

/** Looked up once for a process and those that it starts: that takes a tenth of a second. */
const NEWEST_SOURCE = 'TEST_NEWEST_SOURCE_MS';

function newestSourceMs(): number {
  const paths = (): string[] => globSync('src/**/*.ts', { cwd: ROOT });
  process.env[NEWEST_SOURCE] ??= String(Math.max(...paths().map((path) => statSync(join(ROOT, path)).mtimeMs)));
  return Number(process.env[NEWEST_SOURCE]);
}
