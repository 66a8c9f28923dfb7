import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ChunkMode, CHUNK_BOUNDS } from '../../../../src/retrieval/chunks/chunk.ts';
import { chunkText } from '../../../../src/retrieval/chunks/chunkText.ts';

const MODES: readonly ChunkMode[] = ['smart', 'paragraphs', 'sentences', 'fixed'];
const body = (lines: number, indent = '  '): string =>
  Array.from({ length: lines }, (_, i) => `${indent}step(${i});`).join('\n');

test('every mode covers all text, cites the lines it came from, and keeps to the bounds', () => {
  const text = Array.from({ length: 400 }, (_, i) =>
    i % 7 === 6 ? '' : `Line ${i} of the text says something. And more.`,
  ).join('\n');
  const lines = text.split('\n');
  for (const mode of MODES) {
    for (const source of ['notes.txt', 'notes.md', 'notes.ts', 'notes.json', 'notes.ipynb']) {
      const chunks = chunkText(text, source, mode);
      const covered = new Set<number>();
      for (const chunk of chunks) {
        assert.ok(chunk.text.length <= 2 * CHUNK_BOUNDS.characters, `${mode} ${source}`);
        if (mode !== 'sentences') assert.ok(chunk.endLine - chunk.startLine < CHUNK_BOUNDS.lines);
        for (let line = chunk.startLine; line <= chunk.endLine; line += 1) covered.add(line);
        const first = chunk.text.split('\n')[0] ?? '';
        assert.ok(
          lines[chunk.startLine - 1]?.includes(first),
          `${mode} ${source}: line ${chunk.startLine} is not "${first}"`,
        );
      }
      for (const [index, line] of lines.entries())
        assert.ok(line === '' || covered.has(index + 1), `${mode}: line ${index + 1}`);
    }
  }
});

test('smart cuts code at definitions, with their names and what they are in', () => {
  const text = [
    "import { x } from './x.ts';",
    '',
    '/** Reads. */',
    'export class Reader {',
    '  readonly size = 1;',
    '  /** One line. */',
    '  async readLine(limit: number): Promise<string> {',
    body(30, '    '),
    '  }',
    '  close(): void {',
    body(30, '    '),
    '  }',
    '}',
    'export const parse = (text: string) => {',
    body(30),
    '};',
  ].join('\n');
  const chunks = chunkText(text, 'src/reader.ts', 'smart');
  assert.deepEqual(
    chunks.map(({ symbols, scope }) => `${scope.join('.')}:${symbols.join(',')}`),
    [':Reader,readLine', 'Reader:close', ':parse'],
  );
  assert.ok(chunks[1]?.text.startsWith('  close()'));
});

test('a definition below a long comment is named by the chunk that contains it', () => {
  const comment = Array.from({ length: 60 }, (_, i) => `   * Remark ${i} about what is closed, and when.`);
  const text = ['class Door {', '  /**', ...comment, '   */', '  close() {', body(3, '    '), '  }', '}'].join('\n');
  const chunks = chunkText(text, 'door.ts', 'smart');
  const named = chunks.filter(({ symbols }) => symbols.includes('close'));
  assert.equal(named.length, 1);
  assert.ok(named[0]?.text.includes('  close() {'));
  const before = chunks.filter((chunk) => chunk.text.includes('Remark') && chunk !== named[0]);
  assert.ok(before.length > 1);
  for (const { symbols, scope } of before) assert.deepEqual([symbols, scope], [[], ['Door', 'close']]);
});

test('smart finds definitions in other languages', () => {
  const cases: [string, string, string][] = [
    ['a.py', 'class Spider:\n    def parse(self):\n        pass', 'Spider,parse'],
    ['a.go', 'func (r *Reader) ReadLine() error {\n}', 'ReadLine'],
    ['a.rs', 'pub(crate) fn pack_all<T>(x: T) {\n}\nimpl Packer {\n}', 'pack_all,Packer'],
    ['a.c', 'static int\nfoo(void);\nint main(int argc, char **argv)\n{\n}', 'main'],
    [
      'a.ts',
      'class A {\n  getName(): string {\n  }\n  get size() {\n  }\n  settle() {\n  }\n}',
      'A,getName,size,settle',
    ],
    ['a.java', 'public final class Main {\n  private int count(int x) {\n  }\n}', 'Main,count'],
  ];
  for (const [source, text, symbols] of cases) {
    assert.equal(
      chunkText(text, source, 'smart')
        .flatMap((chunk) => chunk.symbols)
        .join(),
      symbols,
      source,
    );
  }
});

test('smart cuts Markdown at headings and never inside a fence', () => {
  const fence = ['```sh', '# not a heading', '', 'run', '```'].join('\n');
  const text = `# Guide\n\n${body(10)}\n\n## Install\n\nFirst:\n\n${fence}\n\n${body(10)}\n\n## Use\n\n${body(10)}\n`;
  const chunks = chunkText(text, 'guide.md', 'smart');
  assert.deepEqual(
    chunks.map(({ symbols, scope }) => `${scope.join('/')}:${symbols.join()}`),
    [':Guide', 'Guide:Install', 'Guide:Use'],
  );
  assert.ok(chunks[1]?.text.includes(fence));
});

test('smart knows titles with a rule below them, and no rule or table makes a heading', () => {
  const text = `Guide\n=====\n\n${body(9)}\n\nInstall it\n----------\n\n${body(9)}\n\n- item\n---\n\n| a |\n|---|\n`;
  assert.deepEqual(
    chunkText(text, 'guide.md', 'smart').map(({ symbols, scope }) => `${scope.join('/')}:${symbols.join()}`),
    [':Guide', 'Guide:Install it'],
  );
});

test('a fence is not cut between its blank lines, and only where it is longer than a chunk', () => {
  const code = Array.from({ length: 30 }, (_, at) => (at % 3 === 0 ? '' : `line ${at}`)).join('\n');
  const text = `${body(25)}\n\n~~~~text\n\`\`\`\n${code}\n~~~\n~~~~\n\nAfter.\n`;
  const chunks = chunkText(text, 'guide.md', 'smart');
  assert.ok(chunks.some((chunk) => chunk.text.startsWith('~~~~text') && chunk.text.includes('\n~~~~')));
  const long = chunkText(`\`\`\`\n${body(100)}\n\`\`\`\n`, 'guide.md', 'smart');
  assert.equal(long.length, 3);
});

test('code within text opens no fence', () => {
  const text = `# One\n\n\`\`\`run it\`\`\` first.\n${body(9)}\n\n# Two\n\n\`\`\`\`\n\`\`\`\n# inside\n\`\`\`\`\n${body(9)}\n\n# Three\n`;
  assert.deepEqual(
    chunkText(text, 'guide.md', 'smart').map(({ symbols }) => symbols.join()),
    ['One', 'Two', 'Three'],
  );
});

test('smart cuts notebooks at cells, and names what the cells define', () => {
  const text = [
    '# %% [markdown]',
    '# Whales',
    'They swim.',
    '',
    '# %%',
    'import sea',
    'def count_whales(pod):',
    '    return len(pod)',
    '',
    '# %%',
    'count_whales(sea.pod)',
  ].join('\n');
  assert.deepEqual(
    chunkText(text, 'sea.ipynb', 'smart').map(({ symbols, startLine, endLine }) => [
      symbols.join(),
      startLine,
      endLine,
    ]),
    [
      ['Whales', 1, 4],
      ['count_whales', 5, 9],
      ['', 10, 11],
    ],
  );
});

test('smart cuts YAML and TOML at their top keys, and names what a long value is in', () => {
  const values = Array.from({ length: 60 }, (_, at) => `  key${at}: ${at}`).join('\n');
  const yaml = chunkText(`# about\nfirst:\n${values}\nsecond:\n${values}\n`, 'a.yaml', 'smart');
  assert.deepEqual(
    yaml.map(({ symbols, scope }) => `${scope.join('/')}:${symbols.join()}`),
    [':', ':first', 'first:', ':second', 'second:'],
  );
  const toml = chunkText(`[tool.one]\n${body(30)}\n\n[[tool.two]]\n${body(30)}\n`, 'a.toml', 'smart');
  assert.deepEqual(
    toml.map(({ symbols }) => symbols.join()),
    ['tool.one', 'tool.two'],
  );
});

test('hostile lines are cut like others, in time that grows with their length', () => {
  const lines = [
    `# x${' '.repeat(300_000)}x`,
    `"${'\\'.repeat(300_001)}`,
    `function ${'('.repeat(300_000)}`,
    `${'a.b '.repeat(100_000)}{`,
    '#'.repeat(300_000),
    `"${'\\'.repeat(24_000_000)}`,
  ];
  for (const source of ['a.md', 'a.json', 'a.ts', 'a.c', 'a.ipynb', 'a.txt']) {
    for (const line of lines) assert.ok(chunkText(line, source, 'smart').length > 0);
  }
});

test('many hostile lines are cut in time that grows with their number', () => {
  const lines = [
    `# x${' '.repeat(490)}x`,
    `# x${' '.repeat(240)}\u2028${' '.repeat(240)}x`,
    `  a(${'):a'.repeat(160)}{x {`,
    '  *next() {',
    '  #read() {',
  ];
  for (const source of ['a.md', 'a.ts', 'a.ipynb']) {
    for (const line of lines) {
      const text = `${line}\n`.repeat(600_000 / line.length);
      assert.ok(chunkText(text, source, 'smart').length > 0);
    }
  }
});

test('what closes a heading is no part of it', () => {
  const titles = { '# One ##': 'One', '## Two  #  ': 'Two', '# C#': 'C#', '# # #': '#', '# ##': '##' };
  for (const [line, title] of Object.entries(titles)) {
    assert.deepEqual(
      chunkText(`${line}\n`, 'a.md', 'smart').map(({ symbols }) => symbols),
      [[title]],
      line,
    );
  }
});

test('smart cuts data at its top keys', () => {
  const value = Array.from({ length: 30 }, (_, i) => `    "k${i}": ${i}`).join(',\n');
  const chunks = chunkText(`{\n  "first": {\n${value}\n  },\n  "second": {\n${value}\n  }\n}\n`, 'a.json', 'smart');
  assert.deepEqual(
    chunks.map(({ symbols }) => symbols.join()),
    ['first', 'second'],
  );
});

test('sentences are not cut in the middle, and say their lines', () => {
  const text = `${'One two three. '.repeat(150)}\n\nThe last sentence\ngoes on here.`;
  const chunks = chunkText(text, 'a.txt', 'sentences');
  assert.ok(chunks.length > 1);
  for (const { text: part } of chunks) assert.match(part, /\.$/);
  assert.equal(chunks.at(-1)?.endLine, 4);
});

test('line ends of all systems count, and one endless line is cut', () => {
  assert.equal(chunkText('a\r\nb\rc\n', 'a.txt', 'fixed')[0]?.endLine, 3);
  const chunks = chunkText('x'.repeat(100_000), 'a.txt', 'smart');
  assert.ok(chunks.length > 10 && chunks.every(({ text }) => text.length <= 2 * CHUNK_BOUNDS.characters));
  assert.equal(chunks.map(({ text }) => text).join(''), 'x'.repeat(100_000));
});

test('an endless line is cut between characters in every mode', () => {
  const line = `.${'𝒳'.repeat(20_000)}`;
  for (const mode of MODES) {
    const chunks = chunkText(line, 'a.txt', mode);
    assert.ok(chunks.length > 10 && chunks.every(({ text }) => text.isWellFormed()), mode);
    assert.ok(chunks.every(({ text }) => text.length <= 2 * CHUNK_BOUNDS.characters));
    assert.equal(chunks.map(({ text }) => text).join(''), line);
  }
});

test('nothing gives no chunks', () => {
  for (const mode of MODES)
    for (const text of ['', '\n\n', '   ']) assert.deepEqual(chunkText(text, 'a.txt', mode), []);
});
