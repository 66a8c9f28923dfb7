import { dirname } from 'node:path';
import type { FlowProcessEvent, FlowRuntime } from '../protocol/flowRun.ts';

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
 * How a debugger reaches a flow that was started with `isDebugged` and waits for it: breakpoints in the flow's own files then work
 * as in any program, as types are stripped in place and all lines stay where they are.
 *
 * Attaching rather than launching keeps the run ours: its events, its history and its end are those of a run without debugger.
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
