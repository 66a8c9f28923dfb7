import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

/**
 * Builds `dist/`, and with `--tests` also `out/host/`.
 *
 * @throws Error when the build failed; it has printed why.
 */
export function build(...args: string[]): void {
  const root = resolve(import.meta.dirname, '..');
  const { status } = spawnSync(process.execPath, [join(root, 'esbuild.mjs'), ...args], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error('The build failed.');
}
