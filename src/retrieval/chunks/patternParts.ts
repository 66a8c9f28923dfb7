// The first line of a definition in each language: group 1 is its indentation, group 2 its name. Each expression is tried on each line, so
// that it must fail early on lines without a definition.
export const NAME = String.raw`[\p{L}_$][\p{L}\p{N}_$]*`;
export const STATEMENTS =
  'if|for|foreach|while|switch|catch|return|else|do|try|with|new|await|throw|case|yield|assert|using|lock|delete|goto|in|is|as|import|package|typedef|elif|elseif|unless|until|super|this|typeof|sizeof|print|echo|co_return|co_await';
// Statements that look like a method: a word and parentheses.
export const NO_STATEMENT = String.raw`(?!(?:if|for|foreach|while|switch|catch|return|else|do|try|new|throw|sizeof|typeof|elif|elseif|unless|until)\b)`;

/** Modifiers, a keyword and a name. */
export function keyword(modifiers: string, keywords: string, name = NAME, flags = 'u'): RegExp {
  const before = modifiers === '' ? '' : String.raw`(?:(?:${modifiers})\s+)*`;
  return new RegExp(String.raw`^(\s*)${before}(?:${keywords})\s+(${name})`, flags);
}

export function pattern(source: string, flags = 'u'): RegExp {
  return new RegExp(source, flags);
}
