import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { systemCode } from '../../core/errors.ts';
import { requireOwn } from '../../core/files/ownFiles.ts';
import { gpuClasses, thisMachine } from '../config/machineClasses.ts';
import { embeddedServeOptions } from '../embeddedOptions.ts';
import type { ServeOptions } from '../serveOptions.ts';

const KEY_BYTES = 32;

/** This program's folder: `versions/BUILD` in the root, with the version number of its bundle. */
export interface InstalledProgram {
  /** Path of `machineService.mjs`. */
  readonly entry: string;
  readonly runner: string;
  /** The version, and the start of the bundle's hash as build metadata (Semantic Versioning 2.0.0, section 10). */
  readonly version: string;
}

/** @param version the version number of the bundle. */
export function locateInstalled(entry: string, version: string): InstalledProgram {
  const folder = dirname(entry);
  return { entry, runner: join(folder, 'jobRunner.mjs'), version: `${version}+${basename(folder).slice(0, 12)}` };
}

/** The FARWHARF_HOME of the machine's service. */
export function homeOf(root: string): string {
  return join(root, 'home');
}

/** The configuration that the user may edit. */
export function configFileOf(root: string): string {
  return join(root, 'service.toml');
}

/** The key of the service, which stays the same when it starts again, so that tunnels continue to work. */
function readOrCreateKey(root: string): string {
  const file = join(root, 'key');
  requireOwn(file);
  try {
    writeFileSync(file, randomBytes(KEY_BYTES).toString('base64url'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') {
      // A full disk leaves it empty, and an empty key would be kept.
      rmSync(file, { force: true });
      throw error;
    }
  }
  return readFileSync(file, 'utf8');
}

/** The socket of the service: one for each host name, because the machines of a cluster share the home folder. */
export function socketOf(root: string): string {
  return join(root, `run-${hostname()}`, 'sock');
}

/**
 * The options of a machine's service.
 *
 * @throws AppError of `embeddedServeOptions`.
 */
export async function machineServeOptions(root: string, { runner, version }: InstalledProgram): Promise<ServeOptions> {
  // Its clients show the class beside the name of the machine, to which neither "local" nor "This machine." fits.
  const whole = { ...thisMachine(), name: 'default', description: 'The whole machine.' };
  // People connect a machine with GPUs for its GPUs, which two jobs cannot use well at once.
  const classes = whole.gpus > 0 ? gpuClasses(whole) : [whole];
  const options = await embeddedServeOptions(homeOf(root), { runner, version }, { file: configFileOf(root), classes });
  return {
    ...options,
    apiKey: readOrCreateKey(root),
    socket: socketOf(root),
  };
}
