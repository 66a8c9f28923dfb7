import type { Point } from '../../flows/layout/shape.ts';
import type { CanvasCommand } from './actions/canvasCommands.ts';
import { html } from './dom/elements.ts';

/** Opens a menu at a position of the page. Arrow keys move, Enter selects, Escape and a click elsewhere close it. */
export function openMenu(host: HTMLElement, label: string, commands: readonly CanvasCommand[], at: Point): void {
  const before = document.activeElement;
  const menu = html('div', { class: 'menu', role: 'menu', 'aria-label': label });
  const close = (): void => {
    menu.remove();
    document.removeEventListener('pointerdown', onElsewhere, true);
    if (before instanceof HTMLElement) before.focus();
  };
  const onElsewhere = (event: PointerEvent): void => {
    if (!(event.target instanceof Node) || !menu.contains(event.target)) close();
  };
  const items = commands.map((command) => {
    const item = html('button', { type: 'button', role: 'menuitem', tabindex: -1 }, html('span', {}, command.title));
    if (command.keys !== undefined) item.append(html('kbd', {}, command.keys));
    item.addEventListener('click', () => {
      close();
      command.run();
    });
    return item;
  });
  menu.append(...items);
  menu.addEventListener('keydown', (event) => {
    const index = items.findIndex((item) => item === document.activeElement);
    if (event.key === 'ArrowDown') items[(index + 1) % items.length]?.focus();
    else if (event.key === 'ArrowUp') items[(index - 1 + items.length) % items.length]?.focus();
    else if (event.key === 'Home') items[0]?.focus();
    else if (event.key === 'End') items.at(-1)?.focus();
    else if (event.key === 'Escape' || event.key === 'Tab') close();
    else if (event.key === 'Enter' || event.key === ' ') items[index]?.click();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  host.append(menu);
  const { width, height } = host.getBoundingClientRect();
  menu.style.left = `${Math.max(4, Math.min(at.x, width - menu.offsetWidth - 4))}px`;
  menu.style.top = `${Math.max(4, Math.min(at.y, height - menu.offsetHeight - 4))}px`;
  document.addEventListener('pointerdown', onElsewhere, true);
  items[0]?.focus();
}
