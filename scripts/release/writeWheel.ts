import { dirname, join } from 'node:path';
import { runStep } from '../vscode/installOnce.ts';
import type { Platform } from './nodeBinaries.ts';

/**
 * Writes a Python wheel that installs an executable as the command `farwharf`, beside it; returns its path.
 *
 * @throws Unavailable without Python 3.
 */
export async function writeWheel(executable: string, { wheelTag }: Platform): Promise<string> {
  const folder = dirname(executable);
  const args = [join(import.meta.dirname, 'wheel.py'), executable, wheelTag, folder];
  return (await runStep('python3', args, { cwd: folder, env: process.env })).trim();
}
