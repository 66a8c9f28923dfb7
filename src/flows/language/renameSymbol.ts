import type * as t from '@babel/types';
import { renameAction } from '../editing/renameEdits.ts';
import { refuse, tryEdit } from '../editing/sourceMap.ts';
import type { EditResult, FlowReading } from '../reading/readSource.ts';
import type { FlowGraph, KeyAccess, SourceRange, TextEdit } from '../graph/graph.ts';
import type { ReadFlow } from '../reading/graphBuilder.ts';
import type { Instance } from '../interpreter/values.ts';
import { keyName, visitNodes } from '../syntax/nodes.ts';
import { endOf, type SourceFile, startOf } from '../syntax/sourceFile.ts';

/** An action or key in the source, which can be renamed everywhere. */
export type FlowSymbol =
  | {
      readonly type: 'action';
      readonly name: string;
      readonly range: SourceRange;
      readonly flow: string;
      readonly node: string;
    }
  | { readonly type: 'key'; readonly name: string; readonly range: SourceRange; readonly flow: string };

/** The action or key at an offset; undefined if there is none or the text does not parse. */
export function symbolAt({ result, source }: FlowReading, offset: number): FlowSymbol | undefined {
  if (result.isStale) return undefined;
  const isHere = (range: SourceRange | undefined): range is SourceRange =>
    range?.file === source.path && range.start.offset <= offset && offset <= range.end.offset;
  for (const { id: flow, nodes, edges } of result.flows) {
    for (const { action, actionRange, source: node } of edges) {
      if (isHere(actionRange)) return { type: 'action', name: action, range: actionRange, flow, node };
    }
    for (const { id: node, actions, reads, writes } of nodes) {
      for (const { action, ranges } of actions.known) {
        const range = ranges.find((one) => isHere(one) && /^['"`]/.test(source.text.slice(one.start.offset)));
        if (range !== undefined) return { type: 'action', name: action, range, flow, node };
      }
      const access = [...reads, ...writes].find((one) => isHere(one.range) && isWritten(source.text, one));
      if (access !== undefined) return { type: 'key', name: access.key, range: access.range, flow };
    }
  }
  return undefined;
}

/** Renames an action or key wherever it is used; `sourceOf` returns the parsed files. */
export function renameSymbol(
  reading: FlowReading,
  symbol: FlowSymbol,
  newName: string,
  sourceOf: (file: string) => SourceFile | undefined,
): EditResult {
  return tryEdit(() => {
    const flow = reading.flows.find(({ graph }) => graph.id === symbol.flow);
    if (flow === undefined) return refuse(`The flow "${symbol.flow}" no longer exists.`);
    if (symbol.type === 'key') return renameKey(reading, flow, symbol.name, newName, sourceOf);
    const rename = { source: symbol.node, action: symbol.name, newAction: newName };
    return renameAction(reading.flows, flow, rename, (file) => sourceOf(file)?.text ?? '').edits;
  });
}

/** Whether the source contains the key itself there, rather than an expression for it. */
function isWritten(text: string, { key, range }: KeyAccess): boolean {
  const name = text.slice(range.start.offset, range.end.offset);
  return name === key || name.slice(1, -1) === key;
}

function renameKey(
  reading: FlowReading,
  flow: ReadFlow,
  key: string,
  newKey: string,
  sourceOf: (file: string) => SourceFile | undefined,
): TextEdit[] {
  if (!/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(newKey)) {
    refuse(`"${newKey}" is not a valid key. Use letters and digits, as in ragChunks.`);
  }
  const flows = sharingState(reading, flow);
  const keyUses = flows.flatMap(({ graph }) => graph.nodes.flatMap(({ reads, writes }) => [...reads, ...writes]));
  if (keyUses.some((access) => access.key === newKey)) {
    refuse(`The flow already uses shared.${newKey}. Choose another name.`);
  }
  const edits = new Map<string, TextEdit>();
  const add = (edit: TextEdit): unknown => edits.set(`${edit.range.file} ${edit.range.start.offset}`, edit);
  for (const access of keyUses.filter((one) => one.key === key)) {
    const source = sourceOf(access.range.file);
    if (source === undefined || !isWritten(source.text, access)) {
      const { file, start } = access.range;
      return refuse(
        `Line ${start.line + 1} of ${file} uses shared.${key} without writing its name. Rename it in the source.`,
      );
    }
    add(renamed(source, access.range, key, newKey));
  }
  for (const source of new Set(keyUses.map(({ range }) => sourceOf(range.file)))) {
    if (source !== undefined) for (const edit of renameInTypes(source, flows, key, newKey)) add(edit);
  }
  for (const { instance } of flows) {
    for (const { object } of instance.flow.runs) {
      const property = object?.node.type === 'ObjectExpression' ? propertyOf(object.node, key) : undefined;
      if (object !== undefined && property !== undefined)
        add(renamed(object.file, object.file.range(property), key, newKey));
    }
  }
  for (const edit of renameInVariables(reading.source, flows, key, newKey)) add(edit);
  return [...edits.values()];
}

/** The edits where the file reads the key from the state it passed to `run`. */
function renameInVariables(source: SourceFile, flows: readonly ReadFlow[], key: string, newKey: string): TextEdit[] {
  const names = new Set<string>();
  for (const { origin } of flows.flatMap(({ instance }) => instance.flow.runs)) {
    const [argument] = origin.node.type === 'CallExpression' ? origin.node.arguments : [];
    if (argument?.type === 'Identifier' && origin.file === source) names.add(argument.name);
  }
  const edits: TextEdit[] = [];
  const isState = (node: t.Node | null | undefined): boolean => node?.type === 'Identifier' && names.has(node.name);
  if (source.program === undefined) return edits;
  visitNodes(source.program, (node) => {
    let place: t.Node | undefined;
    if (node.type === 'MemberExpression' || node.type === 'OptionalMemberExpression') {
      if (isState(node.object) && keyName(node.property, node.computed) === key) place = node.property;
    } else if (node.type === 'VariableDeclarator' && node.id.type === 'ObjectPattern' && isState(node.init)) {
      place = propertyOf(node.id, key);
    }
    if (place !== undefined) edits.push(renamed(source, source.range(place), key, newKey));
  });
  return edits;
}

/** The flows that share one state: those nested in each other. */
function sharingState({ flows }: FlowReading, flow: ReadFlow): ReadFlow[] {
  const together = new Set([flow]);
  const isNestedIn = (inner: FlowGraph, outer: FlowGraph): boolean =>
    outer.nodes.some((node) => node.flow === inner.id);
  for (const one of together) {
    for (const other of flows) {
      if (isNestedIn(one.graph, other.graph) || isNestedIn(other.graph, one.graph)) together.add(other);
    }
  }
  return [...together];
}

/** The edit of one occurrence. `{ topic }` in a pattern or object becomes `{ subject: topic }`, so that the variable stays. */
function renamed(source: SourceFile, range: SourceRange, key: string, newKey: string): TextEdit {
  const written = source.text.slice(range.start.offset, range.end.offset);
  if (written !== key) return { range, text: written[0] + newKey + written[0] };
  let isShorthand = false;
  if (source.program !== undefined) {
    visitNodes(source.program, (node) => {
      if (node.type === 'ObjectProperty' && node.shorthand) isShorthand ||= startOf(node.key) === range.start.offset;
    });
  }
  return { range, text: isShorthand ? `${newKey}: ${key}` : newKey };
}

/** The edits of the key in the types of the shared state. */
function renameInTypes(source: SourceFile, flows: readonly ReadFlow[], key: string, newKey: string): TextEdit[] {
  const names = new Set(flows.flatMap(({ nodes, instance }) => [instance, ...nodes.values()].flatMap(sharedTypeOf)));
  const edits: TextEdit[] = [];
  for (const statement of source.program?.body ?? []) {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    let members: readonly t.TSTypeElement[] = [];
    if (declared?.type === 'TSInterfaceDeclaration') members = names.has(declared.id.name) ? declared.body.body : [];
    if (declared?.type === 'TSTypeAliasDeclaration' && declared.typeAnnotation.type === 'TSTypeLiteral') {
      members = names.has(declared.id.name) ? declared.typeAnnotation.members : [];
    }
    for (const member of members) {
      if (member.type !== 'TSPropertySignature' || keyName(member.key, false) !== key) continue;
      edits.push(renamed(source, source.rangeOf(startOf(member.key), endOf(member.key)), key, newKey));
    }
  }
  return edits;
}

function sharedTypeOf({ class: called, creation }: Instance): string[] {
  const ofClass = called.type === 'class' ? called.node.superTypeArguments : undefined;
  const types = (creation.type === 'NewExpression' ? creation.typeArguments : undefined) ?? ofClass;
  const [type] = types?.params ?? [];
  return type?.type === 'TSTypeReference' && type.typeName.type === 'Identifier' ? [type.typeName.name] : [];
}

function propertyOf({ properties }: t.ObjectExpression | t.ObjectPattern, key: string): t.Node | undefined {
  for (const property of properties) {
    if (property.type === 'SpreadElement' || property.type === 'RestElement') continue;
    if (keyName(property.key, property.computed) === key) return property.key;
  }
  return undefined;
}
