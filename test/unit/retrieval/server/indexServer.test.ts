import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DiskChange, FolderStatus, WatchedFolder } from '../../../../src/retrieval/server/folderIndex.ts';
import { indexPath } from '../../../../src/retrieval/index/indexStore.ts';
import { IndexServer } from '../../../../src/retrieval/server/indexServer.ts';
import { readCommits } from '../../../../src/workspace/git/commitLog.ts';
import { inspectSearchable, selectSearchable } from '../../../../src/workspace/select/searchableFiles.ts';
import { GUARD_MS } from '../../timeLimits.ts';

const WORKER = join(import.meta.dirname, '../../../../src/retrieval/index/indexWorker.ts');
const SELECTOR = { select: selectSearchable, inspect: inspectSearchable };

/** A folder that is open in a window. */
class Window {
  readonly base: string;
  readonly folder: string;
  readonly index: IndexServer;

  private constructor(base: string) {
    this.base = base;
    this.folder = join(base, 'folder');
    this.index = new IndexServer({ home: join(base, 'home'), workerProgram: WORKER, selector: SELECTOR, readCommits });
  }

  static async open(t: TestContext, files: Readonly<Record<string, string>>, isGit = false): Promise<Window> {
    const base = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-live-')));
    t.after(() => rm(base, { recursive: true, force: true, maxRetries: 5 }));
    const window = new Window(base);
    await mkdir(window.folder);
    if (isGit) execFileSync('git', ['init', '-q'], { cwd: window.folder });
    for (const [path, text] of Object.entries(files)) await window.write(path, text);
    await window.start(t, isGit);
    return window;
  }

  /** Another window on the same folder. */
  async again(t: TestContext): Promise<Window> {
    const window = new Window(this.base);
    await window.start(t);
    return window;
  }

  /** Another window on the same folder, in which indexing is paused. */
  async paused(t: TestContext): Promise<Window> {
    const window = new Window(this.base);
    await window.index.pause();
    await window.start(t);
    return window;
  }

  async start(t: TestContext, isTrusted = false): Promise<void> {
    t.after(() => this.index.dispose());
    await this.index.open([{ path: this.folder, isTrusted }]);
    await this.index.settle();
  }

  at(path: string): string {
    return join(this.folder, path);
  }

  async write(path: string, text: string): Promise<void> {
    await mkdir(dirname(this.at(path)), { recursive: true });
    await writeFile(this.at(path), text);
  }

  /** Files of 21 MB together, which is much to read, and which are quickly read because they have no text. */
  async writeLarge(): Promise<void> {
    for (let file = 0; file < 21; file += 1) {
      await this.write(`large/${file}.md`, '');
      await truncate(this.at(`large/${file}.md`), 1_000_000);
    }
  }

  async notify(...changes: (readonly [type: 'created' | 'changed' | 'deleted', path: string])[]): Promise<void> {
    await this.tell(changes.map(([type, path]) => ({ type, path: this.at(path) })));
  }

  async tell(changes: readonly DiskChange[]): Promise<void> {
    await this.index.notify(changes);
    await this.index.settle();
  }

  async find(query: string): Promise<string[]> {
    return (await this.index.searchFolders(query, { limit: 50 })).map(({ path }) => path).sort();
  }

  async status(): Promise<FolderStatus> {
    const [status] = await this.index.status();
    assert.ok(status);
    return status;
  }

  async until(isSo: (status: FolderStatus) => boolean): Promise<void> {
    for (const deadline = performance.now() + GUARD_MS; !isSo(await this.status()); await sleep(50)) {
      if (performance.now() > deadline) assert.fail(JSON.stringify(await this.status()));
    }
  }
}

for (const isGit of [false, true]) {
  const how = isGit ? 'with git' : 'without git';

  test(`files that are created, changed, deleted and renamed are followed, ${how}`, async (t) => {
    const window = await Window.open(t, { 'a.md': 'zebra', 'sub/b.md': 'lion', '.gitignore': '*.log\nout/\n' }, isGit);
    await window.write('a.md', 'tiger');
    await window.write('new.md', 'zebra lion');
    await window.write('x.log', 'zebra');
    await window.write('out/y.md', 'zebra');
    await window.write('.env', 'zebra=1');
    await window.notify(
      ['changed', 'a.md'],
      ['created', 'new.md'],
      ['created', 'x.log'],
      ['created', 'out/y.md'],
      ['created', 'out'],
      ['created', '.env'],
    );
    assert.deepEqual([await window.find('zebra'), await window.find('tiger')], [['new.md'], ['a.md']]);
    await rename(window.at('sub'), window.at('moved'));
    await rm(window.at('new.md'));
    await window.tell([
      { type: 'renamed', from: window.at('sub'), path: window.at('moved') },
      { type: 'deleted', path: window.at('new.md') },
    ]);
    assert.deepEqual([await window.find('zebra'), await window.find('lion')], [[], ['moved/b.md']]);
    assert.equal((await window.status()).files, 3);
  });

  test(`a changed ignore file decides anew what is found, ${how}`, async (t) => {
    const window = await Window.open(t, { 'a.md': 'zebra', 'sub/b.md': 'zebra', 'sub/c.txt': 'zebra' }, isGit);
    await window.write('sub/.gitignore', '*.md\n');
    await window.notify(['created', 'sub/.gitignore']);
    assert.deepEqual(await window.find('zebra'), ['a.md', 'sub/c.txt']);
    await window.write('.gitignore', 'more/\n');
    await window.write('more/d.md', 'zebra');
    await window.notify(['created', '.gitignore'], ['created', 'more/d.md']);
    assert.deepEqual(await window.find('zebra'), ['a.md', 'sub/c.txt']);
    const { items, total } = await window.index.skipped(window.folder, { limit: 9 });
    assert.equal(items.find(({ path }) => path === 'more')?.reason, 'gitignore');
    const rule = items.find(({ path }) => path === 'sub/b.md');
    assert.deepEqual([rule?.reason, rule?.rule, rule?.at], ['gitignore', '*.md', 'sub/.gitignore:1']);
    assert.equal(total, (await window.status()).skipped);
    await rm(window.at('sub/.gitignore'));
    await rm(window.at('.gitignore'));
    await window.notify(['deleted', 'sub/.gitignore'], ['deleted', '.gitignore']);
    assert.deepEqual(await window.find('zebra'), ['a.md', 'more/d.md', 'sub/b.md', 'sub/c.txt']);
    await window.write('.gitignore', 'more/\n');
    await window.notify(['created', '.gitignore']);
    const again = await window.index.skipped(window.folder, { limit: 9 });
    assert.deepEqual(
      [again.items.map(({ path }) => path).filter((path) => path !== '.git'), await window.find('zebra')],
      [['more'], ['a.md', 'sub/b.md', 'sub/c.txt']],
    );
  });

  test(`a file that becomes a secret is not found any more, ${how}`, async (t) => {
    const window = await Window.open(t, { 'a.md': 'zebra' }, isGit);
    await window.write('a.md', `zebra npm_${'k3J9xQ2mV7bT1zR5wY8nL4pH6cD0fG'.repeat(2).slice(0, 36)}`);
    await window.notify(['changed', 'a.md']);
    assert.deepEqual(await window.find('zebra'), []);
    const { items } = await window.index.skipped(window.folder, { limit: 9 });
    assert.deepEqual(
      items.filter(({ path }) => path === 'a.md').map(({ reason, rule }) => [reason, rule]),
      [['secret', 'npm token']],
    );
    await window.write('a.md', 'zebra');
    await window.notify(['changed', 'a.md']);
    assert.deepEqual(
      [
        await window.find('zebra'),
        (await window.index.skipped(window.folder, { limit: 9 })).items.some(({ path }) => path === 'a.md'),
      ],
      [['a.md'], false],
    );
  });

  test(`a checkout of hundreds of files is taken in, and a folder of notices is one, ${how}`, async (t) => {
    const names = Array.from({ length: 300 }, (_, at) => `d${at % 7}/f${at}.txt`);
    const window = await Window.open(t, Object.fromEntries(names.map((name) => [name, 'lion'])), isGit);
    for (const name of names) await window.write(name, 'a zebra of another branch');
    for (let at = 0; at < 150; at += 1) await window.write(`new/f${at}.txt`, 'zebra');
    await rm(window.at('d3'), { recursive: true });
    await window.index.notify(names.map((name) => ({ type: 'changed', path: window.at(name) })));
    await window.index.notify(
      Array.from({ length: 150 }, (_, at) => ({ type: 'created', path: window.at(`new/f${at}.txt`) })),
    );
    await window.index.settle();
    const left = names.filter((name) => !name.startsWith('d3/')).length;
    assert.equal((await window.status()).files, left + 150);
    assert.equal((await window.index.searchFolders('zebra', { limit: 2000 })).length, left + 150);
    assert.deepEqual(await window.find('lion'), []);
    await rm(window.at('new'), { recursive: true });
    await window.write('whole/g.txt', 'zebu');
    await window.tell([{ type: 'changed', path: window.folder }]);
    assert.deepEqual([(await window.status()).files, await window.find('zebu')], [left + 1, ['whole/g.txt']]);
  });
}

test('an unsaved text is found in place of its file, and is written nowhere', async (t) => {
  const window = await Window.open(t, {
    'a.md': 'zebra',
    'b.md': 'zebra crossing',
    'out.log': 'x',
    '.gitignore': '*.log',
  });
  await window.index.shareUnsavedText(window.at('a.md'), 'an unsaved okapi\nwith a quagga\n');
  await window.index.shareUnsavedText(window.at('out.log'), 'an okapi in an ignored file');
  assert.deepEqual([await window.find('okapi'), await window.find('zebra')], [['a.md'], ['b.md']]);
  const [hit] = await window.index.searchFolders('quagga', { limit: 1 });
  assert.equal(hit?.text, 'an unsaved okapi\nwith a quagga');
  await window.write('a.md', 'a saved zebra');
  await window.notify(['changed', 'a.md']);
  assert.deepEqual([await window.find('okapi'), await window.find('zebra')], [['a.md'], ['b.md']], 'the screen counts');
  const store = indexPath(join(window.base, 'home'), window.folder);
  for (const name of await readdir(store)) assert.doesNotMatch(await readFile(join(store, name), 'latin1'), /okapi/);
  await window.index.shareUnsavedText(window.at('a.md'), undefined);
  assert.deepEqual([await window.find('okapi'), await window.find('zebra')], [[], ['a.md', 'b.md']]);
});

test('a paused index takes in no changes, and another window continues', async (t) => {
  const window = await Window.open(t, { 'a.md': 'zebra' });
  const other = await window.again(t);
  assert.deepEqual([(await window.status()).isWriter, (await other.status()).isWriter], [true, false]);
  await window.index.pause();
  await window.write('b.md', 'zebra');
  await window.index.notify([{ type: 'created', path: window.at('b.md') }]);
  assert.deepEqual([(await window.status()).state, await window.find('zebra')], ['paused', ['a.md']]);
  await other.until(({ isWriter }) => isWriter);
  await other.notify(['created', 'b.md']);
  assert.deepEqual(await other.find('zebra'), ['a.md', 'b.md']);
  await window.index.resume();
  await window.index.settle();
  assert.deepEqual([(await window.status()).state, (await window.status()).isWriter], ['ready', false]);
  assert.deepEqual(await window.find('zebra'), ['a.md', 'b.md']);
});

test('on battery a large folder waits for power or a person, and single changes are taken in', async (t) => {
  const window = await Window.open(t, { 'a.md': 'zebra' });
  await window.index.saveEnergy(true);
  await window.write('a.md', 'tiger');
  await window.notify(['changed', 'a.md']);
  assert.deepEqual([await window.find('tiger'), (await window.status()).state], [['a.md'], 'ready']);
  await window.writeLarge();
  await window.write('last.md', 'okapi');
  await window.index.notify([{ type: 'created', path: window.folder }]);
  await window.until(({ state }) => state === 'waiting');
  assert.deepEqual(await window.find('okapi'), []);
  await window.index.resume();
  await window.until(({ state }) => state === 'ready');
  assert.deepEqual(await window.find('okapi'), ['last.md']);
});

test('indexing that waits for power continues on mains', async (t) => {
  const window = await Window.open(t, {});
  await window.index.saveEnergy(true);
  await window.writeLarge();
  await window.write('a.md', 'okapi');
  await window.index.notify([{ type: 'created', path: window.folder }]);
  await window.until(({ state }) => state === 'waiting');
  await window.index.settle();
  await window.index.saveEnergy(false);
  await window.until(({ state }) => state === 'ready');
  assert.deepEqual(await window.find('okapi'), ['a.md']);
});

test('a window sees what another one writes, and writes once that is closed', async (t) => {
  const first = await Window.open(t, { 'a.md': 'zebra' });
  const second = await first.again(t);
  await first.write('b.md', 'zebra');
  await first.notify(['created', 'b.md']);
  await second.until(({ files }) => files === 2);
  assert.deepEqual(await second.find('zebra'), ['a.md', 'b.md']);
  await first.write('c.md', 'zebra');
  await second.notify(['created', 'c.md']);
  assert.deepEqual(await second.find('zebra'), ['a.md', 'b.md', 'c.md'], 'its own changes too');
  first.index.dispose();
  await second.until(({ isWriter }) => isWriter);
  await second.index.settle();
  second.index.dispose();
  const third = await second.again(t);
  assert.deepEqual([(await third.status()).isWriter, await third.find('zebra')], [true, ['a.md', 'b.md', 'c.md']]);
});

test('several folders are searched at once or alone, and one that is closed is not', async (t) => {
  const one = await Window.open(t, { 'a.md': 'zebra zebra' });
  const two = await Window.open(t, { 'b.md': 'a zebra among other animals' });
  const { index } = one;
  await index.open([one, two].map(({ folder }) => ({ path: folder, isTrusted: false })));
  await index.settle();
  assert.deepEqual(
    (await index.searchFolders('zebra', { limit: 9 })).map(({ folder, path }) => [folder, path]),
    [
      [one.folder, 'a.md'],
      [two.folder, 'b.md'],
    ],
  );
  assert.equal((await index.searchFolders('zebra', { limit: 1 })).length, 1);
  assert.deepEqual(
    (await index.searchFolders('zebra', { limit: 9, folders: [two.folder] })).map(({ path }) => path),
    ['b.md'],
  );
  await index.open([{ path: two.folder, isTrusted: false }]);
  assert.deepEqual(
    (await index.searchFolders('zebra', { limit: 9 })).map(({ path }) => path),
    ['b.md'],
  );
});

test('a file of a folder inside another is listed once, as a file of the inner one, and takes the place of no other', async (t) => {
  const outer = await Window.open(t, { 'a.md': 'zebra', 'inner/b.md': 'zebra zebra' });
  const inner = join(outer.folder, 'inner');
  const search = async (limit: number): Promise<string[]> =>
    (await outer.index.searchFolders('zebra', { limit })).map(({ folder, path }) => `${folder}: ${path}`).sort();
  await outer.index.open([outer.folder, inner].map((path) => ({ path, isTrusted: false })));
  await outer.index.settle();
  assert.deepEqual(await search(9), [`${inner}: b.md`, `${outer.folder}: a.md`]);
  assert.equal((await search(2)).length, 2);
});

test('a misspelt word is corrected unless a folder has it, also beside folders without any such word', async (t) => {
  const window = await Window.open(t, { 'a.md': 'giraffe and lion' });
  const empty = await Window.open(t, { 'b.md': 'lion' });
  const other = await Window.open(t, { 'c.md': 'girafe' });
  const correctIn = async (...folders: string[]): Promise<string | undefined> => {
    await window.index.open(folders.map((path) => ({ path, isTrusted: false })));
    await window.index.settle();
    return window.index.correctSpelling('girafe lion', {});
  };
  const missing = join(window.base, 'missing');
  assert.equal(await correctIn(missing, window.folder, empty.folder), 'giraffe lion');
  assert.equal(await correctIn(window.folder, other.folder), undefined);
});

test('what is related to a selection is found without the selection itself', async (t) => {
  const code = 'export function retryDelay(attempt: number): number {\n  return 2 ** attempt;\n}\n';
  const window = await Window.open(t, {
    'retry.ts': code,
    'wait.ts': 'const delay = retryDelay(3);\n',
    'zoo.md': 'lion',
  });
  const at = { path: window.at('retry.ts'), startLine: 2, endLine: 3 };
  const related = await window.index.related(code, { limit: 5, at });
  assert.deepEqual(
    related.map(({ path }) => path),
    ['wait.ts'],
  );
});

test('a folder that is not there is an error of that folder alone, and rebuilding finds everything again', async (t) => {
  const window = await Window.open(t, { 'a.md': 'zebra' });
  const missing = join(window.base, 'missing');
  await window.index.open([missing, window.folder].map((path) => ({ path, isTrusted: false })));
  await window.index.settle();
  const [bad, good] = await window.index.status();
  assert.deepEqual([bad?.state, bad?.problem?.code, good?.state], ['error', 'missing', 'ready']);
  await window.index.rebuild([window.folder]);
  await window.index.settle();
  assert.deepEqual(await window.find('zebra'), ['a.md']);
});

test('an index whose files are damaged or removed while it is open is built again', async (t) => {
  const window = await Window.open(t, { 'a.md': 'zebra' });
  await window.writeLarge();
  const store = indexPath(join(window.base, 'home'), window.folder);
  const damages: readonly ((segment: string) => Promise<void>)[] = [
    (segment) => rm(segment),
    (segment) => truncate(segment, 99),
    (segment) => writeFile(segment, 'zebra'),
    () => rm(store, { recursive: true, force: true }),
  ];
  for (const damage of damages) {
    await window.index.rebuild();
    await window.index.settle();
    const segments = (await readdir(store)).filter((name) => name.endsWith('.segment'));
    for (const name of segments) await damage(join(store, name));
    await Promise.all([window.find('zebra'), window.index.correctSpelling('zebre', {})]);
    await window.index.settle();
    assert.deepEqual(await window.find('zebra'), ['a.md'], damage.toString());
    assert.equal((await window.status()).problem, undefined, damage.toString());
    assert.deepEqual(await (await window.paused(t)).find('zebra'), ['a.md'], `stored: ${damage.toString()}`);
  }
});

test('a paused window finds what another one has written instead of its own files', async (t) => {
  const window = await Window.open(t, { 'a.md': 'zebra' });
  await window.writeLarge();
  await window.index.rebuild();
  await window.index.settle();
  await window.index.pause();
  await window.until(({ isWriter }) => !isWriter);
  const other = await window.again(t);
  await other.index.rebuild();
  await other.index.settle();
  assert.deepEqual(await window.find('zebra'), ['a.md']);
  assert.equal((await window.status()).isWriter, false);
});

test('the status is reported at once and when it changes', async (t) => {
  const window = await Window.open(t, { 'a.md': 'zebra' });
  const end = new AbortController();
  const seen: number[] = [];
  const following = window.index.follow(([status]) => void seen.push(status?.files ?? 0), { signal: end.signal });
  await window.write('b.md', 'zebra');
  await window.notify(['created', 'b.md']);
  for (const deadline = performance.now() + GUARD_MS; seen.at(-1) !== 2 && performance.now() < deadline; )
    await sleep(20);
  end.abort();
  await following;
  assert.deepEqual([seen[0], seen.at(-1)], [1, 2]);
  const status = await window.status();
  assert.ok(status.bytes > 0 && status.updatedAt !== undefined && status.pending === 0);
});

test('an index is needed while it reads, and not once it is up to date or paused', async (t) => {
  const window = await Window.open(t, { 'a.md': 'zebra' });
  assert.equal(await window.index.isNeeded(), false);
  await window.write('a.md', 'lion');
  await window.index.notify([{ type: 'changed', path: window.at('a.md') }]);
  assert.equal(await window.index.isNeeded(), true);
  await window.index.settle();
  assert.equal(await window.index.isNeeded(), false);
  await window.index.pause();
  assert.equal(await window.index.isNeeded(), false);
});

test('a folder that is opened while indexing is paused can be searched as it was stored', async (t) => {
  const window = await Window.open(t, { 'a.md': 'zebra' });
  window.index.dispose();
  await window.write('a.md', 'zebra lion');
  await window.write('b.md', 'zebra');
  const again = await window.paused(t);
  assert.deepEqual(await again.find('zebra'), ['a.md']);
});

test('the past commits of a trusted folder count in its ranking, new ones too, until they are turned off', async (t) => {
  const window = await Window.open(t, {
    'port.md': 'the wall of the harbor',
    'sails.md': 'canvas for the harbor on calm days',
  });
  const git = (...argv: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...argv], {
      cwd: window.folder,
      encoding: 'utf8',
    });
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'first');
  const top = async (): Promise<string | undefined> =>
    (await window.index.searchFolders('storm harbor', { limit: 5 }))[0]?.path;
  const open = async (folder: Omit<WatchedFolder, 'path'>): Promise<void> => {
    await window.index.open([{ path: window.folder, ...folder }]);
    await window.index.settle();
  };
  await open({ isTrusted: true, usesHistory: true });
  assert.equal(await top(), 'port.md');
  await window.write('sails.md', 'canvas for the harbor on calmer days');
  git('commit', '-qam', 'Reef in a storm');
  await window.notify(['changed', 'sails.md']);
  assert.equal(await top(), 'sails.md');
  await open({ isTrusted: false, usesHistory: true });
  assert.equal(await top(), 'port.md', 'git is not run in a folder that is not trusted');
  await open({ isTrusted: true, usesHistory: true });
  assert.equal(await top(), 'sails.md');
  await open({ isTrusted: true, usesHistory: false });
  assert.equal(await top(), 'port.md');
  assert.ok(!(await readdir(indexPath(join(window.base, 'home'), window.folder))).includes('commits.json'));
});
