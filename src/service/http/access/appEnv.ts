import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import type { Account } from '../../store/accounts/accounts.ts';
import type { Visit } from './keyAuthenticator.ts';

/** What Hono's context carries in this service. */
export interface AppEnv {
  Bindings: HttpBindings;
  Variables: {
    /** Names the request in the log and in its answer. */
    requestId: string;
    /** The path of the request's route, such as `/v1/jobs/:id`: it holds no id, so there are few of them. */
    route: string;
    /** Whose request it is: set for everything under `/v1`. */
    account: Account;
    /** By which key: set where `account` is. */
    visit: Visit;
    /** The address that the request comes from. */
    client: string;
  };
}

export type App = Hono<AppEnv>;
export type AppContext = Context<AppEnv>;
