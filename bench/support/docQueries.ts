/** A sentence that describes a function, and where the function is. */
export interface DocQuery {
  readonly query: string;
  readonly path: string;
  /** From 1. */
  readonly line: number;
}

const TYPESCRIPT =
  /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*\n[ \t]*(?:export\s+)?(?:(?:static|async|override|public|private)\s+)*(?:function\*?\s+)?#?[A-Za-z_$][\w$]*\s*(?:<[^>(]*>)?\(/g;
const PYTHON = /^[ \t]*(?:async )?def [A-Za-z_]\w*\([^)]*\)[^\n:]*:\n[ \t]*(?:r|u)?"""((?:(?!""")[\s\S])*)"""/gm;
const LEAST_WORDS = 5;

/**
 * Takes the comments that describe functions out of a source file, and gives the rest, with every line where it was, and the
 * first sentence of each as a query whose answer is the function.
 */
export function takeDocQueries(path: string, text: string): { readonly text: string; readonly queries: DocQuery[] } {
  const isPython = path.endsWith('.py');
  const queries: DocQuery[] = [];
  const rest = text.replace(isPython ? PYTHON : TYPESCRIPT, (all: string, comment: string, offset: number) => {
    const sentence = firstSentence(comment);
    const without = all.replace(comment, comment.replaceAll(/[^\n]/g, ''));
    const functionAt = isPython ? 0 : all.lastIndexOf('\n') + 1;
    const line = text.slice(0, offset + functionAt).split('\n').length;
    if (sentence.split(/\s+/).length >= LEAST_WORDS) queries.push({ query: sentence, path, line });
    return without;
  });
  return { text: rest, queries };
}

function firstSentence(comment: string): string {
  const plain = comment
    .replaceAll(/^[ \t]*\*?/gm, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return /^.*?[.:](?=\s|$)/.exec(plain)?.[0] ?? plain;
}
