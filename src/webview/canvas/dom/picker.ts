import type { Point } from '../../../flows/layout/shape.ts';
import { html, setText } from './elements.ts';

export interface PickerChoice<T> {
  readonly label: string;
  readonly detail?: string | undefined;
  readonly value: T;
}

interface PickOptions<T> {
  /** The question, as a visible title. */
  readonly title: string;
  /** Where to show it on the host; at the top by default. */
  readonly at?: Point | undefined;
  readonly placeholder?: string;
  readonly value?: string;
  readonly choices?: readonly PickerChoice<T>[];
  /** For free answers: a choice from the typed text, or why it is not valid. */
  readonly fromText?: (text: string) => PickerChoice<T> | { readonly refusal: string } | undefined;
}

const MAX_SHOWN = 200;
let openings = 0;

/**
 * Asks for one of several choices, filtered by typing, like VS Code's quick pick; Enter accepts, Escape cancels.
 *
 * Resolves to undefined if nothing was chosen. Restores the focus.
 */
export function pick<T>(host: HTMLElement, options: PickOptions<T>): Promise<T | undefined> {
  const before = document.activeElement;
  openings += 1;
  const listId = `choices-${openings}`;
  const input = html('input', {
    type: 'text',
    role: 'combobox',
    'aria-label': options.title,
    'aria-expanded': 'true',
    'aria-controls': listId,
    'aria-autocomplete': 'list',
    placeholder: options.placeholder ?? '',
    spellcheck: 'false',
  });
  input.value = options.value ?? '';
  const list = html('ul', { id: listId, role: 'listbox', 'aria-label': options.title });
  const problem = html('p', { class: 'problem', role: 'alert' });
  const box = html(
    'div',
    { class: 'picker', role: 'dialog', 'aria-label': options.title },
    html('h2', {}, options.title),
    input,
    problem,
    list,
  );
  let filtered: readonly PickerChoice<T>[] = [];
  let active = 0;

  const highlight = (): void => {
    [...list.children].forEach((row, index) => {
      row.setAttribute('aria-selected', String(index === active));
      if (index === active) row.scrollIntoView({ block: 'nearest' });
    });
    if (filtered.length > 0) input.setAttribute('aria-activedescendant', `${listId}-${active}`);
    else input.removeAttribute('aria-activedescendant');
  };
  const update = (): void => {
    const typed = input.value.trim();
    const isUntouched = input.value === (options.value ?? '');
    const hits = (options.choices ?? []).filter(
      ({ label, detail }) => isUntouched || matches(`${label} ${detail ?? ''}`, typed),
    );
    const free = typed === '' ? undefined : options.fromText?.(typed);
    setText(problem, free !== undefined && 'refusal' in free && hits.length === 0 ? free.refusal : '');
    filtered = [...hits.slice(0, MAX_SHOWN), ...(free === undefined || 'refusal' in free ? [] : [free])];
    active = 0;
    list.replaceChildren(
      ...filtered.map(({ label, detail }, index) =>
        html(
          'li',
          { id: `${listId}-${index}`, role: 'option' },
          html('span', {}, label),
          html('small', {}, detail ?? ''),
        ),
      ),
    );
    highlight();
  };

  return new Promise((resolve) => {
    let isClosed = false;
    const close = (value: T | undefined): void => {
      if (isClosed) return; // removing an element blurs it once more
      isClosed = true;
      box.remove();
      if (before instanceof HTMLElement) before.focus();
      resolve(value);
    };
    input.addEventListener('input', update);
    input.addEventListener('keydown', (event) => {
      const { key } = event;
      if (key === 'Escape') close(undefined);
      else if (key === 'Enter') {
        const choice = filtered[active];
        if (choice !== undefined) close(choice.value);
      } else if (key === 'ArrowDown' || key === 'ArrowUp') {
        active = (active + (key === 'ArrowDown' ? 1 : -1) + filtered.length) % Math.max(filtered.length, 1);
        highlight();
      } else if (key !== 'Tab') {
        event.stopPropagation();
        return;
      }
      event.preventDefault();
      event.stopPropagation();
    });
    list.addEventListener('pointerdown', (event) => {
      event.preventDefault(); // the input keeps the focus, so that losing it means that the user went elsewhere
      const row = event.target instanceof Element ? event.target.closest('li') : null;
      const choice = row === null ? undefined : filtered[[...list.children].indexOf(row)];
      if (choice !== undefined) close(choice.value);
    });
    input.addEventListener('blur', () => {
      close(undefined);
    });
    host.append(box);
    if (options.at !== undefined) standAt(box, host, options.at);
    update();
    input.focus();
    input.select();
  });
}

/** Centred at a position, inside the host. */
function standAt(box: HTMLElement, host: HTMLElement, { x, y }: Point): void {
  box.classList.add('is-inline');
  const within = (value: number, size: number, room: number): number => Math.max(4, Math.min(value, room - size - 4));
  box.style.left = `${within(x - box.offsetWidth / 2, box.offsetWidth, host.clientWidth)}px`;
  box.style.top = `${within(y - 14, box.offsetHeight, host.clientHeight)}px`;
}

/** Whether all the words occur. */
export function matches(text: string, words: string): boolean {
  const lower = text.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}
