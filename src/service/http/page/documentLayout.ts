import { html, raw } from 'hono/html';
import { printableLine } from '../../../core/text/printable.ts';
import { STYLE } from './style.ts';

/** Markup in which all values are escaped. */
export type Html = ReturnType<typeof html>;

interface PageParts {
  readonly title: string;
  /** Who has signed in, as shown; undefined before. */
  readonly who?: string | undefined;
  readonly body: Html;
}

/** A whole document. */
export function document({ title, who, body }: PageParts): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${printableLine(title)} · Farwharf</title>
        <style>${raw(STYLE)}</style>
      </head>
      <body>
        <a class="skip" href="#content">Skip to content</a>
        <div class="top">
          <header>
            <a class="brand" href="/">Farwharf</a>
            ${
              who !== undefined &&
              html`<span class="who">${printableLine(who)}</span>
                <form method="post" action="/sign-out"><button class="plain">Sign out</button></form>`
            }
          </header>
        </div>
        <main id="content">
          <h1>${printableLine(title)}</h1>
          ${body}
        </main>
      </body>
    </html>`;
}

/** A message at the top of the page: what happened and what to do. */
export function note(sentence: string, isBad = false): Html {
  return html`<p class="${isBad ? 'note bad' : 'note'}" role="${isBad ? 'alert' : 'status'}">${printableLine(sentence)}</p>`;
}

/** A list of names with their values. */
export function facts(pairs: readonly (readonly [name: string, value: string | Html])[], kind = ''): Html {
  return html`<dl class="${kind}">
    ${pairs.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}

/** A table that scrolls sideways in a narrow window, also by keyboard. */
export function table(
  caption: string,
  head: readonly string[],
  rows: readonly Html[],
  numbers: ReadonlySet<string>,
): Html {
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
    <table>
      <caption>${caption}</caption>
      <thead>
        <tr>${head.map((title) => html`<th scope="col" class="${numbers.has(title) ? 'number' : ''}">${title}</th>`)}</tr>
      </thead>
      <tbody>${rows}</tbody>
    </table>
  </div>`;
}
