import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewOf } from '../../../../src/extension/jobs/pageView.ts';
import { JobPage } from '../../../../src/jobs/report/jobPage.ts';
import { makeRecord } from '../../jobs/fixtures.ts';

const AT = '2026-01-01T00:00:00.000Z';
const NO_LINKS = { of: () => [] };

function pageOf(...events: readonly (readonly [event: string, data: unknown])[]): JobPage {
  const page = new JobPage();
  for (const [event, data] of events) page.push({ seq: 0, at: AT, event, data });
  return page;
}

test('a page is data without control characters, with gaps where a value is not finite', () => {
  const page = pageOf(
    ['state', { state: 'queued', at: AT, reason: 'Re\u001b[2Jsources\n' }],
    ['usage', { at: AT, cpu_cores: 1.5, disk_read_bytes_per_second: 0 }],
    ['log', 'farwharf:metric {"loss": NaN}\n'],
    ['log', { text: '1 %\r2 %\n\u001b[31mred\u001b[0m\n' }],
    ['artifact', { path: 'a\u202eb', size: 2_000 }],
  );
  const record = makeRecord({ state: 'running', script: 'train.py --lr 1', jobId: '3f2a' });
  const view = viewOf(page, record, { account: undefined, compared: [], links: NO_LINKS, now: Date.parse(AT) });
  assert.deepEqual(structuredClone(view), view);
  assert.deepEqual(view.timeline, ['queued 0.0 s: Resources ']);
  assert.deepEqual(view.plots, [
    { name: 'cores', text: '1.5, at most 1.5', axis: 'time', points: [[Date.parse(AT), 1.5]], others: [] },
    { name: 'loss', text: 'NaN', axis: 'step', points: [[1, null]], others: [] },
  ]);
  assert.equal(view.results, '1 file, 2.0 KB: ab (2.0 KB)');
  assert.deepEqual(
    view.facts.filter(([label]) => ['script', 'arguments'].includes(label)),
    [
      ['script', 'train.py'],
      ['arguments', '--lr 1'],
    ],
  );
  assert.deepEqual(view.output.slice(-2), [
    { text: '2 %', links: [] },
    { text: 'red', links: [] },
  ]);
  assert.deepEqual(view.actions, [
    'showLog',
    'cancelJob',
    'openJobTerminal',
    'browseRunningJob',
    'openJobPort',
    'comparePlots',
    'compareSubmitted',
    'resubmitJob',
  ]);
  assert.equal(view.advice, null);
});

test('a job with a thousand metrics has forty plots, and says how many it has more', () => {
  const page = pageOf(
    ...Array.from({ length: 1_000 }, (_, index) => ['log', `farwharf:metric {"m${index}": 1}\n`] as const),
  );
  const { plots, otherMetrics } = viewOf(page, makeRecord(), {
    account: undefined,
    compared: [],
    links: NO_LINKS,
    now: 0,
  });
  assert.deepEqual([plots.length, otherMetrics], [40, 960]);
});

test('the page of a job whose service does not respond stays at the last contact', () => {
  const record = makeRecord({ state: 'running', startedAt: AT, creditsPerMinute: 60, maxRuntime: 3600 });
  const since = Date.parse(AT) + 60_000;
  const lost = { reason: 'unreachable', since } as const;
  const { facts, timeline } = viewOf(pageOf(), record, {
    account: undefined,
    compared: [],
    links: NO_LINKS,
    now: since + 3_600_000,
    lost,
  });
  assert.match(Object.fromEntries(facts)['state'] ?? '', /^last seen running, /);
  assert.match(Object.fromEntries(facts)['credits'] ?? '', /^about 60 of/);
  assert.equal(timeline.at(-1), 'running 1 min');
});

test('a compared job adds its curve to the plots of the metrics that it has too', () => {
  const metric = (text: string) => ['log', `farwharf:metric ${text}\n`] as const;
  const page = pageOf(metric('{"loss": 3, "accuracy": 0.5}'), metric('{"loss": 2}'));
  const other = pageOf(metric('{"loss": 4, "other": 1}'));
  const record = makeRecord({ script: 'train.py --lr 0.1\u001b[2J', jobId: '4b1c' });
  const compared = [{ record, page: other }];
  const view = viewOf(page, makeRecord(), { account: undefined, compared, links: NO_LINKS, now: 0 });
  assert.deepEqual(view.compared, ['--lr 0.1 (4b1c)']);
  assert.deepEqual(
    view.plots.map(({ name, others }) => [name, others]),
    [
      ['loss', [{ text: '4', points: [[1, 4]] }]],
      ['accuracy', [null]],
    ],
  );
});
