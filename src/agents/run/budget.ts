import { MAX_TIMER_SECONDS } from '../schema/optionShape.ts';

/** What a run has spent: US dollars at list prices, tokens of prompts and replies, and seconds. */
export interface Spent {
  /** Absent if no call had a known price. */
  readonly cost?: number;
  readonly tokens: number;
  readonly seconds: number;
}

/** The limits of a run, and of the runs which its hooks start. Checked before each visit and each model call. */
export interface BudgetLimits {
  /** US dollars at list prices. */
  readonly maxCost?: number | undefined;
  /** Of prompts and replies together. */
  readonly maxTokens?: number | undefined;
  /** The run is aborted when they are over, even in the middle of a hook. */
  readonly maxSeconds?: number | undefined;
}

/** A run reached one of its limits. `spent` is what it had spent by then. */
export class BudgetError extends Error {
  override readonly name = 'BudgetError';
  readonly spent: Spent;

  constructor(message: string, spent: Spent) {
    super(message);
    this.spent = spent;
  }
}

/** Counts what a run spends, and that of the runs which its hooks start. */
export class RunBudget {
  readonly #limits: BudgetLimits;
  /** That of the run in whose hook this run was started. */
  readonly #outer: RunBudget | undefined;
  readonly #startedAt = performance.now();
  #cost: number | undefined;
  #tokens = 0;

  constructor(limits: BudgetLimits, outer: RunBudget | undefined) {
    this.#limits = limits;
    this.#outer = outer;
  }

  /**
   * The budget of a run: undefined if neither it nor the run around it has a limit.
   *
   * @throws RangeError if a limit is not a number of at least 0.
   */
  static of(limits: BudgetLimits, outer: RunBudget | undefined): RunBudget | undefined {
    const { maxCost, maxTokens, maxSeconds } = limits;
    if (maxCost === undefined && maxTokens === undefined && maxSeconds === undefined) return outer;
    for (const [name, value] of Object.entries({ maxCost, maxTokens, maxSeconds })) {
      if (value === undefined || value >= 0) continue;
      throw new RangeError(`${name} is ${String(value)}; it must be a number of at least 0.`);
    }
    return new RunBudget(limits, outer);
  }

  get spent(): Spent {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    return { ...(this.#cost !== undefined && { cost: this.#cost }), tokens: this.#tokens, seconds };
  }

  /** A signal that is aborted with a BudgetError when the time of the run is over; undefined without a time limit. */
  deadline(): { readonly signal: AbortSignal; clear(): void } | undefined {
    const { maxSeconds = MAX_TIMER_SECONDS } = this.#limits;
    if (maxSeconds >= MAX_TIMER_SECONDS) return undefined;
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(this.#exceeded('maxSeconds')), maxSeconds * 1000);
    return { signal: controller.signal, clear: () => clearTimeout(timer) };
  }

  /** Before a visit, which costs nothing itself. @throws BudgetError if a limit was exceeded. */
  checkVisit(): void {
    const { maxCost = Infinity, maxTokens = Infinity, maxSeconds = Infinity } = this.#limits;
    if ((this.#cost ?? 0) > maxCost) throw this.#exceeded('maxCost');
    if (this.#tokens > maxTokens) throw this.#exceeded('maxTokens');
    if (this.spent.seconds > maxSeconds) throw this.#exceeded('maxSeconds');
    this.#outer?.checkVisit();
  }

  /**
   * Before a model call, which needs something left.
   *
   * @param isPriceKnown whether the cost of the call will be known.
   * @throws BudgetError if a limit was reached, or if `maxCost` is set and could not be enforced.
   */
  checkCall(model: string, isPriceKnown: boolean): void {
    const { maxCost, maxTokens, maxSeconds } = this.#limits;
    if (maxCost !== undefined && !isPriceKnown) {
      const message =
        `The run has a maxCost, but no price is known for ${model}, so its cost cannot be limited. ` +
        'Pass price to LLMClient, or use maxTokens instead.';
      throw new BudgetError(message, this.spent);
    }
    if (maxCost !== undefined && (this.#cost ?? 0) >= maxCost) throw this.#exceeded('maxCost');
    if (maxTokens !== undefined && this.#tokens >= maxTokens) throw this.#exceeded('maxTokens');
    if (maxSeconds !== undefined && this.spent.seconds >= maxSeconds) throw this.#exceeded('maxSeconds');
    this.#outer?.checkCall(model, isPriceKnown);
  }

  /** Adds a finished model call. */
  spend(tokens: number, cost: number | undefined): void {
    this.#tokens += tokens;
    if (cost !== undefined) this.#cost = (this.#cost ?? 0) + cost;
    this.#outer?.spend(tokens, cost);
  }

  #exceeded(limit: 'maxCost' | 'maxTokens' | 'maxSeconds'): BudgetError {
    const { spent } = this;
    const amounts = {
      maxCost: [`$${(spent.cost ?? 0).toFixed(6)}`, `$${this.#limits.maxCost}`],
      maxTokens: [`${spent.tokens} tokens`, `${this.#limits.maxTokens}`],
      maxSeconds: [`${spent.seconds.toFixed(1)} s`, `${this.#limits.maxSeconds} s`],
    };
    const [used, most] = amounts[limit];
    return new BudgetError(
      `The run was ended by its ${limit}: it spent ${used} of ${most}. Raise ${limit} to continue.`,
      spent,
    );
  }
}
