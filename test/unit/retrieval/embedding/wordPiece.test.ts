import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WordPiece } from '../../../../src/retrieval/embedding/static/wordPiece.ts';
import { tokenizerDefinition } from '../../../staticModel.ts';

const TOKENS =
  '[PAD] [UNK] hello world un ##aff ##able ##s re ##try ##delay retry cafe strasse straße grosse café 中 文 字 日 本 の σ σοφοσ ! " # $ _ - . , ( ) = < ` ~ « » — … ? 5 ##12 x ##x naïve naive i i̇ 🙂 한글 д ##а __proto__'.split(
    ' ',
  );
const vocabulary = Object.fromEntries(TOKENS.map((token, id) => [token, id]));

function tokensOf(tokenizer: WordPiece, text: string): string {
  const found: (string | undefined)[] = [];
  tokenizer.scan(text, ({ ids }) => found.push(...ids.map((id) => TOKENS[id])));
  return found.join(' ');
}

// The tokens are those that Hugging Face's tokenizers find with the same definition, without
// unknown words, which model2vec leaves out.
const EXPECTED: readonly (readonly [text: string, tokens: string])[] = [
  ['', ''],
  ['Hello WORLD', 'hello world'],
  ['unaffable', 'un ##aff ##able'],
  ['unaffabled hello', 'hello'],
  ['retryDelays', 'retry ##delay ##s'],
  ['retry_delay', 'retry _'],
  ['hello(world)=$5.', 'hello ( world ) = $ 5 .'],
  ['Café cafe\u0301', 'cafe cafe'],
  ['naïve', 'naive'],
  ['中文字', '中 文 字'],
  ['日本の', '日 本 の'],
  ['hello中world', 'hello 中 world'],
  ['«hello»—world…', '« hello » — world …'],
  ['hello\u0000wo\u200brld\tworld\u00a0world\u2028world', 'world world world'],
  ['wo\u0007rld', 'world'],
  ['ΣΟΦΟΣ', 'σοφοσ'],
  ['İ', 'i'],
  ['🙂', '🙂'],
  ['x512 xx', 'x ##x'],
  ['512', '5 ##12'],
  ['Да', 'д ##а'],
  ['__proto__', '_ _ _ _'],
  ['[UNK] [PAD]', ''],
];
for (const [text, tokens] of EXPECTED) {
  test(`${JSON.stringify(text)} has the tokens ${JSON.stringify(tokens)}`, () => {
    const tokenizer = new WordPiece(tokenizerDefinition(vocabulary));
    assert.equal(tokensOf(tokenizer, text), tokens);
    assert.equal(tokensOf(tokenizer, text), tokens, 'the same when its words are known');
  });
}

test('case, accents and Chinese are as the definition says', () => {
  const keeping = tokenizerDefinition(vocabulary, { normalizer: { lowercase: false } });
  assert.equal(tokensOf(new WordPiece(keeping), 'Hello hello café'), 'hello café');
  const cased = tokenizerDefinition(vocabulary, { normalizer: { lowercase: false, strip_accents: true } });
  assert.equal(tokensOf(new WordPiece(cased), 'café Café'), 'cafe');
  const together = tokenizerDefinition(vocabulary, { normalizer: { handle_chinese_chars: false } });
  assert.equal(tokensOf(new WordPiece(together), '中文 中'), '中');
});

test('a word of more characters than the limit is unknown, however many bytes they have', () => {
  const tokenizer = new WordPiece(tokenizerDefinition({ '[UNK]': 0, '🙂': 1, '##🙂': 2 }));
  const count = (text: string): number => {
    let tokens = 0;
    tokenizer.scan(text, ({ ids }) => (tokens += ids.length));
    return tokens;
  };
  assert.equal(count('🙂'.repeat(100)), 100);
  assert.equal(count('🙂'.repeat(101)), 0);
  assert.equal(count('🙂'.repeat(1_000_000)), 0);
});

test('long runs and more words than are remembered have the same tokens', () => {
  const tokenizer = new WordPiece(
    tokenizerDefinition(
      Object.fromEntries(
        Array.from('0123456789').flatMap((digit, at) => [
          [digit, at],
          [`##${digit}`, 10 + at],
        ]),
      ),
    ),
  );
  let tokens = 0;
  for (let number = 100_000; number < 220_000; number += 1)
    tokenizer.scan(`${number}`, ({ ids }) => (tokens += ids.length));
  assert.equal(tokens, 6 * 120_000);
});

for (const [reason, definition] of [
  ['its model is "Unigram"', tokenizerDefinition(vocabulary, { model: { type: 'Unigram', vocab: [['a', -1]] } })],
  ['its normalizer is null', { ...tokenizerDefinition(vocabulary), normalizer: null }],
  ['its pre_tokenizer is "Metaspace"', { ...tokenizerDefinition(vocabulary), pre_tokenizer: { type: 'Metaspace' } }],
  ['its vocabulary has 0 tokens', tokenizerDefinition({})],
  ['a token has no valid number', tokenizerDefinition({ a: -1 })],
  ['a token has no valid number', tokenizerDefinition({ a: 0.5 })],
  ['its model is null', null],
  ['its model is null', []],
] as const) {
  test(`a tokenizer of another kind is refused: ${reason}`, () => {
    assert.throws(() => new WordPiece(definition), { code: 'corrupt', message: new RegExp(reason) });
  });
}
