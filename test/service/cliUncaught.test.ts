import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';
import { Scratch } from './commandLine.ts';

/** A program to load before the command: goes wrong where nobody catches it, as soon as the command is at work. */
const preload = (failure: string): string => `
  const timer = setInterval(() => {
    if (process.listenerCount('SIGINT') === 0) return;
    clearInterval(timer);
    ${failure};
  }, 10).unref();
`;
const ERROR = "new Error('boom\\n    at \\u001b[31mred the-key-of-this-test-0123456789')";

for (const [what, failure] of [
  ['an exception', `throw ${ERROR}`],
  ['a rejection', `Promise.reject(${ERROR})`],
] as const) {
  test(`${what} that nobody caught is reported in one line, and with its stack on request`, async () => {
    await using scratch = await Scratch.create();
    const folder = await scratch.folder('preload', { 'fail.mjs': preload(failure) });
    const NODE_OPTIONS = `--import=${pathToFileURL(join(folder, 'fail.mjs')).href}`;
    const env = { NODE_OPTIONS, FARWHARF_API_KEY: 'the-key-of-this-test-0123456789' };
    const args = ['serve', '--port', '0', '--data', join(scratch.root, 'data'), '--log', join(scratch.root, 'log')];
    const failed = await scratch.run(args, { env });
    assert.equal(failed.exit, 1);
    const [last = '', ...before] = failed.stderr.trimEnd().split('\n').reverse();
    assert.match(
      last,
      /^farwharf: Unexpected error: boom at red \S+\. Set FARWHARF_DEBUG=1 to see where it happened\.$/,
    );
    assert.ok(!failed.stderr.includes('the-key'), 'the key is not shown');
    assert.doesNotMatch(before.join('\n'), /fail\.mjs|boom/);
    const debugged = await scratch.run(args, { env: { ...env, FARWHARF_DEBUG: '1' } });
    assert.match(debugged.stderr, /Unexpected error: boom[^]*fail\.mjs:\d+/);
  });
}
