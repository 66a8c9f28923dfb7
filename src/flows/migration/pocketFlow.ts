import { AppError } from '../../core/errors.ts';
import { keyName, visitNodes } from '../syntax/nodes.ts';
import { endOf, SourceFile, startOf } from '../syntax/sourceFile.ts';
import { convertConnections } from './convertConnections.ts';
import { convertConstructors } from './constructors.ts';
import { convertFlowTypes } from './flowTypes.ts';
import type { FindFile } from '../reading/modules.ts';
import { type Edit, edited, insertion, type Unconverted } from '../syntax/edits.ts';
import { LibraryNames } from './libraryNames.ts';
import { paramsEdits } from './params.ts';
import { isParams, planParams } from './paramsPlan.ts';
import type { FlowEdge, FlowGraph } from '../graph/graph.ts';
import { quotedIn } from '../syntax/sourceStyle.ts';
import { valueImports } from '../syntax/valueImports.ts';
import { readFlows } from '../project/flowProject.ts';
import type { FileHost } from '../project/parsedFiles.ts';

/** A file after its migration. Lines and columns are those of the original, from 1. */
export interface Migration {
  readonly text: string;
  /** What has to be changed by hand. */
  readonly unconverted: readonly { readonly line: number; readonly column: number; readonly message: string }[];
}

const LIBRARY = 'farwharf/agents';

const MEMBERS: Readonly<Record<string, string>> = {
  _params: 'there are no params: pass values to constructors, or in the shared state; in a BatchFlow, read shared.item',
  params: 'there are no params: pass values to constructors, or in the shared state; in a BatchFlow, read shared.item',
  setParams: 'there are no params: pass values to constructors, or in the shared state',
  currentRetry: 'use the attempt in the second argument of exec: `exec(prepRes, { attempt })` counts from 1',
  clone: 'nodes are not copied: one node can be in several flows and runs at once',
  getNextNode: 'connections belong to flows: flow.getNextNode(node, action)',
  _successors: 'connections belong to flows: flow.getNextNode(node, action)',
  _run: 'use run',
  _exec: 'override exec',
  _orchestrate: 'use run of a flow',
};
// Names that other objects have too, so they count only after `this.`.
const OWN_MEMBERS = new Set(['params', 'clone', 'getNextNode', '_run', '_exec']);

/**
 * Rewrites a file that uses PocketFlow for `farwharf/agents`. All other text stays as it is.
 *
 * @param find finds the other files, as they were before their migration or after it.
 * @throws AppError `bad-input` if the file does not parse, `corrupt` if its conversion does not.
 */
export function migratePocketFlow(path: string, text: string, find: FindFile): Migration {
  const file = new SourceFile(path, text);
  const problem = problemOf(file);
  if (problem !== undefined) throw new AppError('bad-input', `${path}${problem}`);
  const names = new LibraryNames(file, find);
  if (!names.isUsed) return { text, unconverted: [] };
  const plan = planParams(file, names);
  const connections = convertConnections(file, names);
  const unconverted = [
    ...connections.unconverted,
    ...convertConstructors(file, names, plan).unconverted,
    ...convertFlowTypes(file, names).unconverted,
    ...unknownMembers(file).filter(({ isParams }) => !isParams || plan.flows.size === 0),
  ];
  // Done last, because a connection can contain the construction of a node.
  const connected = new SourceFile(path, edited(text, connections.edits));
  const connectedNames = new LibraryNames(connected, find);
  const imports = connectedNames.specifiers.map((node) => {
    return { start: startOf(node) + 1, end: endOf(node) - 1, text: LIBRARY };
  });
  const rewritten = edited(connected.text, [
    ...imports,
    ...paramsEdits(connected, connectedNames, plan),
    ...convertConstructors(connected, connectedNames, plan).edits,
    ...convertFlowTypes(connected, connectedNames).edits,
    ...typeImportEdits(connected),
  ]);
  const [specifier] = names.specifiers;
  const converted =
    specifier === undefined ? rewritten : withEndingActions(path, rewritten, text.charAt(startOf(specifier)), find);
  const broken = problemOf(new SourceFile(path, converted));
  if (broken !== undefined) {
    throw new AppError(
      'corrupt',
      `${path} cannot be converted: the result does not parse (${broken.slice(1)}). Nothing was changed.`,
    );
  }
  return {
    text: converted,
    unconverted: unconverted
      .toSorted((a, b) => a.offset - b.offset)
      .map(({ offset, message }) => {
        const { line, column } = file.position(offset);
        return { line: line + 1, column: column + 1, message };
      }),
  };
}

/** What the file imports as types only says so, because Node.js imports everything else. */
function typeImportEdits({ program }: SourceFile): readonly Edit[] {
  if (program === undefined) return [];
  return valueImports(program).flatMap(({ statement, types }) => {
    const isAll = types.length === statement.specifiers.length;
    const isSingle = types.length === 1 || types.every(({ type }) => type === 'ImportSpecifier');
    if (isAll && isSingle) return [insertion(startOf(statement) + 'import'.length, ' type')];
    return types
      .filter(({ type }) => type === 'ImportSpecifier')
      .map((specifier) => insertion(startOf(specifier), 'type '));
  });
}

/** Where a file does not parse, and why: `:3: Unexpected token`. */
function problemOf({ program, syntaxError }: SourceFile): string | undefined {
  if (program !== undefined && syntaxError === undefined) return undefined;
  return `:${(syntaxError?.range.start.line ?? 0) + 1}: ${syntaxError?.message ?? 'cannot be parsed'}`;
}

/** Uses of what PocketFlow's nodes have and those of the library do not. */
function unknownMembers({ program }: SourceFile): (Unconverted & { readonly isParams: boolean })[] {
  const leftOver: (Unconverted & { readonly isParams: boolean })[] = [];
  if (program === undefined) return leftOver;
  visitNodes(program, (node) => {
    if (node.type !== 'MemberExpression') return;
    const name = keyName(node.property, node.computed);
    if (name === undefined || !Object.hasOwn(MEMBERS, name)) return;
    if (OWN_MEMBERS.has(name) && node.object.type !== 'ThisExpression') return;
    leftOver.push({
      offset: startOf(node.property),
      message: `${name}: ${MEMBERS[name]}`,
      isParams: isParams(node),
    });
  });
  return leftOver;
}

/**
 * In a converted file, the nodes that end a flow end it with the actions that they return, as far as this file and those that it imports
 * show them.
 */
function withEndingActions(path: string, text: string, quote: string, find: FindFile): string {
  const edits = new Map<number, Edit>();
  for (const flow of readFlows(path, text, convertedFiles(find)).flows) {
    for (const edge of flow.edges) {
      const actions = isEnding(flow, edge) ? actionsOf(flow, edge.source) : [];
      const { start, end } = edge.range;
      if (actions.length > 0) {
        edits.set(start.offset, {
          start: start.offset,
          end: end.offset,
          text: endings(text, start.offset, end.offset, { actions, quote }),
        });
      }
    }
  }
  return edited(text, [...edits.values()]);
}

/** Other files, as far as their classes are needed: as if they were converted. */
function convertedFiles(find: FindFile): FileHost {
  return {
    version: (file) => find([file])?.text,
    read: (file) => find([file])?.text.replaceAll(/(?<=(['"]))pocketflow(?=\1)/g, 'farwharf/agents'),
  };
}

/** Whether a node's only connection is an end without an action, as the conversion writes it. */
function isEnding({ edges }: FlowGraph, { source, target, actionRange }: FlowEdge): boolean {
  return target === null && actionRange === undefined && edges.filter((edge) => edge.source === source).length === 1;
}

/** What a node returns; nothing if that is only the default action, or unknown. */
function actionsOf({ nodes }: FlowGraph, id: string): readonly string[] {
  const { known = [], unknown } = nodes.find((node) => node.id === id)?.actions ?? {};
  const actions = known.map(({ action }) => action);
  return unknown !== undefined || (actions.length === 1 && actions[0] === 'default') ? [] : actions;
}

function endings(
  text: string,
  start: number,
  end: number,
  { actions, quote }: { readonly actions: readonly string[]; readonly quote: string },
): string {
  const call = text.slice(start, end - 1);
  const separator = /\s*\.$/.exec(text.slice(0, start))?.[0] ?? '.';
  return actions
    .map((action) => (action === 'default' ? `${call})` : `${call}, ${quotedIn(quote, action)})`))
    .join(separator);
}
