// Which code of JavaScript is in a `try` that catches. V8's debugger does not say where an error will be caught.

// What is longer is no text that anybody debugs. It counts as caught.
const MAX_LENGTH = 4 * 2 ** 20;

/** A block in braces. */
interface Block {
  readonly kind: 'function' | 'try' | 'other';
  readonly start: number;
  end: number;
  /** For `try`: whether a `catch` follows. */
  isCaught: boolean;
  readonly parent: Block | undefined;
}

export interface TryStatements {
  /**
   * @param line @param column 0-based.
   * @returns whether a `catch` of the same function catches what is thrown there, or what follows in the statement may catch it as a
   * promise; and whether the place is outside of all functions.
   */
  at(line: number, column: number): { readonly isCaught: boolean; readonly isTopLevel: boolean };
}

/** After these, a `/` begins a regular expression, as after most punctuation. */
const BEFORE_EXPRESSION: ReadonlySet<string> = new Set(
  'return typeof instanceof in of new delete void throw case do else yield await'.split(' '),
);
/** `if (…) {` begins no function. */
const CONTROL: ReadonlySet<string> = new Set(['if', 'for', 'while', 'switch', 'catch', 'with', 'await']);
const TOKEN = /\s+|\/\/[^\n]*|\/\*[^]*?\*\/|'(?:[^'\\\n]|\\[^])*'|"(?:[^"\\\n]|\\[^])*"|[\w$\u0080-\uffff]+|=>|[^]/gy;
const REGULAR_EXPRESSION = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const TEMPLATE_PART = /(?:[^`\\$]|\\[^]|\$(?!\{))*/y;

/** Reads a script by its tokens only: enough to tell blocks apart. */
export function readTryStatements(source: string): TryStatements {
  if (source.length > MAX_LENGTH) return { at: () => ({ isCaught: true, isTopLevel: false }) };
  const blocks = readBlocks(source);
  const lineStarts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return {
    at(line, column) {
      const offset = (lineStarts[line] ?? source.length) + column;
      let block = blocks.findLast(({ start, end }) => start < offset && offset <= end);
      let isCaught = /\.(catch|then|allSettled)\s*\(/.test(restOfStatement(source, offset));
      for (; block !== undefined && block.kind !== 'function'; block = block.parent) isCaught ||= block.isCaught;
      return { isCaught, isTopLevel: block === undefined };
    },
  };
}

/** Up to the end of the statement or of the brackets around it, roughly: brackets in strings count. */
function restOfStatement(source: string, offset: number): string {
  let depth = 0;
  for (let at = offset; at < source.length; at += 1) {
    const character = source[at] ?? '';
    if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    if (depth < 0 || (depth === 0 && character === ';')) return source.slice(offset, at);
  }
  return source.slice(offset);
}

function readBlocks(source: string): readonly Block[] {
  const blocks: Block[] = [];
  /** The open brackets; `block` is undefined for those of a template or `(`. */
  const open: { readonly opener: string; readonly before: string; readonly block?: Block }[] = [];
  let current: Block | undefined;
  let [last, beforeLast, ended]: [string, string, Block | undefined] = ['', '', undefined];
  /** The word before the `(` that was closed last. */
  let beforeParentheses = '';
  let at = 0;
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const [text = ''] = pattern.exec(source) ?? [];
    at += text.length;
    return text;
  };
  const template = (): void => {
    take(TEMPLATE_PART);
    if (source[at] === '`') at += 1;
    else if (source.startsWith('${', at)) {
      at += 2;
      open.push({ opener: '${', before: '' });
    } else at = source.length;
  };
  while (at < source.length) {
    if (source[at] === '/' && beginsExpression(last) && !/^\/[/*]/.test(source.slice(at, at + 2))) {
      const text = take(REGULAR_EXPRESSION);
      if (text !== '') {
        [beforeLast, last] = [last, 'x'];
        continue;
      }
    }
    const token = take(TOKEN);
    if (/^(\s|\/\/|\/\*)/.test(token)) continue;
    if (ended !== undefined) {
      ended.isCaught = token === 'catch';
      ended = undefined;
    }
    if (token === '`') template();
    else if (token === '(') open.push({ opener: '(', before: last });
    else if (token === ')') beforeParentheses = open.pop()?.before ?? '';
    else if (token === '{') {
      current = {
        kind: kindOf(last, beforeParentheses),
        start: at,
        end: source.length,
        isCaught: false,
        parent: current,
      };
      blocks.push(current);
      open.push({ opener: '{', before: last, block: current });
    } else if (token === '}') {
      const { opener, block } = open.pop() ?? {};
      if (opener === '${') template();
      if (block !== undefined) {
        block.end = at;
        if (block.kind === 'try') ended = block;
        current = block.parent;
      }
    }
    [beforeLast, last] = [last, token === '`' ? 'x' : token];
    if (beforeLast === '.' && /^\w/.test(last)) last = 'x'; // the name of a property
  }
  return blocks;
}

function kindOf(last: string, beforeParentheses: string): Block['kind'] {
  if (last === 'try') return 'try';
  if (last === '=>') return 'function';
  return last === ')' && !CONTROL.has(beforeParentheses) ? 'function' : 'other';
}

function beginsExpression(last: string): boolean {
  return last === '' || BEFORE_EXPRESSION.has(last) || /^(=>|[^\w$\s)\]}'"`\u0080-\uffff])$/.test(last);
}
