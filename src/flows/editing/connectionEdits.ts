import type * as t from '@babel/types';
import type { FlowEdge, TextEdit } from '../graph/graph.ts';
import { DEFAULT_ACTION } from '../../agents/graph/unit.ts';
import type { ReadFlow } from '../reading/graphBuilder.ts';
import { seesName } from '../interpreter/scopes.ts';
import { endOf, startOf } from '../syntax/sourceFile.ts';
import type { Connection, Instance, Scope } from '../interpreter/values.ts';
import { refuse, type SourceMap } from './sourceMap.ts';

const LINE_WIDTH = 120;

/** The input of every edit of one flow. */
export interface EditContext {
  readonly map: SourceMap;
  readonly flow: ReadFlow;
  readonly flows: readonly ReadFlow[];
}

export function edgeOf({ flow }: EditContext, id: string): FlowEdge {
  const edge = flow.graph.edges.find((one) => one.id === id);
  return edge ?? refuse(`The flow no longer has a connection "${id}".`);
}

export function instanceOf({ flow }: EditContext, id: string): Instance {
  return flow.nodes.get(id) ?? refuse(`The flow no longer has a node "${id}".`);
}

/** The call that makes an edge, if it makes no other. */
export function callOf({ map, flow, flows }: EditContext, edge: FlowEdge): Connection {
  const connection = flow.connections.get(edge.id);
  if (connection === undefined) return refuse(`The flow no longer has a connection "${edge.id}".`);
  const place = `${edge.source} - "${edge.action}"`;
  if (connection.file !== map.source) refuse(`The connection ${place} is in ${connection.file.path}. Edit it there.`);
  const callConnections = flows
    .flatMap(({ connections }) => [...connections.values()])
    .filter(({ call }) => call === connection.call);
  if (callConnections.length > 1) {
    refuse(
      `The connection ${place} is one of ${callConnections.length} that a single call makes, in a loop or a helper. Edit that call in the source.`,
    );
  }
  return connection;
}

/** An argument of the call; refused if the arguments are spread from a list. */
export function argumentOf(connection: Connection, index: number): t.Node | undefined {
  const { arguments: args } = connection.call;
  if (args.slice(0, index + 1).some(({ type }) => type === 'SpreadElement')) {
    return refuse('The arguments of the connection are spread from a list. Edit it in the source.');
  }
  return args[index];
}

/** The expression for a node at a position in the code. */
export function referenceTo(instance: Instance, scope: Scope): string {
  for (const { text, scope: owner } of instance.references) {
    if (text.startsWith('this.')) {
      if (owner.thisValue !== undefined && owner.thisValue === scope.thisValue) return text;
    } else if (seesName(scope, /^[^.[]+/.exec(text)?.[0] ?? text, owner)) return text;
  }
  const name = instance.class.name;
  if (instance.references.length === 0) {
    return refuse(
      `This ${name} has no name because it is created in place. Assign it to a variable first: const node = new ${name}().`,
    );
  }
  return refuse(
    `The node ${instance.name?.text ?? name} has no name where the flow is connected. Connect it in the source.`,
  );
}

/** The text of a call of `connect`, starting with the name. */
export function connectText(map: SourceMap, source: string, target: string, action: string): string {
  return `connect(${source}, ${target}${action === DEFAULT_ACTION ? '' : `, ${map.quoted(action)}`})`;
}

/** Where new connections of a flow are inserted. */
export interface ConnectPlace {
  /** The call or `new` expression to chain the next call to; undefined if calls are separate statements. */
  readonly chained: t.Node | undefined;
  readonly statement: t.Node;
  readonly scope: Scope;
}

/** After the flow's last connection in this file, or else at the expression that creates the flow. */
export function connectPlace({ map, flow }: EditContext): ConnectPlace {
  const { instance, connections } = flow;
  const here = [...connections.values()]
    .filter(({ file }) => file === map.source)
    .sort((a, b) => endOf(a.call) - endOf(b.call));
  const last = here.findLast((one) => here.filter(({ call }) => call === one.call).length === 1) ?? here.at(-1);
  if (last !== undefined) {
    const statement = map.statementOf(last.call);
    const isChained = isLink(last.call) || statement.type !== 'ExpressionStatement';
    const isRepeated = here.filter(({ call }) => call === last.call).length > 1;
    if (!isRepeated) return { chained: isChained ? last.call : undefined, statement, scope: last.scope };
  }
  if (instance.file !== map.source) refuse(`The flow is created in ${instance.file.path}. Edit it there.`);
  if (instance.creation.type !== 'NewExpression') {
    refuse('The constructor of the flow has no connect call to extend. Edit it in the source.');
  }
  return { chained: instance.creation, statement: map.statementOf(instance.creation), scope: instance.scope };
}

/** Whether a call continues another, as in `flow.connect(…).connect(…)`. */
function isLink({ callee }: t.CallExpression): boolean {
  if (callee.type !== 'MemberExpression') return false;
  return callee.object.type === 'CallExpression' || callee.object.type === 'NewExpression';
}

/** Adds several connections to a flow in one edit. */
export function addConnections(
  context: EditContext,
  added: readonly { readonly source: string; readonly target: string; readonly action: string }[],
): TextEdit {
  const { map, flow } = context;
  const { chained, statement } = connectPlace(context);
  const calls = added.map(({ source, target, action }) => connectText(map, source, target, action));
  if (chained === undefined) {
    const receiver = receiverOf(map, statement, flow);
    return map.insertBelow(
      statement,
      calls.map((call) => `${receiver}.${call}${map.semicolon}`),
    );
  }
  const { text } = map.source;
  const end = endOf(chained);
  const before =
    chained.type === 'CallExpression' && chained.callee.type === 'MemberExpression' ? chained.callee : undefined;
  const gap = before === undefined ? '' : (/^\s*/.exec(text.slice(endOf(before.object)))?.[0] ?? '');
  const line = text.slice(text.lastIndexOf('\n', end) + 1, end);
  const isOneLine = !gap.includes('\n') && line.length + calls.join('.').length + 2 <= LINE_WIDTH;
  const indent = gap.includes('\n') ? gap : map.newline + map.indentAt(startOf(statement)) + map.step;
  return map.replace(end, end, calls.map((call) => `${isOneLine ? '' : indent}.${call}`).join(''));
}

/** The expression before `.connect` in a separate statement. */
function receiverOf(map: SourceMap, statement: t.Node, { graph }: ReadFlow): string {
  const expression = statement.type === 'ExpressionStatement' ? statement.expression : undefined;
  const callee = expression?.type === 'CallExpression' ? expression.callee : undefined;
  if (callee?.type === 'MemberExpression') return map.source.textOf(callee.object);
  return refuse(`The connections of ${graph.id} are not statements that can be extended. Edit them in the source.`);
}

/** Removes the call of a connection from its chain, or its whole statement. */
export function removeConnection(context: EditContext, edge: FlowEdge): TextEdit {
  const { map } = context;
  const { call } = callOf(context, edge);
  const { callee } = call;
  if (callee.type !== 'MemberExpression')
    return refuse('The connection is not a plain connect call. Edit it in the source.');
  const statement = map.statementOf(call);
  const isWhole = statement.type === 'ExpressionStatement' && statement.expression === call;
  if (isWhole && !isLink(call)) return map.removeStatement(statement);
  return map.replace(endOf(callee.object), endOf(call), '');
}
