import { extname } from 'node:path';

const EXTENSIONS: ReadonlySet<string> = new Set(['.sbatch', '.slurm']);

/** Whether a file is a batch script of Slurm by its name. */
export function isBatchScriptName(path: string): boolean {
  return EXTENSIONS.has(extname(path).toLowerCase());
}
