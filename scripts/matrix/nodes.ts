import { mkdirSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lowestNode } from '../requirements.mjs';
import { cacheFolder } from '../vscode/cache.ts';
import { installOnce, runStep } from '../vscode/installOnce.ts';
import { nodePackage } from '../vscode/nodePackage.ts';
import { Unavailable } from '../vscode/unavailable.ts';

const CACHED = /^node-(\d+\.\d+\.\d+)$/;
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

type Log = (line: string) => void;

/**
 * Returns the newest version of each line with long-term support (an even major version) since the lowest that package.json
 * promises, in order. Where npm cannot be asked these are the newest on this machine, and `problem` is the reason.
 */
export async function newestNodes(): Promise<{ versions: string[]; problem?: string }> {
  const newest = new Map<number, string>();
  const { versions, problem } = await knownVersions();
  for (const version of versions) {
    const [major = 0] = numbersOf(version);
    if (major % 2 !== 0 || compareVersions(version, lowestNode()) < 0) continue;
    const other = newest.get(major);
    if (other === undefined || compareVersions(version, other) > 0) newest.set(major, version);
  }
  return { versions: [...newest.values()].sort(compareVersions), ...(problem === undefined ? {} : { problem }) };
}

async function knownVersions(): Promise<{ versions: string[]; problem?: string }> {
  mkdirSync(cacheFolder(), { recursive: true });
  const cached = readdirSync(cacheFolder()).flatMap((name) => CACHED.exec(name)?.[1] ?? []);
  const local = [process.versions.node, ...cached];
  const name = nodePackage();
  if (name === undefined) return { versions: local, problem: `npm has no Node.js for ${process.platform}` };
  const args = ['view', name, 'versions', '--json', '--fetch-retries=1', '--fetch-retry-mintimeout=1000'];
  try {
    const published = JSON.parse(await runStep('npm', args, { cwd: cacheFolder(), env: process.env })) as string[];
    return { versions: published.filter((version) => /^[\d.]+$/.test(version)) };
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    return { versions: local, problem: error.message };
  }
}

/**
 * Returns the path of this version's `node`, which is installed from npm into the cache folder when it is not there yet.
 *
 * @throws Unavailable where it cannot be had.
 */
export async function installNode(version: string, log: Log): Promise<string> {
  if (version === process.versions.node) return process.execPath;
  const name = nodePackage();
  if (name === undefined) throw new Unavailable(`npm has no Node.js for ${process.platform} ${process.arch}`);
  const folder = await installOnce(join(cacheFolder(), `node-${version}`), log, async (partial) => {
    log(`installing Node.js ${version} (once; 120 MB)`);
    await writeFile(join(partial, 'package.json'), '{ "private": true }');
    await runStep('npm', ['install', ...QUIET, `${name}@${version}`], { cwd: partial, env: process.env });
  });
  return join(folder, 'node_modules', name, 'bin', 'node');
}

function numbersOf(version: string): number[] {
  return version.split('.').map(Number);
}

function compareVersions(one: string, other: string): number {
  const [a, b] = [numbersOf(one), numbersOf(other)];
  return [0, 1, 2].map((at) => (a[at] ?? 0) - (b[at] ?? 0)).find((difference) => difference !== 0) ?? 0;
}
