import type { ExactGraph } from '../../graph/exactGraph.ts';
import type { VariableSource } from './flowEnvironment.ts';
import type { FlowRunRequest } from './runRequest.ts';
import type { RunEvent } from './runEvent.ts';
import type { FlowFailure } from './flowOutcome.ts';

/** What the child gets; its environment and working directory it has already. */
export type ChildRequest = Omit<FlowRunRequest, 'cwd' | keyof VariableSource>;

/** From the parent to the child. */
export type ParentMessage =
  | { readonly type: 'request'; readonly request: ChildRequest }
  /** The events with numbers up to this one have been taken. */
  | { readonly type: 'taken'; readonly batch: number }
  /** What was asked for by that variable. */
  | { readonly type: 'key'; readonly variable: string; readonly key: string | undefined }
  | { readonly type: 'stop' };

/** From the child to the parent. */
export type ChildMessage =
  | { readonly type: 'ready'; readonly nodeVersion: string }
  | { readonly type: 'library'; readonly path: string }
  | { readonly type: 'debugger'; readonly url: string }
  | { readonly type: 'events'; readonly batch: number; readonly events: readonly RunEvent[] }
  | { readonly type: 'graph'; readonly graphs: readonly ExactGraph[] }
  | { readonly type: 'visited' }
  | { readonly type: 'note'; readonly message: string }
  /** Asks for the key of a model service. */
  | { readonly type: 'key'; readonly variable: string }
  /** The file cannot be run as it is. */
  | { readonly type: 'refused'; readonly error: FlowFailure }
  /** The file threw, outside of any run or after one. */
  | { readonly type: 'threw'; readonly error: FlowFailure };

const CHILD_MESSAGES: ReadonlySet<unknown> = new Set<ChildMessage['type']>([
  'ready',
  'library',
  'debugger',
  'events',
  'graph',
  'visited',
  'note',
  'key',
  'refused',
  'threw',
]);

/** Distinguishes the runner's own messages from those of a flow's code, which are ignored. */
export function isChildMessage(message: unknown): message is ChildMessage {
  return typeof message === 'object' && message !== null && 'type' in message && CHILD_MESSAGES.has(message.type);
}
