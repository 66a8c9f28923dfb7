import { dirname } from 'node:path';
import type { FlowProcessEvent, FlowRuntime } from '../protocol/runRequest.ts';

/** A launch configuration for VS Code's built-in JavaScript debugger. */
export interface DebugConfiguration {
  readonly type: 'node';
  readonly request: 'attach';
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly continueOnAttach: true;
  readonly skipFiles: readonly string[];
}

/** Where a flow waits for its debugger. */
export type DebuggerPlace = Pick<Extract<FlowProcessEvent, { type: 'debugger' }>, 'host' | 'port'>;

/**
 * The configuration to attach to a flow that was started with `isDebugged` and waits: breakpoints in the flow's files work as in
 * any program, because types are stripped in place and all lines stay where they are.
 *
 * Attaching instead of launching keeps the events, the history and the end of the run the same as without a debugger.
 */
export function debugConfiguration(
  { host, port }: DebuggerPlace,
  name: string,
  { runner }: Pick<FlowRuntime, 'runner'>,
): DebugConfiguration {
  return {
    type: 'node',
    request: 'attach',
    name,
    address: host,
    port,
    continueOnAttach: true,
    skipFiles: ['<node_internals>/**', `${dirname(runner)}/**`],
  };
}
