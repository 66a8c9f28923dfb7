import { cp, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import { ifThere } from '../../core/files/ifThere.ts';
import { tryParseJson } from '../../core/jsonFields.ts';
import { readBounded } from '../../workspace/files/boundedRead.ts';

const PACKAGE = 'farwharf';
const MAX_MANIFEST_BYTES = 1_000_000;
const ENTRY = './types/agents/index.js';
const manifestSchema = z.looseObject({ farwharfTypes: z.boolean().optional() });

/** The package in the folder: one with declarations alone, written or already current, or the library itself. */
export interface TypesSetUp {
  readonly path: string;
  readonly status: 'written' | 'installed';
}

/**
 * Writes the declarations of `farwharf/agents` into `node_modules/farwharf` of a folder, where every editor and `tsc` find them
 * without configuration. The library itself, if it is installed there, is left alone.
 *
 * @param dist the folder with the built declarations.
 * @throws AppError `missing` if they are not there, `conflict` if the folder for them contains something else.
 */
export async function setUpTypes(folder: string, dist: string): Promise<TypesSetUp> {
  const path = join(folder, 'node_modules', PACKAGE);
  const manifestPath = join(path, 'package.json');
  const manifestBytes = await readBounded(manifestPath, MAX_MANIFEST_BYTES);
  const isTypesOnly = manifestSchema.safeParse(tryParseJson(String(manifestBytes ?? ''))).data?.farwharfTypes === true;
  if (manifestBytes !== undefined && !isTypesOnly) return { path, status: 'installed' };
  const types = join(dist, 'flowTypes');
  if (!(await stat(types).catch((): undefined => undefined))?.isDirectory()) {
    throw new AppError('missing', `${types} does not exist, so this copy of Farwharf has no types. Install it again.`);
  }
  // In a folder of others, node_modules can be a link to any folder.
  if (!isTypesOnly && (await ifThere(readdir(path), [])).length > 0) {
    const sentence = `${path} contains files that are not types of Farwharf, so nothing was written.`;
    throw new AppError('conflict', `${sentence} Move them elsewhere, and try again.`);
  }
  await rm(path, { recursive: true, force: true });
  await mkdir(path, { recursive: true });
  const manifest = {
    name: PACKAGE,
    version: '0.0.0',
    description: 'Types of farwharf/agents for editors. Flows run with `farwharf flow run` or in VS Code.',
    farwharfTypes: true,
    exports: { './agents': { types: './agents.d.ts' }, './package.json': './package.json' },
  };
  // First, so that a folder that is left unfinished is known as one of ours.
  await writeFile(manifestPath, `${JSON.stringify(manifest, undefined, 2)}\n`);
  await cp(types, join(path, 'types'), { recursive: true });
  await writeFile(join(path, 'agents.d.ts'), `export * from '${ENTRY}';\n`);
  return { path, status: 'written' };
}
