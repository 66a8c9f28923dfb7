import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { configSchema, readConfig } from '../../../src/service/serviceConfig.ts';

const PAGES = globSync(join(import.meta.dirname, '../../../docs/service{,/*}.md'));
const PAGE = PAGES.map((path) => readFileSync(path, 'utf8')).join('\n');

test('every configuration on the pages of the service is one that it takes, also with what is commented out', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-docs-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const blocks = [...PAGE.matchAll(/```toml\n(.*?)```/gs)].map(([, block = '']) => block);
  assert.ok(blocks.length > 5);
  const path = join(folder, 'service.toml');
  for (const block of blocks) {
    for (const text of [block, block.replaceAll(/^# (?=\w+ = )/gm, '')]) {
      writeFileSync(path, text);
      await assert.doesNotReject(readConfig(path), text);
    }
  }
});

test('every section of the configuration has its place on these pages', async () => {
  const { anyOf } = (await configSchema()) as { anyOf: { properties: Record<string, { properties?: object }> }[] };
  for (const [name, { properties: settings = {} }] of anyOf.flatMap(({ properties }) => Object.entries(properties))) {
    assert.match(PAGE, new RegExp(`^(\\[+${name}\\]+|${name} =)`, 'm'), name);
    for (const setting of Object.keys(settings))
      assert.match(PAGE, new RegExp(`^((# )?${setting} =|\\[${name}\\.${setting}\\.)`, 'm'), `${name}.${setting}`);
  }
});
