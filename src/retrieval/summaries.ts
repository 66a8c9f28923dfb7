// Of a docstring (the first thing below a header, PEP 257) and of a comment for tools (JSDoc, Javadoc, Doxygen).
const DOCSTRING = /(?:^|:[ \t]*\n)[ \t]*[rRuU]?("""|''')\s*([\s\S]*?)(?=\n[ \t]*\n|\1|$)/g;
// Behind the first paragraph of such a comment: an empty line, the first tag, or its end.
const PARAGRAPH_END = /\n[ \t]*\*?[ \t]*[\n@]|\*\//g;
const OPENING = '/**';
const BLANKS = /\s*(?:\*[ \t]*)?/y;

/** The first paragraphs of the comments that describe definitions: they tell best what those are about. */
export function summariesOf(text: string): readonly string[] {
  const summaries: string[] = [];
  // Looking for the signs first costs a tenth of looking for the expressions.
  if (text.includes('"""') || text.includes("'''")) {
    for (const [, , summary = ''] of text.matchAll(DOCSTRING)) summaries.push(summary);
  }
  for (let at = text.indexOf(OPENING); at >= 0; ) {
    BLANKS.lastIndex = at + OPENING.length;
    BLANKS.test(text);
    const start = BLANKS.lastIndex;
    PARAGRAPH_END.lastIndex = start;
    const end = PARAGRAPH_END.exec(text)?.index ?? text.length;
    summaries.push(text.slice(start, end));
    at = text.indexOf(OPENING, end);
  }
  return summaries;
}
