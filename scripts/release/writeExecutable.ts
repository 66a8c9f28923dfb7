import { createHash } from 'node:crypto';
import { chmod, glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import * as esbuild from 'esbuild';
import type { Contents } from '../../src/cli/executable.ts';
import { runStep } from '../vscode/installOnce.ts';
import { signAdHoc } from './adHocSignature.ts';
import { nodeBinary, PLATFORMS, type Platform } from './nodeBinaries.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PROGRAM = [
  'dist/*.mjs',
  'dist/*.cjs',
  'dist/chunks/*.mjs',
  'dist/machineService.json',
  'dist/thirdPartyLicenses.txt',
  'package.json',
  'LICENSE',
];
const MAIN_NAME = 'main.mjs';
const MAIN = 'src/cli/executable.ts';
// A third of the size. More takes ten times as long and saves 2 %.
const ZSTD_LEVEL = 9;

/**
 * Writes what is built in `dist/` as a single executable for a platform; returns its path. The same build gives the same bytes on each machine.
 *
 * @param folder for the file, `farwharf-<version>-<platform>`.
 * @throws Unavailable where npm has to load a Node.js and cannot, or the executable cannot be made.
 */
export async function writeExecutable(
  platform: Platform,
  folder: string,
  log: (line: string) => void,
): Promise<string> {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const suffix = platform.name.startsWith('windows') ? '.exe' : '';
  const output = join(folder, `farwharf-${version}-${platform.name}${suffix}`);
  const scratch = await mkdtemp(join(tmpdir(), 'farwharf-executable-'));
  try {
    const node = await nodeBinary(platform, log);
    log(`making ${output}`);
    const { assets, contents } = await gatherAssets(scratch, await readFile(node));
    await esbuild.build({
      absWorkingDir: ROOT,
      entryPoints: [MAIN],
      outfile: join(scratch, MAIN_NAME),
      bundle: true,
      platform: 'node',
      format: 'esm',
      minify: true,
      define: { CONTENTS: JSON.stringify(contents) },
    });
    const config = join(scratch, 'executable.json');
    // The executable contains this path as it is given.
    const how = { main: MAIN_NAME, mainFormat: 'module', output, executable: node, assets };
    await writeFile(
      config,
      JSON.stringify({ ...how, disableExperimentalSEAWarning: true, useSnapshot: false, useCodeCache: false }),
    );
    await mkdir(folder, { recursive: true });
    await runStep(await builder(log), ['--build-sea', config], { cwd: scratch, env: process.env });
    if (platform.name.startsWith('macos')) await writeFile(output, signAdHoc(await readFile(output), 'farwharf'));
    await chmod(output, 0o755);
    return output;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The Node.js of this machine in the version of the executables: older ones cannot make any. */
async function builder(log: (line: string) => void): Promise<string> {
  const own = { linux: 'linux', darwin: 'macos', win32: 'windows' }[process.platform as string] ?? process.platform;
  const platform = PLATFORMS.find(({ name }) => name === `${own}-${process.arch}`);
  if (platform === undefined) throw new Error(`Executables cannot be made on ${process.platform} ${process.arch}.`);
  return nodeBinary(platform, log);
}

/** The files that an executable contains, by their names in it. */
interface Assets {
  readonly assets: Readonly<Record<string, string>>;
  readonly contents: Contents;
}

/** @param folder gets the compressed Node.js. */
async function gatherAssets(folder: string, node: Buffer): Promise<Assets> {
  const found = await Array.fromAsync(glob(PROGRAM, { cwd: ROOT }));
  const files = found.map((path) => path.replaceAll('\\', '/')).toSorted();
  const compressed = join(folder, 'node.zst');
  await writeFile(compressed, zstdCompressSync(node, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } }));
  const assets = { ...Object.fromEntries(files.map((path) => [path, join(ROOT, path)])), 'node.zst': compressed };
  const hash = createHash('sha256');
  for (const [name, path] of Object.entries(assets)) {
    const bytes = await readFile(path);
    hash.update(`${name}\0${bytes.length}\0`).update(bytes);
  }
  return { assets, contents: { digest: hash.digest('hex').slice(0, 32), entry: 'dist/cli.mjs', files } };
}
