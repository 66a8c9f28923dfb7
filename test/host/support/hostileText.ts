import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';

/** What would act in a message, a label, a hover or a page: links that run commands, images, HTML, icons, escapes, another direction. */
export const HOSTILE =
  '[x](command:workbench.action.quit) ![](http://127.0.0.1:9/p.png) <img src=x onerror=alert(1)> $(bug) \u001b]8;;command:a\u0007b\u001b]8;;\u0007 \u202egnp.exe\u200b\u0000\n\r\nFORGED www.example.com a@example.com';
/** More than any part of a window has room for. */
export const LONG_HOSTILE: string = HOSTILE + 'x'.repeat(100_000);
// Controls but those of our own layout, marks and overrides of direction, and invisible characters.
const NEVER_SHOWN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const MAX_LENGTH = 50_000;

interface Part {
  readonly textContent: string;
  getAttribute(name: string): string | null;
  querySelectorAll(selector: string): readonly Part[];
}

/** Checks that a part of the window shows hostile text, as nothing but text. */
export async function assertInert(part: Locator, what: string): Promise<void> {
  const shown = await part.evaluate((element: Part) => ({
    text: element.textContent,
    labels: [element, ...element.querySelectorAll('[aria-label]')].map((one) => one.getAttribute('aria-label') ?? ''),
    links: [...element.querySelectorAll('a')].map(
      (link) => link.getAttribute('data-href') ?? link.getAttribute('href'),
    ),
    acting: element.querySelectorAll('img:not([src^="data:"]), iframe, script:not([nonce]), .codicon-bug').length,
  }));
  for (const text of [shown.text, ...shown.labels]) {
    assert.doesNotMatch(text, NEVER_SHOWN, what);
    assert.ok(text.length < MAX_LENGTH, `${what}: ${text.length} characters`);
  }
  assert.match(shown.text, /command:workbench/, what);
  assert.deepEqual(
    shown.links.filter((link) => /command:|127\.0\.0\.1:9|example/.test(link ?? '')),
    [],
    what,
  );
  assert.equal(shown.acting, 0, what);
}
