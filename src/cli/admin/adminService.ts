import { type Admin, openAdmin } from '../../service/admin/adminClient.ts';
import type { OperationInput, OperationName, OperationOutput } from '../../service/admin/operations.ts';
import type { Context } from '../command/commandContext.ts';
import { dataFolder } from './dataFolder.ts';
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

/** `farwharf admin page`. JSON: `{ url, expires_at }`. */
export async function linkPage(context: Context, _: string, flags: AdminFlags): Promise<void> {
  const { terminal } = context;
  const link = await askAdmin(context, flags, 'page.link', {});
  if (link === undefined) return;
  terminal.answer(link.url);
  terminal.note(`Opens the operator's page in a browser, once, until ${link.expires_at.slice(11, 16)} UTC.`);
  terminal.note('Behind a proxy or a tunnel, replace the beginning with the address that your browser uses.');
}
