// A checkout in which people have worked: results of the sample, notes, keys, settings and an example of their own.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { createVSIX } from '@vscode/vsce';
import { copyTracked, FILE_LIST, trackedFiles } from '../../scripts/trackedFiles.ts';
import { filesBelow, npm, unbuiltClone } from './support/packedPackage.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const MANY = 10_000;
const NOTES = '# Notes\n\nThe [link](nowhere.md) leads to nothing, and `node scripts/missing.ts` does not exist.\n';
const STRAYS: Readonly<Record<string, string>> = {
  'examples/quickstart/loss.png': 'a result',
  'examples/quickstart/metrics.json': '{}',
  'examples/quickstart/samples.txt': 'a result',
  'examples/quickstart/id_ed25519': 'a key',
  'examples/quickstart/texts/own.txt': 'a text',
  'examples/quickstart/.vscode/settings.json': '{ }',
  'examples/agents/own.mts': 'let   x: number = "no number"\n',
  'media/own.png': 'a picture',
  'media/own.json': '{',
  'media/walkthrough/own.svg': '<svg/>',
  'media/walkthrough/own.md': NOTES,
  'docs/notes.md': NOTES,
  'notes.md': NOTES,
  'changelog.txt': 'x',
  '.env': 'KEY=1',
  '.vscode/settings.json': '{\n        "editor.tabSize":8}\n',
  'l10n/bundle.l10n.fr.json': '{}',
  'src/own.ts': "import { nothing } from 'nowhere';\n",
  'test/unit/own.ts': 'let   x: number = "no number"\n',
  'server/own.key': 'a key',
};
// They read the checkout itself.
const READERS = ['docLinks', 'manifest', 'noTelemetry', 'packedFiles', 'printedText', 'retiredWords', 'translation'];

const scratch = mkdtempSync(join(tmpdir(), 'farwharf-strays-'));
let clone = '';
let clean: Packed;
let tracked: readonly string[] = [];

interface Packed {
  readonly vsix: string;
  readonly tarball: string;
}

before(async () => {
  const folder = join(scratch, 'Öl & Meer – ışık 🚢');
  mkdirSync(folder);
  clone = unbuiltClone(folder);
  cpSync(join(ROOT, 'dist'), join(clone, 'dist'), { recursive: true });
  git('init', '--quiet');
  git('add', '--all');
  tracked = trackedFiles(undefined, clone);
  clean = await pack('clean');
  for (const [path, text] of Object.entries(STRAYS)) {
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    writeFileSync(join(clone, path), text);
  }
});
after(() => rmSync(scratch, { recursive: true, force: true }));

function git(...args: readonly string[]): void {
  execFileSync('git', args, { cwd: clone, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Packs the extension and the npm package; returns the digests of both. */
async function pack(name: string): Promise<Packed> {
  const to = join(scratch, name);
  mkdirSync(to);
  process.env['SOURCE_DATE_EPOCH'] = '1700000000';
  const flags = { dependencies: false, allowMissingRepository: true, rewriteRelativeLinks: false };
  await createVSIX({ cwd: clone, packagePath: join(to, 'x.vsix'), ...flags });
  npm(['pack', '--ignore-scripts', '--pack-destination', to], clone);
  const [tarball = ''] = readdirSync(to).filter((path) => path.endsWith('.tgz'));
  const digest = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
  return { vsix: digest(join(to, 'x.vsix')), tarball: digest(join(to, tarball)) };
}

test('VSIX and npm package have the same bytes whatever else lies in the folder', async () => {
  assert.deepEqual(await pack('with strays'), clean);
});

test('what is checked is what git tracks, with the examples as git has them', () => {
  for (let index = 0; index < MANY; index += 1) writeFileSync(join(clone, `own${index}.md`), NOTES);
  const path = 'examples/agents/chat.mts';
  appendFileSync(join(clone, path), 'let   broken: number = "no number"\n');
  assert.deepEqual(trackedFiles(undefined, clone), tracked);
  const copy = join(scratch, 'checked');
  copyTracked(tracked, copy, clone);
  assert.deepEqual(filesBelow(copy), [...tracked].sort());
  assert.doesNotMatch(readFileSync(join(copy, path), 'utf8'), /broken/);
  git('add', path);
  copyTracked([path], copy, clone);
  assert.match(readFileSync(join(copy, path), 'utf8'), /broken/);
});

test('tests that read the checkout do not see other files', () => {
  const files = READERS.map((name) => join(clone, 'test/unit', `${name}.test.ts`));
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  const { status, stdout } = spawnSync(process.execPath, ['--test', ...files], { cwd: clone, env, encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});

test('without git, the files are those that the release has recorded', () => {
  const archive = join(scratch, 'archive');
  copyTracked(tracked, archive, clone);
  assert.deepEqual(trackedFiles(undefined, archive), tracked);
  writeFileSync(join(archive, FILE_LIST), tracked.map((path) => `${path}\n`).join(''));
  for (const [path, text] of Object.entries(STRAYS)) {
    mkdirSync(dirname(join(archive, path)), { recursive: true });
    writeFileSync(join(archive, path), text);
  }
  symlinkSync('loop', join(archive, 'loop'));
  assert.deepEqual(trackedFiles(undefined, archive), tracked);
  assert.ok(existsSync(join(archive, 'media/own.json')));
});
