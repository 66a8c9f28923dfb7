// What begins something that is not shown, and what begins a heading. A tag ends at the next `<` too, so that text which never closes one is
// read once.
const INVISIBLE = /<(script|style|noscript|template|svg|head|iframe)\b|<!--|<!\[CDATA\[/gi;
const HEADING = /<h([1-6])\b[^<>]*>/gi;

const BREAK =
  /<br\b[^<>]*>|<\/(?:p|div|li|ul|ol|tr|table|section|article|header|footer|main|nav|pre|blockquote|dd|dt|dl)\s*>/gi;

const TAG = /<\/?[a-z][^<>]*>/gi;
const ENTITY = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi;

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  mdash: '\u2014',
  ndash: '\u2013',
  hellip: '\u2026',
  copy: '\u00a9',
  rsquo: '\u2019',
  lsquo: '\u2018',
  rdquo: '\u201d',
  ldquo: '\u201c',
};

/** The readable text of an HTML document: headings as Markdown ones, blocks on lines of their own, without scripts and styles. */
export function htmlText(html: string): string {
  const shown = replaceElements(html, INVISIBLE, { endOf: endOfInvisible, replacement: () => ' ' });
  const headed = replaceElements(shown, HEADING, {
    endOf: ([, level = '']) => `</h${level}`,
    replacement: ([, level], title) => `\n\n${'#'.repeat(Number(level))} ${flat(title)}\n\n`,
  });
  return headed
    .replace(/<li\b[^<>]*>/gi, '\n- ')
    .replace(BREAK, '\n')
    .replace(TAG, '')
    .replace(ENTITY, decodeEntity)
    .replace(/[ \t\u00a0]+/g, ' ')
    .replace(/ *\n */g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function endOfInvisible([opening, name]: RegExpExecArray): string {
  if (name !== undefined) return `</${name.toLowerCase()}`;
  return opening === '<!--' ? '-->' : ']]>';
}

/**
 * Replaces what is between an opening and its end, both included. An end that is missing is looked for once, so that hostile text costs no more
 * than other text.
 */
function replaceElements(
  html: string,
  opening: RegExp,
  {
    endOf,
    replacement,
  }: {
    readonly endOf: (match: RegExpExecArray) => string;
    readonly replacement: (match: RegExpExecArray, content: string) => string;
  },
): string {
  const parts: string[] = [];
  const missing = new Set<string>();
  let from = 0;
  for (const match of html.matchAll(opening)) {
    const end = endOf(match);
    if (match.index < from || missing.has(end)) continue;
    const content = match.index + match[0].length;
    const ending = new RegExp(end.replaceAll(/[[\]]/g, '\\$&'), 'gi');
    ending.lastIndex = content;
    const at = ending.exec(html)?.index;
    if (at === undefined) {
      missing.add(end);
      continue;
    }
    parts.push(html.slice(from, match.index), replacement(match, html.slice(content, at)));
    // A closing tag may have spaces, up to its end.
    from = end.endsWith('>') ? at + end.length : html.indexOf('>', at) + 1 || html.length;
  }
  return parts.join('') + html.slice(from);
}

function flat(html: string): string {
  return html.replace(TAG, '').replace(/\s+/g, ' ').trim();
}

function decodeEntity(all: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? all;
  const point = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  return point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff) ? String.fromCodePoint(point) : all;
}
