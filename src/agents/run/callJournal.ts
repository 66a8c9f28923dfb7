import { stableJson, writtenJson } from '../records/plainJson.ts';
import type { CallStep, ExecItem, RecordedStep } from '../records/recordSchemas.ts';
import type { Pause } from './pause.ts';

/** A call of a tool: its arguments are those that the model wrote, as JSON. */
export interface JournalCall {
  readonly name: string;
  readonly args: string;
  /** How many calls with the same arguments the same attempt made before. */
  readonly nth: number;
}

/** Where the steps of one `exec` are stored, and where those of earlier runs come from. */
export interface StepStore {
  readonly earlier: readonly RecordedStep[];
  keep(step: RecordedStep): void;
}

/** The result of a call: what the model got. */
export interface CallResult {
  readonly output?: unknown;
  readonly error?: string;
}

const YES: readonly unknown[] = [true, 'yes'];

/**
 * What the tool loops of one `exec` have done: replies of models that called tools, and the calls. A later attempt, a replay and a resumed run
 * take them from here, so that none is done twice.
 */
export class CallJournal {
  readonly item: number | undefined;
  readonly #store: StepStore;
  readonly #replies = new Map<string, RecordedStep & { type: 'reply' }>();
  readonly #calls = new Map<string, CallStep>();
  /** Outputs as the tools returned them, which JSON may change. */
  readonly #outputs = new Map<string, unknown>();
  readonly #counts = new Map<string, number>();
  /** Calls with these arguments may have had their effect. */
  readonly #unknown = new Set<string>();
  readonly #decisions = new Map<string, boolean>();
  /** The call that waits for a person; raised even if `exec` catches it. */
  pending: CallPause | undefined;

  constructor(item: number | undefined, store: StepStore) {
    this.item = item;
    this.#store = store;
    for (const step of store.earlier) this.#add(step);
  }

  /** Takes over the steps of a run that waited, and the answer to its question. */
  restore({ steps, pending }: ExecItem, answer: unknown): void {
    for (const step of steps ?? []) {
      this.#add(step);
      this.#store.keep(step);
    }
    if (pending !== undefined) this.#decisions.set(keyOf(pending), YES.includes(answer));
  }

  /** Begins another attempt, which repeats the calls from the first on. */
  restart(): void {
    this.#counts.clear();
    this.pending = undefined;
  }

  /** Counts a request of this attempt, and returns its key: equal requests of one attempt get replies of their own. */
  nextRequest(hash: string): string {
    const nth = this.#counts.get(hash) ?? 0;
    this.#counts.set(hash, nth + 1);
    return `${hash}#${nth}`;
  }

  /** The reply to a request of an earlier attempt or run, if the model called tools in it. */
  reply(request: string): unknown {
    return structuredClone(this.#replies.get(request)?.reply);
  }

  keepReply(request: string, reply: unknown): void {
    this.#keep({ type: 'reply', request, reply: writtenJson(reply) });
  }

  /** Counts a call of this attempt. */
  next(name: string, args: unknown): JournalCall {
    const text = stableJson(args);
    const kind = `${name}\n${text}`;
    const nth = this.#counts.get(kind) ?? 0;
    this.#counts.set(kind, nth + 1);
    return { name, args: text, nth };
  }

  /** The id of a call, if an earlier attempt or run began it. */
  idOf(call: JournalCall): string | undefined {
    return this.#calls.get(keyOf(call))?.id;
  }

  /** The result of a call that has ended before. */
  result(call: JournalCall): CallResult | undefined {
    const key = keyOf(call);
    const step = this.#calls.get(key);
    if (step?.state !== 'done') return undefined;
    if (step.error !== undefined) return { error: step.error };
    return { output: this.#outputs.has(key) ? this.#outputs.get(key) : structuredClone(step.output) };
  }

  /** Whether a call began and never ended, so that it may have had its effect; also one that repeats such a call. */
  isUnknown(call: JournalCall): boolean {
    return this.#calls.get(keyOf(call))?.state === 'started' || this.#unknown.has(kindOf(call));
  }

  /** What a person decided about a call; undefined if nobody was asked. */
  decision(call: JournalCall): boolean | undefined {
    return this.#decisions.get(keyOf(call));
  }

  start(call: JournalCall, id: string): void {
    this.#keep({ type: 'call', ...call, id, state: 'started' });
  }

  /** A call inside of this one waits for a person: this one begins again with the answer. */
  suspend(call: JournalCall, id: string): void {
    this.#keep({ type: 'call', ...call, id, state: 'suspended' });
  }

  finish(call: JournalCall, id: string, { output, error }: CallResult, isUnknown = false): void {
    if (isUnknown) this.#unknown.add(kindOf(call));
    const result = error === undefined ? { ...(output !== undefined && { output: writtenJson(output) }) } : { error };
    this.#keep({ type: 'call', ...call, id, state: 'done', ...result });
    this.#outputs.set(keyOf(call), output);
  }

  /** For a checkpoint. */
  save(pending?: JournalCall): ExecItem {
    const steps = [...this.#replies.values(), ...this.#calls.values()];
    return { ...(this.item !== undefined && { item: this.item }), steps, ...(pending && { pending: { ...pending } }) };
  }

  #keep(step: RecordedStep): void {
    this.#add(step);
    this.#store.keep(step);
  }

  #add(step: RecordedStep): void {
    if (step.type === 'reply') this.#replies.set(step.request, step);
    else this.#calls.set(keyOf(step), step);
  }
}

/** Thrown by a tool loop when `approve` returns a pause: the run waits before the call. */
export class CallPause extends Error {
  override readonly name = 'CallPause';
  readonly request: Pause;
  /** The call, with its arguments after the defaults and transforms of its schema. */
  readonly call: JournalCall & { readonly input: unknown };
  readonly journal: CallJournal;
  /** The items of a batch that have ended or begun; of a node without items, that of the journal. */
  items: readonly ExecItem[] | undefined;

  constructor(request: Pause, call: JournalCall & { readonly input: unknown }, journal: CallJournal) {
    super(`The call of "${call.name}" waits for a person: ${request.question}`);
    this.request = request;
    this.call = call;
    this.journal = journal;
  }

  get saved(): readonly ExecItem[] {
    const { name, args, nth } = this.call;
    return [...(this.items ?? []), this.journal.save({ name, args, nth })];
  }
}

function keyOf({ name, args, nth }: JournalCall): string {
  return `${name}\n${args}\n${nth}`;
}

function kindOf({ name, args }: JournalCall): string {
  return `${name}\n${args}`;
}
