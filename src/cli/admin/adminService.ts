import { type Admin, openAdmin } from '../../service/admin/adminClient.ts';
import type { Context } from '../command/context.ts';
import { dataFolder } from '../command/dataFolder.ts';

/** The options of every `farwharf admin` verb. */
export interface AdminFlags {
  readonly data?: string;
}

/**
 * The service to administer: the running one of the data folder, else its store.
 *
 * @param mayCreate whether a folder without a store gets one, as for the first account of a service to come.
 * @throws AppError of `openAdmin`.
 */
export function findAdmin({ env }: Context, { data }: AdminFlags, { mayCreate = false } = {}): Promise<Admin> {
  return openAdmin(dataFolder(data, env), { mayCreate });
}
