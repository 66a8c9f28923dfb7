import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Terminal } from '../../../../src/cli/terminal/terminal.ts';

/** A terminal whose streams end up in one text each, and in the order of writing in `all`. */
function record(options: { isJson?: boolean; isTTY?: boolean; env?: NodeJS.ProcessEnv }) {
  const written = { stdout: '', stderr: '', all: '' };
  const stream = (name: 'stdout' | 'stderr') => ({
    isTTY: options.isTTY === true,
    columns: 20,
    write: (text: string) => {
      written[name] += text;
      written.all += text;
    },
  });
  const terminal = new Terminal({
    isJson: options.isJson === true,
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    env: options.env ?? {},
  });
  return { terminal, written };
}

test('answers go to stdout and remarks to stderr, without colours where nobody looks', () => {
  const { terminal, written } = record({});
  terminal.answer('id-1');
  terminal.note('sent');
  terminal.phase('packed');
  terminal.status('packing 40 %');
  terminal.json({ ignored: true });
  assert.deepEqual([written.stdout, written.stderr], ['id-1\n', 'sent\npacked\n']);
});

test('with JSON, stdout has JSON lines alone', () => {
  const { terminal, written } = record({ isJson: true });
  terminal.answer('for people');
  terminal.json({ job_id: 'a\nb' });
  assert.deepEqual([written.stdout, written.stderr], ['{"job_id":"a\\nb"}\n', 'for people\n']);
});

test('a status line fits into the window, and is gone before anything else is written', () => {
  const { terminal, written } = record({ isTTY: true });
  terminal.status('a status line that is longer than the window');
  terminal.note('done');
  assert.equal(written.stderr, '\r\u001b[2Ka status line that…\r\u001b[2Kdone\n');
});

test('wide characters count twice in a status line', () => {
  const { terminal, written } = record({ isTTY: true });
  terminal.status('looking at 東京大学の計算機');
  assert.equal(written.stderr, '\r\u001b[2Klooking at 東京大…');
});

const ESCAPES: readonly (readonly [string, boolean, NodeJS.ProcessEnv, { colour: boolean; status: boolean }])[] = [
  ['a terminal', true, {}, { colour: true, status: true }],
  ['a pipe', false, {}, { colour: false, status: false }],
  ['a dumb terminal', true, { TERM: 'dumb' }, { colour: false, status: false }],
  ['a terminal of a CI system', true, { CI: 'true' }, { colour: true, status: false }],
  ['CI=false', true, { CI: 'false' }, { colour: true, status: true }],
  ['NO_COLOR', true, { NO_COLOR: '1' }, { colour: false, status: true }],
  ['an empty NO_COLOR', true, { NO_COLOR: '' }, { colour: true, status: true }],
  ['FORCE_COLOR for a pipe', false, { FORCE_COLOR: '1' }, { colour: true, status: false }],
  [
    'FORCE_COLOR against all others',
    true,
    { FORCE_COLOR: '3', NO_COLOR: '1', TERM: 'dumb' },
    { colour: true, status: false },
  ],
  ['FORCE_COLOR=0', true, { FORCE_COLOR: '0' }, { colour: false, status: true }],
  ['an empty FORCE_COLOR', true, { FORCE_COLOR: '' }, { colour: true, status: true }],
];

for (const [name, isTTY, env, { colour, status }] of ESCAPES) {
  test(`${name}: ${colour ? 'colours' : 'no colours'} and ${status ? 'a' : 'no'} status line`, () => {
    const { terminal, written } = record({ isTTY, env });
    terminal.status('40 %');
    terminal.clearStatus();
    assert.equal(written.stderr !== '', status);
    written.stderr = '';
    terminal.phase('packed');
    assert.equal(written.stderr, colour ? '\u001b[2mpacked\u001b[22m\n' : 'packed\n');
  });
}

test('a remark never begins in the middle of a line of the job', () => {
  const { terminal, written } = record({ isTTY: true });
  terminal.programOutput('stdout', 'no end');
  terminal.note('succeeded');
  terminal.note('bye');
  assert.equal(written.all, 'no end\nsucceeded\nbye\n');
});
