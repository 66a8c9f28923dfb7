// The start of a docstring (the first statement of a definition, PEP 257) and of a doc comment (JSDoc, Javadoc, Doxygen).
const DOCSTRING = /(?:^|:[ \t]*\n)[ \t]*[rRuU]?("""|''')\s*([\s\S]*?)(?=\n[ \t]*\n|\1|$)/g;
// What follows the first paragraph of such a comment: an empty line, the first tag, or its end.
const PARAGRAPH_END = /\n[ \t]*\*?[ \t]*[\n@]|\*\//g;
const OPENING = '/**';
const BLANKS = /\s*(?:\*[ \t]*)?/y;

/**
 * The spans of the first paragraphs of the comments that describe definitions, which are the best descriptions of their topics. No span
 * splits a word.
 */
export function summarySpans(text: string): readonly number[] {
  const spans: number[] = [];
  // Searching for the delimiters first costs a tenth of matching the expressions.
  if (text.includes('"""') || text.includes("'''")) {
    for (const match of text.matchAll(DOCSTRING)) {
      const end = match.index + match[0].length;
      spans.push(end - (match[2] ?? '').length, end);
    }
  }
  for (let at = text.indexOf(OPENING); at >= 0; ) {
    BLANKS.lastIndex = at + OPENING.length;
    BLANKS.test(text);
    const start = BLANKS.lastIndex;
    PARAGRAPH_END.lastIndex = start;
    const end = PARAGRAPH_END.exec(text)?.index ?? text.length;
    spans.push(start, end);
    at = text.indexOf(OPENING, end);
  }
  return spans;
}

/** The text of these paragraphs. */
export function summariesOf(text: string): readonly string[] {
  const spans = summarySpans(text);
  return Array.from({ length: spans.length / 2 }, (_, index) => text.slice(spans[2 * index], spans[2 * index + 1]));
}
