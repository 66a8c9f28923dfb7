const INVISIBLE =
  /<(script|style|noscript|template|svg|head|iframe)\b[\s\S]*?<\/\1\s*>|<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>/gi;
const HEADING = /<h([1-6])\b[^>]*>([\s\S]*?)<\/h\1\s*>/gi;
const BREAK =
  /<br\b[^>]*>|<\/(?:p|div|li|ul|ol|tr|table|section|article|header|footer|main|nav|pre|blockquote|dd|dt|dl)\s*>/gi;
const TAG = /<\/?[a-z][^>]*>/gi;
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

/** The readable text of a web page: headings as Markdown ones, blocks on lines of their own, without scripts and styles. */
export function htmlToText(html: string): string {
  return html
    .replace(INVISIBLE, ' ')
    .replace(HEADING, (_all, level: string, title: string) => `\n\n${'#'.repeat(Number(level))} ${flat(title)}\n\n`)
    .replace(/<li\b[^>]*>/gi, '\n- ')
    .replace(BREAK, '\n')
    .replace(TAG, '')
    .replace(ENTITY, decode)
    .replace(/[ \t\u00a0]+/g, ' ')
    .replace(/ *\n */g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function flat(html: string): string {
  return html.replace(TAG, '').replace(/\s+/g, ' ').trim();
}

function decode(all: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? all;
  const point = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  return point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff) ? String.fromCodePoint(point) : all;
}
