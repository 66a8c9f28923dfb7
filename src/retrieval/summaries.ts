// Of a docstring (the first thing below a header, PEP 257) and of a comment for tools (JSDoc, Javadoc, Doxygen).
const DOCSTRING = /(?:^|:[ \t]*\n)[ \t]*[rRuU]?("""|''')\s*([\s\S]*?)(?=\n[ \t]*\n|\1|$)/g;
const DOC_COMMENT = /\/\*\*\s*(?:\*[ \t]*)?([\s\S]*?)(?=\n[ \t]*\*?[ \t]*(?:\n|@)|\*\/|$)/g;

/** The first paragraphs of the comments that describe definitions: they tell best what those are about. */
export function summariesOf(text: string): readonly string[] {
  const summaries: string[] = [];
  // Looking for the signs first costs a tenth of looking for the expressions.
  if (text.includes('"""') || text.includes("'''")) {
    for (const [, , summary = ''] of text.matchAll(DOCSTRING)) summaries.push(summary);
  }
  if (text.includes('/**')) for (const [, summary = ''] of text.matchAll(DOC_COMMENT)) summaries.push(summary);
  return summaries;
}
