import { dirname, relative, sep } from 'node:path';
import type * as t from '@babel/types';
import type { FlowFile, FlowGraph, FlowNode, SourceRange } from '../graph/graph.ts';
import { keyName, visitNodes } from '../syntax/nodes.ts';
import { endOf, type SourceFile, startOf } from '../syntax/sourceFile.ts';
import type { StepReach } from './changedSteps.ts';
import { type Code, CodeReach } from './codeReach.ts';
import { referencesIn } from './references.ts';
import type { FindFile } from '../reading/modules.ts';

const MAX_STEPS = 5_000;
const MAX_DEPTH = 10;
const ALWAYS = ['exec', 'execFallback', 'constructor'];
// Options of the library's nodes that decide how often and when `exec` is called, not what it returns.
const RUN_OPTIONS = new Set([
  'name',
  'maxRetries',
  'wait',
  'timeout',
  'concurrency',
  'start',
  'prep',
  'post',
  'answer',
]);

/**
 * The code that `exec` of each node can reach: what it calls in its class, and everything that those name in their file and in the
 * files of the folder that they import. `prep` and `post` are not part of it, because they run in a replay too.
 *
 * @param find finds the files of the flow, by path.
 */
export function stepReach(file: FlowFile, find: FindFile): StepReach {
  const reach = new CodeReach(find);
  const folder = dirname(file.file);
  const byNode = new Map<FlowNode, Readonly<Record<string, string>>>();
  const steps: Record<string, Readonly<Record<string, string>>> = {};
  let left = MAX_STEPS;
  const addFlow = (graph: FlowGraph, path: string, depth: number): void => {
    for (const node of graph.nodes) {
      left -= 1;
      if (left < 0) return;
      const place = `${path}/${node.label}`;
      const nodeReach = byNode.get(node) ?? reachOf(node);
      byNode.set(node, nodeReach);
      if (Object.keys(nodeReach).length > 0) steps[place] = nodeReach;
      const inner = depth < MAX_DEPTH ? file.flows.find(({ id }) => id === node.flow) : undefined;
      if (inner !== undefined) addFlow(inner, place, depth + 1);
    }
  };
  const reachOf = (node: FlowNode): Readonly<Record<string, string>> => {
    const files = reach.of(codeOf(node, find)).entries();
    return Object.fromEntries([...files].map(([path, hash]) => [relative(folder, path).split(sep).join('/'), hash]));
  };
  for (const graph of file.flows) addFlow(graph, graph.label, 0);
  return steps;
}

function codeOf({ ranges }: FlowNode, find: FindFile): readonly Code[] {
  const classRange = ranges.class;
  const classFile = classRange && find([classRange.file]);
  const body = classRange && classFile && nodeAt(classFile, classRange, 'ClassDeclaration', 'ClassExpression');
  const code = classFile && body ? membersOf(body).map((node) => ({ file: classFile, node })) : [];
  const instanceFile = find([ranges.instance.file]);
  if (instanceFile === undefined) return code;
  const hasConstructor =
    body?.body.body.some((member) => member.type === 'ClassMethod' && member.kind === 'constructor') === true;
  const creation =
    nodeAt(instanceFile, ranges.instance, 'NewExpression') ?? nodeAt(instanceFile, ranges.instance, 'CallExpression');
  const args = creation?.arguments ?? [];
  // Without a constructor of its own, the arguments are options of the library.
  const nodes = hasConstructor ? args : args.flatMap(optionsOfResult);
  return [...code, ...nodes.map((node) => ({ file: instanceFile, node }))];
}

/** The options that can change the result of `exec`, such as the tools of a ToolNode. */
function optionsOfResult(argument: t.Node): readonly t.Node[] {
  if (argument.type !== 'ObjectExpression') return [argument];
  return argument.properties.filter((property) => {
    const name = property.type === 'SpreadElement' ? undefined : keyName(property.key, property.computed ?? false);
    return name === undefined || !RUN_OPTIONS.has(name);
  });
}

/** The members that `exec` reaches, all fields, and the class that it extends. */
function membersOf({ body, superClass }: t.Class): readonly t.Node[] {
  const reached = new Set<t.Node>(superClass ? [superClass] : []);
  const wanted = new Set(ALWAYS);
  const nameOf = (member: t.ClassBody['body'][number]): string | undefined =>
    'key' in member ? keyName(member.key, 'computed' in member && (member.computed ?? false)) : undefined;
  for (const member of body.body) {
    const isMethod = member.type === 'ClassMethod' || member.type === 'ClassPrivateMethod';
    if (!isMethod && member.type !== 'TSDeclareMethod' && member.type !== 'TSIndexSignature') reached.add(member);
  }
  for (let size = -1; size !== reached.size; ) {
    size = reached.size;
    for (const member of body.body) if (wanted.has(nameOf(member) ?? '')) reached.add(member);
    for (const node of reached) for (const name of referencesIn(node).members) wanted.add(name);
  }
  return [...reached];
}

/** The node of some types at a range; calls that are chained to one begin where it does. */
function nodeAt<T extends t.Node['type']>(
  file: SourceFile,
  { start, end }: SourceRange,
  ...types: readonly T[]
): Extract<t.Node, { type: T }> | undefined {
  const isWanted = (node: t.Node): node is Extract<t.Node, { type: T }> => types.some((type) => type === node.type);
  let match: Extract<t.Node, { type: T }> | undefined;
  if (file.program === undefined) return undefined;
  visitNodes(file.program, (node) => {
    if (isWanted(node) && startOf(node) === start.offset && endOf(node) === end.offset) match ??= node;
  });
  return match;
}
