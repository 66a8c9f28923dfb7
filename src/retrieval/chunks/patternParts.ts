import type { LeadingWords, LinePattern } from './linePatterns.ts';

// Beyond ASCII, all characters count as letters: Unicode's classes take milliseconds to compile, for each expression.
export const NAME = String.raw`[A-Za-z_$\x80-\uffff][\w$\x80-\uffff]*`;
export const STATEMENTS =
  'if|for|foreach|while|switch|catch|return|else|do|try|with|new|await|throw|case|yield|assert|using|lock|delete|goto|in|is|as|import|package|typedef|elif|elseif|unless|until|super|this|typeof|sizeof|print|echo|co_return|co_await';
// Statements that look like a method: a word and parentheses.
export const NO_STATEMENT = String.raw`(?!(?:if|for|foreach|while|switch|catch|return|else|do|try|new|throw|sizeof|typeof|elif|elseif|unless|until)\b)`;
export const CAPITALS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('');
export const LETTERS = [...CAPITALS, ...CAPITALS.map((letter) => letter.toLowerCase()), '_', '$'];

interface PatternOptions extends Omit<LinePattern, 'expression'> {
  readonly flags?: string;
}

/** Modifiers, a keyword and a name. */
export function keyword(modifiers: string, keywords: string, name = NAME): LinePattern {
  const before = modifiers === '' ? '' : String.raw`(?:(?:${modifiers})\s+)*`;
  return pattern(String.raw`^(\s*)${before}(?:${keywords})\s+(${name})`, leading(modifiers, keywords));
}

export function pattern(source: string, { flags = '', ...common }: PatternOptions = {}): LinePattern {
  return { expression: new RegExp(source, flags), ...common };
}

/** A line that begins with any number of modifiers and then a keyword; both are alternatives of an expression. */
export function leading(modifiers: string, keywords: string): Pick<LinePattern, 'begins' | 'words'> {
  const words: LeadingWords = { modifiers: literalsOf(modifiers), keywords: literalsOf(keywords) };
  return { begins: [...words.modifiers, ...words.keywords], words };
}

/** The literal text with which each alternative begins; none has alternatives itself. */
function literalsOf(alternatives: string): ReadonlySet<string> {
  return new Set(alternatives === '' ? [] : alternatives.split('|').map(literalOf));
}

function literalOf(alternative: string): string {
  const literal = /^[A-Za-z@#_-]*/.exec(alternative)?.[0] ?? '';
  const isOptional = /^[?*]/.test(alternative.slice(literal.length));
  return isOptional ? literal.slice(0, -1) : literal;
}
