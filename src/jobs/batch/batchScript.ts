import { AppError } from '../../core/errors.ts';
import { isBatchScriptName } from '../../workspace/scripts/scriptKinds.ts';
import { readStart } from '../../workspace/files/boundedRead.ts';
import { readDirectives } from './directives.ts';

// sbatch refuses scripts above 4 MB by default; its options are at the top.
const MAX_SCRIPT_BYTES = 1 << 20;

/**
 * The first megabyte of a batch script: a file named `.sbatch` or `.slurm`, or any other script with `#SBATCH` lines. Undefined for other
 * files, and for those that cannot be read, which a submit reports itself.
 *
 * @param name the path in sentences.
 * @throws AppError `bad-input` for a script that sbatch would refuse.
 */
export async function readBatchScript(path: string, name: string): Promise<string | undefined> {
  const bytes = await readStart(path, MAX_SCRIPT_BYTES);
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
