import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { BLOCK_BYTES, encodeHeader } from '../../../../src/workspace/archive/tarFormat.ts';
import { directArchiver } from '../../../../src/jobs/archives/archiver.ts';
import { browseResults, takeResults } from '../../../../src/jobs/results/browse.ts';
import { BrowsedResults, MOST_LISTED } from '../../../../src/jobs/results/browsedResults.ts';
import { ResultCache } from '../../../../src/jobs/results/resultCache.ts';
import { directLedger } from '../../../../src/jobs/ledger/asyncLedger.ts';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { ResultJournals } from '../../../../src/jobs/results/resultJournals.ts';
import { writeTree } from '../../workspace/temporaryFolder.ts';
import { makeRecord, tempHome } from '../fixtures.ts';
import { connectTo } from '../testClient.ts';
import { TestService } from '../testService.ts';

const FILES = {
  'a/one.txt': 'one',
  'a/deep/two.txt': 'two two',
  'a.txt': 'beside the folder',
  'a0.txt': 'after the folder',
  'empty.txt': '',
  'run.sh': 'changed by the job',
};

function archiveOf(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = tempHome(t);
  writeTree(folder, files);
  const archive = join(tempHome(t), 'archive.tar.gz');
  execFileSync('tar', ['czf', archive, '-C', folder, ...Object.keys(files)]);
  return archive;
}

const names = (children: readonly { readonly name: string }[]): string[] => children.map(({ name }) => name);

test('the results of a job are listed folder by folder, and read, from one archive', async (t) => {
  const home = tempHome(t);
  const id = randomUUID();
  const browsed = new BrowsedResults(home);
  assert.equal(await browsed.summary(id), undefined);
  await assert.rejects(browsed.level(id, ''), { code: 'missing', message: /Browse them again/ });
  await browsed.add(id, archiveOf(t, FILES));

  const again = new BrowsedResults(home); // reads the index from the disk
  assert.deepEqual(await again.summary(id), { files: 6, bytes: Object.values(FILES).join('').length });
  const top = await again.level(id, '');
  assert.deepEqual(names(top.children), ['a', 'a.txt', 'a0.txt', 'empty.txt', 'run.sh']);
  assert.deepEqual(top.children[0], { path: 'a', name: 'a', isFolder: true, files: 2, bytes: 10 });
  assert.deepEqual(names((await again.level(id, 'a')).children), ['deep', 'one.txt']);
  assert.deepEqual([await again.find(id, 'a'), await again.find(id, 'b')], ['folder', undefined]);
  const text = async (path: string): Promise<string> => Buffer.from(await again.readAll(id, path, 100)).toString();
  for (const [path, content] of Object.entries(FILES)) assert.equal(await text(path), content, path);
  await assert.rejects(again.readAll(id, 'a.txt', 3), { code: 'limit', message: /Download it to open it/ });
  await assert.rejects(again.readAll(id, 'none.txt', 3), { code: 'missing' });
  await assert.rejects(again.summary('../../etc'), { code: 'missing' });
});

test('pictures and the heads of tables are previewed, and neither large nor other files', async (t) => {
  const browsed = new BrowsedResults(tempHome(t));
  const id = randomUUID();
  const long = 'x'.repeat(100);
  const files = {
    'out/plot.png': 'picture',
    'large.png': 'x'.repeat(1_000_001),
    'out/full.jpg': 'x'.repeat(1_000_000),
    'loss.csv': `step,"the ""loss"", of all"\r\n1,2.31\n2,${long}\n`,
    'many.tsv': 'a\tb\n'.repeat(100_000),
    'empty.csv': '',
    'model.bin': 'x',
  };
  await browsed.add(id, archiveOf(t, files));
  const [full, picture, loss, many, ...more] = await browsed.previews(id);
  assert.equal(full?.type === 'picture' && full.name, 'out/full.jpg (1.0 MB)');
  const data = `data:image/png;base64,${Buffer.from('picture').toString('base64')}`;
  assert.deepEqual(picture, { type: 'picture', name: 'out/plot.png (7 B)', data });
  const rows = [
    ['step', 'the "loss", of all'],
    ['1', '2.31'],
    ['2', long.slice(0, 40)],
  ];
  assert.deepEqual(loss?.type === 'table' && loss.rows, rows);
  assert.deepEqual(
    many?.type === 'table' && many.rows,
    Array.from({ length: 6 }, () => ['a', 'b']),
  );
  assert.deepEqual(more, []);
});

test('files beyond the limit of a job are listed, and the results browsed longest ago are removed', async (t) => {
  const home = tempHome(t);
  const limits = { totalBytes: 30, jobBytes: 20 };
  const browsed = new BrowsedResults(home, new ResultCache(home, limits));
  const [first, second] = [randomUUID(), randomUUID()];
  const files = { 'a.txt': 'x'.repeat(15), 'b.txt': 'y'.repeat(15), 'c.txt': 'zzzzz' };
  await browsed.add(first, archiveOf(t, files));
  assert.deepEqual(names((await browsed.level(first, '')).children), ['a.txt', 'b.txt', 'c.txt']);
  assert.equal(Buffer.from(await browsed.readAll(first, 'c.txt', 100)).toString(), 'zzzzz');
  await assert.rejects(browsed.readAll(first, 'b.txt', 100), { code: 'limit', message: /at most 20 B/ });
  await assert.rejects(browsed.stage(first, ['a.txt', 'b.txt'], tempHome(t)), { code: 'limit', message: /b\.txt/ });
  await browsed.add(second, archiveOf(t, files));
  assert.deepEqual(readdirSync(join(home, 'results-cache')), [second]);
  const late = new BrowsedResults(home);
  assert.equal(await late.summary(first), undefined);
});

test('a hostile or damaged archive leaves nothing, and no name of it becomes a file name', async (t) => {
  const home = tempHome(t);
  const browsed = new BrowsedResults(home);
  const archive = join(home, 'bad.tar.gz');
  const add = async (name: string): Promise<unknown> => {
    const packed = pack();
    packed.entry({ name }, 'x');
    packed.finalize();
    writeFileSync(archive, gzipSync(Buffer.concat(await Array.fromAsync(packed as AsyncIterable<Buffer>))));
    return browsed.add(randomUUID(), archive);
  };
  await assert.rejects(add('../escaped'), { code: 'refused' });
  await assert.rejects(add('/etc/passwd'), { code: 'refused' });
  writeFileSync(archive, gzipSync('no archive'));
  await assert.rejects(browsed.add(randomUUID(), archive), { code: 'corrupt' });
  assert.deepEqual(readdirSync(join(home, 'results-cache')), []);
  const id = randomUUID();
  await browsed.add(id, archiveOf(t, { 'deep/index.json': '{}' }));
  assert.deepEqual(readdirSync(join(home, 'results-cache', id)).sort(), ['contents', 'index.json']);
});

test('20,000 results are listed with bounded lists, and any of them is read at once', async (t) => {
  const home = tempHome(t);
  const id = randomUUID();
  const archive = join(home, 'many.tar.gz');
  const entries = Array.from({ length: 20_000 }, (_, at) => {
    const text = String(at).padStart(6, '0');
    const header = encodeHeader({ path: at % 2 === 0 ? `d${text}/x.txt` : `out/${text}.txt`, size: 6, mode: 0o644 });
    return [header, Buffer.from(text.padEnd(BLOCK_BYTES, '\0'))];
  });
  const end = Buffer.alloc(2 * BLOCK_BYTES);
  writeFileSync(archive, gzipSync(Buffer.concat([...entries.flat(), end]), { level: 1 }));
  const browsed = new BrowsedResults(home);
  assert.deepEqual(await browsed.add(id, archive), { files: 20_000, bytes: 120_000 });
  const { children, more } = await browsed.level(id, '');
  assert.deepEqual([children.length, more], [MOST_LISTED, 10_001 - MOST_LISTED]);
  assert.equal((await browsed.level(id, 'out')).more, 10_000 - MOST_LISTED);
  assert.equal(Buffer.from(await browsed.readAll(id, 'out/019999.txt', 100)).toString(), '019999');
});

test('one file or folder is taken into the folder of the job, by the rules of a download', async (t) => {
  const [home, folder] = [tempHome(t), tempHome(t)];
  const body = readFileSync(archiveOf(t, { ...FILES, '.github/x.yml': 'x' }));
  const http = await TestService.start(t, { artifacts: (_, response) => void response.end(body) });
  const jobs = new JobLedger(home);
  t.after(() => jobs.dispose());
  const record = makeRecord({ folder, jobId: 'job-1', state: 'succeeded' });
  jobs.insert(record);
  const ledger = directLedger(jobs);
  const browsed = new BrowsedResults(home);
  const journals = new ResultJournals(home);
  const deps = { service: connectTo(http.url), archiver: directArchiver, ledger, home, journals, browsed };
  await browseResults(deps, record);
  await browseResults(deps, record);
  assert.equal(http.attempts.artifacts, 1, 'the archive is downloaded once');

  writeFileSync(join(folder, 'run.sh'), 'mine');
  const taken = await takeResults(deps, record, ['a', 'run.sh', '.github']);
  assert.deepEqual(taken.written.toSorted(), ['a/deep/two.txt', 'a/one.txt', 'run (job job-1).sh']);
  const contents = taken.written.toSorted().map((path) => readFileSync(join(folder, path), 'utf8'));
  assert.deepEqual(contents, ['two two', 'one', 'changed by the job']);
  assert.deepEqual(
    taken.setAside.map(({ path }) => path),
    ['.github/x.yml'],
  );
  assert.deepEqual([existsSync(join(folder, 'a.txt')), readFileSync(join(folder, 'run.sh'), 'utf8')], [false, 'mine']);
  assert.equal(jobs.get(record.id)?.downloadedAt !== null, true);
});
