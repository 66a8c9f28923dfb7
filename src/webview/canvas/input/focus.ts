/**
 * Gives the focus back to what had it when the page gets it again from another editor, or from an undo there: VS Code then focuses
 * the page as a whole, where no key does anything.
 */
export function keepFocus(surface: HTMLElement): void {
  let last = surface;
  document.addEventListener('focusin', ({ target }) => {
    if (target instanceof HTMLElement && target !== document.body) last = target;
  });
  window.addEventListener('focus', () => {
    if (document.activeElement !== document.body) return;
    const isShown = last.getClientRects().length > 0;
    (isShown ? last : surface).focus({ preventScroll: true });
  });
}
