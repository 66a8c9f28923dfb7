import * as z from 'zod';
import { tryParseJson } from '../../core/jsonFields.ts';

/** A sign-in as it is stored: what it was made for, and its tokens. */
const signInRecord = z.object({
  /** The service that its tokens are sent to, and no other. */
  host: z.string(),
  /** The provider that its refresh token is sent to, and no other, whatever the service says later. */
  issuer: z.string(),
  client_id: z.string(),
  scopes: z.array(z.string()),
  access_token: z.string(),
  /** Until when the access token is used before it is renewed, in milliseconds since 1970. */
  fresh_until: z.number(),
  /** Absent if the provider gave none, so that people sign in again when the access token expires. */
  refresh_token: z.string().optional(),
});
export type SignInRecord = Readonly<z.infer<typeof signInRecord>>;

/** Where people sign in for a service. */
export type SignInOffer = Pick<SignInRecord, 'host' | 'issuer' | 'client_id' | 'scopes'>;

/** Parses a stored sign-in of a host; undefined for anything else, also for one of another host. */
export function readRecord(text: string, host: string): SignInRecord | undefined {
  const { data } = signInRecord.safeParse(tryParseJson(text));
  return data?.host === host ? data : undefined;
}
