import { fileURLToPath } from 'node:url';
import { spawnSync } from 'node:child_process';
import { messageOf } from '../../../core/errors.ts';
import type { FlowFailure, SourcePlace } from '../protocol/flowOutcome.ts';

const FRAME = /^\s*at (?:.*?\()?(file:\/\/[^)]+|\/[^)]+|[A-Za-z]:\\[^)]+):(\d+):(\d+)\)?$/;
// How Node starts the text of a syntax error: the position, the line, and an arrow below it.
const HEAD = /^(file:\/\/\S+|\/\S+|[A-Za-z]:\\\S+):(\d+)\n(?:.*\n){1,3}?([ \t]*)\^/m;
const MISSING_EXPORT = /^The requested module .* does not provide an export named '[^']+'$/;
const MAX_CAUSES = 10;
const LIMIT_MS = 5_000;

/** The thrown value as a failure, with the innermost position outside Node, packages and the runner. */
export function failureOf(thrown: unknown, isOwn: (file: string) => boolean, path?: string): FlowFailure {
  const at = path === undefined ? {} : { path };
  if (!(thrown instanceof Error)) return { name: 'Thrown', message: messageOf(thrown), ...at };
  const name = typeof thrown.name === 'string' ? thrown.name : 'Error';
  const stack = typeof thrown.stack === 'string' ? thrown.stack : undefined;
  const place = placeOfError(thrown, isOwn);
  return {
    name,
    message: withRemedy(messageOf(thrown.message), place),
    ...(stack !== undefined && { stack }),
    ...(name === 'AppError' && 'code' in thrown && { code: String(thrown.code) }),
    ...(place && { place }),
    ...at,
  };
}

/** Compilers drop the import of an interface; Node.js, which only removes types, does not know that it is one. */
function withRemedy(message: string, place: SourcePlace | undefined): string {
  const mayBeType = MISSING_EXPORT.test(message) && /\.[cm]?ts$/.test(place?.file ?? '');
  return mayBeType ? `${message}. If it is a type, write \`export type\`.` : message;
}

/** An error that names an item or a branch has the position in its cause. */
function placeOfError(error: Error, isOwn: (file: string) => boolean): SourcePlace | undefined {
  let at: unknown = error;
  for (let depth = 0; at instanceof Error && depth < MAX_CAUSES; depth += 1) {
    const place = typeof at.stack === 'string' ? placeOf(at.stack, isOwn) : undefined;
    if (place !== undefined) return place;
    at = at.cause;
  }
  return undefined;
}

function placeOf(stack: string, isOwn: (file: string) => boolean): SourcePlace | undefined {
  const syntax = syntaxPlace(stack);
  if (syntax !== undefined) return syntax;
  for (const line of stack.split('\n')) {
    const [, file, row, column] = FRAME.exec(line) ?? [];
    if (file === undefined || !isOwn(pathOf(file))) continue;
    return { file: pathOf(file), line: Number(row), column: Number(column) };
  }
  return undefined;
}

/** The position that Node puts before a syntax error, in the text of that error. */
function syntaxPlace(text: string): SourcePlace | undefined {
  const [, file, line, indent = ''] = HEAD.exec(text) ?? [];
  return file === undefined ? undefined : { file: pathOf(file), line: Number(line), column: indent.length + 1 };
}

function pathOf(file: string): string {
  return file.startsWith('file:') ? fileURLToPath(file.replace(/\?.*$/, '')) : file;
}

/** The position of a syntax error in a JavaScript module. Only Node's own error report has it, so Node is run to check the file. */
export function findSyntaxError(url: string): SourcePlace | undefined {
  if (!url.startsWith('file:')) return undefined;
  const { stderr } = spawnSync(process.execPath, ['--check', fileURLToPath(url)], {
    encoding: 'utf8',
    timeout: LIMIT_MS,
  });
  return syntaxPlace(stderr);
}
