import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export interface StubReply {
  /** A part of the last message that this reply answers. */
  readonly when: string;
  readonly reply?: string;
  readonly tool?: { readonly name: string; readonly arguments: object };
  /** How often it answers; always when absent. */
  readonly times?: number;
}

/** An agent as a user of the library writes it, and what must come of it. Each was written from the documentation alone. */
export interface AgentFixture {
  readonly name: string;
  readonly folder: string;
  readonly file: string;
  readonly shared?: object;
  readonly replies?: readonly StubReply[];
  /** What a person answers when the run waits. */
  readonly answers?: readonly string[];
  /** The connections of each flow by label: `A -action-> B`. `*` is before the start, `.` the end; the default action has no name. */
  readonly graphs: Readonly<Record<string, readonly string[]>>;
  /** What `flow check` finds noteworthy; nothing when absent. */
  readonly hints?: readonly string[];
  readonly action?: string;
  /** A part of the final state. */
  readonly result: Readonly<Record<string, unknown>>;
  /** A change to code that a step can reach, and what the pinned test says of it. */
  readonly edit: { readonly file: string; readonly find: string; readonly replace: string };
  readonly red: string;
}

export const AGENT_FIXTURES = resolve(import.meta.dirname, '../../fixtures/flows');

export const agentFixtures: readonly AgentFixture[] = readdirSync(AGENT_FIXTURES).map((name) => {
  const folder = join(AGENT_FIXTURES, name);
  const expected = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as Omit<
    AgentFixture,
    'name' | 'folder'
  >;
  return { name, folder, ...expected };
});
