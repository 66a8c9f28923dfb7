/** A file that a query mentions: a path, a file name, a line of a stack trace. */
export interface FileMention {
  /** The names of its path, the last one first, in lower case. */
  readonly names: readonly string[];
  /** 1-based. */
  readonly line?: number | undefined;
}

// Longer text is pasted, and its start says enough.
const MOST_READ = 8000;
const MOST_MENTIONS = 20;
// Text that can be a path, and the line number after it in the forms `a.cs(12,3)`, `"a.py", line 12`, with or without quotes, and `a.php on
// line 12`.
const TOKEN = /([^\s"'`<>|,;()[\]{}=]{2,400})(?:\((\d{1,7})|(?:["']?(?: ?,)?| on) line (\d{1,7}))?/g;
// `a.ts:12:3`, `a.rb:12:in`, and `a.ts#L12`.
const LINE = /(?::|#L)(\d{1,7})(?:[:\-–].*)?$/;
const SCHEME = /^[A-Za-z][\w+.-]*:\/\/\/?/;
const WEB = /^(?:https?|ftp|wss?):/i;
const DRIVE = /^[A-Za-z]:(?=[\\/])/;
const EXTENSION = /[\w)-]\.[A-Za-z]\w{0,9}$/;
const DOTS = /^\.{0,2}$/;

/** The files that a text mentions, in the order of their mention. */
export function fileMentions(text: string): readonly FileMention[] {
  const mentions: FileMention[] = [];
  // .NET writes `a.cs:line 12`.
  const read = text.slice(0, MOST_READ).replaceAll(/:line (?=\d)/g, ':');
  for (const [, token = '', inParentheses, behind] of read.matchAll(TOKEN)) {
    if (mentions.length >= MOST_MENTIONS) break;
    if (WEB.test(token)) continue;
    const lineMark = LINE.exec(token);
    const path = token
      .slice(0, lineMark?.index)
      .replace(/[.:]+$/, '')
      .replace(SCHEME, '')
      .replace(DRIVE, '')
      .replaceAll('\\', '/')
      .toLowerCase();
    const names = path.split('/').filter((name) => !DOTS.test(name));
    const isPath = names.length > 1 || EXTENSION.test(path);
    const line = lineMark?.[1] ?? inParentheses ?? behind;
    if (isPath) mentions.push({ names: names.reverse(), line: line === undefined ? undefined : Number(line) });
  }
  return mentions;
}

/** The text without line and column numbers after paths, and without addresses, which are useless as search words. */
export function withoutPositions(text: string): string {
  return text.replaceAll(
    /(?<=\.\w{1,10})(?:(?::\d{1,7}){1,2}|:line \d{1,7}|#L\d{1,7})\b|\b0x[0-9a-f]{4,}\b|(?:,| on) line \d+/gi,
    ' ',
  );
}
