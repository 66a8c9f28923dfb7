import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatMeasured } from '../../../../src/core/text/format.ts';
import { JobPage, LastOutput } from '../../../../src/jobs/report/jobPage.ts';
import { describeFacts, describeFiles, metricPlots, usagePlots } from '../../../../src/jobs/report/pageText.ts';
import { makeRecord } from '../fixtures.ts';

const AT = '2026-01-01T00:05:00.000Z';
const NOW = Date.parse(AT);

function pageOf(...events: readonly (readonly [event: string, data: unknown])[]): JobPage {
  const page = new JobPage();
  for (const [event, data] of events) page.push({ seq: 0, at: AT, event, data });
  return page;
}

test('the facts of a job have their labels, and what is unknown has none', () => {
  const record = makeRecord({
    jobId: 'job-7',
    state: 'failed',
    reason: 'out of\u001b[2J memory',
    exitCode: 137,
    script: 'src/train.py --epochs 3',
    project: 'vision',
    gitCommit: 'a'.repeat(40),
    gitChanges: 2,
    machineClass: 'a10g',
    creditsCharged: 1.5,
  });
  assert.deepEqual(describeFacts(record, 'failed', NOW), [
    ['job', 'job-7'],
    ['state', 'failed'],
    ['reason', 'out of memory'],
    ['exit', '137'],
    ['script', 'src/train.py'],
    ['arguments', '--epochs 3'],
    ['project', 'vision'],
    ['folder', '/home/ada/model'],
    ['commit', 'aaaaaaaaaa and 2 changed files'],
    ['machine', 'a10g'],
    ['limit', '10 min'],
    ['credits', '1.5 charged'],
  ]);
  const bare = makeRecord({ jobId: null, machineClass: null, maxRuntime: 0, creditHold: null, creditsPerMinute: null });
  assert.deepEqual(describeFacts(bare, 'queued', NOW), [
    ['state', 'queued'],
    ['script', 'train.py'],
    ['folder', '/home/ada/model'],
  ]);
  const creditsOf = (fields: Parameters<typeof makeRecord>[0]) =>
    describeFacts(makeRecord(fields), 'x', NOW).find(([label]) => label === 'credits')?.[1];
  assert.equal(creditsOf({ creditsPerMinute: null }), '1 held');
  const unpriced = { creditsPerMinute: null, creditsCharged: 0, unpricedCpus: 4, unpricedGpus: 0, maxRuntime: 3_600 };
  const startedAt = new Date(NOW - 900_000).toISOString();
  const createdAt = startedAt;
  const used = (fields: Parameters<typeof makeRecord>[0]) =>
    describeFacts(makeRecord({ ...unpriced, createdAt, ...fields }), 'x', NOW).filter(([label]) =>
      /credits|used/.test(label),
    );
  assert.deepEqual(used({ state: 'queued' }), []);
  assert.deepEqual(used({ state: 'running', startedAt }), [['used', '1 core-hour so far, up to 4 core-hours']]);
  const finishedAt = new Date(NOW - 450_000).toISOString();
  assert.deepEqual(used({ state: 'succeeded', startedAt, finishedAt }), [['used', '0.5 core-hours']]);
  assert.equal(creditsOf({ creditsCharged: 0, creditsPerMinute: null }), '0 charged');
  assert.deepEqual(
    describeFacts(makeRecord({ exitCode: 0 }), 'x', NOW).find(([label]) => label === 'exit'),
    ['exit', '0'],
  );
});

test('what a job uses is shown with its last and its highest value, in the order of the page', () => {
  const page = pageOf(
    [
      'usage',
      {
        gpus: 1,
        gpu_memory_bytes: 5e9,
        cpu_cores: 1.5,
        memory_bytes: 700e6,
        disk_read_bytes_per_second: 2e6,
        disk_write_bytes_per_second: 3e3,
      },
    ],
    [
      'usage',
      {
        gpus: 0.5,
        gpu_memory_bytes: 4e9,
        cpu_cores: 1.23456,
        memory_bytes: 600e6,
        disk_read_bytes_per_second: 1e6,
        disk_write_bytes_per_second: 2e3,
      },
    ],
  );
  assert.deepEqual(
    usagePlots(page).map(({ name, text, series }) => [name, text, series.count]),
    [
      ['cores', '1.235, at most 1.5', 2],
      ['memory', '600 MB, at most 700 MB', 2],
      ['read', '1.0 MB/s, at most 2.0 MB/s', 2],
      ['write', '2.0 KB/s, at most 3.0 KB/s', 2],
      ['GPUs', '0.5, at most 1', 2],
      ['GPU mem', '4.0 GB, at most 5.0 GB', 2],
    ],
  );
  assert.deepEqual(usagePlots(pageOf(['usage', { cpu_cores: 0 }])), [], 'nothing was used');
});

test('metrics are those of the output and of the results, those of the output last and first in rank', () => {
  const page = pageOf(['log', { text: 'farwharf:metric {"loss": 0.123456, "lr": 1}\n' }]);
  const other = pageOf(['log', { text: 'farwharf:metric {"loss": 9, "accuracy": 2}\n' }]);
  page.addFileMetrics(other.metrics);
  assert.deepEqual(
    metricPlots(page, 9).map(({ name, text }) => [name, text]),
    [
      ['loss', '0.1235'],
      ['accuracy', '2'],
      ['lr', '1'],
    ],
  );
  assert.deepEqual(
    metricPlots(page, 2).map(({ name }) => name),
    ['loss', 'accuracy'],
  );
});

test('results are named up to five, with their number and size', () => {
  const files = (count: number): readonly (readonly [string, unknown])[] =>
    Array.from({ length: count }, (_, index) => ['artifact', { path: `f${index}\u001b[2J`, size: 1_000 }] as const);
  assert.equal(describeFiles(pageOf()), undefined);
  assert.equal(describeFiles(pageOf(...files(1))), '1 file, 1.0 KB: f0 (1.0 KB)');
  const five = 'f0 (1.0 KB), f1 (1.0 KB), f2 (1.0 KB), f3 (1.0 KB), f4 (1.0 KB)';
  assert.equal(describeFiles(pageOf(...files(5))), `5 files, 5.0 KB: ${five}`);
  assert.equal(describeFiles(pageOf(...files(1_206))), `1,206 files, 1.2 MB: ${five} and 1,201 more`);
});

test('a result with metrics is noticed by its name', () => {
  assert.equal(pageOf(['artifact', { path: 'a.txt' }]).hasMetricFiles, false);
  assert.equal(
    pageOf(['artifact', { path: 'out/metrics.jsonl' }], ['artifact', { path: 'a.txt' }]).hasMetricFiles,
    true,
  );
  const { results } = pageOf(['artifact', { path: 'a', size: -5 }], ['state', { path: 'b', size: 5 }]);
  assert.deepEqual(results, { count: 1, bytes: 0, first: [{ path: 'a', bytes: 0 }] });
});

test('a number has four significant digits', () => {
  assert.deepEqual([0.000123456, 12_345, 0.5, NaN, Infinity, -Infinity].map(formatMeasured), [
    '0.0001235',
    '12350',
    '0.5',
    'NaN',
    'Infinity',
    '-Infinity',
  ]);
});

test('the last ten lines of the output are shown, of a progress bar its last state', () => {
  const tailOf = (...texts: readonly string[]): readonly string[] => {
    const tail = new LastOutput();
    for (const text of texts) tail.push({ seq: 0, at: AT, event: 'log', data: { text } });
    return tail.lines;
  };
  assert.deepEqual(tailOf('one\n', '\n  \ntwo\r\nthr', 'ee'), ['one', 'two', 'three']);
  assert.deepEqual(tailOf('10 %\r20 %\r30 %\ndone'), ['30 %', 'done']);
  assert.deepEqual(tailOf('10 %\r20 %\r'), ['20 %']);
  assert.deepEqual(
    tailOf(Array.from({ length: 12 }, (_, index) => `${index}\n`).join('')),
    [2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map(String),
  );
  assert.deepEqual(tailOf(`${'x'.repeat(301)}\n`), ['x'.repeat(300)]);
  assert.deepEqual(tailOf('first\n', `${'y'.repeat(15_990)}\n`).length, 2);
  assert.deepEqual(tailOf('first\n', `${'y'.repeat(16_000)}\n`).length, 1);
  const tail = new LastOutput();
  tail.push({ seq: 0, at: AT, event: 'log', data: { text: 'ours' }, own: true });
  tail.push({ seq: 0, at: AT, event: 'state', data: { text: 'state' } });
  assert.deepEqual(tail.lines, []);
});

test('each of several GPUs has a plot of its own, however many a service sends', () => {
  const gpu = (number: number) => ({ gpu: String(number), used: number / 100, memory_bytes: 2e9 });
  const few = pageOf(['usage', { at: AT, gpus: 0.5, gpu_devices: [gpu(0), gpu(50)] }]);
  assert.deepEqual(
    usagePlots(few).map(({ name, text }) => [name, text]),
    [
      ['GPUs', '0.5, at most 0.5'],
      ['GPU 0', '0 %, 2.0 GB, at most 2.0 GB'],
      ['GPU 50', '50 %, 2.0 GB, at most 2.0 GB'],
    ],
  );
  const many = pageOf(['usage', { at: AT, gpu_devices: Array.from({ length: 100 }, (_, number) => gpu(number)) }]);
  assert.equal(usagePlots(many).length, 16);
});
