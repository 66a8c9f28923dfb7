// The licences of the packages whose code is built into ours: their texts have to come with every copy of it.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './requirements.mjs';

// Those that allow what we do, and ask for no more than their text beside it.
const ALLOWED = new Set(['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0']);
const LICENSE_FILE = /^licen[cs]e/i;
const LICENSE_SECTION = /^(?:#+ *)?licen[cs]e\n(?:[-=]+\n)?/im;

/**
 * One text with name, version and licence of each package that built files contain. Texts that packages share are in it once.
 *
 * @param {readonly import('./bundledPackages.mjs').BundledPackage[]} packages
 * @returns {Promise<string>}
 * @throws Error for a package that has a licence that is not allowed, or no licence text.
 */
export async function thirdPartyLicenses(packages) {
  /** @type {Map<string, string[]>} */
  const packagesOfText = new Map();
  for (const { folder, name, version, license } of packages) {
    if (!ALLOWED.has(license))
      throw new Error(`${name} has the licence ${license}, which is not allowed in what ships.`);
    const text = await licenseText(join(ROOT, folder));
    packagesOfText.set(text, [...(packagesOfText.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  return [...packagesOfText].map(([text, names]) => `${names.join('\n')}\n\n${text}\n`).join(`\n${'-'.repeat(80)}\n\n`);
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
