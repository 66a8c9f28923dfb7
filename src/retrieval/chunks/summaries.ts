// Of a docstring (the first thing below a header, PEP 257) and of a comment for tools (JSDoc, Javadoc, Doxygen).
const DOCSTRING = /(?:^|:[ \t]*\n)[ \t]*[rRuU]?("""|''')\s*([\s\S]*?)(?=\n[ \t]*\n|\1|$)/g;
// Behind the first paragraph of such a comment: an empty line, the first tag, or its end.
const PARAGRAPH_END = /\n[ \t]*\*?[ \t]*[\n@]|\*\//g;
const OPENING = '/**';
const BLANKS = /\s*(?:\*[ \t]*)?/y;

/**
 * The first paragraphs of the comments that describe definitions: they tell best what those are about. Of each where it begins and
 * ends in the text; no word goes over either.
 */
export function summaryPlaces(text: string): readonly number[] {
  const places: number[] = [];
  // Looking for the signs first costs a tenth of looking for the expressions.
  if (text.includes('"""') || text.includes("'''")) {
    for (const match of text.matchAll(DOCSTRING)) {
      const end = match.index + match[0].length;
      places.push(end - (match[2] ?? '').length, end);
    }
  }
  for (let at = text.indexOf(OPENING); at >= 0; ) {
    BLANKS.lastIndex = at + OPENING.length;
    BLANKS.test(text);
    const start = BLANKS.lastIndex;
    PARAGRAPH_END.lastIndex = start;
    const end = PARAGRAPH_END.exec(text)?.index ?? text.length;
    places.push(start, end);
    at = text.indexOf(OPENING, end);
  }
  return places;
}

/** Those paragraphs themselves. */
export function summariesOf(text: string): readonly string[] {
  const places = summaryPlaces(text);
  return Array.from({ length: places.length / 2 }, (_, index) => text.slice(places[2 * index], places[2 * index + 1]));
}
