import { html } from 'hono/html';
import { document, type Html, note } from './documentLayout.ts';

/** The form for a person's key. */
export function signInView(problem?: string): Html {
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
export function operatorLinkView(code: string): Html {
  const body = html`<p>This link opens the operator's page once: health, queue, usage and accounts of this service.</p>
    <form method="post" action="/operator">
      <input type="hidden" name="code" value="${code}" />
      <button autofocus>Sign in as operator</button>
    </form>`;
  return document({ title: 'Sign in as operator', body });
}

/** A page that says what cannot be shown, and why. */
export function problemView(sentence: string, who: string | undefined): Html {
  return document({
    title: 'Not available',
    who,
    body: html`${note(sentence, true)}<p><a href="/">Back to the start</a></p>`,
  });
}
