import type { Context } from './context.ts';

/** A verb's work: gives the exit status. `rest` are the arguments after the first one. */
export type Verb<Options> = (
  context: Context,
  argument: string,
  options: Options,
  rest: readonly string[],
) => Promise<number>;

/** Makes the action of a command out of a verb, which is loaded when it is run. */
export type Runs = <Options>(load: () => Promise<Verb<Options>>) => (...input: readonly unknown[]) => Promise<void>;
