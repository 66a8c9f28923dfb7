import type { LoadHookSync } from 'node:module';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as t from '@babel/types';
import { ANSWER_SCHEMAS } from '../../../agents/run/answerSchema.ts';
import { keyName, visitNodes } from '../../syntax/nodes.ts';
import { endOf, SourceFile, startOf } from '../../syntax/sourceFile.ts';

/**
 * Makes the schemas of answers available in a process that has not paused itself: each file that is loaded gets functions that create those
 * that its calls of `pause` contain. They are called only for an answer. Lines stay where they were, because the functions are appended.
 */
export function createAnswerSchemaLoader(isOwn: (file: string) => boolean): LoadHookSync {
  return (url, context, next) => {
    const loaded = next(url, context);
    const { source } = loaded;
    if (!url.startsWith('file:') || source === undefined || source === null) return loaded;
    const file = fileURLToPath(url.replace(/[?#].*$/, ''));
    if (!isOwn(file) || file.includes(`${sep}node_modules${sep}`)) return loaded;
    const text = typeof source === 'string' ? source : new TextDecoder().decode(source);
    const expressions = schemaExpressions(file, text);
    if (expressions.length === 0) return loaded;
    const functions = expressions.map((expression) => `() => (${expression})`).join(', ');
    return { ...loaded, source: `${text}\n;(globalThis[Symbol.for('${ANSWER_SCHEMAS}')] ??= []).push(${functions});` };
  };
}

/** The texts of the schemas in calls such as `pause({ input: schema })`. */
export function schemaExpressions(file: string, text: string): readonly string[] {
  if (!text.includes('pause')) return [];
  const found: string[] = [];
  const { program } = new SourceFile(file, text);
  if (program === undefined) return [];
  visitNodes(program, (node) => {
    if (node.type !== 'CallExpression' || !isPause(node.callee)) return;
    const [request] = node.arguments;
    if (request?.type !== 'ObjectExpression') return;
    for (const property of request.properties) {
      if (property.type !== 'ObjectProperty' || keyName(property.key, property.computed) !== 'input') continue;
      found.push(text.slice(startOf(property.value), endOf(property.value)));
    }
  });
  return found;
}

function isPause(callee: t.Node): boolean {
  if (callee.type === 'Identifier') return callee.name === 'pause';
  return callee.type === 'MemberExpression' && keyName(callee.property, callee.computed) === 'pause';
}
