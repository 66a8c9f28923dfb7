import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { ArchiveStore } from '../../../../src/jobs/archives/archives.ts';
import { directArchiver } from '../../../../src/jobs/archives/archiver.ts';
import { directLedger } from '../../../../src/jobs/ledger/asyncLedger.ts';
import { type DownloadDeps, downloadResults } from '../../../../src/jobs/results/resultDownload.ts';
import { defaultDecisions, type DownloadPhase } from '../../../../src/jobs/results/placeFiles.ts';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { resultsFolderOf } from '../../../../src/jobs/results/resultsFolder.ts';
import { ResultJournals } from '../../../../src/jobs/results/resultJournals.ts';
import type { JobRecord } from '../../../../src/jobs/ledger/record.ts';
import { RemoteError } from '../../../../src/remote/http/remoteErrors.ts';
import { PieceCutter } from '../../../../src/workspace/pack/pieceCutter.ts';
import { smallDisk } from '../../../smallDisk.ts';
import { PieceService } from '../contents/resultPieces.ts';
import { makeRecord, tempHome } from '../fixtures.ts';
import { connectTo } from '../testClient.ts';
import { type Answers, sendJson, TestService } from '../testService.ts';

interface Setting {
  readonly deps: DownloadDeps;
  readonly jobs: JobLedger;
  readonly record: JobRecord;
  readonly folder: string;
  readonly home: string;
}

async function setUp(t: TestContext, artifacts: NonNullable<Answers['artifacts']>): Promise<Setting> {
  const [home, folder] = [tempHome(t), tempHome(t)];
  const http = await TestService.start(t, { artifacts });
  const jobs = new JobLedger(home);
  t.after(() => jobs.dispose());
  const record = makeRecord({ folder, jobId: 'job-1', state: 'succeeded' });
  jobs.insert(record);
  const deps = {
    service: connectTo(http.url),
    archiver: directArchiver,
    ledger: directLedger(jobs),
    home,
    journals: new ResultJournals(home),
  };
  return { deps, jobs, record, folder, home };
}

function archiveOf(t: TestContext, files: Readonly<Record<string, string>>): Buffer {
  const folder = tempHome(t);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return execFileSync('tar', ['czf', '-', '-C', folder, ...Object.keys(files)]);
}

function serveArchive(archive: Buffer): NonNullable<Answers['artifacts']> {
  return (_, response) => void response.writeHead(200, { 'content-type': 'application/gzip' }).end(archive);
}

const isClean = ({ home, folder }: Setting): void => {
  assert.deepEqual(readdirSync(join(home, 'downloads')), []);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('.farwharf-staging')),
    [],
  );
};

test('new results are written, local work is kept beside, the rest is left alone', async (t) => {
  const archive = archiveOf(t, { 'out/metrics.json': '{}', 'notes.txt': 'theirs', 'same.txt': 'same', '.env': 'X=1' });
  const setting = await setUp(t, serveArchive(archive));
  writeFileSync(join(setting.folder, 'notes.txt'), 'mine');
  writeFileSync(join(setting.folder, 'same.txt'), 'same');
  const phases = new Set<string>();
  const results = await downloadResults(setting.deps, setting.record.id, { onPhase: ({ type }) => phases.add(type) });
  assert.deepEqual([...phases], ['download', 'unpack', 'decide', 'write']);
  assert.equal(readFileSync(join(setting.folder, 'out/metrics.json'), 'utf8'), '{}');
  assert.equal(readFileSync(join(setting.folder, 'notes.txt'), 'utf8'), 'mine');
  assert.equal(readFileSync(join(setting.folder, 'notes (job job-1).txt'), 'utf8'), 'theirs');
  assert.deepEqual(readdirSync(setting.folder).sort(), ['notes (job job-1).txt', 'notes.txt', 'out', 'same.txt']);
  assert.deepEqual([...results.written].sort(), ['notes (job job-1).txt', 'out/metrics.json']);
  assert.deepEqual(Object.fromEntries(results.plan.map(({ path, status }) => [path, status])), {
    'out/metrics.json': 'new',
    'notes.txt': 'conflict',
    'same.txt': 'same',
    '.env': 'protected',
  });
  assert.notEqual(setting.jobs.get(setting.record.id)?.downloadedAt, null);
  isClean(setting);
});

test('results are compared again when a local file changed since, and it is kept', async (t) => {
  const setting = await setUp(t, serveArchive(archiveOf(t, { 'out.txt': 'theirs' })));
  const plans: string[] = [];
  await downloadResults(setting.deps, setting.record.id, {
    decide: (plan) => {
      plans.push(...plan.map(({ status }) => status));
      // As another command does that brings the results of its own job into the same folder.
      if (plans.length === 1) writeFileSync(join(setting.folder, 'out.txt'), 'mine');
      return defaultDecisions(plan);
    },
  });
  assert.deepEqual(plans, ['new', 'conflict']);
  assert.equal(readFileSync(join(setting.folder, 'out.txt'), 'utf8'), 'mine');
  assert.equal(readFileSync(join(setting.folder, 'out (job job-1).txt'), 'utf8'), 'theirs');
  isClean(setting);
});

test('a folder that never stops changing is reported, and gets nothing', async (t) => {
  const setting = await setUp(t, serveArchive(archiveOf(t, { 'out.txt': 'theirs' })));
  let comparisons = 0;
  const downloading = downloadResults(setting.deps, setting.record.id, {
    decide: (plan) => {
      comparisons += 1;
      writeFileSync(join(setting.folder, 'out.txt'), `version ${comparisons}`);
      return new Map(plan.map(({ path }) => [path, 'write']));
    },
  });
  await assert.rejects(downloading, { code: 'conflict', message: /^out\.txt changed after the results were compared/ });
  assert.equal(comparisons, 5);
  assert.equal(readFileSync(join(setting.folder, 'out.txt'), 'utf8'), 'version 5');
  isClean(setting);
});

test('two downloads into one folder that take back what they wrote because of each other get out of step', async (t) => {
  const setting = await setUp(t, serveArchive(archiveOf(t, { 'out.txt': 'theirs' })));
  const target = join(setting.folder, 'out.txt');
  // The other download writes its own `out.txt` whenever this one is about to write, finds a file of this one, and takes its own back.
  let isInStep = true;
  const apply: typeof directArchiver.apply = async (...given) => {
    if (isInStep) writeFileSync(target, 'of the other');
    try {
      return await directArchiver.apply(...given);
    } finally {
      if (isInStep) rmSync(target);
    }
  };
  const pauses: number[] = [];
  const pause = async (longestMs: number): Promise<void> => {
    pauses.push(longestMs);
    isInStep = pauses.length < 4;
  };
  await downloadResults({ ...setting.deps, archiver: { ...directArchiver, apply }, pause }, setting.record.id);
  assert.equal(readFileSync(target, 'utf8'), 'theirs');
  assert.equal(pauses.length, 4);
  assert.ok(pauses.every((longestMs, index) => longestMs >= 50 * 2 ** index));
  isClean(setting);
});

test('what another download is still writing, and may take back, is compared once that is over', async (t) => {
  const setting = await setUp(t, serveArchive(archiveOf(t, { 'out.txt': 'theirs' })));
  const target = join(setting.folder, 'out.txt');
  const other = setting.deps.journals.begin(setting.folder, 'other.py');
  writeFileSync(other.steps, '');
  writeFileSync(target, 'theirs');
  const takeBack = async (): Promise<void> => {
    rmSync(target, { force: true });
    rmSync(other.steps, { force: true });
  };
  const { written } = await downloadResults({ ...setting.deps, pause: takeBack }, setting.record.id);
  assert.deepEqual(written, ['out.txt']);
  assert.equal(readFileSync(target, 'utf8'), 'theirs');
  other.end();
  isClean(setting);
});

test('the stored manifest distinguishes an untouched file from a conflict', async (t) => {
  const setting = await setUp(t, serveArchive(archiveOf(t, { 'notes.txt': 'theirs' })));
  writeFileSync(join(setting.folder, 'notes.txt'), 'sent');
  const store = new ArchiveStore(setting.home);
  await store.prepare();
  const sha256 = hash('sha256', 'sent');
  const manifest = [{ path: 'notes.txt', size: 4, mode: 0o644, sha256 }];
  writeFileSync(store.manifestPath(setting.record.id), JSON.stringify(manifest));
  const { plan } = await downloadResults(setting.deps, setting.record.id, { decide: () => undefined });
  assert.equal(plan[0]?.status, 'changed');
  assert.equal(readFileSync(join(setting.folder, 'notes.txt'), 'utf8'), 'sent', 'no decision, nothing written');
  assert.equal(setting.jobs.get(setting.record.id)?.downloadedAt, null);
  isClean(setting);
});

test('another folder is made where it is missing', async (t) => {
  const setting = await setUp(t, serveArchive(archiveOf(t, { 'a.txt': 'a' })));
  const folder = join(setting.folder, 'deep/er');
  await downloadResults(setting.deps, setting.record.id, { folder });
  assert.equal(readFileSync(join(folder, 'a.txt'), 'utf8'), 'a');
});

test('a folder that leads elsewhere since the download began gets nothing', async (t) => {
  const outside = tempHome(t);
  let link = '';
  const archive = archiveOf(t, { 'a.txt': 'a' });
  const setting = await setUp(t, (request, response) => {
    symlinkSync(outside, link);
    return serveArchive(archive)(request, response, 1);
  });
  link = join(setting.folder, 'runs');
  const record = { folder: setting.folder, resultsFolder: 'runs/1' };
  const folder = () => resultsFolderOf(record);
  await assert.rejects(downloadResults(setting.deps, setting.record.id, { folder }), { code: 'refused' });
  assert.deepEqual(readdirSync(outside), []);
  isClean(setting);
});

test('a folder for results that cannot be made is named with the reason', async (t) => {
  const setting = await setUp(t, serveArchive(archiveOf(t, { 'a.txt': 'a' })));
  const taken = join(setting.folder, 'runs');
  writeFileSync(taken, 'mine');
  await assert.rejects(downloadResults(setting.deps, setting.record.id, { folder: taken }), {
    code: 'refused',
    message: `${taken} cannot be written: a file is in its place. Move the file elsewhere, and try again.`,
  });
  const long = join(setting.folder, 'n'.repeat(300));
  await assert.rejects(downloadResults(setting.deps, setting.record.id, { folder: long }), { code: 'limit' });
  assert.equal(readFileSync(taken, 'utf8'), 'mine');
});

test('a folder that was made for results which do not come is removed again', async (t) => {
  const none = execFileSync('tar', ['czf', '-', '-T', '/dev/null']);
  for (const archive of [none, archiveOf(t, { 'a.txt': 'a' }).subarray(0, -9)]) {
    const setting = await setUp(t, serveArchive(archive));
    const folder = join(setting.folder, 'deep/er');
    await downloadResults(setting.deps, setting.record.id, { folder }).catch(() => {});
    assert.deepEqual(readdirSync(setting.folder), []);
  }
});

test('a job without results says so', async (t) => {
  const setting = await setUp(t, (_, response) => sendJson(response, { detail: 'none' }, 404));
  await assert.rejects(downloadResults(setting.deps, setting.record.id), {
    code: 'missing',
    message: 'The service has no results for this job. It says: none',
  });
  isClean(setting);
  const silent = await setUp(t, (_, response) => void response.writeHead(404).end());
  await assert.rejects(downloadResults(silent.deps, silent.record.id), {
    code: 'missing',
    message: 'The service has no results for this job. The job may still be running, or they were deleted there.',
  });
  const broken = await setUp(t, (_, response) => sendJson(response, { detail: 'none' }, 500));
  await assert.rejects(downloadResults(broken.deps, broken.record.id), { message: 'HTTP 500: none' });
  const unsent = makeRecord({ folder: broken.folder, jobId: null });
  broken.jobs.insert(unsent);
  for (const id of [unsent.id, 'unknown']) {
    await assert.rejects(downloadResults(broken.deps, id), {
      code: 'missing',
      message: 'The service did not return a job ID, so the results cannot be downloaded.',
    });
  }
});

test('a download that is cut leaves nothing behind', async (t) => {
  const archive = archiveOf(t, { 'a.txt': 'a'.repeat(10_000) });
  const setting = await setUp(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/gzip', 'content-length': archive.length });
    response.write(archive.subarray(0, archive.length / 2), () => response.destroy());
  });
  await assert.rejects(downloadResults(setting.deps, setting.record.id));
  assert.deepEqual(readdirSync(setting.folder), []);
  isClean(setting);
});

test('a damaged archive is refused and the folder is as it was', async (t) => {
  const archive = archiveOf(t, { 'a.txt': 'a'.repeat(10_000) });
  archive.fill(0, archive.length - 8);
  const setting = await setUp(t, serveArchive(archive));
  await assert.rejects(downloadResults(setting.deps, setting.record.id), { code: 'corrupt' });
  assert.deepEqual(readdirSync(setting.folder), []);
  isClean(setting);
});

test('an endless response that is not gzip is refused by its first bytes', async (t) => {
  const sent = { bytes: 0 };
  const setting = await setUp(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/gzip' });
    const more = (): void => {
      while (sent.bytes < 300_000_000 && !response.destroyed) {
        sent.bytes += 65_536;
        if (!response.write(Buffer.alloc(65_536, 'no gzip'))) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  });
  const progress: number[] = [];
  const downloading = downloadResults(setting.deps, setting.record.id, {
    onPhase: (phase) => void (phase.type === 'download' && progress.push(phase.doneBytes)),
  });
  await assert.rejects(downloading, { code: 'corrupt', message: /not a gzip file/ });
  assert.deepEqual(progress, [], 'nothing of it was written');
  assert.ok(sent.bytes < 100_000_000, `${sent.bytes} bytes were taken`);
  isClean(setting);
});

test('results that may change what tools do are put into a folder of their own unless they were chosen', async (t) => {
  const setting = await setUp(
    t,
    serveArchive(archiveOf(t, { 'out.txt': 'x', '.npmrc': 'script-shell=./x', '.env': 'X' })),
  );
  const { written, skipped, setAside } = await downloadResults(setting.deps, setting.record.id);
  assert.deepEqual([written, skipped], [['out.txt'], ['.env']]);
  assert.deepEqual(setAside, [{ path: '.npmrc', at: '.farwharf-results/job-1/.npmrc' }]);
  assert.deepEqual(readdirSync(setting.folder).sort(), ['.farwharf-results', 'out.txt']);
  assert.deepEqual(readdirSync(join(setting.folder, '.farwharf-results/job-1')), ['.npmrc']);
});

test('a cancel while deciding writes nothing', async (t) => {
  const setting = await setUp(t, serveArchive(archiveOf(t, { 'a.txt': 'a' })));
  const stop = new AbortController();
  const downloading = downloadResults(setting.deps, setting.record.id, {
    signal: stop.signal,
    decide: (plan) => {
      stop.abort();
      return defaultDecisions(plan);
    },
  });
  await assert.rejects(downloading, { name: 'AbortError' });
  assert.deepEqual(readdirSync(setting.folder), []);
  isClean(setting);
});

test('without decisions nothing is written or set aside, and everything counts as skipped', async (t) => {
  const setting = await setUp(t, serveArchive(archiveOf(t, { 'a.txt': 'a', '.npmrc': 'b' })));
  const { written, skipped, setAside } = await downloadResults(setting.deps, setting.record.id, {
    decide: () => undefined,
  });
  assert.deepEqual([written, skipped.toSorted(), setAside], [[], ['.npmrc', 'a.txt'], []]);
  assert.deepEqual(readdirSync(setting.folder), []);
});

test('what a killed download left is removed by the next one, a running one is not touched', async (t) => {
  const setting = await setUp(t, serveArchive(archiveOf(t, { 'a.txt': 'a' })));
  const downloads = join(setting.home, 'downloads');
  mkdirSync(downloads);
  writeFileSync(join(downloads, 'old.tar.gz'), 'x');
  utimesSync(join(downloads, 'old.tar.gz'), new Date(0), new Date(0));
  writeFileSync(join(downloads, 'running.tar.gz'), 'x');
  await downloadResults(setting.deps, setting.record.id);
  assert.deepEqual(readdirSync(downloads), ['running.tar.gz']);
});

test('a full disk is said as such', async (t) => {
  const small = smallDisk(t);
  if (small === undefined) return;
  const setting = await setUp(t, serveArchive(archiveOf(t, { 'a.txt': 'x' })));
  const endless = Buffer.concat([Buffer.of(0x1f, 0x8b, 8), Buffer.alloc(30_000_000)]);
  const http = await TestService.start(t, { artifacts: serveArchive(endless) });
  const deps = { ...setting.deps, home: small.home, service: connectTo(http.url) };
  await assert.rejects(downloadResults(deps, setting.record.id), { code: 'no-space' });
  assert.deepEqual(readdirSync(join(small.home, 'downloads')), []);
});

test('results of which much is on this machine are fetched by content, and the rest as an archive', async (t) => {
  // Always the same text: where random ones are cut, too little may be left that is on this machine.
  const large = Array.from({ length: 9_400 }, (_, index) => hash('sha256', String(index))).join('');
  const contents = { 'large.txt': large, 'small.txt': 'first' };
  const setting = await setUp(t, serveArchive(archiveOf(t, contents)));
  const { service } = setting.deps;
  const answering = (files: Readonly<Record<string, string>>) => {
    const pieces: Buffer[] = [];
    const cutter = new PieceCutter();
    const tar = gunzipSync(archiveOf(t, files));
    for (const bytes of [tar]) cutter.write(bytes, (piece) => pieces.push(Buffer.from(piece)));
    cutter.end((piece) => pieces.push(Buffer.from(piece)));
    return new PieceService(pieces);
  };
  const fetch = async (files: Readonly<Record<string, string>>, record: JobRecord) => {
    const offered = answering(files);
    let archives = 0;
    const offering = {
      downloadArtifacts: (...call: Parameters<typeof service.downloadArtifacts>) => {
        archives += 1;
        return service.downloadArtifacts(...call);
      },
      me: () => offered.me(),
      streamResultContents: (job: string, wanted?: Uint8Array) => offered.streamResultContents(job, wanted),
    };
    const progress: (readonly [number, number | undefined])[] = [];
    await downloadResults({ ...setting.deps, service: offering }, record.id, {
      onPhase: (phase) => void (phase.type === 'download' && progress.push([phase.doneBytes, phase.totalBytes])),
    });
    return { archives, asked: offered.asked, progress, pieces: offered.pieces };
  };
  const first = await fetch(contents, setting.record);
  assert.deepEqual([first.archives, first.asked], [1, []]);

  const next = makeRecord({ folder: setting.folder, jobId: 'job-2', state: 'succeeded' });
  setting.jobs.insert(next);
  const second = await fetch({ ...contents, 'small.txt': 'other' }, next);
  assert.equal(second.archives, 0);
  assert.equal(second.asked.length, 1);
  assert.ok((second.asked[0]?.length ?? 0) < second.pieces.length / 2);
  const total = second.pieces.reduce((sum, piece) => sum + piece.length, 0);
  assert.deepEqual(second.progress.at(-1), [total, total]);
  assert.equal(readFileSync(join(setting.folder, 'small (job job-2).txt'), 'utf8'), 'other');
  assert.equal(readFileSync(join(setting.folder, 'large.txt'), 'utf8'), large);
  isClean(setting);

  const damaged = {
    me: async () => ({ features: ['result-content'] }),
    streamResultContents: async function* () {
      yield Buffer.alloc(35);
    },
  };
  await assert.rejects(
    downloadResults({ ...setting.deps, service: { ...damaged, downloadArtifacts: () => assert.fail() } }, next.id),
    {
      code: 'corrupt',
      message: 'The list of the contents of the results is not valid, so nothing was saved. Download them again.',
    },
  );
  isClean(setting);
});

test('where the service refuses to list the contents of results, all are downloaded, and the reason is given', async (t) => {
  const setting = await setUp(t, serveArchive(archiveOf(t, { 'a.txt': 'a' })));
  const service = {
    downloadArtifacts: setting.deps.service.downloadArtifacts.bind(setting.deps.service),
    me: async () => ({ features: ['result-content'] }),
    streamResultContents: (): AsyncGenerator<Uint8Array, void> => {
      throw new RemoteError(503, 'HTTP 503: busy\u001b[31m.');
    },
  };
  const reasons: string[] = [];
  const onPhase = (phase: DownloadPhase): void => void (phase.type === 'whole' && reasons.push(phase.reason));
  const { written } = await downloadResults({ ...setting.deps, service }, setting.record.id, { onPhase });
  assert.deepEqual(written, ['a.txt']);
  const [reason = '', ...more] = reasons;
  assert.match(
    reason,
    /^The service did not list the contents of the results \(HTTP 503: busy.*\), so all of them are downloaded\.$/,
  );
  assert.ok(!reason.includes('\u001b'));
  assert.deepEqual(more, []);
});
