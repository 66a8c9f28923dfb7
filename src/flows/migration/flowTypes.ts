import type * as t from '@babel/types';
import { type Edit, insertion, type Unconverted } from '../syntax/edits.ts';
import { given, unwrapped, visitNodes } from '../syntax/nodes.ts';
import { endOf, type SourceFile, startOf } from '../syntax/sourceFile.ts';
import type { LibraryNames } from './libraryNames.ts';

const MAX_CALLS = 1_000;
const NAME_THE_STATE =
  'name the state of the flow, as in Flow<Shared>, because a flow of one state is not a flow of any state';

/** A type that is written where the compiler can infer it, and the values that have it. */
interface Annotation {
  readonly node: t.TSTypeAnnotation;
  readonly values: readonly t.Node[];
}

interface Changes {
  readonly edits: readonly Edit[];
  readonly unconverted: readonly Unconverted[];
}

/** Types of flows that name no state get that of their value, or are left to the compiler. Those of parameters and the like are listed. */
export function convertFlowTypes(file: SourceFile, names: LibraryNames): Changes {
  const { program } = file;
  if (program === undefined) return { edits: [], unconverted: [] };
  const variables = new Map<string, t.Node>();
  const annotations: Annotation[] = [];
  visitNodes(program, (node) => {
    const annotation = annotationOf(node);
    if (annotation !== undefined) annotations.push(annotation);
    if (node.type === 'VariableDeclarator' && node.id.type === 'Identifier' && node.init)
      variables.set(node.id.name, node.init);
  });
  const edits: Edit[] = [];
  const converted = new Set<t.Node>();
  for (const { node, values } of annotations) {
    const flows = stateless(node, names);
    for (const flow of flows) converted.add(flow);
    const states = new Set(values.map((value) => stateOf(value, { file, names, variables })));
    const [state] = states;
    const isKnown = states.size === 1 && state !== undefined;
    if (isKnown) edits.push(...flows.map((flow) => insertion(endOf(flow), `<${state}>`)));
    else if (flows.length > 0) edits.push({ start: startOf(node), end: endOf(node), text: '' });
  }
  const left = stateless(program, names).filter((flow) => !converted.has(flow));
  return { edits, unconverted: left.map((flow) => ({ offset: startOf(flow), message: NAME_THE_STATE })) };
}

/** Types of PocketFlow's flows, or of the file's own ones, that have no arguments. */
function stateless(root: t.Node, names: LibraryNames): readonly t.TSTypeReference[] {
  const found: t.TSTypeReference[] = [];
  visitNodes(root, (node) => {
    if (node.type !== 'TSTypeReference' || given(node.typeArguments)) return;
    if (names.isOfLibrary(node.typeName) && names.kindOf(node.typeName) === 'flow') found.push(node);
  });
  return found;
}

function annotationOf(node: t.Node): Annotation | undefined {
  if (node.type === 'VariableDeclarator') {
    const { id, init } = node;
    return id.type === 'Identifier' ? annotated(id.typeAnnotation, given(init) ? [init] : []) : undefined;
  }
  if (node.type === 'ClassProperty') return annotated(node.typeAnnotation, given(node.value) ? [node.value] : []);
  return 'returnType' in node && 'body' in node ? annotated(node.returnType, returnedBy(node)) : undefined;
}

function annotated(type: t.Node | null | undefined, values: readonly t.Node[]): Annotation | undefined {
  return type?.type === 'TSTypeAnnotation' && values.length > 0 ? { node: type, values } : undefined;
}

/** What a function returns; nothing if it has no body. */
function returnedBy({ body }: t.Function): readonly t.Node[] {
  if (body?.type !== 'BlockStatement') return given(body) ? [body] : [];
  const inner = new Set<t.Node>();
  const values: t.Node[] = [];
  visitNodes(body, (node, parent) => {
    if ((parent !== undefined && inner.has(parent)) || 'returnType' in node || /Function|Method/.test(node.type)) {
      inner.add(node);
    } else if (node.type === 'ReturnStatement' && node.argument) values.push(node.argument);
  });
  return values;
}

/** The state that the construction of a flow names; undefined if it names none. */
function stateOf(
  value: t.Node,
  {
    file,
    names,
    variables,
  }: { readonly file: SourceFile; readonly names: LibraryNames; readonly variables: ReadonlyMap<string, t.Node> },
): string | undefined {
  let at: t.Node | undefined = unwrapped(value);
  for (let calls = 0; at !== undefined && calls < MAX_CALLS; calls += 1) {
    if (at.type === 'NewExpression') {
      const [state] = at.typeArguments?.type === 'TSTypeParameterInstantiation' ? at.typeArguments.params : [];
      return state && names.isOfLibrary(at.callee) ? file.textOf(state) : undefined;
    }
    if (at.type === 'Identifier') at = variables.get(at.name);
    else if (at.type === 'CallExpression' && at.callee.type === 'MemberExpression') at = at.callee.object;
    else return undefined;
    at = at && unwrapped(at);
  }
  return undefined;
}
