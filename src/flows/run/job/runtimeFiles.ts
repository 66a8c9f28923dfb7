import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { AppError } from '../../../core/errors.ts';

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*["'](\.[^"']+)["']/g;

export interface RuntimeFile {
  /** Relative to the folder of the runner, with `/`. */
  readonly path: string;
  readonly source: string;
}

/**
 * The built files that a flow needs on another machine: the runner, the library with its zod, and what they import.
 *
 * @param runner path of the built `flowRunner.mjs`.
 * @throws AppError `missing` when the runner is not built.
 */
export async function runtimeFiles(runner: string): Promise<readonly RuntimeFile[]> {
  if (!runner.endsWith('.mjs')) {
    throw new AppError(
      'missing',
      'Sending a flow needs the built runtime, but this program runs from its sources. Run npm run build first.',
    );
  }
  const folder = dirname(runner);
  const found = new Map<string, RuntimeFile>();
  const waiting = [runner, join(folder, 'agents.mjs'), join(folder, 'zod.mjs')];
  for (let source = waiting.pop(); source !== undefined; source = waiting.pop()) {
    if (found.has(source)) continue;
    const text = await readFile(source, 'utf8').catch((): undefined => undefined);
    // A string in the program may look like an import.
    if (text === undefined && source !== runner) continue;
    if (text === undefined) throw new AppError('missing', `The flow runtime ${runner} is missing. Reinstall Farwharf.`);
    found.set(source, { path: relative(folder, source).replaceAll('\\', '/'), source });
    for (const [, specifier = ''] of text.matchAll(IMPORT)) waiting.push(join(dirname(source), specifier));
  }
  return [...found.values()];
}
