// What a clone needs before its scripts can run. Plain JavaScript, because the Node.js that runs it may be older.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Which packages are not installed and what to do about it, as one line; undefined when they are.
 *
 * @returns {string | undefined}
 */
export function missingPackages() {
  if (existsSync(join(ROOT, 'node_modules', 'esbuild'))) return undefined;
  return `The packages that build Farwharf are not installed. Run "npm ci" in ${ROOT} first.`;
}

/**
 * The lowest Node.js that the programs run on, as in `22.18`: `engines.node` of package.json, the only place that states it.
 *
 * @returns {string}
 * @throws Error when the range is not of the form `>=MAJOR.MINOR`.
 */
export function lowestNode() {
  const manifest = readFileSync(join(ROOT, 'package.json'), 'utf8');
  const { engines } = /** @type {{ engines: { node: string } }} */ (JSON.parse(manifest));
  const version = /^>=(\d+\.\d+)$/.exec(engines.node)?.[1];
  if (version === undefined) throw new Error(`engines.node in package.json is "${engines.node}", not ">=MAJOR.MINOR".`);
  return version;
}

/**
 * What to do about a Node.js that is too old, as one line; undefined when it is not.
 *
 * @param {string} version as in `process.versions.node`
 * @returns {string | undefined}
 */
export function outdatedNode(version) {
  const lowest = lowestNode();
  if (isAtLeast(version, lowest)) return undefined;
  return `Farwharf needs Node.js ${lowest} or newer, and this is ${version}. Run "npm rebuild node", which installs Node.js 24 for this folder only, and try again.`;
}

/** @param {string} version @param {string} lowest */
function isAtLeast(version, lowest) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [lowestMajor = 0, lowestMinor = 0] = lowest.split('.').map(Number);
  return major > lowestMajor || (major === lowestMajor && minor >= lowestMinor);
}
