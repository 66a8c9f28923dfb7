import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../core/errors.ts';
import { npmReason, runNpm } from '../../core/processes/npm.ts';
import lockFile from './modelLibraryLock.json' with { type: 'json' };

export const MODEL_LIBRARY = '@huggingface/transformers';
const VERSION = lockFile.packages['node_modules/@huggingface/transformers'].version;
// Incremented when the set of installed packages changes, so that an older installation is not used.
const RECIPE = 2;
const INSTALLED_BYTES = 165_000_000; // before unneeded files are removed
const PROGRESS_EVERY_MS = 250;

// The library requires its engine as a native module and a native image reader, 310 MB together, and a crash of either would end
// the process. They are replaced by the same engine in WebAssembly, which the library includes, and by a stub.
const STAND_INS: Readonly<Record<string, string>> = {
  'onnxruntime-node': [
    "const { dirname, sep } = require('node:path');",
    "const { pathToFileURL } = require('node:url');",
    "const engine = require('onnxruntime-web');",
    "// Otherwise it would be fetched from the library's web site.",
    "engine.env.wasm.wasmPaths = pathToFileURL(dirname(require.resolve('onnxruntime-web')) + sep).href;",
    'module.exports = engine;',
  ].join('\n'),
  sharp: "module.exports = () => {\n  throw new Error('Images are not supported here.');\n};",
};
// The files that are used of the engine's 140 MB of builds and source maps.
const ENGINE_FILES: readonly string[] = [
  'ort.node.min.js',
  'ort.node.min.mjs',
  'ort-wasm-simd-threaded.mjs',
  'ort-wasm-simd-threaded.wasm',
];

export interface InstallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Approximate size on disk, in bytes. */
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
  /** The environment of npm, which names proxies and registries. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

function libraryFolder(home: string): string {
  return join(home, 'models', `library-${VERSION}-${RECIPE}`);
}

/**
 * The library's file, resolved as a package from each of these files or folders, then from the installation in FARWHARF_HOME; undefined
 * if it is not installed.
 */
export function findModelLibrary(home: string, from: readonly string[] = []): string | undefined {
  for (const place of [...from, join(libraryFolder(home), 'package.json')]) {
    try {
      return createRequire(place).resolve(MODEL_LIBRARY);
    } catch {
      // not installed there
    }
  }
  return undefined;
}

/**
 * Installs the library that runs sentence models into FARWHARF_HOME with npm: about 45 MB, exactly the packages whose hashes are in
 * modelLibraryLock.json, without running any package's scripts. Returns the library's file. A complete installation is used as it is;
 * an interrupted one is replaced.
 *
 * @throws AppError `missing` without npm, `unreachable` without the network, `no-space`, `corrupt` for a package with another hash,
 * else `outcome-unknown` with what npm said; or the signal's reason on abort.
 */
export async function installModelLibrary(home: string, options: InstallOptions = {}): Promise<string> {
  const { signal, onProgress } = options;
  const folder = libraryFolder(home);
  if (!existsSync(folder)) {
    signal?.throwIfAborted();
    await mkdir(join(home, 'models'), { recursive: true, mode: 0o700 });
    const partial = await mkdtemp(`${folder}.partial-`);
    const end = new AbortController();
    const reporting = onProgress && reportBytes(partial, onProgress, end.signal);
    try {
      await writeRecipe(partial);
      await installPackages(partial, options);
      await removeUnneeded(partial);
      await rename(partial, folder).catch((error: unknown) => {
        if (!existsSync(folder)) throw error; // otherwise another process was faster
      });
    } finally {
      end.abort();
      await reporting;
      await rm(partial, { recursive: true, force: true });
    }
  }
  const library = findModelLibrary(home);
  if (library !== undefined) return library;
  throw new AppError(
    'corrupt',
    `The installation in ${folder} is incomplete. Remove that folder and install it again.`,
  );
}

async function writeRecipe(folder: string): Promise<void> {
  const overrides: Record<string, string> = {};
  for (const [name, program] of Object.entries(STAND_INS)) {
    const place = join(folder, 'stand-ins', name);
    await mkdir(place, { recursive: true });
    await writeFile(join(place, 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
    await writeFile(join(place, 'index.js'), `${program}\n`);
    overrides[name] = `file:./stand-ins/${name}`;
  }
  const manifest = { private: true, dependencies: { [MODEL_LIBRARY]: VERSION }, overrides };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest, undefined, 2));
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lockFile, undefined, 2));
}

async function removeUnneeded(folder: string): Promise<void> {
  const engine = join(folder, 'node_modules', 'onnxruntime-web', 'dist');
  for (const name of await readdir(engine)) if (!ENGINE_FILES.includes(name)) await rm(join(engine, name));
}

async function installPackages(folder: string, { signal, env = process.env }: InstallOptions): Promise<void> {
  const outcome = await runNpm(['ci', '--install-links'], { cwd: folder, env, signal });
  if (outcome.type === 'failed') throw npmFailure(outcome.output);
  if (outcome.type === 'missing') {
    throw new AppError(
      'missing',
      `npm was not found, which installs the library that runs embedding models here. Install Node.js with npm, or choose an embeddings service.`,
    );
  }
}

function npmFailure(output: string): AppError {
  const cause = new Error(output.trim());
  if (/ENOSPC/.test(output)) {
    return new AppError('no-space', 'The library that runs embedding models does not fit on the disk.', { cause });
  }
  if (/EINTEGRITY/.test(output)) {
    const message = `npm's registry gave another package than the one that ${MODEL_LIBRARY} ${VERSION} was published with, so nothing was installed. Check npm's registry setting and, if a proxy changes what is fetched, the proxy; then try again.`;
    return new AppError('corrupt', message, { cause });
  }
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|E(?:40[347]|5\d\d)\b/.test(output)) {
    return new AppError(
      'unreachable',
      `npm could not get ${MODEL_LIBRARY}: ${npmReason(output)}. Check the network and npm's registry and proxy settings, then try again.`,
      { cause },
    );
  }
  return new AppError('outcome-unknown', `npm could not install ${MODEL_LIBRARY}: ${npmReason(output)}.`, { cause });
}

async function reportBytes(
  folder: string,
  onProgress: (doneBytes: number, totalBytes: number) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    onProgress(Math.min(await bytesIn(folder), INSTALLED_BYTES), INSTALLED_BYTES);
    await sleep(PROGRESS_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) =>
      stat(join(parentPath, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
