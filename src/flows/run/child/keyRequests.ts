import type { ChildMessage } from '../protocol/runMessage.ts';

interface KeyRequestsDeps {
  readonly send: (message: Extract<ChildMessage, { type: 'key' }>) => void;
  /** Keeps the process alive until the returned function is called. */
  readonly hold: () => () => void;
}

/** Requests keys of model services from the parent process, because they are in no variable here. */
export class KeyRequests {
  readonly #deps: KeyRequestsDeps;
  readonly #answers = new Map<string, PromiseWithResolvers<string | undefined>>();

  constructor(deps: KeyRequestsDeps) {
    this.#deps = deps;
  }

  /** The parent's key in that variable; undefined if it has none or the variable is not for a model key. */
  ask(variable: string): Promise<string | undefined> {
    const pending = this.#answers.get(variable);
    if (pending !== undefined) return pending.promise;
    const answer = Promise.withResolvers<string | undefined>();
    this.#answers.set(variable, answer);
    const release = this.#deps.hold();
    this.#deps.send({ type: 'key', variable });
    return answer.promise.finally(release);
  }

  answer(variable: string, key: string | undefined): void {
    this.#answers.get(variable)?.resolve(key);
  }

  /** The parent process is gone. */
  close(): void {
    for (const answer of this.#answers.values()) answer.resolve(undefined);
  }
}
