import type { MiddlewareHandler } from 'hono';
import { csrf } from 'hono/csrf';
import { secureHeaders } from 'hono/secure-headers';
import type { AppEnv } from '../access/appEnv.ts';
import { STYLE_SOURCE } from './views/style.ts';

/** Responds to requests that do not ask for HTML, such as those of programs, as if there were no page. */
export const onlyBrowsers: MiddlewareHandler<AppEnv> = async (context, next) => {
  if (context.req.header('accept')?.includes('text/html') !== true) return context.notFound();
  await next();
  context.header('Vary', 'Accept');
  context.header('Cache-Control', 'no-store');
  return undefined;
};

/** Nothing is loaded, run or framed, and forms go to this origin only. */
export const headers: MiddlewareHandler<AppEnv> = secureHeaders({
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
export const ownForms: MiddlewareHandler<AppEnv> = csrf();
