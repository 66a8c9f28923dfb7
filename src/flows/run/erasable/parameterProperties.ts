import type * as t from '@babel/types';
import { endOf, startOf } from '../../syntax/sourceFile.ts';
import type { TextEdits } from './textEdits.ts';

/** Rewrites `constructor(private x: T)` as a parameter and an assignment, after `super()` if there is one. */
export function lowerParameterProperties(owner: t.Class, edits: TextEdits): void {
  for (const member of owner.body.body) {
    if (member.type !== 'ClassMethod' || member.kind !== 'constructor') continue;
    const properties = member.params.filter((parameter) => parameter.type === 'TSParameterProperty');
    if (properties.length === 0) continue;
    const hasSuper = owner.superClass !== null && owner.superClass !== undefined;
    const at = hasSuper ? afterSuper(member.body) : bodyStart(member.body);
    if (at === undefined) continue; // unchanged, so that Node.js rejects it
    for (const { parameter, ...property } of properties) {
      edits.replace(property.start ?? 0, startOf(parameter), '');
    }
    const names = properties.map(({ parameter }) =>
      parameter.type === 'Identifier' ? parameter.name : nameOfPattern(parameter),
    );
    edits.insert(at, names.map((name) => ` this.${name} = ${name};`).join(''));
  }
}

function nameOfPattern({ left }: t.AssignmentPattern): string {
  return left.type === 'Identifier' ? left.name : '';
}

function bodyStart(body: t.BlockStatement): number {
  const lastDirective = body.directives?.at(-1);
  return lastDirective === undefined ? startOf(body) + 1 : endOf(lastDirective);
}

function afterSuper(body: t.BlockStatement): number | undefined {
  const call = body.body.find(
    (statement) =>
      statement.type === 'ExpressionStatement' &&
      statement.expression.type === 'CallExpression' &&
      statement.expression.callee.type === 'Super',
  );
  return call && endOf(call);
}
