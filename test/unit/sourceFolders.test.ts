import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const page = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');

test('CONTRIBUTING.md has one sentence for each folder of src, two levels deep', () => {
  const [, section = ''] = page.split(/^### Folders$/m);
  const [list = ''] = section.split(/^## /m);
  const items = Array.from(list.matchAll(/^ *- `([\w/]+)`: (\S.*)$/gm), ([, folder = '', sentence = '']) => ({
    folder,
    sentence,
  }));
  const folders = globSync('**/*.ts', { cwd: join(ROOT, 'src') })
    .map((file) => dirname(file).split(sep).slice(0, 2))
    .flatMap(([layer = '', folder]) => (folder === undefined ? [layer] : [layer, `${layer}/${folder}`]));
  assert.deepEqual(
    items.map(({ folder }) => folder),
    [...new Set(folders)].toSorted(),
  );
  assert.deepEqual(
    items.filter(({ sentence }) => !sentence.endsWith('.')),
    [],
  );
});

test('the picture of the layers in CONTRIBUTING.md has each layer above those that it may import', () => {
  const [, picture = ''] = /^## Layers$[^`]*```text\n([^`]*)```/m.exec(page) ?? [];
  const rowOf = new Map(
    picture.split('\n').flatMap((line, row) => Array.from(line.matchAll(/\w+/g), ([layer]) => [layer, row] as const)),
  );
  const table = Array.from(page.matchAll(/^\| `(\w+)` +\|([^|]*)\|$/gm), ([, layer = '', cell = '']) => ({
    layer,
    below: Array.from(cell.matchAll(/`(\w+)`/g), ([, name = '']) => name),
  }));
  assert.deepEqual([...rowOf.keys()].toSorted(), table.map(({ layer }) => layer).toSorted());
  const wrong = table.flatMap(({ layer, below }) =>
    below.filter((name) => (rowOf.get(name) ?? 0) <= (rowOf.get(layer) ?? 0)).map((name) => `${layer} imports ${name}`),
  );
  assert.deepEqual(wrong, []);
});
