import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireAddresses } from '../../../scripts/release/addresses.ts';

const COMPLETE = {
  repository: { type: 'git', url: 'git+https://git.example.org/farwharf/farwharf.git' },
  homepage: 'https://farwharf.example.org',
  bugs: { url: 'https://git.example.org/farwharf/farwharf/issues' },
};

test('a manifest with repository, homepage and bugs can be published', () => {
  requireAddresses({ name: 'farwharf', ...COMPLETE });
});

test('a manifest that lacks some is refused, with their names and the command that adds them', () => {
  assert.throws(() => requireAddresses({ ...COMPLETE, homepage: undefined, bugs: undefined }), {
    message: /no valid homepage, bugs, .*npm pkg set .*--draft/,
  });
});

test('an address that is none, or not https, is refused', () => {
  for (const homepage of ['', 'later', 'http://farwharf.example.org'])
    assert.throws(() => requireAddresses({ ...COMPLETE, homepage }), /no valid homepage,/);
});
