import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeywordIndex } from '../../../../src/retrieval/keywordIndex.ts';
import { summariesOf } from '../../../../src/retrieval/chunks/summaries.ts';

test('a summary is the first paragraph of a docstring', () => {
  const text = `def read(path):
    """Gives the lines
    of a file.

    Raises when there is none.
    """
    query = """SELECT 1"""
class Reader:
    r'''Reads.'''
`;
  assert.deepEqual(
    summariesOf(text).map((summary) => summary.replaceAll(/\s+/g, ' ')),
    ['Gives the lines of a file.', 'Reads.'],
  );
});

test('a summary is the first paragraph of a comment for tools, up to a tag', () => {
  const text = `/** Opens it. */ open();
/**
 * Closes it.
 *
 * Twice is once.
 */
/**
 * Reads it,
 * slowly.
 * @param path where
 */
/* no summary */`;
  assert.deepEqual(
    summariesOf(text).map((summary) => summary.replaceAll(/[\s*]+/g, ' ').trim()),
    ['Opens it.', 'Closes it.', 'Reads it, slowly.'],
  );
});

test('a comment that a chunk holds a part of has a summary to the end of the chunk', () => {
  assert.deepEqual(summariesOf('/** Begins here'), ['Begins here']);
  assert.deepEqual(summariesOf('def f():\n  """Begins here'), ['Begins here']);
});

test('long runs of signs without an end take no long time', () => {
  for (const text of ['/**'.repeat(100_000), ':\n"""'.repeat(100_000), `/**${'\n *'.repeat(100_000)}`]) {
    assert.ok(summariesOf(text).length >= 0);
  }
});

test('what describes a function ranks before what mentions the same words', () => {
  const chunk = (source: string, text: string) => ({ source, text, startLine: 1, endLine: 3, symbols: [], scope: [] });
  const index = new KeywordIndex();
  index.add([
    chunk('a.py', 'def a():\n    # sort numbers\n    pass\n    return """of the other kind"""'),
    chunk('b.py', 'def b():\n    """sort numbers"""\n    pass\n    return "of the other kind"'),
  ]);
  assert.equal(index.search('sort numbers', 1)[0]?.chunk.source, 'b.py');
});
