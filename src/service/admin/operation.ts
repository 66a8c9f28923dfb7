import * as z from 'zod';
import type { Store } from '../store/store.ts';

/** What administration works on: a service that runs, or the store of one that does not. */
export interface AdminContext {
  readonly store: Store;
  /** The data folder. */
  readonly data: string;
  /** Why no job can be started now; not known where no service runs. */
  readonly refusal?: () => string | undefined;
}

/**
 * One thing that an administrator can do. It is the same through a service that runs and on the store of one that does
 * not; what goes in and comes out is JSON by its schemas.
 */
export interface Operation<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> {
  readonly input: Input;
  readonly output: Output;
  run(context: AdminContext, input: z.output<Input>): z.input<Output> | Promise<z.input<Output>>;
}

/** Gives an operation its types. */
export function operation<Input extends z.ZodType, Output extends z.ZodType>(
  definition: Operation<Input, Output>,
): Operation<Input, Output> {
  return definition;
}

export const adminTime = z.iso.datetime();

/** Milliseconds since 1970 as JSON shows a time. */
export function showAdminTime(milliseconds: number): string;
export function showAdminTime(milliseconds: number | null): string | null;
export function showAdminTime(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}
