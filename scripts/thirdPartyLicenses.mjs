// The licences of the packages whose code is built into ours: their texts have to come with every copy of it.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './requirements.mjs';

// Those that allow what we do, and ask for no more than their text beside it.
const ALLOWED = new Set(['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0']);
// As package-lock.json names it, wherever a link leads to.
const PACKAGE_FOLDER = /(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//;
const LICENSE_FILE = /^licen[cs]e/i;
const LICENSE_SECTION = /^(?:#+ *)?licen[cs]e\n(?:[-=]+\n)?/im;

/**
 * @typedef {{ readonly hasInstallScript?: boolean, readonly integrity?: string }} LockedPackage
 * @typedef {{ readonly name: string, readonly version: string, readonly license: string }} Manifest
 */

/**
 * One text with name, version and licence of each package that built files contain. Texts that packages share are in it once.
 *
 * @param {readonly import('esbuild').Metafile[]} metafiles
 * @returns {Promise<string>}
 * @throws Error for a package that runs a script when it is installed, has a licence that is not allowed, or no licence text.
 */
export async function thirdPartyLicenses(metafiles) {
  const outputs = metafiles.flatMap((metafile) => Object.entries(metafile.outputs));
  const inputs = outputs.flatMap(([path, output]) => (path.startsWith('dist/') ? Object.keys(output.inputs) : []));
  const folders = new Set(inputs.flatMap((path) => PACKAGE_FOLDER.exec(path)?.[1] ?? []));
  const lockFile = /** @type {{ packages: Record<string, LockedPackage> }} */ (await readJson('package-lock.json'));
  /** @type {Map<string, string[]>} */
  const packagesOfText = new Map();
  for (const folder of [...folders].toSorted()) {
    const { hasInstallScript, integrity } = lockFile.packages[folder] ?? {};
    if (hasInstallScript === true)
      throw new Error(`${folder} runs a script when it is installed, so it must not ship.`);
    if (integrity === undefined) throw new Error(`${folder} has no hash in package-lock.json, so it must not ship.`);
    const { name, version, license } = /** @type {Manifest} */ (await readJson(join(folder, 'package.json')));
    if (!ALLOWED.has(license))
      throw new Error(`${name} has the licence ${license}, which is not allowed in what ships.`);
    const text = await licenseText(join(ROOT, folder));
    packagesOfText.set(text, [...(packagesOfText.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  return [...packagesOfText].map(([text, names]) => `${names.join('\n')}\n\n${text}\n`).join(`\n${'-'.repeat(80)}\n\n`);
}

/**
 * @param {string} path in this project
 * @returns {Promise<unknown>}
 */
async function readJson(path) {
  return JSON.parse(await readFile(join(ROOT, path), 'utf8'));
}

/** @param {string} folder of a package */
async function licenseText(folder) {
  const names = await readdir(folder);
  const file = names.find((name) => LICENSE_FILE.test(name));
  if (file !== undefined) return (await readFile(join(folder, file), 'utf8')).trim();
  const readme = await readFile(join(folder, 'README.md'), 'utf8');
  const section = LICENSE_SECTION.exec(readme);
  if (section === null) throw new Error(`${folder} has no licence text, so it must not ship.`);
  return readme.slice(section.index + section[0].length).trim();
}
