import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { AppError } from '../../core/errors.ts';
import { isDiskFull } from '../../core/files/diskSpace.ts';
import type { Logger } from '../../core/log.ts';
import type { SignInDescription } from '../../remote/protocol/signInDescription.ts';
import { LackingContents } from '../contents/submittedContents.ts';
import type { App, AppContext } from './access/appEnv.ts';
import { refuseBrowsers, requireKey } from './access/auth.ts';
import type { AuthFailureLimiter } from './access/authFailureLimiter.ts';
import type { TokenAuthenticator } from './access/keyAuthenticator.ts';
import { RefusalForNow, refusal } from './access/httpRefusal.ts';
import { accountHandlers, type AccountOptions } from './accountRoutes.ts';
import type { ConnectionLimit } from './access/connectionLimit.ts';
import { contentHandlers, type ContentOptions } from './contentRoutes.ts';
import {
  healthHandler,
  type HealthOptions,
  metricsHandler,
  type MetricsSource,
  refuseWhenStopping,
} from './healthRoutes.ts';
import { freezeHandlers, type FreezeOptions } from './freezeRoutes.ts';
import { jobHandlers, type JobOptions } from './jobRoutes.ts';
import { answerShared, describeApi } from './openapi.ts';
import type { OperatorLinks } from './page/operatorLinks.ts';
import { createPage, FORM_PATHS } from './page/browserPage.ts';
import type { RequestMonitor } from './requestMonitor.ts';
import { resultHandlers, type ResultOptions } from './resultRoutes.ts';
import { addRoutes } from './apiRoutes.ts';
import { tunnelHandlers, type TunnelOptions } from './tunnelRoutes.ts';
import { isBrokenOff } from './submit/receiveUpload.ts';

const BUSY_RETRY_SECONDS = 10;
const NOTHING_HERE = 'Nothing exists at this address.';

export type AppOptions = AccountOptions &
  ContentOptions &
  JobOptions &
  ResultOptions &
  TunnelOptions &
  FreezeOptions &
  HealthOptions & {
    readonly log: Logger;
    readonly authFailures: AuthFailureLimiter;
    /** Undefined if nobody can sign in, so that everybody needs a key. */
    readonly signIn: { readonly tokens: TokenAuthenticator; readonly description: SignInDescription } | undefined;
    readonly monitor: RequestMonitor;
    readonly connections: Pick<ConnectionLimit, 'keep'>;
    /** Undefined if metrics are disabled. */
    readonly metrics: { readonly source: MetricsSource; readonly token: string | undefined } | undefined;
    /** Returns the allowed values of `Host`; undefined for a service that other machines may reach. */
    readonly hosts: (() => readonly string[]) | undefined;
    /** Undefined if the page is switched off. */
    readonly page: { readonly links: OperatorLinks; readonly isSecure: boolean } | undefined;
  };

/** The routes of the service and its page for people. */
export function createApp(options: AppOptions): App {
  const { log, version, authenticator, gauge, authFailures, connections } = options;
  const app: App = new Hono();
  app.onError((error, context) => answerFailure(error, context, log));
  app.notFound((context) => context.json({ detail: NOTHING_HERE }, 404));
  app.use(options.monitor.watch());
  if (options.hosts !== undefined) app.use(refuseBrowsers(options.hosts, options.page === undefined ? [] : FORM_PATHS));

  app.use(refuseWhenStopping(options.health));
  if (options.page) app.route('/', createPage({ ...options, ...options.page }));
  app.use('/v1/*', requireKey(authenticator, authFailures, options.signIn?.tokens), gauge.limitRate());
  app.use('/v1/*', (context, next) => {
    connections.keep(context.env.incoming);
    return next();
  });
  addRoutes(app, {
    ...accountHandlers(options),
    ...contentHandlers(options),
    ...jobHandlers(options),
    ...resultHandlers(options),
    ...tunnelHandlers(options),
    ...freezeHandlers(options),
    health: healthHandler(options),
    ...(options.metrics && { metrics: metricsHandler(options.metrics.source, options.metrics.token) }),
    signIn: () => {
      if (options.signIn === undefined) throw refusal(404, NOTHING_HERE);
      return options.signIn.description;
    },
    description: answerShared(() => describeApi(version)),
  });
  return app;
}

function answerFailure(error: Error, context: AppContext, log: Logger): Response {
  if (error instanceof HTTPException) {
    if (error instanceof RefusalForNow) context.header('Retry-After', String(error.retryAfterSeconds));
    // RFC 9110, section 15.5.2: the accepted scheme.
    if (error.status === 401) context.header('WWW-Authenticate', 'Bearer');
    return context.json({ detail: error.message }, error.status);
  }
  if (error instanceof AppError && ['bad-input', 'refused', 'corrupt', 'limit'].includes(error.code)) {
    return context.json({ detail: error.message }, 400);
  }
  if (error instanceof AppError && error.code === 'unreachable') {
    context.header('Retry-After', String(BUSY_RETRY_SECONDS));
    return context.json({ detail: error.message }, 503);
  }
  if (error instanceof LackingContents) return context.json({ detail: error.message }, 424);
  // The client has disconnected, so nobody reads the response.
  if (isBrokenOff(error)) return context.json({ detail: 'The request was interrupted.' }, 400);
  log.error('request failed', { requestId: context.get('requestId'), route: context.get('route'), error });
  if (isDiskFull(error) || (error instanceof AppError && error.code === 'no-space')) {
    return context.json({ detail: 'The disk of the machine that runs jobs is full. Free some space on it.' }, 507);
  }
  return context.json({ detail: 'The service failed to respond. Its log has the cause.' }, 500);
}
