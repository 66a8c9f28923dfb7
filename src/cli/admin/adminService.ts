import { type Admin, openAdmin } from '../../service/admin/adminClient.ts';
import type { OperationInput, OperationName, OperationOutput } from '../../service/admin/operations.ts';
import type { Context } from '../command/context.ts';
import { dataFolder } from '../command/dataFolder.ts';
import type { AdminFlags } from './adminFlags.ts';

/**
 * Connects to the running service of the data folder, or opens its database.
 *
 * @param mayCreate whether to create a missing database, as for the first account.
 * @throws AppError of `openAdmin`.
 */
export function findAdmin(context: Context, { data }: AdminFlags, { mayCreate = false } = {}): Promise<Admin> {
  return openAdmin(dataFolder(data, context), { mayCreate });
}

/**
 * Calls one operation on the service of the data folder.
 *
 * @returns its output, to be shown; undefined if it was printed as JSON.
 * @throws AppError of `openAdmin`, or of the operation.
 */
export async function askAdmin<Name extends OperationName>(
  context: Context,
  flags: AdminFlags,
  name: Name,
  input: OperationInput<Name>,
): Promise<OperationOutput<Name> | undefined> {
  using admin = await findAdmin(context, flags);
  const output = await admin.call(name, input);
  return context.terminal.json(output) ? undefined : output;
}
