import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Terminal } from '../../../src/cli/terminal.ts';

/** A terminal whose streams end up in one text each, and in the order of writing in `all`. */
function record(options: { isJson?: boolean; isTTY?: boolean }) {
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
  assert.equal(written.stderr, '\r\u001b[2Ka status line that \r\u001b[2Kdone\n');
});

test('a remark never begins in the middle of a line of the job', () => {
  const { terminal, written } = record({ isTTY: true });
  terminal.output('stdout', 'no end');
  terminal.note('succeeded');
  terminal.note('bye');
  assert.equal(written.all, 'no end\nsucceeded\nbye\n');
});
