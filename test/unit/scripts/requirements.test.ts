import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { outdatedNode } from '../../../scripts/requirements.mjs';

const MANIFEST = join(import.meta.dirname, '../../../package.json');
const { engines } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { engines: { node: string } };
const [major = 0, minor = 0] = engines.node.replace('>=', '').split('.').map(Number);

test('a Node.js below the lowest of package.json is outdated, and no other', () => {
  for (const version of [`${major}.${minor - 1}.9`, `${major - 1}.99.0`, `${major - 2}.20.2`]) {
    assert.match(outdatedNode(version) ?? '', new RegExp(`needs Node\\.js ${major}\\.${minor} or newer.* ${version}`));
  }
  for (const version of [`${major}.${minor}.0`, `${major}.${minor + 1}.0`, `${major + 1}.0.0`, `${major + 10}.1.0`]) {
    assert.equal(outdatedNode(version), undefined);
  }
});
