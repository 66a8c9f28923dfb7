import { type Admin, openAdmin } from '../../service/admin/adminClient.ts';
import type { Context } from '../command/context.ts';
import { dataFolder } from '../command/dataFolder.ts';
import type { AdminFlags } from './adminFlags.ts';

/**
 * Connects to the running service of the data folder, or opens its database.
 *
 * @param mayCreate whether to create a missing database, as for the first account.
 * @throws AppError of `openAdmin`.
 */
export function findAdmin({ env }: Context, { data }: AdminFlags, { mayCreate = false } = {}): Promise<Admin> {
  return openAdmin(dataFolder(data, env), { mayCreate });
}
