import type { OperationInput } from '../../../src/service/admin/operations.ts';
import { openAdmin } from '../../../src/service/admin/adminClient.ts';
import type { ServiceClient } from './service.ts';

export interface TestAccount {
  readonly client: ServiceClient;
  readonly keyId: string;
}

/** Adds an account with a key to a service that runs, and gives what asks in its name. */
export async function addAccount(
  service: ServiceClient,
  id: string,
  { limits = {}, expiresAt }: { limits?: OperationInput<'accounts.limit'>['limits']; expiresAt?: Date } = {},
): Promise<TestAccount> {
  using admin = await openAdmin(service.data, { mayCreate: false });
  await admin.call('accounts.add', { account_id: id, credits: 1_000 });
  await admin.call('accounts.limit', { account_id: id, limits });
  const expires = expiresAt === undefined ? {} : { expires_at: expiresAt.toISOString() };
  const { key, key_id: keyId } = await admin.call('keys.add', { account_id: id, ...expires });
  return { client: service.withKey(key), keyId };
}
