import { AppError, type ErrorCode } from '../../core/errors.ts';
import { scopes } from '../run/runScope.ts';

/** One of several models that can answer a request. */
export interface FallbackModel {
  readonly provider: string;
  readonly model: string;
}

// What another model may not meet: its service is down, busy, or refuses the key, it is gone, or its reply is of no use. Not: a request that is
// wrong in itself, a model that declined, and a run whose budget is spent.
const PASSED_ON: ReadonlySet<ErrorCode> = new Set(['unreachable', 'limit', 'not-signed-in', 'missing', 'corrupt']);

/**
 * Sends a request to the first model, and to the next one whenever a model fails for good.
 *
 * @throws the error of a single model, or one that names the failures of all; any other error, and an abort, at once.
 */
export async function firstReply<M extends FallbackModel, T>(
  models: readonly M[],
  signal: AbortSignal | undefined,
  request: (model: M) => Promise<T>,
): Promise<T> {
  const failures: AppError[] = [];
  for (const [index, model] of models.entries()) {
    try {
      return await request(model);
    } catch (error) {
      passOn(error, { model, next: models[index + 1], failures, signal });
    }
  }
  throw new TypeError('there is no model');
}

/** The same for a reply in pieces. After the first piece no other model takes over: what was read cannot be taken back. */
export async function* firstStream<M extends FallbackModel, T, R>(
  models: readonly M[],
  signal: AbortSignal | undefined,
  request: (model: M) => AsyncGenerator<T, R>,
): AsyncGenerator<T, R> {
  const { stream, first } = await firstReply(models, signal, async (model) => {
    const begun: AsyncIterator<T, R> = request(model);
    return { first: await begun.next(), stream: begun };
  });
  try {
    let read = first;
    for (;;) {
      if (read.done === true) return read.value;
      yield read.value;
      read = await stream.next();
    }
  } finally {
    await stream.return?.();
  }
}

/** Goes on to the next model. @throws the error if none may take over. */
function passOn<M extends FallbackModel>(
  error: unknown,
  {
    model,
    next,
    failures,
    signal,
  }: {
    readonly model: M;
    readonly next: M | undefined;
    readonly failures: AppError[];
    readonly signal: AbortSignal | undefined;
  },
): void {
  const { signal: outer, visit } = scopes.getStore() ?? {};
  const isAborted = signal?.aborted === true || outer?.aborted === true;
  if (isAborted || !(error instanceof AppError) || !PASSED_ON.has(error.code)) throw error;
  failures.push(error);
  if (next === undefined) throw failures.length === 1 ? error : allFailed(failures, error);
  const { message } = error;
  visit?.modelFallback({
    provider: model.provider,
    model: model.model,
    nextProvider: next.provider,
    nextModel: next.model,
    message,
  });
}

function allFailed(failures: readonly AppError[], last: AppError): AppError {
  const list = failures.map(({ message }) => `- ${message}`).join('\n');
  return new AppError(last.code, `None of the ${failures.length} models answered:\n${list}`, { cause: last });
}
