import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as l10n from '@vscode/l10n';
import German from '../../../../l10n/bundle.l10n.de.json' with { type: 'json' };
import { MarkedLineWriter } from '../../../../src/core/text/markedLines.ts';
import { describeOutcome } from '../../../../src/jobs/report/describeJob.ts';
import { isInLog, LogText, type LogTextOptions } from '../../../../src/jobs/log/logText.ts';
import type { SpooledEvent } from '../../../../src/jobs/log/spool.ts';
import { makeRecord } from '../fixtures.ts';

const ESC = '\u001b';
let seq = 0;
const make = (event: string, data: unknown, extra: Partial<SpooledEvent> = {}): SpooledEvent => ({
  seq: (seq += 1),
  at: '2026-01-01T00:00:42.000Z',
  event,
  data,
  ...extra,
});
const log = (text: string): SpooledEvent => make('log', { stream: 'stdout', text });
const running = make('state', { state: 'running', at: '2026-01-01T00:00:00.000Z' });

function render(options: LogTextOptions, events: readonly SpooledEvent[], results?: string): string {
  const text = new LogText(options);
  return events.map((event) => text.push(event, results)).join('') + text.flush();
}
const RAN = { startedAt: '2026-01-01T00:00:00.000Z', finishedAt: '2026-01-01T00:00:03.600Z' };
const plain = (...events: SpooledEvent[]): string => render({ colour: false }, events);
const terminal = (...events: SpooledEvent[]): string => render({ colour: true }, events);

test('a whole log: phases, the program’s lines, one line at the end', () => {
  const events = [
    make('phase', { text: 'packed 3.2 MB in 0.2 s' }, { own: true }),
    make('state', { state: 'queued' }),
    running,
    log('epoch 1\nepoch 2\n'),
    make('artifact', { path: 'a', size: 1 }),
    make('state', { state: 'succeeded' }),
    make('end', { state: 'succeeded', exit_code: 0, credits_charged: 0.07 }),
  ];
  assert.equal(
    render({ colour: false, machine: 'local' }, events, '3 new files: Download Results'),
    'packed 3.2 MB in 0.2 s\nqueued\nstarted on local\nepoch 1\nepoch 2\nsucceeded after 42 s · 0.07 credits · 3 new files: Download Results\n',
  );
});

test('in German, the lines about a job are all German, and those of its program stay as they are', () => {
  const events = [
    make('state', { state: 'queued' }),
    running,
    log('epoch 1.5\n'),
    make('end', { state: 'failed', exit_code: 3, credits_charged: 0.07 }),
  ];
  l10n.config({ contents: German });
  try {
    const text = render({ colour: false, machine: 'local' }, events, l10n.t('no results'));
    assert.equal(
      text,
      'in Warteschlange\ngestartet auf local\nepoch 1.5\nfehlgeschlagen mit Exit-Code 3 nach 42 s · 0,07 Credits · keine Ergebnisse\n',
    );
    const record = makeRecord({ state: 'succeeded', creditsCharged: 0.5, exitCode: 0, ...RAN });
    assert.equal(describeOutcome(record), 'erfolgreich nach 3,6 s · 0,5 Credits');
    assert.equal(
      describeOutcome({ ...record, state: 'failed', reason: 'kaputt', exitCode: null }),
      'fehlgeschlagen (kaputt) nach 3,6 s · 0,5 Credits',
    );
  } finally {
    l10n.config({ contents: {} });
  }
});

test('a job took the time that its service says, however late its end arrives', () => {
  const events = [
    running,
    make('state', { state: 'succeeded', at: '2026-01-01T00:00:40.000Z' }),
    make('end', { state: 'succeeded' }),
  ];
  assert.equal(plain(...events), 'started\nsucceeded after 40 s\n');
  const before = make('state', { state: 'succeeded', at: '2025-12-31T23:59:59.000Z' });
  assert.equal(plain(running, before, make('end', { state: 'succeeded' })), 'started\nsucceeded after 0.0 s\n');
});

test('phases are dim on a terminal, and never stick to the program’s unfinished line or colour', () => {
  assert.equal(
    terminal(log(`loading ${ESC}[31mred`), make('state', { state: 'queued' })),
    `loading ${ESC}[31mred${ESC}[0m\n${ESC}[2mqueued${ESC}[0m\n`,
  );
  assert.equal(plain(log('loading'), make('end', { state: 'failed', exit_code: 2 })), 'loading\nfailed with exit 2\n');
});

test('the last line has the reason that came with the last state', () => {
  const events = [
    make('state', { state: 'failed', reason: 'python3 was not found' }),
    make('end', { state: 'failed' }),
  ];
  assert.equal(plain(...events), 'failed · python3 was not found\n');
});

test('colours stay on a terminal only; everything else that moves or hides goes', () => {
  const evil = `a${ESC}[2J${ESC}[1;31mb${ESC}]52;c;aGk=\u0007c${ESC}]8;;http://x\u0007d\u202ee\u0000${ESC}cf\tg\n`;
  assert.equal(terminal(log(evil)), `a${ESC}[1;31mbcdef\tg\n`);
  assert.equal(plain(log(evil)), 'abcdef\tg\n');
});

test('a sequence cut between two events never comes through in halves', () => {
  const whole = `x${ESC}[38;5;196my${ESC}]0;title\u0007z${ESC}[5Aw\n`;
  for (let at = 1; at < whole.length; at += 1) {
    const pieces = [log(whole.slice(0, at)), log(whole.slice(at))];
    assert.equal(plain(...pieces), 'xyzw\n', `cut at ${at}`);
    assert.equal(terminal(...pieces), `x${ESC}[38;5;196myzw\n`, `cut at ${at}`);
  }
});

test('a progress bar: live on a terminal, its last state in a view that only appends', () => {
  const bar = [log('start\n'), log('\r 10%'), log('\r 50%'), log('\r100%\n'), log('done\n')];
  assert.equal(terminal(...bar), 'start\n\r 10%\r 50%\r100%\ndone\n');
  assert.equal(plain(...bar), 'start\n100%\ndone\n');
  assert.equal(plain(log('\r 10%'), log('\r 50%')), ' 50%', 'the rest comes with flush');
  assert.equal(plain(log('begun'), log('\rnew\n')), 'begun\nnew\n');
});

test('line ends of Windows are line ends, also when cut in two', () => {
  assert.equal(plain(log('a\r\nb\r'), log('\nc\r\n')), 'a\nb\nc\n');
  assert.equal(terminal(log('a\r\nb\r'), log('\nc\r\n')), 'a\nb\nc\n');
});

test('unfinished lines show at once', () => {
  const text = new LogText({ colour: false });
  assert.equal(text.push(log('Enter: ')), 'Enter: ');
  assert.equal(text.push(log('42\n')), '42\n');
});

test('events of other services: text is shown, the rest is passed over', () => {
  assert.equal(
    plain(make('message', 'hello\n'), make('output', { line: 'x\n' }), make('gpu', { percent: 3 })),
    'hello\nx\n',
  );
  assert.equal(plain(make('state', { status: 'Hibernating' }), make('state', 7), make('log', null)), 'Hibernating\n');
});

test('a gap is drawn as a gap', () => {
  assert.equal(
    plain(log('a'), make('gap', { text: 'lines may be missing here' }, { own: true })),
    'a\nlines may be missing here\n',
  );
});

test('marked lines of a flow are not text of the log', () => {
  const lines: string[] = [];
  const writer = new MarkedLineWriter((line) => lines.push(line));
  for (const n of [1, 2]) writer.write({ type: 'node-start', run: 1, n });
  const [first = '', second = ''] = lines;
  const texts = [`a\n${first}b`, `\n${second.slice(0, 40)}`, `${second.slice(40)}c\n@`];
  assert.equal(plain(...texts.map(log), make('end', { state: 'succeeded' })), 'a\nb\nc\n@\nsucceeded\n');
});

test('events that show nothing have no place in a log, whatever a service sends', () => {
  const shown = [
    log('text'),
    running,
    make('end', {}),
    make('phase', { text: 'packed' }, { own: true }),
    make('message', 'text'),
  ];
  assert.deepEqual(
    shown.filter((event) => !isInLog(event)),
    [],
  );
  const silent = [
    make('usage', { cpu_cores: 1 }),
    make('flow', { type: 'x' }),
    make('gpu.usage', 'text'),
    make('log', {}),
  ];
  assert.deepEqual(silent.filter(isInLog), []);
  assert.equal(plain(...silent), '');
});

test('each end has its words, its exit code, its time, its reason, its credits and its results', () => {
  const endOf = (data: object, results?: string, before: readonly SpooledEvent[] = []): string =>
    render({ colour: false }, [...before, make('end', data)], results)
      .split('\n')
      .at(-2) ?? '';
  assert.equal(endOf({ state: 'timed_out' }), 'stopped at its time limit');
  assert.equal(endOf({ state: 'shut_down_now' }), 'shut down now');
  assert.equal(endOf({}), 'ended');
  assert.equal(
    endOf({ state: 'failed', exit_code: 3, reason: 'why', credits_charged: 0 }, 'results'),
    'failed with exit 3 · why · 0 credits · results',
  );
  const unpriced = { state: 'succeeded', credits_charged: 0, unpriced_cpus: 100, unpriced_gpus: 10 };
  assert.equal(endOf(unpriced, undefined, [running]), 'succeeded after 42 s · 1.17 core-hours, 0.12 GPU-hours');
  assert.equal(endOf(unpriced), 'succeeded', 'the job never started');
  assert.equal(endOf({ state: 'failed', exit_code: 0 }, ''), 'failed');
  assert.equal(
    endOf({ state: 'failed', reason: 'own' }, undefined, [make('state', { state: 'failed', reason: 'earlier' })]),
    'failed · own',
  );
  assert.equal(endOf({ state: 'succeeded' }, undefined, [running]), 'succeeded after 42 s');
  assert.equal(
    endOf({ state: 'succeeded' }, undefined, [make('state', { state: 'running' })]),
    'succeeded after 0.0 s',
    'by when it was received',
  );
});

test('a phase has its reason and its machine, and an empty note is no line', () => {
  assert.equal(plain(make('state', { state: 'queued', reason: 'Resources' })), 'queued (Resources)\n');
  assert.equal(plain(make('state', { state: 'being_prepared' })), 'being prepared\n');
  assert.equal(
    render({ colour: false, machine: 'a10g' }, [make('state', { state: 'running', reason: 'again' })]),
    'started on a10g (again)\n',
  );
  assert.equal(plain(make('note', { text: '' }, { own: true }), make('note', {}, { own: true })), '');
  assert.equal(plain(make('note', { text: 'one\ntwo' }, { own: true })), 'one two\n');
});

test('a reader that continues knows when the job started, and whether it may continue', () => {
  const text = new LogText({ colour: false, startedAt: '2026-01-01T00:00:12.000Z' });
  assert.deepEqual([text.startedAt, text.isLineStart], ['2026-01-01T00:00:12.000Z', true]);
  text.push(running);
  assert.equal(text.startedAt, '2026-01-01T00:00:12.000Z');
  assert.equal(text.push(make('end', { state: 'succeeded' })), 'succeeded after 30 s\n');
  text.push(log('a'));
  assert.equal(text.isLineStart, false);
  text.push(log('\nfarwharf:metric {"'));
  assert.equal(text.isLineStart, false, 'data is held back');
  text.push(log('a": 1}\n'));
  assert.equal(text.isLineStart, true);
  text.push(log('\r10 %'));
  assert.deepEqual([text.moving, text.flush(), text.moving], ['10 %', '10 %', '']);
});

test('data for the page is kept where it is asked for', () => {
  const line = 'farwharf:metric {"a": 1}\n';
  assert.equal(plain(log(line)), '');
  assert.equal(render({ colour: false, keepsData: true }, [log(line)]), line);
});
