import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withoutFiles } from '../../../scripts/extensionPage.ts';

const ROOT = join(import.meta.dirname, '../../..');

test('a page without a repository has no picture and no link to a file, and keeps addresses, anchors and all text', () => {
  const page = [
    '# Name',
    '',
    '![A picture (small)](media/a.png)',
    '',
    'See [the page](docs/a.md), [its part](docs/a.md#part), [`code`](src/a.ts), [here](#name) and [there](https://example.org/x).',
    '',
  ].join('\n');
  assert.equal(
    withoutFiles(page),
    '# Name\n\nSee the page, its part, `code`, [here](#name) and [there](https://example.org/x).\n',
  );
});

for (const page of ['README.md', 'CHANGELOG.md']) {
  test(`nothing of ${page} points to a file on the page of the extension`, () => {
    const text = withoutFiles(readFileSync(join(ROOT, page), 'utf8'));
    assert.doesNotMatch(text, /!\[/);
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) assert.match(target, /^(https:|#)/);
  });
}
