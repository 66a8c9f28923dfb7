import * as l10n from '@vscode/l10n';
import { html, setText } from './elements.ts';

const NOTICE_MS = 8_000;

/** Announces what happened: always to screen readers, and visibly if everybody must know. */
export class Announcer {
  readonly live = html('div', { class: 'unseen', 'aria-live': 'polite', role: 'status' });
  readonly notices = html('div', { class: 'notices' });

  /** For screen readers only: what is visible anyway. */
  say(text: string): void {
    setText(this.live, text);
  }

  /** For everybody: why something was not done. Disappears after there was enough time to read it. */
  warn(text: string): void {
    const close = html('button', { type: 'button', class: 'plain', 'aria-label': l10n.t('Close') }, '×');
    const notice = html('div', { class: 'notice', role: 'alert' }, html('span', {}, text), close);
    const remove = (): void => notice.remove();
    close.addEventListener('click', remove);
    this.notices.replaceChildren(notice);
    setTimeout(remove, NOTICE_MS);
  }
}
