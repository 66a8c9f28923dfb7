// What the killed agents have to do, and what they leave.

/** What a tool did: a line of `effects.jsonl`. */
export interface Effect {
  readonly tool: string;
  readonly key: string;
  readonly callId: string;
}

/** What the flow reports at its end, in `report.json`. */
export interface AgentReport {
  readonly unknown: readonly string[];
}

/** Each of these calls each tool in each round. */
export const ROUNDS = 3;
export const AGENTS = ['first', 'second'] as const;
export const TOOLS = ['mail', 'note', 'put'] as const;
