import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { AppError } from '../../core/errors.ts';
import { isBatchScriptName } from '../../workspace/files/batchScriptName.ts';
import { readDirectives } from './directives.ts';

// sbatch refuses scripts above 4 MB by default; its options are at the top.
const MAX_SCRIPT_BYTES = 1 << 20;
const SAFE_READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * The first megabyte of a batch script: a file named `.sbatch` or `.slurm`, or any other script with `#SBATCH` lines. Undefined for other
 * files, and for those that cannot be read, which a submit reports itself.
 *
 * @param name the path in sentences.
 * @throws AppError `bad-input` for a script that sbatch would refuse.
 */
export async function readBatchScript(path: string, name: string): Promise<string | undefined> {
  const bytes = await readStart(path);
  if (bytes === undefined) return undefined;
  const text = bytes.toString('utf8');
  const isNamed = isBatchScriptName(path);
  const isScript = text.startsWith('#!');
  if (!isNamed && !(isScript && readDirectives(text).length > 0)) return undefined;
  const problem = !isScript
    ? 'does not begin with #! and the path of a shell, so it cannot be run. Begin it with #!/bin/bash.'
    : text.includes('\0')
      ? 'contains NUL characters, so it is not a script. Choose another file.'
      : /^[^\n]*\r\n/.test(text)
        ? 'has the line ends of Windows, which shells cannot read. Save it with LF line ends.'
        : undefined;
  if (problem !== undefined) throw new AppError('bad-input', `${name} ${problem} Nothing was sent.`);
  return text;
}

async function readStart(path: string): Promise<Buffer | undefined> {
  try {
    // Checked before opening it, because opening a device can have side effects.
    if (!(await stat(path)).isFile()) return undefined;
    await using file = await open(path, SAFE_READ);
    const stats = await file.stat();
    if (!stats.isFile()) return undefined;
    const bytes = Buffer.allocUnsafe(Math.min(stats.size, MAX_SCRIPT_BYTES));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return bytes.subarray(0, bytesRead);
  } catch {
    return undefined;
  }
}
