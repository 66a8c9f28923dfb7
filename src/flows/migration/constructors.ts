import type * as t from '@babel/types';
import { given, visitNodes } from '../syntax/nodes.ts';
import { endOf, type SourceFile, startOf } from '../syntax/sourceFile.ts';
import type { Edit, Unconverted } from '../syntax/edits.ts';
import { constructorOf, type Kind, type LibraryNames } from './libraryNames.ts';
import type { ParamsPlan } from './paramsPlan.ts';

const NODE_OPTIONS = ['maxRetries', 'wait'];
const FLOW_OPTIONS = ['start'];
const BATCH_FLOW =
  'a BatchFlow runs each item of prep with the state that itemState returns, by default { ...shared, item }, and post gets these states';

interface Changes {
  readonly edits: Edit[];
  readonly unconverted: Unconverted[];
}

/** Arguments of constructors become options, and the types of parameters go. */
export function convertConstructors(file: SourceFile, names: LibraryNames, { flows }: ParamsPlan): Changes {
  const changes: Changes = { edits: [], unconverted: [] };
  if (file.program === undefined) return changes;
  visitNodes(file.program, (node) => {
    if (node.type === 'NewExpression') {
      const kind = names.kindOf(node.callee);
      if (kind === undefined) return;
      if (names.isConstructedByLibrary(node.callee)) convertArguments(file, node, kind, changes);
      if (names.isOfLibrary(node.callee)) dropParameterTypes(node.typeArguments, changes);
    }
    if (node.type === 'TSTypeReference' && names.kindOf(node.typeName) && names.isOfLibrary(node.typeName)) {
      dropParameterTypes(node.typeArguments, changes);
    }
    if (node.type !== 'ClassDeclaration' && node.type !== 'ClassExpression') return;
    const kind = node.superClass ? names.kindOf(node.superClass) : undefined;
    if (kind === undefined || !node.superClass) return;
    if (names.isOfLibrary(node.superClass)) dropParameterTypes(node.superTypeArguments, changes);
    const isPlanned = flows.has(node.id?.name ?? '');
    if (!isPlanned && /^(?:Parallel)?BatchFlow$/.test(names.libraryOf(node.superClass) ?? '')) {
      changes.unconverted.push({ offset: startOf(node), message: BATCH_FLOW });
    }
    const constructor = constructorOf(node);
    if (constructor === undefined || !names.isConstructedByLibrary(node.superClass)) return;
    visitNodes(constructor.body, (inner) => {
      if (inner.type === 'CallExpression' && inner.callee.type === 'Super')
        convertArguments(file, inner, kind, changes);
    });
  });
  return changes;
}

function convertArguments(
  file: SourceFile,
  call: t.NewExpression | t.CallExpression,
  kind: Kind,
  { edits, unconverted }: Changes,
): void {
  const options = kind === 'flow' ? FLOW_OPTIONS : NODE_OPTIONS;
  const args = call.arguments;
  const last = args.at(-1);
  if (last === undefined || args[0]?.type === 'ObjectExpression') return; // options already
  const isPlain = args.every((argument) => argument.type !== 'SpreadElement') && args.length <= options.length;
  if (!isPlain) {
    unconverted.push({ offset: startOf(call), message: `pass options in place of ${file.snippet(call)}` });
    return;
  }
  // Only insertions, because an argument can contain the construction of another node.
  const insert = (offset: number, text: string): void => void edits.push({ start: offset, end: offset, text });
  for (const [index, argument] of args.entries()) {
    const name = options[index] ?? '';
    const isShorthand = file.textOf(argument) === name;
    insert(startOf(argument), `${index === 0 ? '{ ' : ''}${isShorthand ? '' : `${name}: `}`);
  }
  insert(endOf(last), ' }');
}

/** PocketFlow's second type argument is that of `params`; here it is that of the result of `prep`. */
function dropParameterTypes(typeArguments: t.Node | null | undefined, { edits }: Changes): void {
  if (!given(typeArguments) || typeArguments.type !== 'TSTypeParameterInstantiation') return;
  const [first, ...others] = typeArguments.params;
  const last = others.at(-1);
  if (first !== undefined && last !== undefined) edits.push({ start: endOf(first), end: endOf(last), text: '' });
}
