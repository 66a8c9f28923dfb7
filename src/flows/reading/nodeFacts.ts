import type { NodeActions } from '../graph/graph.ts';
import type { Evaluator } from '../interpreter/evaluator.ts';
import { type HookFacts, readHooks } from './hooks.ts';
import { ReadingLimitError } from '../interpreter/values/readingBudget.ts';
import type { Instance } from '../interpreter/values/values.ts';

/** The result of `readHooks`; beyond the limits of the reading, nodes are shown without facts. */
export function readNodeFacts(evaluator: Evaluator, instance: Instance, inner: NodeActions | undefined): HookFacts {
  try {
    if (!evaluator.budget.isExceeded) return chargedFacts(evaluator, instance, inner);
  } catch (error) {
    if (!(error instanceof ReadingLimitError)) throw error;
  }
  const range = instance.file.range(instance.creation);
  const unknown = { reason: 'The file is too large to read completely.', range };
  return { actions: { known: [], unknown }, reads: [], writes: [], unreadKeys: [] };
}

/** A node has few facts, unless a loop creates them. */
function chargedFacts(evaluator: Evaluator, instance: Instance, inner: NodeActions | undefined): HookFacts {
  const facts = readHooks(evaluator, instance, inner);
  const { actions, reads, writes, unreadKeys } = facts;
  const keys = [...reads, ...writes].flatMap(({ path }) => path);
  const names = actions.known.flatMap(({ action, written }) => [action, ...written]);
  evaluator.budget.spend('fact', keys.length + names.length + unreadKeys.length);
  const characters = [...keys, ...names].reduce((sum, { length }) => sum + length, 0);
  evaluator.budget.spend('character', characters);
  return facts;
}
