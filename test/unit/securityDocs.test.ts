import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const DOCS = join(import.meta.dirname, '../../docs');
const LINK = /\[([^\]]+)\]\(\.\.\/(test\/[\w/.]+)\)/g;

/** Whether a test file has a test of this title, in which `…` stands for what is filled in. */
function hasTest(source: string, title: string): boolean {
  const escaped = title.split('…').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`(?:test|it)\\(\\s*(['"\`])${escaped.join('.+?')}\\1`).test(source.replaceAll("\\'", "'"));
}

test('every promise of docs/security.md is proved by tests that exist', () => {
  const text = readFileSync(join(DOCS, 'security.md'), 'utf8');
  const links = [...text.matchAll(LINK)].map(([, title = '', path = '']) => ({ title, path }));
  const missing = links.filter(({ title, path }) => {
    const file = join(DOCS, '..', path);
    return !existsSync(file) || !hasTest(readFileSync(file, 'utf8'), title);
  });
  assert.deepEqual(missing, []);
  const promises = text.split('\n- **').slice(1);
  const [notPromised = ''] = text.split('## What is not promised').slice(1);
  const unproved = promises.filter(
    (promise) => !promise.includes('](../test/') && !notPromised.includes(promise.slice(0, 40)),
  );
  assert.deepEqual(unproved, []);
  const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading = '']) =>
    heading.toLowerCase().replaceAll(' ', '-'),
  );
  const targets = [...text.matchAll(/\]\(#([\w-]+)\)/g)].map(([, target = '']) => target);
  assert.deepEqual(
    targets.filter((target) => !headings.includes(target)),
    [],
  );
  assert.ok(targets.length > 20, `${targets.length} places where threats are met`);
  assert.ok(links.length > 80, `${links.length} tests`);
});
