import assert from 'node:assert/strict';
import { createHash, hash } from 'node:crypto';
import {
  closeSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { pick, type Random, randomFrom, TIMES } from '../../../random.ts';
import {
  LINUX_NAMES,
  MACOS_NAMES,
  type NameRules,
  validName,
  WINDOWS_NAMES,
} from '../../../../src/workspace/files/nameRules.ts';
import { discardStaged, stageArchive } from '../../../../src/workspace/extract/extract.ts';
import { packSelection } from '../../../../src/workspace/pack/pack.ts';
import { selectFiles } from '../../../../src/workspace/select/selection.ts';
import { temporaryFolder } from '../temporaryFolder.ts';

// `FARWHARF_TEST_TIMES=50` makes 10,000.
const TREES = 200 * TIMES;
const SYSTEMS: Readonly<Record<string, NameRules>> = {
  linux: LINUX_NAMES,
  macos: MACOS_NAMES,
  windows: WINDOWS_NAMES,
};
const ODD = [
  'T:300K',
  'aux',
  'CON.txt',
  'nul.',
  'com1 .log',
  'trail.',
  'space ',
  '. .',
  '...',
  '-rf',
  '~',
  '%FF',
  'a%b',
  '$(id)',
  '`id`',

  'what?',
  'a*b',
  'a<b>c',
  'a|b',
  'a"b',
  "a'b",
  'back\\slash',
  '..\\up',
  'C:',
  'C:\\x',
  '\\\\host\\share',
  'file::$DATA',

  'tab\tname',
  'line\nfeed',
  'esc\u001b[2J',
  'del\u007f',
  'nel\u0085',
  'a\u202eb',
  'a\u200db',
  '\ufeffbom',
  '\ufffd',

  'é',
  'e\u0301',
  'É',
  'ﬁle',
  'file',
  'FILE',
  'straße',
  'STRASSE',
  'İ',
  'ı',
  '日本語',
  '😀',
  'a b',
  ' a',
  '.hidden',
  'a.b.c',

  'n'.repeat(255),
  'ü'.repeat(127),
  `${'x'.repeat(250)}.csv`,
  'GIT~1',
  'file 2',
  'file 2 2',
  'a_b',
  'a_b_c',
  'aux_',
  '@LongLink',
];
const LETTERS = ['a', 'A', 'b', 'B', '.', ':', ' ', '_', '?', '2', 'é'];
const SIZES = [0, 1, 511, 512, 513, 4_095, 16_384, 16_385, 70_000];

function nameFrom(random: Random): string {
  const odd = pick(ODD, random) ?? 'x';
  if (random() < 0.6) return odd;
  const letters = Array.from({ length: 1 + Math.floor(random() * 6) }, () => pick(LETTERS, random) ?? 'a');
  const name = letters.join('');
  return /^\.{1,2}$/.test(name) ? 'dots' : name;
}

/** Writes a tree of odd names with holes and links, none of which is sent. Returns the text of the seed for messages. */
function writeTreeFrom(root: string, random: Random): void {
  mkdirSync(root);
  const folders = [''];
  const count = 1 + Math.floor(random() * 14);
  for (let index = 0; index < count; index += 1) {
    const parent = pick(folders, random) ?? '';
    const twin = random() < 0.2 ? swapCase(pick(readdirSync(join(root, parent)), random) ?? 'x') : undefined;
    const path = parent + (twin ?? nameFrom(random));
    if (lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined) continue;
    const kind = random();
    if (kind < 0.25) {
      mkdirSync(join(root, path));
      folders.push(`${path}/`);
    } else if (kind < 0.32)
      symlinkSync(pick(['/etc/passwd', '..', '../../out', 'loop'], random) ?? '', join(root, path));
    else writeFile(join(root, path), random);
  }
}

function swapCase(name: string): string {
  return name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase();
}

function writeFile(path: string, random: Random): void {
  const file = openSync(path, 'wx');
  try {
    const isSparse = random() < 0.1;
    // One tree in a few thousand has a file of up to 1 GB, and others have smaller holes.
    const most = random() < 0.003 ? 1e9 : 3e6;
    const size = isSparse ? Math.floor(random() * most) : (pick(SIZES, random) ?? 0);
    ftruncateSync(file, size);
    const marks = size === 0 ? 0 : Math.floor(random() * 4);
    for (let mark = 0; mark < marks; mark += 1) writeSync(file, `mark ${random()}`, Math.floor(random() * size));
    if (random() < 0.5) writeSync(file, 'x'.repeat(Math.min(size, 20_000)), 0);
  } finally {
    closeSync(file);
  }
  const time = Math.floor(random() * 1.7e9) + random();
  utimesSync(path, time, time);
}

async function sha256(path: string): Promise<string> {
  const { createReadStream } = await import('node:fs');
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) digest.update(chunk);
  return digest.digest('hex');
}

/** The absolute paths of what is not a folder; links are not followed. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesIn(path) : [path];
  });
}

test(`whatever is packed is taken on every system: ${TREES} trees`, async (t) => {
  if (process.platform === 'win32') return t.skip('SKIPPED: such trees cannot be made on Windows');
  const base = temporaryFolder(t);
  const counts = { files: 0, bytes: 0, largest: 0, notSent: 0, renamed: 0, twins: 0, skipped: 0 };
  for (let seed = 1; seed <= TREES; seed += 1) {
    const place = join(base, String(seed));
    mkdirSync(place);
    const root = join(place, 'root');
    writeTreeFrom(root, randomFrom(seed));
    const selection = await selectFiles(root, { isTrusted: false });
    // Everything in the folder is either sent or named with the reason.
    const named = new Set([...selection.files, ...selection.excluded].map(({ path }) => path));
    for (const path of filesIn(root)) {
      const relative = path.slice(root.length + 1);
      const isNamed = relative.split('/').some((_, index, parts) => named.has(parts.slice(0, index + 1).join('/')));
      assert.ok(isNamed, `seed ${seed}: ${JSON.stringify(relative)} is neither sent nor named`);
    }
    counts.notSent += selection.excluded.length;
    const { path: archive, manifest } = await packSelection(selection, join(place, 'a.tar.gz'), {
      allowsSecrets: true,
    });
    counts.files += manifest.length;
    counts.bytes += selection.totalBytes;
    counts.largest = Math.max(counts.largest, ...manifest.map(({ size }) => size));
    for (const [system, rules] of Object.entries(SYSTEMS)) {
      const about = `seed ${seed} on ${system}`;
      const target = join(place, system);
      const staged = await stageArchive(archive, target, { rules, isHashed: true });
      const entries = staged.entries.map((entry, index) => ({ ...entry, sha256: staged.hashes[index] }));
      const came = new Map(entries.map((entry) => [entry.name ?? entry.path, entry]));
      const missing = new Set(staged.skipped.map(({ path }) => path));
      for (const sent of manifest) {
        const entry = came.get(sent.path);
        assert.ok(entry !== undefined || missing.has(sent.path), `${about}: ${JSON.stringify(sent.path)} is missing`);
        if (entry === undefined) continue;
        assert.equal(entry.sha256, sent.sha256, about);
        const parts = entry.path.split('/');
        for (const part of parts) assert.equal(validName(part, rules), part, `${about}: ${JSON.stringify(part)}`);
        const stats = lstatSync(join(staged.staging, entry.path), { bigint: true });
        assert.ok(stats.isFile(), about);
        assert.equal(Number(stats.size), sent.size, about);
        const local = lstatSync(join(root, sent.path), { bigint: true });
        assert.ok(Math.abs(Number(stats.mtimeNs - local.mtimeNs)) < 1_000, about);
        // A hole of the file is a hole here, but for the blocks at its edges.
        assert.ok(stats.blocks <= local.blocks + 2_100n, `${about}: ${stats.blocks} blocks of ${local.blocks}`);
        if (entry.name !== undefined) counts.renamed += 1;
        if (entry.twin !== undefined) counts.twins += 1;
      }
      if (sentBytes(manifest) < 5e6) {
        for (const { path, sha256: expected } of entries)
          assert.equal(hash('sha256', readFileSync(join(staged.staging, path))), expected, about);
      } else
        for (const { path, sha256: expected } of entries)
          assert.equal(await sha256(join(staged.staging, path)), expected);
      counts.skipped += staged.skipped.length;
      assert.equal(filesIn(staged.staging).length, staged.entries.length, about);
      assert.deepEqual(readdirSync(target), [dirname(staged.staging).slice(target.length + 1)], `${about}: outside`);
      await discardStaged(staged);
      assert.deepEqual(readdirSync(target), [], about);
    }
    assert.deepEqual(readdirSync(place).sort(), ['a.tar.gz', ...Object.keys(SYSTEMS), 'root'].sort());
    rmSync(place, { recursive: true });
  }
  t.diagnostic(`${TREES} trees: ${JSON.stringify(counts)}`);
});

function sentBytes(manifest: readonly { readonly size: number }[]): number {
  return manifest.reduce((sum, { size }) => sum + size, 0);
}
