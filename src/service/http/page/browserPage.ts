import { Hono, type MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { csrf } from 'hono/csrf';
import { secureHeaders } from 'hono/secure-headers';
import { html } from 'hono/html';
import type { Logger } from '../../../core/log.ts';
import type { AccountGauge } from '../access/accountGauge.ts';
import type { App, AppContext, AppEnv } from '../access/appEnv.ts';
import type { Caller } from '../access/keyAuthenticator.ts';
import { refusal } from '../access/httpRefusal.ts';
import { PageAccess, type PageAccessOptions } from './pageAccess.ts';
import { accountOfPage, readJob, readJobs, readService, type Sources, whoIs } from './pageData.ts';
import { jobsView } from './jobsView.ts';
import { jobView } from './jobView.ts';
import { operatorView } from './operatorView.ts';
import { STYLE_SOURCE } from './style.ts';
import { document, type Html, note } from './documentLayout.ts';

/** The paths that forms are sent to. These requests have an `Origin`, which `ownForms` checks. */
export const FORM_PATHS: readonly string[] = ['/sign-in', '/sign-out', '/operator'];

/** Responds to requests that do not ask for HTML, such as those of programs, as if there were no page. */
const onlyBrowsers: MiddlewareHandler<AppEnv> = async (context, next) => {
  if (context.req.header('accept')?.includes('text/html') !== true) return context.notFound();
  await next();
  context.header('Vary', 'Accept');
  context.header('Cache-Control', 'no-store');
  return undefined;
};

/** Nothing is loaded, run or framed, and forms go to this origin only. */
const headers: MiddlewareHandler<AppEnv> = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    styleSrc: [STYLE_SOURCE],
    formAction: ["'self'"],
    baseUri: ["'none'"],
    frameAncestors: ["'none'"],
  },
  xFrameOptions: 'DENY',
  // With no-referrer, browsers would send forms with the origin "null".
  referrerPolicy: 'same-origin',
  // Whether the whole host uses TLS is for its operator to declare.
  strictTransportSecurity: false,
});

/** Refuses forms that other sites send: browsers say where a form comes from (`Sec-Fetch-Site`, or the origin before that). */
const ownForms: MiddlewareHandler<AppEnv> = csrf();

export interface BrowserPageOptions extends PageAccessOptions, Sources {
  readonly gauge: AccountGauge;
  readonly log: Logger;
}

/**
 * The page at `/` for browsers: documents without scripts that load nothing. It shows no more than the key of a session may request from
 * `/v1`, under the same limits, and changes nothing but sessions.
 */
export function createPage(options: BrowserPageOptions): App {
  const page: App = new Hono();
  const access = new PageAccess(options);
  page.onError((error, context) => answerProblem(error, context, options.log));
  for (const path of ['/', '/jobs/:id', ...FORM_PATHS]) page.use(path, onlyBrowsers, headers, ownForms);

  const enter = (context: AppContext, caller: Caller): void => {
    context.set('caller', caller);
    context.set('account', caller.account);
    options.gauge.countRequest(context);
  };
  page.get('/', async (context) => {
    const holder = access.holder(context);
    if (holder === undefined) return context.html(signInView());
    const now = Date.now();
    if (holder.type === 'operator') return context.html(operatorView(await readService(options), now));
    enter(context, holder.caller);
    return context.html(jobsView(accountOfPage(context, options), readJobs(context, options), now));
  });
  page.get('/jobs/:id', (context) => {
    const holder = access.holder(context);
    if (holder === undefined) return context.html(signInView(), 401);
    if (holder.type === 'operator') throw refusal(404, 'Operators see jobs with:  farwharf admin job');
    enter(context, holder.caller);
    return context.html(jobView(readJob(context, options), Date.now()));
  });
  page.post('/sign-in', async (context) => {
    await access.signIn(context);
    return context.redirect('/', 303);
  });
  page.get('/operator', (context) => context.html(operatorLinkView(context.req.query('code') ?? '')));
  page.post('/operator', async (context) => {
    await access.signInOperator(context);
    return context.redirect('/', 303);
  });
  page.post('/sign-out', (context) => {
    access.signOut(context);
    return context.redirect('/', 303);
  });
  return page;
}

function answerProblem(error: Error, context: AppContext, log: Logger): Response | Promise<Response> {
  if (!(error instanceof HTTPException)) {
    log.error('request failed', { requestId: context.get('requestId'), route: context.get('route'), error });
    return context.html(problemView('The service failed to respond. Its log has the cause.', undefined), 500);
  }
  const { status, message } = error;
  // The session is missing or has ended, or its account is disabled; or the form was refused, which has no message.
  const isSignedIn = (context.var as Partial<AppEnv['Variables']>).account !== undefined;
  if (!isSignedIn && message !== '' && status !== 404) return context.html(signInView(message), status);
  const sentence = message === '' ? 'This form was not sent by this page. Open the page again.' : message;
  return context.html(problemView(sentence, isSignedIn ? whoIs(context) : undefined), status);
}

/** The form for a person's key. */
function signInView(problem?: string): Html {
  const body = html`${problem !== undefined && note(problem, true)}
    <form class="stack" method="post" action="/sign-in">
      <label for="key">API key</label>
      <input id="key" name="key" type="password" autocomplete="current-password" required autofocus aria-describedby="about" />
      <div><button>Sign in</button></div>
    </form>
    <p class="quiet" id="about">
      The key shows its own jobs, their output and credits. You are signed out after an hour without a request.
    </p>
    <p class="quiet">Operators sign in with the link that <code>farwharf admin page</code> prints on the service's machine.</p>`;
  return document({ title: 'Sign in', body });
}

/** The button that uses an operator's link. Without it, programs that follow links would use up the code. */
function operatorLinkView(code: string): Html {
  const body = html`<p>This link opens the operator's page once: health, queue, usage and accounts of this service.</p>
    <form method="post" action="/operator">
      <input type="hidden" name="code" value="${code}" />
      <button autofocus>Sign in as operator</button>
    </form>`;
  return document({ title: 'Sign in as operator', body });
}

/** A page that says what cannot be shown, and why. */
function problemView(sentence: string, who: string | undefined): Html {
  return document({
    title: 'Not available',
    who,
    body: html`${note(sentence, true)}<p><a href="/">Back to the start</a></p>`,
  });
}
