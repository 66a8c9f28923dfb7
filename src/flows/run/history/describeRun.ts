import { assertNever } from '../../../core/errors.ts';
import { ownerState } from '../../../core/processes/processOwner.ts';
import { formatCount, formatDollars, formatMicros } from '../../../core/text/format.ts';
import type { FlowFailure, RecordedOutcome } from '../protocol/flowOutcome.ts';
import type { RunRecord } from './runRecord.ts';
import { microsOf, type ModelUsage, type TimelineStep } from '../protocol/timelineStep.ts';

// Node's exit status if only promises are left that nothing can settle.
const UNSETTLED = 13;

/**
 * The state of a run without a recorded end, by the process that runs it: `unknown` if that is on another machine or in another container,
 * `terminated` also where the record names no process.
 */
export function unendedState({ owner }: Pick<RunRecord, 'owner'>): 'running' | 'terminated' | 'unknown' {
  const state = owner === undefined ? 'stopped' : ownerState(owner);
  return state === 'stopped' ? 'terminated' : state;
}

/** What is known of the end of a run, as `describeRunEnd` says it. */
export function describeRunNow({ outcome, owner, answeredBy }: RunRecord): string {
  if (outcome?.type === 'waiting' && answeredBy !== undefined)
    return `answered at ${outcome.path}, continued by run ${answeredBy}`;
  const state = outcome === undefined ? unendedState({ owner }) : undefined;
  if (state === 'running') return 'runs now';
  return state === 'unknown' ? 'has no recorded end: it may still run on another machine' : describeRunEnd(outcome);
}

/** How a run ended, as a sentence without a full stop: `failed at Research/Decide: no harbour (flow.ts:4:11)`. */
export function describeRunEnd(outcome: RecordedOutcome | undefined): string {
  switch (outcome?.type) {
    case undefined:
      return 'has no recorded end: the program that ran it was terminated';
    case 'done':
      return `done${outcome.action === undefined ? '' : ` with "${outcome.action}"`}${outcome.exitCode === 0 ? '' : `, but the process exited with status ${outcome.exitCode}`}`;
    case 'waiting': {
      const { path, question, choices = [] } = outcome;
      return `waits at ${path}: ${question}${choices.length === 0 ? '' : ` (${choices.join(', ')})`}`;
    }
    case 'failed':
      return `failed${outcome.error.path === undefined ? '' : ` at ${outcome.error.path}`}: ${describeFailure(outcome.error)}`;
    case 'refused':
      return `could not run: ${describeFailure(outcome.error)}`;
    case 'exited':
      return outcome.code === UNSETTLED
        ? 'stopped early: it waits for something that can no longer happen'
        : `stopped early: process.exit was called with status ${outcome.code}`;
    case 'killed':
      return `killed by ${outcome.signal} from outside: memory may have run out`;
    case 'stopped':
      return 'stopped';
    default:
      return assertNever(outcome);
  }
}

/** Why a run did not succeed, to be appended to its state: `Research/Decide: no harbour (flow.ts:4:11)`; undefined if the state says it. */
export function describeRunReason(outcome: RecordedOutcome): string | undefined {
  if (outcome.type === 'stopped' || (outcome.type === 'done' && outcome.exitCode === 0)) return undefined;
  if (outcome.type !== 'failed' && outcome.type !== 'refused') return describeRunEnd(outcome);
  const { path } = outcome.error;
  return `${path === undefined ? '' : `${path}: `}${describeFailure(outcome.error)}`;
}

/** The state of a run in one word, and its question if it waits. */
export function runStateWord({ outcome, answeredBy, owner }: RunRecord): {
  readonly state: RecordedOutcome['type'] | 'answered' | ReturnType<typeof unendedState>;
  readonly question?: string;
  readonly choices?: readonly string[];
} {
  if (outcome?.type !== 'waiting') return { state: outcome?.type ?? unendedState({ owner }) };
  const { question, choices } = outcome;
  const state = answeredBy === undefined ? 'waiting' : 'answered';
  return { state, question, ...(choices !== undefined && { choices }) };
}

function describeFailure({ message, place }: FlowFailure): string {
  const sentence = message.replace(/\.$/, '');
  return place === undefined ? sentence : `${sentence} (${place.file}:${place.line}:${place.column})`;
}

/** `2 calls, 1,200 tokens, $0.0012`; empty if no model was called. */
export function describeUsage({ calls, inputTokens, outputTokens, cost }: ModelUsage): string {
  if (calls === 0) return '';
  const tokens = inputTokens + outputTokens;
  const parts = [
    formatCount(calls, 'model call'),
    ...(tokens === 0 ? [] : [formatCount(tokens, 'token')]),
    ...(cost === 0 ? [] : [formatDollars(cost)]),
  ];
  return parts.join(', ');
}

/** `Research/Decide -> search, 23 ms`. */
export function describeStep(step: TimelineStep): string {
  const { path, visit, action, status, isReplayed, liveBecause, liveFiles, retries, error } = step;
  const name = visit === 1 ? path : `${path} (visit ${visit})`;
  const parts = [
    status === 'failed'
      ? `${name} failed: ${error?.replace(/\.$/, '')}`
      : status === 'waiting'
        ? `${name} waits for an answer`
        : `${name} -> ${action ?? 'default'}`,
    formatMicros(microsOf(step)),
    ...(isReplayed ? ['recorded'] : []),
    ...(liveBecause === undefined ? [] : [describeLive(liveBecause, liveFiles)]),
    ...(retries === 0 ? [] : [formatCount(retries, 'retry', 'retries')]),
    ...(describeUsage(step.usage) === '' ? [] : [describeUsage(step.usage)]),
  ];
  return parts.join(', ');
}

/** Why an `exec` ran in a replay, as the end of a sentence. */
const LIVE_REASONS = {
  code: 'its code changed',
  input: 'its input changed',
  new: 'the earlier run has no such visit',
} as const;

/** Why an `exec` ran in a replay: `ran live: its code changed (helpers.mts)`. */
export function describeLive(reason: keyof typeof LIVE_REASONS, files: string | undefined): string {
  return `ran live: ${LIVE_REASONS[reason]}${files === undefined ? '' : ` (${files})`}`;
}
