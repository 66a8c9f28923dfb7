// Of a docstring (the first thing below a header, PEP 257) and of a comment for tools (JSDoc, Javadoc, Doxygen).
const DOCSTRING = /(?:^|:[ \t]*\n)[ \t]*[rRuU]?("""|''')\s*([\s\S]*?)(?=\n[ \t]*\n|\1|$)/g;
// Behind the first paragraph of such a comment: an empty line, the first tag, or its end.
const PARAGRAPH_END = /\n[ \t]*\*?[ \t]*[\n@]|\*\//g;
const OPENING = '/**';
const BLANKS = /[ \t\r\n\v\f]*(?:\*[ \t]*)?/y;

/** Where a summary begins and ends in a text; no word goes over either. */
type Place = readonly [from: number, to: number];

/**
 * The first paragraphs of the docstrings and comments that describe definitions: they tell best what those are about. The words of a
 * folder are counted by a program that finds those of comments by itself.
 */
export function summariesOf(text: string): readonly string[] {
  return [...docstringPlaces(text), ...commentPlaces(text)].map(([from, to]) => text.slice(from, to));
}

export function docstringPlaces(text: string): readonly Place[] {
  return Array.from(text.matchAll(DOCSTRING), (match): Place => {
    const end = match.index + match[0].length;
    return [end - (match[2] ?? '').length, end];
  });
}

function commentPlaces(text: string): readonly Place[] {
  const places: Place[] = [];
  for (let at = text.indexOf(OPENING); at >= 0; ) {
    BLANKS.lastIndex = at + OPENING.length;
    BLANKS.test(text);
    const start = BLANKS.lastIndex;
    PARAGRAPH_END.lastIndex = start;
    const end = PARAGRAPH_END.exec(text)?.index ?? text.length;
    places.push([start, end]);
    at = text.indexOf(OPENING, end);
  }
  return places;
}
