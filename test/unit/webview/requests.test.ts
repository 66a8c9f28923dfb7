import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCanvasRequest } from '../../../src/webview/canvas/state/requests.ts';
import { webviewPage } from '../../../src/extension/ui/webviewPage.ts';

const at = { offset: 0, line: 0, column: 0 };

test('what a canvas sends is taken as it is', () => {
  const messages: readonly { readonly type: string; readonly [name: string]: unknown }[] = [
    { type: 'ready' },
    { type: 'undo' },
    { type: 'save' },
    { type: 'reveal', range: { file: 'a.ts', start: at, end: at }, isPreview: true },
    { type: 'edit', id: 1, version: 2, operation: { type: 'addNode', flow: 'f', className: 'A', from: undefined } },
    {
      type: 'edit',
      id: 1,
      version: 2,
      operation: { type: 'addNode', flow: 'f', className: 'A', from: { node: 'n', action: 'default' } },
    },
    {
      type: 'edit',
      id: 1,
      version: 2,
      operation: { type: 'connect', flow: 'f', source: 'a', target: null, action: '' },
    },
    { type: 'edit', id: 1, version: 2, operation: { type: 'extractFlow', flow: 'f', nodes: ['a'], name: 'B' } },
    { type: 'hints', flow: 'f', moved: { n: { x: -1.5, y: 2 } } },
    { type: 'run', flow: 'f' },
    { type: 'rerunFrom', run: 'r', path: 'a/b', visit: 1 },
    { type: 'readShared', run: 'r', step: 0 },
    { type: 'export', format: 'svg', flow: 'f', text: '<svg/>' },
    { type: 'failure', message: 'x' },
  ];
  for (const message of messages) assert.deepEqual(readCanvasRequest(message), message);
});

test('messages that no canvas sends are ignored', () => {
  const messages: unknown[] = [
    null,
    'run',
    {},
    { type: 'executeCommand', command: 'x' },
    { type: 'run' },
    { type: 'run', flow: { toString: 'x' } },
    { type: 'reveal', range: { file: 1, start: at, end: at }, isPreview: true },
    { type: 'reveal', range: { file: 'a', start: { ...at, offset: -1 }, end: at }, isPreview: true },
    { type: 'readShared', run: 'r', step: -1 },
    { type: 'edit', id: 1, version: 2, operation: { type: 'write', flow: 'f', text: 'evil()' } },
    { type: 'export', format: 'html', flow: 'f', text: '<script>' },
    { type: 'stop', run: 'x'.repeat(10_000) },
  ];
  for (const message of messages)
    assert.equal(readCanvasRequest(message), undefined, JSON.stringify(message)?.slice(0, 80));
});

test('a canvas page runs only its own script and has no network access', () => {
  const page = webviewPage({
    title: 'Flow',
    script: 's.js',
    style: 's.css',
    source: 'https://files.example',
    nonce: 'n0nce',
    language: 'de',
    texts: { '"Run" <all>': '"Alle" <ausführen> & mehr' },
  });
  const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page) ?? [];
  assert.match(policy, /^default-src 'none'; script-src 'nonce-n0nce';/);
  assert.doesNotMatch(policy, /unsafe|connect-src|\*/);
  assert.deepEqual(page.match(/<script[^>]*>/g), ['<script nonce="n0nce" src="s.js">']);
  assert.match(page, /<html lang="de">/);
  assert.match(
    page,
    /<body data-texts="\{&quot;\\&quot;Run\\&quot; <all>&quot;:&quot;\\&quot;Alle\\&quot; <ausführen> &amp; mehr&quot;\}">/,
  );
});
