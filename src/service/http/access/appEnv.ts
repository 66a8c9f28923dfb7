import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import type { StoredAccount } from '../../store/accounts/accountTable.ts';
import type { Caller } from './keyAuthenticator.ts';

/** What Hono's context carries in this service. */
export interface AppEnv {
  Bindings: HttpBindings;
  Variables: {
    /** Identifies the request in the log and in its response. */
    requestId: string;
    /** The path of the request's route, such as `/v1/jobs/:id`. It contains no ID, so there are few different ones. */
    route: string;
    /** The account of the request's key; set for everything under `/v1`. */
    account: StoredAccount;
    /** Set together with `account`. */
    caller: Caller;
    /** The address that the request comes from. */
    client: string;
  };
}

export type App = Hono<AppEnv>;
export type AppContext = Context<AppEnv>;
