/** A sentence that describes a function, and where the function is. */
export interface DocQuery {
  readonly query: string;
  readonly path: string;
  /** From 1. */
  readonly line: number;
}

interface Language {
  readonly files: RegExp;
  /** A function with the comment that describes it, which is the first group. */
  readonly described: RegExp;
  /** Whether the function follows the comment; else it holds it. */
  readonly isCommentFirst: boolean;
  /** What follows a function that has a body, where there are declarations without one. */
  readonly body?: RegExp;
}

const LANGUAGES: readonly Language[] = [
  {
    files: /\.tsx?$/,
    described:
      /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*\n[ \t]*(?:export\s+)?(?:(?:static|async|override|public|private|protected|abstract)\s+)*(?:function\*?\s+)?(?!(?:if|for|while|switch|return|super|new|import)\b)#?[A-Za-z_$][\w$]*\s*(?:<[^>(]*>)?\(/g,
    isCommentFirst: true,
    body: /^(?:[^;{}()]|\([^()]*\))*\)[^;{}]*\{/,
  },
  {
    files: /\.py$/,
    described: /^[ \t]*(?:async )?def [A-Za-z_]\w*\([^)]*\)[^\n:]*:\n[ \t]*(?:r|u)?"""((?:(?!""")[\s\S])*)"""/gm,
    isCommentFirst: false,
  },
  {
    files: /\.go$/,
    described: /^((?:\/\/[^\n]*\n)+)func (?:\([^)\n]*\) )?[A-Za-z_]\w*[[(]/gm,
    isCommentFirst: true,
  },
];
const LEAST_WORDS = 5;
const MAX_SIGNATURE = 1000;
// A comment of Go begins with the name of its function, which nobody who looks for it knows.
const GO_NAME = /^\s*(?:\/\/ ?)?(?:An?\s+|The\s+)?[A-Za-z_]\w*\s+/;
// What stays of a line of a comment, so that it is one and belongs to the same chunk.
const COMMENT_LINE = /^([ \t]*(?:\*(?!\/)|\/\/)?)[^\n]*/gm;
const DIRECTIVE = /^\/\/(?:go:|line |export |nolint)/m;

/**
 * Takes the comments that describe functions out of a source file, and returns the rest, with every line where it was, and the
 * first sentence of each as a query whose answer is the function.
 */
export function takeDocQueries(path: string, text: string): { readonly text: string; readonly queries: DocQuery[] } {
  const language = LANGUAGES.find(({ files }) => files.test(path));
  if (language === undefined) return { text, queries: [] };
  const queries: DocQuery[] = [];
  const rest = text.replace(language.described, (all: string, comment: string, offset: number) => {
    if (DIRECTIVE.test(comment)) return all;
    const sentence = firstSentence(path.endsWith('.go') ? comment.replace(GO_NAME, '') : comment);
    const without = all.replace(comment, () => comment.replaceAll(COMMENT_LINE, '$1'));
    const functionAt = language.isCommentFirst ? all.lastIndexOf('\n') + 1 : 0;
    const line = text.slice(0, offset + functionAt).split('\n').length;
    const hasBody = language.body?.test(text.slice(offset + all.length, offset + all.length + MAX_SIGNATURE)) ?? true;
    if (hasBody && sentence.split(/\s+/).length >= LEAST_WORDS) queries.push({ query: sentence, path, line });
    return without;
  });
  return { text: rest, queries };
}

/** Up to the first full stop, blank line or tag. */
function firstSentence(comment: string): string {
  const [paragraph = ''] = comment
    .replaceAll(/^[ \t]*(?:\*|\/\/)?[ \t]*/gm, '')
    .trim()
    .split(/\n\n|^@|\n@/);
  const plain = paragraph.replaceAll(/\s+/g, ' ');
  return /^.*?[.:](?=\s|$)/.exec(plain)?.[0] ?? plain;
}
