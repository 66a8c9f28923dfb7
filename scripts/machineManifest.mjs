import { readFile, writeFile } from 'node:fs/promises';
import * as z from 'zod';

const ENTRIES = ['dist/machineService.mjs', 'dist/jobRunner.mjs', 'dist/sandboxTunnel.mjs', 'dist/nodeDebugger.cjs'];

/**
 * Lists the files that the service for machines consists of, with all that they import, for `packService`.
 *
 * @param {readonly import('esbuild').Metafile[]} metafiles
 */
export async function writeMachineManifest(metafiles) {
  const outputs = new Map(metafiles.flatMap((metafile) => Object.entries(metafile.outputs)));
  /** @type {Set<string>} */
  const files = new Set();
  const add = (/** @type {string} */ path) => {
    if (files.has(path)) return;
    files.add(path);
    for (const imported of outputs.get(path)?.imports ?? []) if (imported.external !== true) add(imported.path);
  };
  for (const entry of ENTRIES) add(entry);
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(await readFile('package.json', 'utf8')));
  const paths = [...files].map((path) => path.slice('dist/'.length)).sort((a, b) => (a < b ? -1 : 1));
  await writeFile('dist/machineService.json', JSON.stringify({ version, files: paths }));
}
