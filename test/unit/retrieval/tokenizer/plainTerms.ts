// The plain definition of terms, which the kernel must agree with: the parts of a word, each as lunr stems it.
import lunr from 'lunr';
import { MAX_WORD } from '../../../../src/retrieval/kernel/assembly/kernelLayout.ts';
import { partsOf } from '../../../../src/retrieval/tokenizer/wordAnalyzer.ts';

const LAST_ASCII = 127;
const pipeline = new lunr.Pipeline();
for (const step of [splitToken, stemToken]) {
  lunr.Pipeline.registerFunction(step, step.name);
  pipeline.add(step);
}

/** The distinct terms of a word. */
export function plainTermsOf(word: string): readonly string[] {
  return [...new Set(pipeline.run([new lunr.Token(word, {})]).map(String))];
}

function splitToken(token: lunr.Token): lunr.Token[] {
  return partsOf(token.toString()).map((part) => token.clone(() => part));
}

function stemToken(token: lunr.Token): lunr.Token {
  const bytes = Buffer.from(token.toString());
  if (bytes.length > MAX_WORD) return token;
  // The kernel measures words in bytes. Those of other scripts are consonants, no two of which are the same.
  const letters = Array.from(bytes, (byte, at) =>
    String.fromCharCode(byte <= LAST_ASCII ? byte : byte + 256 * (1 + (at % 2))),
  );
  const stem = lunr.stemmer(new lunr.Token(letters.join(''), {})).toString();
  return token.clone(() => Buffer.from(stem, 'latin1').toString());
}
