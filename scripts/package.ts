// Packs the extension: `farwharf-<version>.vsix` in the project's folder, checked for what it holds and what it weighs.
// Builds first; with `--tests` also the suites that run inside VS Code.
import { readFile, readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createVSIX } from '@vscode/vsce';
import { formatBytes } from '../src/core/text/format.ts';
import { build } from './build.ts';
import { withoutFiles } from './extensionPage.ts';
import { vsixPath } from './vsixPath.ts';
import { addToZip, listZip } from './zip.ts';

const ROOT = resolve(import.meta.dirname, '..');
const MAX_BYTES = 1_950_000;
// What is built or made here. All else is named in .vscodeignore.
const BUILT = [
  /^\[Content_Types\]\.xml$/,
  /^extension\.vsixmanifest$/,
  /^extension\/dist\/[\w-]+\.(js|mjs|cjs)$/,
  /^extension\/dist\/machineService\.json$/,
  /^extension\/dist\/thirdPartyLicenses\.txt$/,
  /^extension\/dist\/webview\/[\w-]+\.(js|css)$/,
  /^extension\/dist\/chunks\/[\w-]+\.(js|mjs)$/,
  /^extension\/dist\/flowTypes\/([\w-]+\/)*[\w.-]+\.d\.ts$/,
  /^extension\/node_modules\/farwharf-types\/(package\.json|index\.js)$/,
];
const REQUIRED = [
  'dist/extension.js',
  'dist/features.js',
  'dist/worker.mjs',
  'dist/folderIndexWorker.mjs',
  'dist/chatModel.mjs',
  'dist/cli.mjs',
  'dist/askpass.mjs',
  'dist/jobRunner.mjs',
  'dist/sandboxTunnel.mjs',
  'dist/nodeDebugger.cjs',
  'dist/machineService.mjs',
  'dist/machineService.json',
  'dist/indexWorker.mjs',
  'dist/modelWorker.mjs',
  'dist/flowWorker.mjs',
  'dist/flowRunner.mjs',
  'dist/typesPlugin.js',
  'dist/flowTypes/agents/index.d.ts',
  'node_modules/farwharf-types/package.json',
  'dist/webview/canvas.js',
  'dist/webview/jobPage.js',
  'dist/webview/sweepPage.js',
  'dist/thirdPartyLicenses.txt',
];
// As `vsce` writes them.
const RENAMED: Readonly<Record<string, string>> = {
  'README.md': 'readme.md',
  'CHANGELOG.md': 'changelog.md',
  LICENSE: 'LICENSE.txt',
};

// The TypeScript server loads plugins only from packages, and `vsce` leaves out all of `node_modules`.
const PLUGIN_START = `const { join } = require('node:path');
const dist = join(__dirname, '..', '..', 'dist');
const { typesPlugin } = require(join(dist, 'typesPlugin.js'));
module.exports = typesPlugin({ 'farwharf/agents': join(dist, 'flowTypes', 'agents', 'index.d.ts') });
`;

interface Manifest {
  readonly version: string;
  readonly repository?: unknown;
}

async function readManifest(): Promise<Manifest> {
  return JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Manifest;
}

/** The paths that .vscodeignore names in full. */
async function namedFiles(): Promise<readonly string[]> {
  const lines = (await readFile(join(ROOT, '.vscodeignore'), 'utf8')).split('\n');
  return lines
    .filter((line) => line.startsWith('!') && !line.includes('*') && !line.startsWith('!dist/'))
    .map((line) => line.slice(1));
}

/**
 * Packs what is built in `dist/`; the result is the file's path.
 *
 * @throws Error when a file is in it that has no business there, one is missing, or it weighs too much.
 */
export async function packExtension(): Promise<string> {
  const path = await vsixPath();
  const { version, repository } = await readManifest();
  // A marketplace and VS Code load pictures and pages from the repository that the manifest names. vsce knows where these two have them.
  const rewriteRelativeLinks = /(github|gitlab)\.com\//.test(JSON.stringify(repository ?? ''));
  const flags = { dependencies: false, allowMissingRepository: true, rewriteRelativeLinks };
  // Marketplaces know pre-releases by this flag alone, and recommend odd minor versions for them.
  const preRelease = Number(version.split('.')[1]) % 2 === 1;
  await createVSIX({ cwd: ROOT, packagePath: path, preRelease, ...flags });
  const plugin = 'extension/node_modules/farwharf-types';
  await addToZip(path, {
    ...(rewriteRelativeLinks ? {} : await pagesWithoutFiles()),
    [`${plugin}/package.json`]: JSON.stringify({ name: 'farwharf-types', version: '0.0.0', main: 'index.js' }),
    [`${plugin}/index.js`]: PLUGIN_START,
  });
  const names = await listZip(path);
  const chunks = (await readdir(join(ROOT, 'dist/chunks'))).filter((name) => /^[\w-]+\.m?js$/.test(name));
  const named = (await namedFiles()).map((name) => RENAMED[name] ?? name);
  const expected = [...named, ...REQUIRED, ...chunks.map((name) => `dist/chunks/${name}`)].map(
    (name) => `extension/${name}`,
  );
  const missing = expected.filter((name) => !names.includes(name));
  if (missing.length > 0) throw new Error(`These files are missing in ${path}: ${missing.join(', ')}`);
  const unexpected = names.filter((name) => !expected.includes(name) && !BUILT.some((pattern) => pattern.test(name)));
  if (unexpected.length > 0) throw new Error(`These files must not be in ${path}: ${unexpected.join(', ')}`);
  const { size } = await stat(path);
  if (size >= MAX_BYTES)
    throw new Error(`${path} weighs ${formatBytes(size)}; the limit is ${formatBytes(MAX_BYTES)}.`);
  return path;
}

async function pagesWithoutFiles(): Promise<Record<string, string>> {
  const page = async (name: string): Promise<string> => withoutFiles(await readFile(join(ROOT, name), 'utf8'));
  // vsce's names for them
  return { 'extension/readme.md': await page('README.md'), 'extension/changelog.md': await page('CHANGELOG.md') };
}

if (import.meta.main) {
  build(...process.argv.slice(2));
  const path = await packExtension();
  process.stdout.write(`${path}: ${(await listZip(path)).length} files, ${formatBytes((await stat(path)).size)}\n`);
}
