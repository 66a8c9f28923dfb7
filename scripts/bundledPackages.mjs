// The packages whose code is built into ours.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './requirements.mjs';

// As package-lock.json names it, wherever a link leads to.
const PACKAGE_FOLDER = /(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//;

/**
 * @typedef {{ readonly hasInstallScript?: boolean, readonly integrity?: string }} LockedPackage
 * @typedef {{ readonly name: string, readonly version: string, readonly license: string }} Manifest
 * @typedef {Manifest & { readonly folder: string, readonly integrity: string }} BundledPackage
 */

/**
 * The packages that the built files contain, in the order of their folders.
 *
 * @param {readonly import('esbuild').Metafile[]} metafiles
 * @returns {Promise<readonly BundledPackage[]>} with the `integrity` of package-lock.json
 * @throws Error for a package that runs a script when it is installed, or has no hash in package-lock.json.
 */
export async function bundledPackages(metafiles) {
  const outputs = metafiles.flatMap((metafile) => Object.entries(metafile.outputs));
  const inputs = outputs.flatMap(([path, output]) => (path.startsWith('dist/') ? Object.keys(output.inputs) : []));
  const folders = new Set(inputs.flatMap((path) => PACKAGE_FOLDER.exec(path)?.[1] ?? []));
  const lockFile = /** @type {{ packages: Record<string, LockedPackage> }} */ (await readJson('package-lock.json'));
  return Promise.all(
    [...folders].toSorted().map(async (folder) => {
      const { hasInstallScript, integrity } = lockFile.packages[folder] ?? {};
      if (hasInstallScript === true)
        throw new Error(`${folder} runs a script when it is installed, so it must not ship.`);
      if (integrity === undefined) throw new Error(`${folder} has no hash in package-lock.json, so it must not ship.`);
      const { name, version, license } = /** @type {Manifest} */ (await readJson(join(folder, 'package.json')));
      return { folder, name, version, license, integrity };
    }),
  );
}

/**
 * @param {string} path in this project
 * @returns {Promise<unknown>}
 */
async function readJson(path) {
  return JSON.parse(await readFile(join(ROOT, path), 'utf8'));
}
