import { fileURLToPath } from 'node:url';
import { textField } from '../../../core/jsonFields.ts';

const MAX_TYPE = 200;
const MAX_MESSAGE = 1_000;

/** A line of `Error.stack`. Numbers are 0-based. */
export interface StackFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
  /** Whether the function waits for the one before it, with `await`. */
  readonly isAwaiting: boolean;
}

/** The frames of a stack trace of V8, the innermost first. */
export function readStackFrames(stack = ''): readonly StackFrame[] {
  return stack.split('\n').flatMap((text) => {
    const [, awaiting, name, inParentheses, bare, line, column] =
      /^ +at (async )?(?:(.*?) \()?(?:(?<=\()(.*)|(.*)):(\d+):(\d+)\)?$/.exec(text) ?? [];
    const url = inParentheses ?? bare;
    if (url === undefined) return [];
    return {
      functionName: name ?? '',
      url,
      lineNumber: Number(line) - 1,
      columnNumber: Number(column) - 1,
      isAwaiting: awaiting !== undefined,
    };
  });
}

/** The path of a script, which V8 names by its path (CommonJS) or URL (ES modules). */
export function pathOf(url: string): string {
  if (!url.startsWith('file:')) return url;
  try {
    return fileURLToPath(url);
  } catch {
    return url;
  }
}

/** `error` and `message` of a value that was thrown. */
export function describeError(data: unknown): { readonly error: string; readonly message: string } {
  const description = textField(data, 'description') ?? '';
  const type = textField(data, 'className') ?? textField(data, 'type') ?? '';
  const [first = ''] = description.split(/\n {4}at /, 1);
  const message = first.startsWith(`${type}: `) ? first.slice(type.length + 2) : first.replace(/^\w*Error: /, '');
  return { error: type.slice(0, MAX_TYPE), message: (first === type ? '' : message).slice(0, MAX_MESSAGE) };
}
