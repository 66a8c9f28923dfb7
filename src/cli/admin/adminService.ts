import { type Admin, openAdmin } from '../../service/admin/adminClient.ts';
import type { Context } from '../command/context.ts';
import { dataFolder } from '../command/dataFolder.ts';

/** The options of every `farwharf admin` verb. */
export interface AdminFlags {
  readonly data?: string;
}

/**
 * Connects to the running service of the data folder, or opens its database.
 *
 * @param mayCreate whether to create a missing database, as for the first account.
 * @throws AppError of `openAdmin`.
 */
export function findAdmin({ env }: Context, { data }: AdminFlags, { mayCreate = false } = {}): Promise<Admin> {
  return openAdmin(dataFolder(data, env), { mayCreate });
}
