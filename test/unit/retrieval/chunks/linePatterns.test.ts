import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LANGUAGES } from '../../../../src/retrieval/chunks/languages.ts';
import { LineMatcher, type LinePattern, LinePatternSet } from '../../../../src/retrieval/chunks/linePatterns.ts';
import { TextLines } from '../../../../src/retrieval/chunks/block.ts';
import { pick, randomFrom } from '../../../random.ts';

const TOKENS =
  'public private static export pub const function class struct enum impl fn fun def type func var let case define( using typedef #define @test namespace template friend alias attr_reader : :: ; = => ( ) { } . , < > * & name Name NAME étoile "text" [x] -'.split(
    ' ',
  );
const LINES = 2000;

function matchesOf(patterns: readonly LinePattern[], lines: TextLines): readonly (string | undefined)[] {
  const matcher = new LineMatcher(lines, new LinePatternSet(patterns));
  return lines.all().map((line, at) => matcher.match(at, (lines.starts[at] ?? 0) + line.search(/\S/))?.join());
}

test('what is checked before an expression rejects no line that it matches', () => {
  const random = randomFrom(1);
  const any = <T>(items: readonly T[]): T | undefined => pick(items, random);
  const text = Array.from({ length: LINES }, () => {
    const tokens = Array.from({ length: 1 + Math.floor(random() * 9) }, () => any(TOKENS));
    return `${any(['', '  ', '\t'])}${tokens.join(any([' ', '', ' ']))}${any(['', ' {', ';', '  '])}`;
  });
  const lines = new TextLines(text.join('\n'));
  let found = 0;
  for (const { definition = [], names } of LANGUAGES) {
    // That there is a type before a name is said by the check alone.
    const patterns = definition instanceof RegExp ? [] : definition.filter((each) => each.hasTypedName === undefined);
    const unchecked = patterns.map(({ expression }) => ({ expression }));
    const expected = matchesOf(unchecked, lines);
    assert.deepEqual(matchesOf(patterns, lines), expected, names.join());
    found += expected.filter((match) => match !== undefined).length;
  }
  assert.ok(found > LINES / 2, String(found));
});

test('a call, an assignment and a statement are no methods, and a macro before a function is none', () => {
  const java = LANGUAGES.find(({ names }) => names.includes('java'))?.definition;
  const c = LANGUAGES.find(({ extensions }) => extensions.includes('c'))?.definition;
  assert.ok(Array.isArray(java) && Array.isArray(c));
  const text =
    '  return moor(n);\n  Rope r = moor(n);\n  sail(moor(n));\n  List<Rope> ropesOf(int n) {\n  Rope[] all();\n';
  const names = (patterns: readonly LinePattern[], source: string): (string | undefined)[] =>
    matchesOf(patterns, new TextLines(source)).map((match) => match?.split(',').at(-1));
  assert.deepEqual(names(java, text), [undefined, undefined, undefined, 'ropesOf', 'all']);
  const functions =
    'SEA_API(int) moor(rope *r) {\nbool operator==(sea a) {\n  if (sail(n)) {\nMOOR(n) {\nvoid *rope(int n)\n';
  assert.deepEqual(names(c, functions), ['moor', 'operator==', undefined, undefined, 'rope']);
});
