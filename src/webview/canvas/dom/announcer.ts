import { html, setText } from './elements.ts';

const NOTICE_MS = 8_000;

/** Says what happened: to screen readers always, and to the eye where a person must know. */
export class Announcer {
  readonly live = html('div', { class: 'unseen', 'aria-live': 'polite', role: 'status' });
  readonly notices = html('div', { class: 'notices' });

  /** For screen readers: what an eye sees by itself. */
  say(text: string): void {
    setText(this.live, text);
  }

  /** For everybody: why something was not done. Goes away by itself, later than anybody needs to read it. */
  warn(text: string): void {
    const close = html('button', { type: 'button', class: 'plain', 'aria-label': 'Close' }, '×');
    const notice = html('div', { class: 'notice', role: 'alert' }, html('span', {}, text), close);
    const remove = (): void => notice.remove();
    close.addEventListener('click', remove);
    this.notices.replaceChildren(notice);
    setTimeout(remove, NOTICE_MS);
  }
}
