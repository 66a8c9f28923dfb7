import { SecretRedactor } from '../../core/text/secretRedactor.ts';
import type { ContentRewriter, Rewriting } from '../../workspace/pack/pack.ts';

// As git decides whether a file is text.
const BEGINNING_BYTES = 8_000;
const UTF_16_MARK = Buffer.from([0xff, 0xfe]);

/**
 * Replaces values in the text files among results, and nothing in other files: those with a zero byte in their first 8,000. Text may be in any
 * encoding that extends ASCII, or in UTF-16 with a byte order mark, as Windows writes it.
 */
export function redactionOf(values: readonly string[]): Rewriting {
  // Bytes are read as Latin-1, in which each is one character, so that those of no value stay as they are.
  const redactor = new SecretRedactor([...values, ...values.map((value) => Buffer.from(value).toString('latin1'))]);
  return (beginning) => {
    if (beginning.subarray(0, UTF_16_MARK.length).equals(UTF_16_MARK)) return () => rewriter(redactor, 'utf16le');
    return beginning.subarray(0, BEGINNING_BYTES).includes(0) ? undefined : () => rewriter(redactor, 'latin1');
  };
}

function rewriter(redactor: SecretRedactor, encoding: 'latin1' | 'utf16le'): ContentRewriter {
  const stream = redactor.stream();
  // Half of a character of UTF-16.
  let half = Buffer.alloc(0);
  return {
    push: (bytes) => {
      const all = half.length === 0 ? bytes : Buffer.concat([half, bytes]);
      const end = encoding === 'utf16le' ? all.length - (all.length % 2) : all.length;
      half = Buffer.from(all.subarray(end));
      return Buffer.from(stream.push(all.toString(encoding, 0, end)), encoding);
    },
    end: () => Buffer.concat([Buffer.from(stream.end(), encoding), half]),
    get hasChanged() {
      return stream.hasReplaced;
    },
  };
}
