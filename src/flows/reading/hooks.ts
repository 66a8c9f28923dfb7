import type * as t from '@babel/types';
import type { FlowNode, KeyAccess, NodeActions, ReturnedAction, SourceRange, Unread } from '../graph/graph.ts';
import { DEFAULT_ACTION } from '../../agents/graph/unit.ts';
import type { Evaluator } from '../interpreter/evaluator.ts';
import { boundMethod, findMethod, type FoundMethod, libraryOf } from '../interpreter/members.ts';
import { given, nodeRule, type Rules } from '../syntax/nodes.ts';
import { libraryKeys, optionOf } from './libraryKeys.ts';
import { NEXT } from '../interpreter/scopes.ts';
import { createUse, writtenKeys } from '../interpreter/shared.ts';
import {
  alternatives,
  type FunctionValue,
  type Instance,
  literal,
  type Origin,
  type SharedUse,
  UNDEFINED,
  union,
  unknown,
  type Value,
} from '../interpreter/values.ts';
import type { SourceFile } from '../syntax/sourceFile.ts';

const MAX_ALIASES = 20;

const nothing = (node: t.Node, file: SourceFile): Result => [{ action: DEFAULT_ACTION, origin: { file, node } }];

const RULES: Rules<Arguments, Result> = {
  TSTypeAnnotation: ({ typeAnnotation }, file, depth) => actionsOfType(typeAnnotation, file, depth),
  TSParenthesizedType: ({ typeAnnotation }, file, depth) => actionsOfType(typeAnnotation, file, depth),
  TSVoidKeyword: nothing,
  TSUndefinedKeyword: nothing,
  TSNullKeyword: nothing,
  TSNeverKeyword: () => [],
  TSLiteralType({ literal }, file) {
    if (literal.type !== 'StringLiteral') return undefined;
    return [{ action: literal.value || DEFAULT_ACTION, origin: { file, node: literal } }];
  },
  TSUnionType({ types }, file, depth) {
    const parts = types.map((part) => actionsOfType(part, file, depth));
    return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
  },
  TSTypeReference({ typeName, typeArguments }, file, depth) {
    if (typeName.type !== 'Identifier' || depth > MAX_ALIASES) return undefined;
    const [argument] = typeArguments?.params ?? [];
    if (typeName.name === 'Promise' && argument !== undefined) return actionsOfType(argument, file, depth);
    const alias = aliasOf(typeName.name, file);
    return alias === undefined ? undefined : actionsOfType(alias, file, depth + 1);
  },
};

/** What the hooks of one node return and do to the shared state. */
export type HookFacts = Pick<FlowNode, 'actions' | 'reads' | 'writes' | 'unreadKeys'>;

interface TypedAction {
  readonly action: string;
  readonly origin: Origin;
}

type Result = readonly TypedAction[] | undefined;

type Arguments = [file: SourceFile, depth: number];

/** The hook that returns the action. */
export function lastHookOf({ class: called }: Instance): 'post' | 'merge' {
  return libraryOf(called) === 'ParallelFlow' ? 'merge' : 'post';
}

/** A hook defined by the class or by a field of the instance; undefined if the library's own applies. */
export function hookOf(evaluator: Evaluator, instance: Instance, name: string): FunctionValue | undefined {
  const cell = instance.fields.get(name);
  const field = cell === undefined ? undefined : evaluator.branches.read(cell);
  if (field?.type === 'function') return field;
  const method = findMethod(instance.class, name);
  return method === undefined ? undefined : boundMethod(method, instance);
}

/**
 * Evaluates `prep` and `post` of a node.
 *
 * @param inner the actions of the nested flow, if the node is a flow.
 */
export function readHooks(evaluator: Evaluator, instance: Instance, inner: NodeActions | undefined): HookFacts {
  const prep = createUse('prep');
  const post = createUse('post');
  const before = followPrep(evaluator, instance, prep);
  const actions = followPost(evaluator, instance, { use: post, before, inner });
  const library = libraryKeys(instance);
  const libraryReads = hookOf(evaluator, instance, 'prep') === undefined ? library.reads : [];
  return {
    actions,
    reads: [...libraryReads, ...[prep, post].flatMap(({ reads, guarded }) => settled(reads, guarded))],
    writes: [...library.writes, ...[prep, post].flatMap(({ writes, guarded }) => settled(writes, guarded))],
    unreadKeys: [...prep.unread, ...post.unread],
  };
}

function settled(accesses: ReadonlyMap<number | string, KeyAccess>, guarded: ReadonlySet<string>): KeyAccess[] {
  return [...accesses.values()].map((access) => ({ ...access, isGuarded: guarded.has(access.key) }));
}

function followPrep(evaluator: Evaluator, instance: Instance, use: SharedUse): readonly string[] {
  const hook = hookOf(evaluator, instance, 'prep');
  if (hook === undefined) return [];
  const shared: Value = { type: 'shared', use, path: [], access: undefined };
  const { returns, completion } = evaluator.trace(hook, [shared], { use });
  const ends = returns.map(({ written }) => new Set(written));
  if ((completion & NEXT) !== 0) ends.push(new Set(writtenKeys(evaluator, use)));
  return [...(ends[0] ?? [])].filter((key) => ends.every((end) => end.has(key)));
}

interface PostContext {
  readonly use: SharedUse;
  /** The keys that `prep` has written. */
  readonly before: readonly string[];
  readonly inner: NodeActions | undefined;
}

function followPost(evaluator: Evaluator, instance: Instance, context: PostContext): NodeActions {
  const hook = hookOf(evaluator, instance, lastHookOf(instance));
  if (hook === undefined) return withoutPost(instance, context);
  const { use, before, inner } = context;
  const { file } = hook.scope;
  const whole = { file, node: hook.node };
  const shared: Value = { type: 'shared', use, path: [], access: undefined };
  const why = 'is the result of exec';
  const execRes = inner === undefined ? unknown(file, hook.node.params[2] ?? hook.node, why) : innerValue(inner);
  const second = lastHookOf(instance) === 'merge' ? 'has the states of the branches' : 'is the result of prep';
  const args = [shared, unknown(file, hook.node.params[1] ?? hook.node, second), execRes];
  const { returns, completion } = evaluator.trace(hook, args, { use });
  const collected = new Actions();
  const ends = [...returns];
  if ((completion & NEXT) !== 0) {
    ends.push({ value: UNDEFINED, origin: whole, written: writtenKeys(evaluator, use) });
  }
  for (const { value, origin, written } of ends) {
    for (const one of alternatives(value)) {
      const keys = [...before, ...written];
      if (one.type === 'undefined' || one.type === 'null') collected.add(DEFAULT_ACTION, file.range(origin.node), keys);
      else if (one.type === 'literal' && typeof one.value === 'string') {
        const place = one.origin ?? origin;
        collected.add(one.value || DEFAULT_ACTION, place.file.range(place.node), keys);
      } else {
        const reason =
          one.type === 'unknown' ? one.reason : `\`${file.snippet(origin.node)}\` is not text that can be read`;
        collected.unknown ??= {
          reason: `The action that post returns is unknown: ${reason}.`,
          range: file.range(origin.node),
        };
      }
    }
  }
  addTyped(collected, hook, instance);
  return collected.result();
}

/** Actions that the values do not show may be in the declared return type of `post`, whose literals count as positions too. */
function addTyped(collected: Actions, { node, scope: { file } }: FunctionValue, instance: Instance): void {
  const annotation = node.returnType;
  const typed = !given(annotation) ? typeArgument(instance) : actionsOfType(annotation, file);
  if (typed === undefined) return;
  const isKnown = collected.unknown === undefined;
  collected.unknown = undefined;
  for (const { action, origin } of typed) {
    const range = origin.file.range(origin.node);
    if (collected.has(action)) collected.addPlace(action, range);
    else if (!isKnown) collected.add(action, range, []);
  }
}

/** The fourth type argument of `extends Node<S, P, E, A>` and `extends BatchNode<S, I, O, A>`, the third of `extends ParallelFlow<S, N, A>`. */
function typeArgument({ class: called }: Instance): ReturnType<typeof actionsOfType> {
  if (called.type !== 'class') return undefined;
  const action = called.node.superTypeArguments?.params[libraryOf(called) === 'ParallelFlow' ? 2 : 3];
  return action === undefined ? undefined : actionsOfType(action, called.scope.file);
}

function innerValue({ known, unknown: hidden }: NodeActions): Value {
  const values: Value[] = known.map(({ action }) => literal(action));
  if (hidden !== undefined) values.push({ type: 'unknown', reason: hidden.reason, origin: undefined });
  return union(values);
}

function withoutPost(instance: Instance, { before, inner }: PostContext): NodeActions {
  const library = libraryOf(instance.class);
  const range = instance.file.range(instance.creation);
  if (inner !== undefined) return inner;
  if (library === undefined) {
    const reason = `The class ${instance.class.name} extends a class that cannot be read and may define post.`;
    return { known: [], unknown: { reason, range } };
  }
  const { options } = instance;
  if (instance.creation.type === 'CallExpression' && (options.type !== 'object' || options.isOpen)) {
    const reason = 'The node gets hooks that are not written in the call.';
    return { known: [], unknown: { reason, range } };
  }
  const written = [...before, ...libraryKeys(instance).writes.map(({ key }) => key)];
  const next = library === 'RAGNode' ? optionOf(instance, 'nextAction') : undefined;
  if (next?.type === 'unknown') return { known: [], unknown: { reason: `nextAction: ${next.reason}.`, range } };
  if (next?.type !== 'literal') return { known: [{ action: DEFAULT_ACTION, ranges: [], written }], unknown: undefined };
  const ranges = next.origin === undefined ? [range] : [next.origin.file.range(next.origin.node)];
  return { known: [{ action: String(next.value) || DEFAULT_ACTION, ranges, written }], unknown: undefined };
}

/** Collects actions with all their positions; `written` is what all occurrences have in common. */
class Actions {
  unknown: Unread | undefined;
  readonly #known = new Map<string, { ranges: SourceRange[]; written: readonly string[] }>();

  has(action: string): boolean {
    return this.#known.has(action);
  }

  add(action: string, range: SourceRange, written: readonly string[]): void {
    const existing = this.#known.get(action);
    if (existing === undefined) {
      this.#known.set(action, { ranges: [range], written: [...new Set(written)] });
      return;
    }
    existing.written = existing.written.filter((key) => written.includes(key));
    this.addPlace(action, range);
  }

  addPlace(action: string, range: SourceRange): void {
    const ranges = this.#known.get(action)?.ranges;
    const isNew = ranges?.every(({ file, start }) => file !== range.file || start.offset !== range.start.offset);
    if (isNew === true) ranges?.push(range);
  }

  result(): NodeActions {
    const returned = [...this.#known].map(([action, facts]): ReturnedAction => ({ action, ...facts }));
    return { known: returned, unknown: this.unknown };
  }
}

/** The range of the hook, starting at its name. */
export function hookRange(method: FoundMethod | undefined): SourceRange | undefined {
  if (method === undefined) return undefined;
  const { file } = method.home.scope;
  const { start } = file.range(method.node.key);
  return { ...file.range(method.node), start };
}

/** The actions that a type allows: a union of literals; undefined if it allows any text or is declared elsewhere. */
function actionsOfType(type: t.Node, file: SourceFile, depth = 0): Result {
  return nodeRule(RULES, type)?.(type, file, depth);
}

function aliasOf(name: string, { program }: SourceFile): t.Node | undefined {
  for (const statement of program?.body ?? []) {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    if (declared?.type === 'TSTypeAliasDeclaration' && declared.id.name === name) return declared.typeAnnotation;
  }
  return undefined;
}
