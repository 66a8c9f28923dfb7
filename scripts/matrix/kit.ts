import { readFileSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import * as esbuild from 'esbuild';
import { build, isFresh } from '../build.ts';
import { lowestNode } from '../requirements.mjs';
import { packExtension } from '../package.ts';
import { copyTracked, trackedFiles } from '../trackedFiles.ts';
import { vsixPath } from '../vsixPath.ts';
import { runStep } from '../vscode/installOnce.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const TESTS = ['package', 'refusals'];
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

/** The shipped files, and a folder that has all that a test of the npm package needs, so that it can be copied anywhere. */
export interface Kit {
  /** File name of the npm package. */
  readonly tarball: string;
  /** File name of the extension. */
  readonly vsix: string;
  /**
   * `project/` is where a user ran `npm install`; `examples/` are the examples; `*.test.mjs` and `runner.mjs` run on the
   * lowest supported Node.js.
   */
  readonly folder: string;
}

/**
 * Packs the npm package and the extension, or takes those of the folder `artefacts`, and installs the package as a user would.
 *
 * @param packed whether the extension is packed already.
 */
export async function makeKit(
  scratch: string,
  { artefacts, packed }: { readonly artefacts?: string | undefined; readonly packed: boolean },
): Promise<Kit> {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const tarball = `farwharf-${version}.tgz`;
  const vsix = basename(await vsixPath());
  if (artefacts === undefined) {
    if (!packed) await buildAndPack();
    await packPackage(scratch);
  } else {
    await copyFile(join(artefacts, tarball), join(scratch, tarball));
    await copyFile(join(artefacts, vsix), await vsixPath());
  }
  const folder = join(scratch, 'kit');
  await installPackage(join(folder, 'project'), join(scratch, tarball));
  copyTracked(trackedFiles(['examples/**']), folder);
  await bundleTests(folder);
  return { tarball, vsix, folder };
}

/** Builds first unless that is done: other tests may be using what is built. */
async function buildAndPack(): Promise<void> {
  if (!isFresh('cli.mjs')) build();
  await packExtension();
}

async function packPackage(scratch: string): Promise<void> {
  await runStep('npm', ['pack', '--ignore-scripts', '--pack-destination', scratch, '--loglevel=error'], {
    cwd: ROOT,
    env: process.env,
  });
}

/** The one dependency comes from the checkout, of the same version: no network is needed. */
async function installPackage(project: string, tarball: string): Promise<void> {
  await mkdir(project, { recursive: true });
  await writeFile(join(project, 'package.json'), '{ "private": true }');
  const args = ['install', '--offline', '--install-links', ...QUIET, tarball, join(ROOT, 'node_modules', 'zod')];
  await runStep('npm', args, { cwd: project, env: process.env });
}

/** The tests themselves must run without access to the checkout, on every Node.js that is tested. */
async function bundleTests(folder: string): Promise<void> {
  const files = Object.fromEntries(TESTS.map((name) => [`${name}.test`, `test/matrix/${name}.test.ts`]));
  await esbuild.build({
    absWorkingDir: ROOT,
    entryPoints: { ...files, runner: 'scripts/matrix/runner.ts' },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: `node${lowestNode()}`,
    logLevel: 'warning',
  });
}
